/** Limits of waits for locks are set on the coordinator's session; it is servers of shards that wait. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from '../../runtime/database/errors.ts'
import { createPool, type MeasuredPool } from '../../runtime/database/pool/pool.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/programs.ts'

const TENANTS = ['one', 'two', 'three', 'four'] as const

/** For transactions there are 7: the first takes four, the second two, the third one; the fourth waits for its first. */
const POOL_SIZE = 12

// Who waits for a lock for longer than that waits for ever.
vi.setConfig({ testTimeout: 30_000 })

let db: TestDatabase
let pool: MeasuredPool
/** Somebody else's session. */
let holder: pg.Client

beforeAll(async () => {
  db = await openTestDatabase()
  holder = new pg.Client({ connectionString: db.url })
  await holder.connect()
})
afterAll(async () => {
  await holder.end()
  await db.close()
})
beforeEach(async () => {
  const connection = () => ({ connectionString: db.url })
  pool = createPool({
    connection,
    max: POOL_SIZE,
    prepared: true,
    applicationName: 'waiters',
    distributed: true,
  })
  await holder.query('DELETE FROM sandbox.event_heads')
  for (const tenant of [...TENANTS, 'fifth']) {
    await holder.query('INSERT INTO sandbox.event_heads VALUES ($1, 0)', [tenant])
  }
})
afterEach(() => pool.end())

const COUNT = {
  text: 'UPDATE sandbox.event_heads SET sequence = sequence + 1 WHERE tenant_id = $1 RETURNING sequence',
}
const count = async (tx: Database, tenant: string) =>
  (await tx.query<{ sequence: number }>(COUNT, [tenant])).rows[0]!.sequence

/** Works while somebody else has the rows of all tenants that want them. */
async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  await holder.query('BEGIN')
  for (const tenant of TENANTS) {
    await holder.query('SELECT FROM sandbox.event_heads WHERE tenant_id = $1 FOR UPDATE', [tenant])
  }
  try {
    return await work()
  } finally {
    await holder.query('ROLLBACK')
  }
}

/** Waits that were given up. */
interface Wait {
  readonly tenant: string
  readonly code: string | undefined
  readonly ms: number
}

/** Counts for the tenant in a transaction; adds the waits to the list. */
const countFor = (tenant: string, waits: Wait[]) =>
  pool.forTenant(tenant).transaction(async (tx) => {
    const began = performance.now()
    try {
      return await count(tx, tenant)
    } catch (error) {
      waits.push({ tenant, code: codeOf(error), ms: performance.now() - began })
      throw error
    }
  })

describe('a row that somebody else has', () => {
  test('a row that another transaction holds is waited for briefly on the last connections, by who queues up again and holds up nobody', async ({
    task,
  }) => {
    const waits: Wait[] = []
    const { counting, seen } = await whileHeld(async () => {
      let ended = 0
      const counting = TENANTS.flatMap((tenant) =>
        Array.from({ length: 16 }, () => countFor(tenant, waits).finally(() => (ended += 1))),
      )
      await until('all connections to be in use', async () => pool.load().busy === 7)
      await until('waits to be given up', async () => waits.length >= 3)
      const served: number[] = []
      for (let n = 0; n < 5; n++) served.push(await countFor('fifth', waits))
      return { counting, seen: { served, ended } }
    })
    // None of the others had ended, neither with its row nor for want of it.
    expect(seen).toEqual({ served: [1, 2, 3, 4, 5], ended: 0 })
    const counted = await Promise.all(counting)
    const each = Array.from({ length: 16 }, (_, index) => index + 1)
    for (const [index] of TENANTS.entries()) {
      expect(counted.slice(index * 16, index * 16 + 16).toSorted((a, b) => a - b)).toEqual(each)
    }
    expect(new Set(waits.map(({ code }) => code))).toEqual(new Set([LOCK_NOT_AVAILABLE]))
    const longest = Math.max(...waits.map(({ ms }) => ms))
    expect(Math.min(...waits.map(({ ms }) => ms))).toBeGreaterThan(240)
    expect(longest).toBeLessThan(2500) // half of what the other connections wait
    task.meta.found = [
      `${waits.length} waits for a row of a shard given up after ${Math.min(...waits.map(({ ms }) => Math.round(ms)))} to ${Math.round(longest)} ms, set to 250`,
    ]
  })

  test('a row that another transaction holds is waited for five seconds on any other', async ({ task }) => {
    const waits: Wait[] = []
    await whileHeld(async () => {
      await expect(countFor('one', waits)).rejects.toMatchObject({ code: LOCK_NOT_AVAILABLE })
    })
    expect(waits).toHaveLength(1)
    expect(waits[0]!.ms).toBeGreaterThan(4900)
    expect(await countFor('one', waits)).toBe(1)
    task.meta.found = [`a wait given up after ${Math.round(waits[0]!.ms)} ms, set to 5000`]
  })
})
