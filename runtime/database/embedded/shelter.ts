import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * Directory in which root keeps files for the unprivileged server if the project is below an inaccessible directory,
 * such as root's home. Only root can write to its parent, so no other user can create it first.
 */
const SHELTER = '/var/lib/dateline'

function shelter(): string {
  try {
    mkdirSync(SHELTER, { recursive: true })
    chmodSync(SHELTER, 0o755) // regardless of the umask
    return SHELTER
  } catch (cause) {
    const words = `the embedded PostgreSQL cannot reach the data directory or its programs, and ${SHELTER} cannot be used instead`
    throw new Error(`${words}: set DATA_DIR to a directory that other users can enter, or set DATABASE_URL`, {
      cause,
    })
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** Returns a new path for the data of a data directory. The name begins with a hash of that directory. */
export function shelterForData(dataDir: string): string {
  return join(shelter(), `${shortHash(realpathSync(dataDir))}-${randomBytes(4).toString('hex')}`)
}

/** Files of the package that the server does not need. */
const LEFT_OUT = /\.a$|\/pgxs$|\/pg_ctl$/

/**
 * Gives other users the owner's read and execute permissions, in case the package was installed under a strict umask.
 */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

/** Copies the server programs, once for each version. A rename publishes the copy, so a partial copy is never used. */
export function shelterPrograms(native: string, version: string): { copy: string; made: boolean } {
  const copy = join(shelter(), `postgres-${version}-${shortHash(native)}`)
  if (existsSync(copy)) return { copy, made: false }
  const partial = `${copy}.${randomBytes(4).toString('hex')}`
  const filter = (source: string) => !LEFT_OUT.test(source)
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true, filter })
  openToAll(partial)
  renameSync(partial, copy)
  return { copy, made: true }
}
