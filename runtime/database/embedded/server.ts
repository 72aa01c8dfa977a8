import { realpathSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../errors.ts'
import { clientConfig } from '../pool/connection.ts'
import { type Cluster, makeDataDir, openCluster } from './cluster.ts'
import { findPostmaster, type Postmaster, stopPostmaster, waitFor } from './postmaster.ts'
import { type ServerParameters, startPostmaster } from './start.ts'
import { withStartLock } from './start-lock.ts'

/** A running server that this process holds on to. */
export interface EmbeddedServer {
  /** As the owner of the database. Changes when the server had to be started again elsewhere. */
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

/** Held shared by every process that uses the server, so that the process that gets it exclusively is the last. */
const HOLD = '5031846216450273'

/** Long enough for the first start by another process on a slow machine. */
const LOCK_TIMEOUT_MS = 180_000
const RELEASE_LOCK_TIMEOUT_MS = 15_000
const STOPPING_TIMEOUT_MS = 60_000
const MAX_PAUSE_MS = 5000

interface HeldCluster {
  readonly cluster: Cluster
  readonly postmaster: Postmaster
  readonly holder: pg.Client
}

/** As the owner of the database. */
export function connectionTo(
  cluster: Pick<Cluster, 'user' | 'password' | 'database'>,
  postmaster: Postmaster,
): pg.ClientConfig {
  return {
    host: '127.0.0.1',
    port: postmaster.port,
    user: cluster.user,
    password: cluster.password,
    database: cluster.database,
  }
}

/** The server that runs already, once it is ready; undefined when it is none or on its way out. */
async function adopt(cluster: Cluster): Promise<Postmaster | undefined> {
  const settled = await waitFor(STOPPING_TIMEOUT_MS, () => {
    const postmaster = findPostmaster(cluster.data)
    if (postmaster === undefined) return 'none'
    return postmaster.status === 'ready' ? postmaster : undefined
  })
  if (settled === undefined)
    throw new Error(`the PostgreSQL on ${cluster.data} has been starting or stopping for too long`)
  return settled === 'none' ? undefined : settled
}

/** Finds or starts the server and takes hold of it, alone under the start lock. */
function takeHold(options: EmbeddedOptions, preferred: number): Promise<HeldCluster> {
  const dataDir = realpathSync(options.dataDir)
  return withStartLock(dataDir, LOCK_TIMEOUT_MS, async () => {
    const cluster = await openCluster(dataDir, options.say)
    const running = await adopt(cluster)
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
async function letGo({ cluster, postmaster, holder }: HeldCluster, dataDir: string): Promise<void> {
  await withStartLock(dataDir, RELEASE_LOCK_TIMEOUT_MS, async () => {
    await holder.query(`SELECT pg_advisory_unlock_shared(${HOLD})`)
    const { rows } = await holder.query<{ last: boolean }>(`SELECT pg_try_advisory_lock(${HOLD}) AS last`)
    if (rows[0]?.last) await stopPostmaster(postmaster.pid, cluster.data)
  })
}

/**
 * Makes sure that a server runs on the data directory and holds on to it: adopts one that another process started or
 * that a killed one left, starts one otherwise, makes the database when there is none. Should the server die, it is
 * started again. Throws when that cannot be done, with what PostgreSQL said.
 */
export async function acquireServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  makeDataDir(options.dataDir)
  const dataDir = realpathSync(options.dataDir)
  const releasing = new AbortController()
  let held = await takeHold(options, 0)
  const watch = () => {
    held.holder.once('end', () => {
      if (!releasing.signal.aborted) recovering = recover()
    })
  }
  const recover = async () => {
    options.say('the connection to the embedded PostgreSQL was lost; looking after it')
    for (let pause = 100; !releasing.signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        held = await takeHold(options, held.postmaster.port)
        watch()
        return
      } catch (error) {
        options.say(`the embedded PostgreSQL does not come back: ${messageOf(error)}`)
        await wait(pause, undefined, { signal: releasing.signal }).catch(() => {}) // released meanwhile
      }
    }
  }
  let recovering: Promise<void> | undefined
  watch()
  return {
    connection: () => connectionTo(held.cluster, held.postmaster),
    pid: () => held.postmaster.pid,
    release: async () => {
      releasing.abort()
      await recovering
      try {
        await letGo(held, dataDir)
      } catch (error) {
        options.say(`the embedded PostgreSQL was left running: ${messageOf(error)}`)
      } finally {
        await held.holder.end()
      }
    },
  }
}
