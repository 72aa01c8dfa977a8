/** What a transaction has written and read is on disk when it is over, whoever waits for that. */

import { Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import { pipelined } from '../../runtime/database/pipelined.ts'
import {
  createFlusher,
  type Flusher,
  type FlushSession,
  waitForFlush,
} from '../../runtime/database/pool/flusher.ts'
import { createPool, type MeasuredPool } from '../../runtime/database/pool/pool.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/programs.ts'
import { administer } from '../support/server.ts'

let db: TestDatabase

beforeAll(async () => {
  db = await openTestDatabase()
  const name = new URL(db.url).pathname.slice(1)
  await administer(
    db.url,
    `ALTER DATABASE ${name} SET synchronous_commit = on`, // which the server of the tests has off
    'CREATE TABLE control.notes (id int PRIMARY KEY)',
  )
})
afterAll(() => db.close())

const connection = () => ({ connectionString: db.url })

const sessionOf = (flusher: Flusher): Promise<FlushSession> => until('a session', () => flusher.session())

async function one<T>(database: Database, text: string, values: readonly unknown[] = []): Promise<T> {
  return (await database.query<{ value: T }>({ text }, values)).rows[0]!.value
}

describe('a session', () => {
  /** A session that does something whenever a flush is sent: pg gathers the messages of each statement. */
  const watched = async (name: string) => {
    const watch = { sent: (_socket: Socket) => {} }
    class Watched extends Socket {
      override cork(): void {
        watch.sent(this)
        super.cork()
      }
    }
    const flusher = createFlusher(() => ({ ...connection(), stream: () => new Watched() }), name)
    return { flusher, session: await sessionOf(flusher), watch }
  }

  test('a flushing session waits once for all that ask together, and once more for those that ask meanwhile', async () => {
    const { flusher, session, watch } = await watched('counted')
    let flushes = 0
    let meanwhile: Promise<unknown> | undefined
    watch.sent = () => {
      flushes += 1
      // What is committed now may come behind the flush that is sent.
      meanwhile ??= Promise.all([1, 2, 3].map(() => session.flush()))
    }
    await Promise.all(Array.from({ length: 50 }, () => session.flush()))
    await meanwhile
    expect(flushes).toBe(2)
    await flusher.end()
  })

  test('a flushing session that is lost fails those whose flush is under way, and those who wait for the next', async () => {
    const { flusher, session, watch } = await watched('cut')
    const next = new Promise<PromiseSettledResult<void>[]>((resolve) => {
      watch.sent = (socket) => {
        watch.sent = () => {}
        resolve(Promise.allSettled([session.flush()]))
        socket.destroy()
      }
    })
    const outcomes = [...(await Promise.allSettled([session.flush()])), ...(await next)]
    const lost = { status: 'rejected', reason: expect.any(DatabaseUnavailable) }
    expect(outcomes).toEqual([lost, lost])
    await flusher.end()
  })

  test('a flushing session that is lost fails every waiting commit, and is replaced', async () => {
    const flusher = createFlusher(connection, 'to be lost')
    const session = await sessionOf(flusher)
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to be lost'`
    const waiting = session.flush() // sent in a later turn
    const [outcome] = await Promise.allSettled([waiting, db.control.query({ text: cut })])
    await until('the loss to be noticed', () => flusher.session() !== session)
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(DatabaseUnavailable)
    await expect(session.flush()).rejects.toBeInstanceOf(DatabaseUnavailable)
    const next = await sessionOf(flusher)
    expect(next).not.toBe(session)
    await next.flush()
    await flusher.end()
    await expect(next.flush()).rejects.toThrow(/after the pool had ended/)
  })

  test('a flushing session is not offered to a role that may not write', async () => {
    const refused = createFlusher(
      () => ({ ...connection(), options: '-c default_transaction_read_only=on' }),
      'read only',
    )
    refused.session()
    const seen = async () =>
      one<number>(
        db.control,
        `SELECT count(*) AS value FROM pg_stat_activity WHERE application_name = 'read only'`,
      )
    await until('it to have come and gone', async () => {
      expect(refused.session()).toBeUndefined()
      return (await seen()) === 0
    })
    await refused.end()
  })
})

/** How far the WAL stands on disk, as the server counts. */
const isFlushed = (lsn: string) =>
  one<boolean>(db.control, 'SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn AS value', [lsn])

const INSERT = { text: 'INSERT INTO control.notes VALUES ($1)' }
const WRITTEN = 'SELECT pg_current_wal_insert_lsn()::text AS value'

describe.each([
  ['that wait together', true],
  ['that wait each for itself', false],
])('transactions %s', (_, flushTogether) => {
  let pool: MeasuredPool
  let id = flushTogether ? 0 : 1000

  beforeAll(async () => {
    pool = createPool({ connection, max: 6, prepared: true, applicationName: 'flushing', flushTogether })
    if (!flushTogether) return
    await until('its session', async () => {
      const { flushed } = await pool.commitEarly((tx) => tx.query({ text: 'SELECT 1' }))
      await flushed()
      const text = `SELECT count(*) AS value FROM pg_stat_activity
                     WHERE application_name = 'flushing flush' AND query LIKE '%emit_message%' AND state = 'idle'`
      return (await one<number>(db.control, text)) === 1
    })
    await pool.transaction((tx) => tx.query({ text: 'SELECT 1' })) // by it
  })
  afterAll(() => pool.end())
  beforeEach(() => {
    id += 100
  })

  test('transactions are on disk when they are over', async () => {
    for (let each = 0; each < 20; each += 1) {
      const lsn = await pool.transaction(async (tx) => {
        await tx.query(INSERT, [id + each])
        return one<string>(tx, WRITTEN)
      })
      expect(await isFlushed(lsn)).toBe(true)
    }
  })

  /** A transaction of somebody else, who does not wait. */
  const writeSoon = async (note: number): Promise<string> => {
    await db.control.transaction(async (tx) => {
      pipelined(tx.query({ text: 'SET LOCAL synchronous_commit = off' }))
      pipelined(tx.query(INSERT, [note]))
    })
    return one<string>(db.control, WRITTEN)
  }
  const READ = { name: 'note_read', text: 'SELECT id FROM control.notes WHERE id = $1' }

  test('transactions that only read can wait for what they have seen, and so can single reads', async () => {
    for (let each = 0; each < 20; each += 2) {
      const first = await writeSoon(id + each)
      const { rows } = await pool.flushed.query(READ, [id + each])
      expect([rows.length, await isFlushed(first)]).toEqual([1, true])
      const second = await writeSoon(id + each + 1)
      await pool.transaction(async (tx) => {
        await tx.query(READ, [id + each + 1])
        waitForFlush(tx)
      })
      expect(await isFlushed(second)).toBe(true)
    }
  })
})
