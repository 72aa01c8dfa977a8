import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../../../database/errors.ts'

/**
 * Reads a file of development secrets, and creates it if it does not exist. If several processes start together, they
 * get the same content: the complete file is linked into place, which succeeds only once. Only the owner can read it.
 * Blocks.
 */
export function makeOnce(file: string, make: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, make(), { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return readFileSync(file, 'utf8')
}
