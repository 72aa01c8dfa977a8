import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { UNIQUE_VIOLATION } from '../../runtime/database/errors.ts'
import { pipelined } from '../../runtime/database/pipelined.ts'
import { createPool } from '../../runtime/database/pool/pool.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { openGate } from '../support/gate.ts'
import { until } from '../support/programs.ts'

let db: TestDatabase

beforeAll(async () => {
  db = await openTestDatabase()
  await db.control.query({ text: 'CREATE TABLE control.notes (id int PRIMARY KEY, note text)' })
})

afterAll(() => db.close())

const INSERT = { name: 'note_insert', text: 'INSERT INTO control.notes (id, note) VALUES ($1, $2)' }
const BROKEN = { text: 'SELECT 1 / 0' }

async function notes(): Promise<readonly number[]> {
  const { rows } = await db.control.query<{ id: number }>({
    text: 'SELECT id FROM control.notes ORDER BY id',
  })
  return rows.map(({ id }) => id)
}

describe('values', () => {
  test('arrive as the types that handlers use', async () => {
    const { rows } = await db.control.query({
      text: `SELECT timestamptz '2026-05-19 12:34:56.789Z' AS instant, timestamptz '2026-05-19 12:34:56.7+02' AS other,
               timestamptz 'infinity' AS never, 9007199254740991::int8 AS big, 1.50::numeric AS number,
               date '2026-05-19' AS day, '{"a":[1]}'::jsonb AS json, ARRAY['x','y'] AS list, null AS nothing`,
    })
    expect(rows).toEqual([
      {
        instant: Date.parse('2026-05-19T12:34:56.789Z'),
        other: Date.parse('2026-05-19T10:34:56.700Z'),
        never: Number.POSITIVE_INFINITY,
        big: Number.MAX_SAFE_INTEGER,
        number: '1.50',
        day: '2026-05-19',
        json: { a: [1] },
        list: ['x', 'y'],
        nothing: null,
      },
    ])
  })

  test('values that cannot be sent fail their statement and nothing else', async () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    await expect(db.control.query({ text: 'SELECT $1::json' }, [circular])).rejects.toThrow(/circular/i)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => db.control.query({ text: 'SELECT $1::int AS n' }, [index])),
    )
    expect(answers.map(({ rows }) => rows[0]?.n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('values of other zones are read right', async () => {
    await db.control.transaction(async (tx) => {
      await tx.query({ text: `SET LOCAL timezone = 'Asia/Kolkata'` })
      const { rows } = await tx.query({ text: `SELECT timestamptz '2026-05-19 12:00:00.25Z' AS at` })
      expect(rows[0]?.at).toBe(Date.parse('2026-05-19T12:00:00.250Z'))
    })
  })
})

describe('single statements', () => {
  test('single statements do not wait behind slow ones', async () => {
    const watcher = createPool({
      connection: () => ({ connectionString: db.url }),
      max: 2,
      prepared: true,
      applicationName: 'watcher',
    })
    let waited = false
    const held = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = watcher.transaction(async (tx) => {
      await tx.query({ text: 'SELECT pg_advisory_xact_lock(1)' })
      held.resolve()
      await release.promise
    })
    await held.promise
    const slow = Promise.all(
      [1, 2, 3].map(() => db.control.query({ text: 'SELECT pg_advisory_xact_lock(1)' })),
    ).then(() => {
      waited = true
    })
    await until('the slow ones to be under way', async () => {
      const { rows } = await watcher.query<{ n: number }>({
        text: `SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event = 'advisory'
                 AND datname = current_database() AND clock_timestamp() - query_start > interval '50 ms'`,
      })
      return rows[0]?.n === 1 // all on the one shared connection of a small pool
    })
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    const answered: unknown[] = []
    const quick = Promise.all(
      numbers.map(async (n) => {
        const { rows } = await db.control.query({ text: 'SELECT $1::int AS n' }, [n])
        answered.push(rows[0]?.n)
      }),
    )
    try {
      await until('the quick ones to be answered', () => answered.length === numbers.length)
      expect(answered.toSorted((one, other) => Number(one) - Number(other))).toEqual(numbers)
      expect(waited).toBe(false)
    } finally {
      release.resolve()
      await Promise.all([holding, slow, quick])
      await watcher.end()
    }
  })

  test('single statements that may take long have a connection of their own', async () => {
    let slept = false
    const slow = db.control.query({ text: 'SELECT pg_sleep(1)', long: true }).then(() => {
      slept = true
    })
    await Promise.all(Array.from({ length: 20 }, () => db.control.query({ text: 'SELECT 1' })))
    expect(slept).toBe(false)
    await slow
  })

  test('single statements of one tenant are never before those of another, however many they are', async () => {
    const connection = () => ({ connectionString: db.url })
    const pool = createPool({ connection, max: 6, prepared: true, applicationName: 'two tenants' })
    const wait = { text: 'SELECT pg_advisory_xact_lock_shared(77)' }
    const blocked = await db.control.transaction(async (tx) => {
      await tx.query({ text: 'SELECT pg_advisory_xact_lock(77)' })
      const blocked = Promise.all(Array.from({ length: 40 }, () => pool.forTenant('one').query(wait)))
      // At once: before it could show that the first ones are slow.
      const quick = Array.from({ length: 5 }, (_, n) =>
        pool.forTenant('other').query({ text: 'SELECT $1::int AS n' }, [n]),
      )
      expect((await Promise.all(quick)).map(({ rows }) => rows[0]?.n)).toEqual([0, 1, 2, 3, 4])
      return { blocked }
    })
    expect(await blocked.blocked).toHaveLength(40)
    await pool.end()
  })

  test('fail alone: their neighbours on the same connection do not notice', async () => {
    const work = Array.from({ length: 30 }, (_, n) =>
      db.control.query(
        n % 3 === 0 ? BROKEN : { name: 'half', text: 'SELECT $1::int / 2 AS n' },
        n % 3 === 0 ? undefined : [n],
      ),
    )
    const outcomes = await Promise.allSettled(work)
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.rows[0]?.n : 'failed')),
    ).toEqual(Array.from({ length: 30 }, (_, n) => (n % 3 === 0 ? 'failed' : Math.floor(n / 2))))
  })

  test('single statements are refused after the end of their pool, which waits for those under way', async () => {
    const connection = () => ({ connectionString: db.url })
    const pool = createPool({ connection, max: 4, prepared: true, applicationName: 'ending' })
    const work = Promise.all(Array.from({ length: 10 }, () => pool.query({ text: 'SELECT pg_sleep(0.05)' })))
    await pool.end()
    expect(await work).toHaveLength(10)
    await expect(pool.query({ text: 'SELECT 1' })).rejects.toThrow(/after its pool had ended/)
  })
})

