/**
 * One wait for the disk for many transactions. 64 writes of one tenant at once end after 0.77 s instead of 1.19 s, with 15 % less CPU,
 * because the row that each of them locks is free before the disk is reached (`node test/bench/queries.ts --only "writes of"`).
 */
import pg from 'pg'
import type { Database, Statement } from '../database.ts'
import { DatabaseUnavailable, translateError } from '../errors.ts'
import { pipelined } from '../pipelined.ts'
import { clientConfig, isPooled, send } from './connection.ts'

/** One session on the server, as long as it lasts. */
export interface FlushSession {
  /**
   * Resolves when everything that was committed on the server before the call is as safe as its setting
   * `synchronous_commit` says, on disk and on standbys. Throws once the session is lost: what was committed since it began
   * may be lost too, and another session, of a server that has started anew, would not know.
   */
  flush(): Promise<void>
}

/**
 * Waits for the disk on behalf of all transactions of a pool. They are committed with `synchronous_commit` off, which gives
 * their locks and connections back at once, and then wait here, any number for one flush.
 */
export interface Flusher {
  /** Undefined while there is none: transactions then wait for the disk themselves, each in its COMMIT. */
  session(): FlushSession | undefined
  /** Ends after what is under way. */
  end(): Promise<void>
}

/**
 * A message that nobody reads: a transaction that writes no WAL would wait for nothing. Everything that was committed
 * before it stands before it in the WAL.
 */
const FLUSH: Statement = {
  name: 'wal_flush',
  text: `SELECT pg_logical_emit_message(true, 'dateline flush', '')`,
}

/** For a transaction that reads only: when it is committed durably, so is what it has seen. */
export function waitForFlush(db: Database): void {
  pipelined(db.query(FLUSH))
}

/** How soon a session is tried for again. */
const PAUSE_MS = 1000

/** After a flush comes a rest as long as it took, at most so long: where many commit, each flush is for more of them. */
const MAX_REST_MS = 2

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface OpenFlushSession extends FlushSession {
  /** Ends it; what waits is rejected. */
  end(): Promise<void>
}

/**
 * Connects when a session is first asked for, and again after it was lost. There is none behind a pooler, which leads a
 * session from one server to another unseen.
 *
 * @param lost called when it ends, for whatever reason.
 */
async function openSession(config: pg.ClientConfig, lost: () => void): Promise<OpenFlushSession | 'pooled'> {
  const client = new pg.Client(config)
  let waiting: Waiter[] = []
  let underWay = false
  let restUntil = 0
  let broken: Error | undefined

  const end = (error: Error) => {
    if (broken) return
    broken = error
    lost()
    for (const { reject } of waiting.splice(0)) reject(broken)
    client.end().catch(() => {}) // its connection is gone already
  }
  const flushAll = () => {
    const served = waiting
    waiting = []
    const began = performance.now()
    send(client, true, FLUSH, undefined, (outcome) => {
      underWay = false
      const now = performance.now()
      restUntil = now + Math.min(MAX_REST_MS, now - began)
      if (outcome instanceof Error) {
        const error = translateError(outcome)
        end(error)
        for (const { reject } of served) reject(error)
        return
      }
      for (const { resolve } of served) resolve()
      begin()
    })
  }
  const begin = () => {
    if (underWay || waiting.length === 0) return
    underWay = true
    const rest = restUntil - performance.now()
    if (rest > 0) setTimeout(flushAll, rest)
    else setImmediate(flushAll) // with the commits that are read in the same tick of the event loop
  }
  const flush = () =>
    new Promise<void>((resolve, reject) => {
      if (broken) throw broken
      waiting.push({ resolve, reject })
      begin()
    })

  client.on('error', () => {}) // `end` follows
  client.once('end', () => end(new DatabaseUnavailable('the connection was lost that waits for the disk')))
  await client.connect()
  if (await isPooled(client)) {
    await client.end()
    return 'pooled'
  }
  // Where that is not permitted, or not possible, it fails before anything depends on it.
  await flush()
  return {
    flush,
    end: async () => {
      await flush().catch(() => {}) // it is lost
      end(new Error('a flush came after the end of its pool'))
    },
  }
}

export function createFlusher(connection: () => pg.ClientConfig, applicationName: string): Flusher {
  let current: OpenFlushSession | undefined
  let opening: Promise<void> | undefined
  let openAt = Number.NEGATIVE_INFINITY

  const open = async () => {
    try {
      const session = await openSession(clientConfig(connection(), applicationName), () => {
        current = undefined
        openAt = performance.now() + PAUSE_MS
      })
      if (session === 'pooled') openAt = Number.POSITIVE_INFINITY
      else current = session
    } catch {
      openAt = performance.now() + PAUSE_MS
    } finally {
      opening = undefined
    }
  }

  return {
    session() {
      if (!current && !opening && performance.now() >= openAt) opening = open()
      return current
    },
    async end() {
      openAt = Number.POSITIVE_INFINITY
      await opening
      await current?.end()
    },
  }
}
