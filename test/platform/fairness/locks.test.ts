/** Tenants that wait for locks, however many they are, never take the last connections. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, type MeasuredPool } from '../../../runtime/database/pool/pool.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/programs.ts'

const HOLDERS = ['one', 'two', 'three', 'four'] as const

/** For transactions there are 7: the first takes four, the second two, the third one; the fourth waits for its first. */
const POOL_SIZE = 12

let db: TestDatabase
let pool: MeasuredPool

beforeAll(async () => {
  db = await openTestDatabase()
  const connection = () => ({ connectionString: db.url })
  pool = createPool({ connection, max: POOL_SIZE, prepared: true, applicationName: 'holders' })
})
afterAll(async () => {
  await pool.end()
  await db.close()
})

const LOCK = { text: 'SELECT pg_advisory_xact_lock(hashtext($1))' }

/** Works while somebody holds the locks of all tenants that want them. */
const whileHeld = <T>(work: () => Promise<T>): Promise<T> =>
  db.control.transaction(async (tx) => {
    for (const tenant of HOLDERS) await tx.query(LOCK, [tenant])
    return work()
  })

const wantLock = (tenant: string) => pool.forTenant(tenant).transaction((tx) => tx.query(LOCK, [tenant]))

test('four tenants that wait for locks hold up a fifth for a moment only', async () => {
  const { waiting, seen } = await whileHeld(async () => {
    let ended = 0
    const waiting = HOLDERS.flatMap((tenant) =>
      Array.from({ length: 16 }, () => wantLock(tenant).finally(() => (ended += 1))),
    )
    await until('all connections to be in use', async () => pool.load().busy === 7)
    const served: number[] = []
    for (let n = 0; n < 5; n++) {
      const { rows } = await pool
        .forTenant('fifth')
        .transaction((tx) => tx.query<{ n: number }>({ text: 'SELECT $1::int AS n' }, [n]))
      served.push(rows[0]!.n)
    }
    return { waiting, seen: { served, ended } }
  })
  // None of the others had ended, neither with its lock nor for want of it: the fifth had no pause of theirs.
  expect(seen).toEqual({ served: [0, 1, 2, 3, 4], ended: 0 })
  // And none of them has lost anything by it.
  expect(await Promise.all(waiting)).toHaveLength(64)
})

test('the work on one of the last connections is done once, however often it was begun', async () => {
  await db.control.query({ text: 'CREATE TABLE done (tenant text)' })
  const insert = (tenant: string) =>
    pool.forTenant(tenant).transaction(async (tx) => {
      await tx.query({ text: 'INSERT INTO done VALUES ($1)' }, [tenant])
      begun += 1
      await tx.query(LOCK, [tenant])
    })
  let begun = 0
  const works = await whileHeld(async () => {
    const works = HOLDERS.flatMap((tenant) => [insert(tenant), insert(tenant)])
    await until('one to have begun again', async () => begun > works.length)
    return { works }
  })
  await Promise.all(works.works)
  const { rows } = await db.control.query({
    text: 'SELECT tenant, count(*)::int AS count FROM done GROUP BY 1',
  })
  expect(rows).toHaveLength(HOLDERS.length)
  for (const row of rows) expect(row).toMatchObject({ count: 2 })
})
