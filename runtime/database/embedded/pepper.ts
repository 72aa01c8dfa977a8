import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'

/** Files of an embedded deployment that hold a secret. */
type SecretFile = 'pepper' | 'card-secret'

/**
 * Returns a secret of an embedded deployment from its file in the data directory (mode 0600), which the first start
 * creates. A hard link publishes the file atomically: if two starts race, one creates the secret for both.
 */
export function secretOf(dataDir: string, file: SecretFile): string {
  const path = join(dataDir, file)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return readFileSync(path, 'utf8').trim()
}
