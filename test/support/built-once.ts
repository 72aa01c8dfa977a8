/** What several test files build from the same sources is built once, and kept until the sources change. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './programs.ts'

/**
 * @param kind folder below `node_modules/.cache`.
 * @param sources files that decide what is built.
 * @param build writes the result into an empty folder.
 * @returns the folder with the result. Callers only read it.
 */
export function builtOnce(kind: string, sources: readonly string[], build: (folder: string) => void): string {
  const cache = join(ROOT, 'node_modules/.cache', kind)
  const hash = createHash('sha256')
  for (const file of sources.toSorted()) hash.update(`${file}\0`).update(readFileSync(file))
  const built = join(cache, hash.digest('hex'))
  if (existsSync(built)) return built
  mkdirSync(cache, { recursive: true })
  const made = mkdtempSync(join(cache, 'making-'))
  try {
    build(made)
    renameSync(made, built)
  } catch (cause) {
    rmSync(made, { recursive: true })
    // Another worker was faster, and its result is the same.
    if (!existsSync(built)) throw cause
  }
  return built
}
