import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reads a statement from its `.sql` file, which can be pasted into psql unchanged. Removes comments, which must be
 * whole lines.
 *
 * @param folder of the calling module (`import.meta.dirname`).
 */
export function readSqlFile(folder: string, name: string): string {
  const lines = readFileSync(join(folder, name), 'utf8').split(/\r?\n/)
  return lines
    .filter((line) => !/^\s*--/.test(line))
    .join('\n')
    .trim()
}
