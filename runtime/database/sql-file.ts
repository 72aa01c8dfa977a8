import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The text of a statement that is long enough for a file of its own, from which it can be pasted into psql as it stands. Its
 * comments stay behind: each line of them is a whole line.
 *
 * @param folder of the module that sends it (`import.meta.dirname`).
 */
export function readSqlFile(folder: string, name: string): string {
  const lines = readFileSync(join(folder, name), 'utf8').split(/\r?\n/)
  return lines
    .filter((line) => !/^\s*--/.test(line))
    .join('\n')
    .trim()
}
