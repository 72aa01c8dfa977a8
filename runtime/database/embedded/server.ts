/**
 * The embedded server: one for each data directory, shared by the processes that use it. Each of them holds a shared lock in
 * the database; the one that can take it exclusively is the last, and stops the server.
 */
import { mkdirSync, realpathSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../errors.ts'
import { clientConfig } from '../pool/connection.ts'
import { type Cluster, openCluster, type StoredCluster } from './cluster.ts'
import { findPostmaster, type Postmaster, stopPostmaster, waitFor } from './postmaster.ts'
import { type ServerParameters, startPostmaster } from './start.ts'
import { withStartLock } from './start-lock.ts'

/** A running server that this process holds on to. */
export interface EmbeddedServer {
  /** As the owner of the database. Changes if the server had to be started again on another port. */
  connection(): pg.ClientConfig
  readonly pid: () => number
  /** Releases it; the last process that does stops the server. */
  release(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  /** For people, about what is unusual. */
  readonly say: (line: string) => void
  readonly parameters?: ServerParameters
}

const HOLD = '5031846216450273'

/** Long enough for the first start by another process on a slow machine. */
const LOCK_TIMEOUT_MS = 180_000
const RELEASE_LOCK_TIMEOUT_MS = 15_000
const STOPPING_TIMEOUT_MS = 60_000
const MAX_PAUSE_MS = 5000

interface HeldServer {
  readonly cluster: Cluster
  readonly postmaster: Postmaster
  readonly holder: pg.Client
}

/** As the owner of the database. */
export function connectionTo(
  { user, password, database }: StoredCluster,
  { port }: Postmaster,
): pg.ClientConfig {
  return { host: '127.0.0.1', port, user, password, database }
}

/** Makes the data directory. If root does, the server's user has to pass through what is made, whatever the umask. */
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

/** The server that runs already, once it is ready; undefined if none does. */
async function adopt(data: string): Promise<Postmaster | undefined> {
  const settled = await waitFor(STOPPING_TIMEOUT_MS, () => {
    const postmaster = findPostmaster(data)
    return postmaster && !postmaster.isReady ? undefined : { postmaster }
  })
  if (settled) return settled.postmaster
  throw new Error(`the PostgreSQL on ${data} has been starting or stopping for ${STOPPING_TIMEOUT_MS} ms`)
}

/** Finds or starts the server and takes hold of it. @param preferred the port, 0 for any. */
function takeHold(dataDir: string, options: EmbeddedOptions, preferred: number): Promise<HeldServer> {
  return withStartLock(dataDir, LOCK_TIMEOUT_MS, async () => {
    const cluster = await openCluster(dataDir, options.say)
    const running = await adopt(cluster.data)
    const postmaster =
      running ?? (await startPostmaster(cluster, dataDir, preferred, options.parameters ?? {}))
    const holder = new pg.Client(clientConfig(connectionTo(cluster, postmaster), 'svc holder'))
    holder.on('error', () => {}) // `end` follows
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
 * Holds on to the server of the data directory: adopts one that another process started or that a killed one left, otherwise
 * starts one, and makes the database if there is none. If the server dies, it is started again. Throws if that
 * cannot be done, with what PostgreSQL said.
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
    say('the connection to the embedded PostgreSQL was lost; looking after it')
    for (let pause = 100; !releasing.signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        held = await hold(held.postmaster.port)
        return
      } catch (error) {
        say(`the embedded PostgreSQL does not come back: ${messageOf(error)}`)
        await wait(pause, undefined, { signal: releasing.signal }).catch(() => {}) // released meanwhile
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
        say(`the embedded PostgreSQL was left running: ${messageOf(error)}`)
      } finally {
        await held.holder.end()
      }
    },
  }
}