describe('a transaction', () => {
  test('commits what it returns', async () => {
    const value = await db.control.transaction(async (tx) => {
      const { count } = await tx.query(INSERT, [1, 'one'])
      return count
    })
    expect(value).toBe(1)
    expect(await notes()).toContain(1)
  })

  test('rolls back when its work throws', async () => {
    const failure = new Error('changed my mind')
    const work = db.control.transaction(async (tx) => {
      await tx.query(INSERT, [2, 'two'])
      throw failure
    })
    await expect(work).rejects.toBe(failure)
    expect(await notes()).not.toContain(2)
  })

  const failing: readonly [string, (tx: Database) => Promise<unknown>][] = [
    [
      'awaits everything together',
      (tx) => Promise.all([tx.query(INSERT, [3, '']), tx.query(BROKEN), tx.query(INSERT, [4, ''])]),
    ],
    [
      'awaits a later statement first',
      async (tx) => {
        const first = tx.query(BROKEN)
        await tx.query(INSERT, [3, ''])
        await first
      },
    ],
    [
      'awaits nothing',
      async (tx) => {
        pipelined(tx.query(BROKEN))
        pipelined(tx.query(INSERT, [3, '']))
      },
    ],
    [
      'swallows the failure',
      async (tx) => {
        await tx.query(BROKEN).catch(() => {})
      },
    ],
    [
      'goes on after the failure',
      async (tx) => {
        await tx.query(BROKEN).catch(() => {})
        await tx.query(INSERT, [3, ''])
      },
    ],
  ]

  test.each(failing)('a transaction reports the first failure when its work %s', async (_, work) => {
    await expect(db.control.transaction(work)).rejects.toMatchObject({
      code: '22012',
      message: 'division by zero',
    })
    expect(await notes()).not.toContain(3)
    expect(await db.control.query({ text: 'SELECT 1 AS one' })).toEqual({ rows: [{ one: 1 }], count: 1 })
  })

  test('a transaction lets its work check a failure and throw something better', async () => {
    await db.control.transaction((tx) => tx.query(INSERT, [5, '']))
    const better = new Error('taken')
    const work = db.control.transaction(async (tx) => {
      await tx.query(INSERT, [5, '']).catch((error) => {
        if (error.code === UNIQUE_VIOLATION) throw better
        throw error
      })
    })
    await expect(work).rejects.toBe(better)
  })

  test('a transaction refuses statements after its end', async () => {
    let leaked: Database | undefined
    await db.control.transaction(async (tx) => {
      leaked = tx
    })
    await expect(leaked?.query({ text: 'SELECT 1' })).rejects.toThrow(/after its transaction had ended/)
  })

  test('a transaction sees nothing of another that is not committed', async () => {
    await db.control.transaction(async (tx) => {
      await tx.query(INSERT, [6, ''])
      expect(await notes()).not.toContain(6)
    })
    expect(await notes()).toContain(6)
  })

  test('a transaction sends BEGIN and its statements without waiting for answers', async () => {
    const gate = await openGate(db.url)
    const pool = createPool({
      connection: () => ({ connectionString: gate.url }),
      max: 1,
      prepared: true,
      applicationName: 'pipelined',
    })
    await pool.transaction((tx) => tx.query({ text: 'SELECT 1' })) // is connected
    gate.close()
    const work = pool.transaction((tx) =>
      Promise.all(['one', 'two', 'three'].map((word) => tx.query({ text: `SELECT '${word}' AS word` }))),
    )
    await gate.seen('three')
    gate.open()
    expect((await work).map(({ rows }) => rows[0]?.word)).toEqual(['one', 'two', 'three'])
    await pool.end()
    gate.end()
  })
})
