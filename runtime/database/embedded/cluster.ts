import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { codeOf } from '../errors.ts'
import { canEnter, type OsAccount, ownerOf, serverAccount } from './account.ts'
import { initdb } from './initdb.ts'
import { waitFor } from './postmaster.ts'
import { findPrograms, type Programs } from './programs.ts'
import { shelterForData } from './shelter.ts'

/** A database cluster on disk and what it takes to run it. */
export interface Cluster {
  /** PGDATA, absolute. */
  readonly data: string
  readonly user: string
  readonly password: string
  readonly database: string
  readonly account: OsAccount | undefined
  readonly programs: Programs
}

/** What `DATA_DIR/postgres/connection.json` (mode 0600) holds; the port stands in `postmaster.pid`. */
interface ConnectionFile {
  readonly user: string
  readonly password: string
  readonly database: string
  /** Relative to the file, so that a data directory can be moved; absolute where the data had to go elsewhere. */
  readonly data: string
}

const CLUSTER = 'postgres'
const UNFINISHED = 'postgres-unfinished-'
const CONNECTION = 'connection.json'

/** Makes the data directory. When we are root the server's user has to pass through what is made, whatever the umask. */
export function makeDataDir(dataDir: string): void {
  const isRoot = process.getuid?.() === 0
  const first = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (first === undefined || !isRoot) return
  for (let made = resolve(dataDir); made.length >= resolve(first).length; made = dirname(made)) {
    chmodSync(made, 0o711)
  }
}

/** Opens the cluster of the data directory, making it first when there is none. Belongs under the start lock. */
export async function openCluster(dataDir: string, say: (line: string) => void): Promise<Cluster> {
  const home = join(dataDir, CLUSTER)
  await removeUnfinished(dataDir)
  if (!existsSync(join(home, CONNECTION))) await createCluster(dataDir, home, say)
  const file = readConnection(home)
  const data = isAbsolute(file.data) ? file.data : join(home, file.data)
  const account = accountOf(data)
  const programs = findPrograms(account, say)
  checkVersion(data, programs)
  if (!canEnter(account, data)) {
    throw new Error(
      `PostgreSQL's user (uid ${account?.uid}) can no longer enter ${data}: ` +
        'open the directories above it to others (chmod o+x), or move DATA_DIR',
    )
  }
  return { ...file, data, account, programs }
}

/** How to sign in to the cluster of a data directory, and where its data is; undefined when it has none yet. */
export function findCluster(dataDir: string): Omit<Cluster, 'account' | 'programs'> | undefined {
  const home = join(dataDir, CLUSTER)
  if (!existsSync(join(home, CONNECTION))) return undefined
  const file = readConnection(home)
  return { ...file, data: isAbsolute(file.data) ? file.data : join(home, file.data) }
}

function readConnection(home: string): ConnectionFile {
  const path = join(home, CONNECTION)
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new Error(`${path} cannot be read: only the user who made it may use this data directory`, {
      cause,
    })
  }
}

function accountOf(data: string): OsAccount | undefined {
  try {
    return ownerOf(data)
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause
    throw new Error(`${data} is gone: bring it back, or remove the data directory to start afresh`, { cause })
  }
}

function checkVersion(data: string, programs: Programs): void {
  const made = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (made === programs.major) return
  throw new Error(
    `${data} was made by PostgreSQL ${made}, the installed one is ${programs.major}: ` +
      'dump it with the old version and restore it, or use another DATA_DIR',
  )
}

const REMOVE_TIMEOUT_MS = 10_000

/** Removes a directory in which a program that outlived its parent may still be writing for a moment. */
async function removeDirectory(path: string): Promise<void> {
  const gone = await waitFor(REMOVE_TIMEOUT_MS, () => {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY') throw error
    }
    return existsSync(path) ? undefined : true
  })
  if (!gone) throw new Error(`${path} is left of a killed start and cannot be removed: remove it by hand`)
}

/** What killed starts left behind. We hold the start lock, so nobody of ours is working there. */
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith(UNFINISHED))) {
    const home = join(dataDir, name)
    if (existsSync(join(home, CONNECTION))) {
      const { data } = readConnection(home)
      if (isAbsolute(data)) await removeDirectory(dirname(data))
    }
    await removeDirectory(home)
  }
}

/** initdb into a directory of another name, then one rename: a kill at any moment leaves all or nothing. */
async function createCluster(dataDir: string, home: string, say: (line: string) => void): Promise<void> {
  const account = serverAccount()
  const programs = findPrograms(account, say)
  const unfinished = mkdtempSync(join(dataDir, UNFINISHED))
  const outside = canEnter(account, dataDir) ? undefined : shelterForData(dataDir)
  if (outside) {
    mkdirSync(outside, { mode: 0o711 })
    say(`PostgreSQL's user cannot enter ${dataDir}; keeping the database in ${outside}`)
  }
  const password = randomBytes(24).toString('base64url')
  const file: ConnectionFile = {
    user: 'postgres',
    password,
    database: 'postgres',
    data: outside ? join(outside, 'data') : 'data',
  }
  writeFileSync(join(unfinished, CONNECTION), `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 })
  await initdb(programs, account, outside ?? unfinished, password)
  renameSync(unfinished, home)
}
