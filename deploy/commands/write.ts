/**
 * `npm run docs:commands`: writes the manual pages and the shell completion of the commands into `deploy/man` and
 * `deploy/completion`. With `--check`, it writes nothing, names the files that differ, and exits with 1.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { printCompletions } from './completion.ts'
import { printManual } from './man.ts'
import { openPrograms } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Returns the text of each file, by its path. */
export function printCommands(): ReadonlyMap<string, string> {
  const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const files = new Map<string, string>()
  for (const [name, program] of Object.entries(openPrograms())) {
    files.set(`deploy/man/${name}.1`, printManual(name, program, version))
    // `svc completion` prints a script that also knows paths, event types and profiles.
    if (name === 'svc') continue
    for (const [shell, script] of Object.entries(printCompletions(name, program)))
      files.set(`deploy/completion/${name}.${shell}`, script)
  }
  return files
}

/** Returns the files that are missing or differ. */
export function findOutdated(): readonly string[] {
  const isCurrent = (path: string, text: string) =>
    existsSync(join(ROOT, path)) && readFileSync(join(ROOT, path), 'utf8') === text
  return [...printCommands()].filter(([path, text]) => !isCurrent(path, text)).map(([path]) => path)
}

if (import.meta.main) {
  const { check } = parseArgs({ options: { check: { type: 'boolean' } } }).values
  const outdated = findOutdated()
  if (check) {
    for (const path of outdated) process.stderr.write(`${path} is outdated: run npm run docs:commands\n`)
    process.exitCode = outdated.length > 0 ? 1 : 0
  } else {
    for (const [path, text] of printCommands()) {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true })
      writeFileSync(join(ROOT, path), text)
    }
  }
}
