/** The connection to PostgreSQL of the scheduler and of the checks. It does not wait for the scheduler. */
import pg from 'pg'
import type { Database, Statement } from '../../../runtime/database/database.ts'
import { real } from './globals.ts'

/** PostgreSQL looks for a deadlock this long after a wait began, so that the last one to wait is always the victim. */
export const DEADLOCK_MS = 2

/** Clients that do not wait for the scheduler. */
export const outsiders: WeakSet<pg.Client> = new WeakSet()

/** What the scheduler asks PostgreSQL about, on a connection of its own. */
export interface Watch {
  /** Connections among these that wait for a lock. With `settled`, only those that PostgreSQL has checked for a deadlock. */
  waiting(pids: readonly number[], settled: boolean): Promise<ReadonlySet<number>>
  cancel(pid: number): Promise<void>
  /** Ends connections, and waits until PostgreSQL has rolled back what they had open. */
  terminate(pids: readonly number[]): Promise<void>
  /**
   * Suspends the process of PostgreSQL that writes the log in the background, at moments that no seed decides. A commit
   * that does not wait is then written by the next one that does.
   */
  suspendLogWriter(): Promise<void>
  /** Lets PostgreSQL crash, and waits until it has recovered. It loses what it has not written to its log. */
  crash(): Promise<void>
  /** Sends statements that no machine sends. */
  readonly db: Database
  end(): Promise<void>
}

export async function openWatch(config: pg.ClientConfig): Promise<Watch> {
  let client = await openOutside(config)
  let logWriter: number | undefined
  const list = async (text: string, pids: readonly number[]) => {
    const { rows } = await client.query<{ pid: number }>(text, [pids])
    return new Set(rows.map(({ pid }) => pid))
  }
  return {
    db: {
      query: async <Row>({ text }: Statement, values: readonly unknown[] = []) => {
        const { rows, rowCount } = await client.query(text, [...values])
        return { rows: rows as Row[], count: rowCount ?? 0 }
      },
    },
    async end() {
      await client.end()
      if (logWriter !== undefined) process.kill(logWriter, 'SIGCONT')
    },
    waiting: (pids, settled) =>
      list(
        `SELECT pid FROM pg_locks WHERE NOT granted AND pid = ANY($1::int[])${
          settled ? ` AND waitstart < clock_timestamp() - interval '${3 * DEADLOCK_MS} ms'` : ''
        }`,
        pids,
      ),
    async cancel(pid) {
      await client.query('SELECT pg_cancel_backend($1)', [pid])
    },
    async terminate(pids) {
      await client.query('SELECT pg_terminate_backend(p) FROM unnest($1::int[]) AS p', [pids])
      while ((await list('SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[])', pids)).size > 0)
        await tick()
    },
    suspendLogWriter,
    async crash() {
      if (logWriter === undefined) throw new Error('PostgreSQL writes its log at any moment')
      const ended = new Promise((resolve) => client.once('end', resolve))
      // If a process of PostgreSQL is killed, all others end, and PostgreSQL recovers from its log.
      process.kill(logWriter, 'SIGKILL')
      await ended
      client = await reopenOutside(config)
      await suspendLogWriter()
    },
  }

  async function suspendLogWriter() {
    const text = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`
    for (logWriter = undefined; logWriter === undefined; await tick())
      logWriter = (await client.query<{ pid: number }>(text)).rows[0]?.pid
    process.kill(logWriter, 'SIGSTOP')
  }
}

const tick = () => new Promise((resolve) => real.setImmediate(resolve))

async function openOutside(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config)
  outsiders.add(client)
  client.on('error', () => {}) // the `end` event follows
  await client.connect()
  return client
}

/** In real time. */
const RECOVERY_MS = 60_000

/** Connects when PostgreSQL has recovered. Throws what it said last if it does not recover. */
async function reopenOutside(config: pg.ClientConfig): Promise<pg.Client> {
  for (const until = real.now() + RECOVERY_MS; ; ) {
    try {
      return await openOutside(config)
    } catch (error) {
      if (real.now() > until) throw error
      await new Promise((resolve) => real.setTimeout(resolve, 5))
    }
  }
}
