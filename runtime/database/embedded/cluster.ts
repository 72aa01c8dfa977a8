import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../errors.ts'
import { asAccount, canEnter, type OsAccount, ownerOf, serverAccount } from './account.ts'
import { findPrograms, type ServerPrograms } from './programs.ts'
import { shelterForData } from './shelter.ts'

/** Content of `DATA_DIR/postgres/connection.json` (mode 0600). The port is in `postmaster.pid`. */
export interface StoredCluster {
  readonly user: string
  readonly password: string
  readonly database: string
  /**
   * PGDATA. The file stores it relative to its own folder, so that a data directory can be moved, or as an absolute
   * path if the data is outside.
   */
  readonly data: string
}

/** A database cluster on disk, with the account and programs that run it. */
export interface Cluster extends StoredCluster {
  readonly account: OsAccount | undefined
  readonly programs: ServerPrograms
}

const UNFINISHED = 'postgres-unfinished-'

const connectionFileOf = (home: string) => join(home, 'connection.json')

/**
 * Opens the cluster of the data directory, or creates one. The caller holds the start lock. Throws if the server cannot
 * use the data.
 */
export async function openCluster(dataDir: string, say: (line: string) => void): Promise<Cluster> {
  await removeUnfinished(dataDir)
  const stored = findCluster(dataDir) ?? (await createCluster(dataDir, say))
  const { data } = stored
  const account = ownerOf(data)
  const programs = findPrograms(account, say)
  const madeBy = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (madeBy !== programs.major) {
    throw new Error(
      `${data} was created by PostgreSQL ${madeBy}, but version ${programs.major} is installed: ` +
        'dump it with the old version and restore it, or use a different DATA_DIR',
    )
  }
  if (!canEnter(account, data)) {
    throw new Error(
      `the PostgreSQL user (uid ${account?.uid}) can no longer enter ${data}: ` +
        'open the directories above it to others (chmod o+x), or move DATA_DIR',
    )
  }
  return { ...stored, account, programs }
}

/** Returns the credentials and data directory of the cluster, or undefined if there is no cluster yet. */
export function findCluster(dataDir: string): StoredCluster | undefined {
  const home = join(dataDir, 'postgres')
  return existsSync(connectionFileOf(home)) ? readConnection(home) : undefined
}

function readConnection(home: string): StoredCluster {
  const path = connectionFileOf(home)
  try {
    const file: StoredCluster = JSON.parse(readFileSync(path, 'utf8'))
    return { ...file, data: resolve(home, file.data) }
  } catch (cause) {
    const words = `${path} cannot be read: start the service as the user who created this data directory`
    throw new Error(words, { cause })
  }
}

/**
 * Removes the remains of killed starts. The retries cover an initdb that outlived its parent and still writes for a
 * moment.
 */
async function removeUnfinished(dataDir: string): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith(UNFINISHED))) {
    const home = join(dataDir, name)
    if (existsSync(connectionFileOf(home))) await remove(dirname(readConnection(home).data))
    await remove(home)
  }
}

/**
 * Creates the cluster in a temporary directory and renames it at the end, so that a kill never leaves a partial
 * cluster.
 */
async function createCluster(dataDir: string, say: (line: string) => void): Promise<StoredCluster> {
  const account = serverAccount()
  const unfinished = mkdtempSync(join(dataDir, UNFINISHED))
  const isReachable = canEnter(account, dataDir)
  const place = isReachable ? unfinished : shelterForData(dataDir)
  if (!isReachable) say(`the PostgreSQL user cannot enter ${dataDir}; keeping the database in ${place}`)
  const password = randomBytes(24).toString('base64url')
  const data = isReachable ? 'data' : join(place, 'data')
  const file: StoredCluster = { user: 'postgres', password, database: 'postgres', data }
  writeFileSync(connectionFileOf(unfinished), `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 })
  await initdb(findPrograms(account, say).initdb, account, place, password)
  const home = join(dataDir, 'postgres')
  renameSync(unfinished, home)
  return readConnection(home)
}

const INITDB_TIMEOUT_MS = 120_000

const INITDB_OPTIONS = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // A fixed collation, independent of the machine's locale and C library.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--no-instructions',
]

/** Creates PGDATA in `<place>/data`, owned by the account, which needs access to `place`. */
async function initdb(
  program: string,
  account: OsAccount | undefined,
  place: string,
  password: string,
): Promise<void> {
  const data = join(place, 'data')
  const passwordFile = join(place, 'password')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account) {
    chmodSync(place, 0o711)
    for (const path of [data, passwordFile]) chownSync(path, account.uid, account.gid)
  }
  const words = [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...INITDB_OPTIONS]
  try {
    await promisify(execFile)(program, words, { ...asAccount(account), env: {}, timeout: INITDB_TIMEOUT_MS })
  } catch (cause) {
    throw new Error(`initdb could not create the embedded PostgreSQL in ${data}: ${messageOf(cause)}`, {
      cause,
    })
  }
  rmSync(passwordFile)
}
