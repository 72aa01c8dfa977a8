import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'

/**
 * Returns the pepper of an embedded deployment, `DATA_DIR/pepper` (mode 0600), which the first start creates. A hard
 * link publishes the file atomically: if two starts race, one creates the pepper for both.
 */
export function pepperOf(dataDir: string): string {
  const path = join(dataDir, 'pepper')
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
