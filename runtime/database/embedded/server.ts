/**
 * The embedded server: one for each data directory, shared by all processes that use it. Each process holds a shared
 * advisory lock. A process that releases the server and then gets the lock exclusively is the last one, and stops the
 * server.
 */
import { mkdirSync, realpathSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../errors.ts'
import { clientConfig } from '../pool/connection.ts'
import { archiveInto } from './archive.ts'
import { type Cluster, openCluster, type StoredCluster } from './cluster.ts'
import { findPostmaster, type Postmaster, stopPostmaster, waitFor } from './postmaster.ts'
import { type ServerParameters, startPostmaster } from './start.ts'
import { withStartLock } from './start-lock.ts'

/** A running server that this process keeps from stopping. */
export interface EmbeddedServer {
  /** Connection options of the database owner. The port may change if the server was restarted. */
  connection(): pg.ClientConfig
  readonly pid: () => number
  /** Releases the server. The last process to do so stops it. */
  release(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  /** Receives unusual events as text for people. */
  readonly say: (line: string) => void
  readonly parameters?: ServerParameters
  /** Folder whose archive gets the server's WAL. Absent: nothing is archived. */
  readonly backupDir?: string | undefined
}

const HOLD = '5031846216450273'

/** Leaves time for a first start by a different process on a slow machine. */
const LOCK_TIMEOUT_MS = 180_000
const RELEASE_LOCK_TIMEOUT_MS = 15_000
const STOPPING_TIMEOUT_MS = 60_000
const MAX_PAUSE_MS = 5000

interface HeldServer {
  readonly cluster: Cluster
  readonly postmaster: Postmaster
  readonly holder: pg.Client
}

/** Returns the connection options of the database owner. */
export function connectionTo(
  { user, password, database }: StoredCluster,
  { port }: Postmaster,
): pg.ClientConfig {
  return { host: '127.0.0.1', port, user, password, database }
}

/**
 * Creates the data directory. If root creates it, the server's user must be able to enter it regardless of the umask.
 */
function makeDataDir(dataDir: string): string {
  const isRoot = process.getuid?.() === 0
  const umask = process.umask(0)
  try {
    mkdirSync(dataDir, { recursive: true, mode: isRoot ? 0o711 : 0o700 })
  } finally {
    process.umask(umask)
  }
  return realpathSync(dataDir)
}

/** Returns the running server once it is ready, or undefined if none runs. */
async function adopt(data: string): Promise<Postmaster | undefined> {
  const settled = await waitFor(STOPPING_TIMEOUT_MS, () => {
    const postmaster = findPostmaster(data)
    return postmaster && !postmaster.isReady ? undefined : { postmaster }
  })
  if (settled) return settled.postmaster
  throw new Error(
    `the PostgreSQL server on ${data} has been starting or stopping for ${STOPPING_TIMEOUT_MS / 1000} s: read postgres.log in the data directory`,
  )
}

/**
 * Finds or starts the server and takes the shared lock.
 *
 * @param preferred port; 0 for any.
 */
function takeHold(dataDir: string, options: EmbeddedOptions, preferred: number): Promise<HeldServer> {
  return withStartLock(dataDir, LOCK_TIMEOUT_MS, async () => {
    const cluster = await openCluster(dataDir, options.say)
    const running = await adopt(cluster.data)
    const start = () => {
      const archive = options.backupDir === undefined ? {} : archiveInto(options.backupDir, cluster.account)
      return startPostmaster(cluster, dataDir, preferred, { ...archive, ...options.parameters })
    }
    const postmaster = running ?? (await start())
    const holder = new pg.Client(clientConfig(connectionTo(cluster, postmaster), 'svc holder'))
    holder.on('error', () => {}) // the `end` event follows and is handled
    try {
      await holder.connect()
      await holder.query(`SELECT pg_advisory_lock_shared(${HOLD})`)
    } catch (error) {
      if (!running) await stopPostmaster(postmaster.pid, cluster.data)
      throw error
    }
    return { cluster, postmaster, holder }
  })
}

/** Releases the server under the start lock, so that no process adopts a server that is about to stop. */
function letGo(dataDir: string, { cluster, postmaster, holder }: HeldServer): Promise<void> {
  return withStartLock(dataDir, RELEASE_LOCK_TIMEOUT_MS, async () => {
    await holder.query(`SELECT pg_advisory_unlock_shared(${HOLD})`)
    const { rows } = await holder.query<{ last: boolean }>(`SELECT pg_try_advisory_lock(${HOLD}) AS last`)
    if (rows[0]?.last) await stopPostmaster(postmaster.pid, cluster.data)
  })
}

/**
 * Acquires the server of the data directory: adopts a running one, which a killed process may have left, or creates and
 * starts one. If the server dies, starts it again. Throws with the output of PostgreSQL if the server does not start.
 */
export async function acquireServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { say } = options
  const dataDir = makeDataDir(options.dataDir)
  const releasing = new AbortController()
  let recovering: Promise<void> | undefined
  const hold = async (preferred: number) => {
    const held = await takeHold(dataDir, options, preferred)
    held.holder.once('end', () => {
      if (!releasing.signal.aborted) recovering = recover()
    })
    return held
  }
  const recover = async () => {
    say('the connection to the embedded PostgreSQL was lost; reconnecting or restarting it')
    for (let pause = 100; !releasing.signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        held = await hold(held.postmaster.port)
        return
      } catch (error) {
        say(`the embedded PostgreSQL is still unavailable: ${messageOf(error)}`)
        await wait(pause, undefined, { signal: releasing.signal }).catch(() => {}) // released during the pause
      }
    }
  }
  let held = await hold(0)
  return {
    connection: () => connectionTo(held.cluster, held.postmaster),
    pid: () => held.postmaster.pid,
    release: async () => {
      releasing.abort()
      await recovering
      try {
        await letGo(dataDir, held)
      } catch (error) {
        say(`the embedded PostgreSQL could not be released and may still run: ${messageOf(error)}`)
      } finally {
        await held.holder.end()
      }
    },
  }
}
