import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'

/** Where root keeps what an unprivileged server has to reach when the project stands below a closed directory. */
const PLACES = [join('/var/lib', 'dateline'), join(tmpdir(), 'dateline')]

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** A directory that exists already is used only when nobody else can put anything there. */
function isOurs(directory: string): boolean {
  const found = lstatSync(directory)
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Finds or makes a directory that everybody can enter and only we can change. */
function shelter(): string {
  for (const place of PLACES) {
    try {
      mkdirSync(place)
      chmodSync(place, 0o755) // whatever the umask
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') continue
    }
    if (isOurs(place)) return place
  }
  throw new Error(
    `the embedded PostgreSQL cannot reach the data directory, and neither of ${PLACES.join(', ')} can be used instead: ` +
      'set DATA_DIR to a place that other users can enter',
  )
}

/** A new place for the data of a data directory; its name tells where it belongs. */
export function shelterForData(dataDir: string): string {
  return join(shelter(), `${shortHash(realpathSync(dataDir))}-${randomBytes(4).toString('hex')}`)
}

/** Parts of the package that the server does not need. */
const LEFT_OUT = /\.a$|\/pgxs$|\/pg_ctl$/

/** Lets everybody read and enter what its owner can, as a strict umask at installation had not. */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

/** Copies the server's programs, once for each version; a copy that was cut off is never taken for a whole one. */
export function shelterPrograms(native: string, version: string): { copy: string; made: boolean } {
  const target = join(shelter(), `postgres-${version}-${shortHash(native)}`)
  if (existsSync(target)) return { copy: target, made: false }
  const partial = `${target}.${randomBytes(4).toString('hex')}`
  cpSync(native, partial, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !LEFT_OUT.test(source),
  })
  openToAll(partial)
  try {
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(target)) throw error // otherwise another start was first
  }
  return { copy: target, made: true }
}
