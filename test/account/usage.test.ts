/** What is counted in memory and kept in batches. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { showTenant } from '../../runtime/tenants/admin/show.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { showUsage } from '../../runtime/tenants/admin/usage.ts'
import { createUsageMeter } from '../../runtime/tenants/usage/meter.ts'
import { type DemoDatabase, openDemoDatabase } from '../support/database.ts'
import { endPrograms, startService } from '../support/programs.ts'

const DAY = 86_400_000
const NOON = Math.floor(Date.now() / DAY) * DAY + DAY / 2
const TODAY = new Date(NOON).toISOString().slice(0, 10)
const YESTERDAY = new Date(NOON - DAY).toISOString().slice(0, 10)

let db: DemoDatabase

beforeAll(async () => {
  db = await openDemoDatabase('2026-05-19')
})
afterEach(endPrograms)
afterAll(() => db.close())

const makeTenant = async () => (await createTenant(db.operator, { name: 'T' }, '2026-05-19')).id

const usageOf = async (tenantId: string, environment: 'sandbox' | 'live' = 'sandbox') =>
  (await showUsage(db.operator, { tenantId, environment, days: 3 })).usage

test('requests are counted by tenant, environment, bucket and day', async () => {
  const meter = createUsageMeter(db, db.clock)
  const [one, other] = [await makeTenant(), await makeTenant()]
  for (const [environment, tenantId, bucket, at] of [
    ['sandbox', one, 'read', NOON],
    ['sandbox', one, 'read', NOON + 1],
    ['sandbox', one, 'passes_write', NOON],
    ['sandbox', one, 'read', NOON - DAY],
    ['live', one, 'read', NOON],
    ['sandbox', other, 'read', NOON],
  ] as const)
    meter.count(environment, tenantId, 'key_x', bucket, at)
  expect(await usageOf(one)).toEqual([])
  await meter.flush()
  expect(await usageOf(one)).toEqual([
    { day: YESTERDAY, bucket: 'read', requests: 1 },
    { day: TODAY, bucket: 'passes_write', requests: 1 },
    { day: TODAY, bucket: 'read', requests: 2 },
  ])
  expect(await usageOf(one, 'live')).toEqual([{ day: TODAY, bucket: 'read', requests: 1 }])
  expect(await usageOf(other)).toEqual([{ day: TODAY, bucket: 'read', requests: 1 }])
  await meter.flush()
  meter.count('sandbox', one, 'key_x', 'read', NOON)
  await meter.flush()
  expect((await usageOf(one)).at(-1)).toEqual({ day: TODAY, bucket: 'read', requests: 3 })
})

test('the usage of a tenant is the sum over all nodes', async () => {
  const tenantId = await makeTenant()
  const nodes = Array.from({ length: 4 }, () => createUsageMeter(db, db.clock))
  for (const node of nodes) {
    for (const bucket of ['read', 'passes_write']) node.count('sandbox', tenantId, 'key_x', bucket, NOON)
  }
  await Promise.all(nodes.map((node) => node.flush()))
  expect((await usageOf(tenantId)).map(({ requests }) => requests)).toEqual([4, 4])
})

/** Loses the answers to so many statements of that name; they are carried out all the same, or not. */
function losing(database: Database, name: string, times: number, carriesOut: boolean): Database {
  let left = times
  return {
    query: async (statement, values) => {
      if (statement.name !== name || left === 0) return database.query(statement, values)
      left -= 1
      if (carriesOut) await database.query(statement, values)
      throw new Error('the answer got lost')
    },
  }
}

test.each([
  ['carried out', true],
  ['not carried out', false],
])('a batch whose answer got lost counts once: %s', async (_, carriesOut) => {
  const tenantId = await makeTenant()
  const meter = createUsageMeter({ ...db, sandbox: losing(db.sandbox, 'usage_add', 2, carriesOut) }, db.clock)
  meter.count('sandbox', tenantId, 'key_x', 'read', NOON)
  await expect(meter.flush()).rejects.toThrow('got lost')
  meter.count('sandbox', tenantId, 'key_x', 'read', NOON)
  await expect(meter.flush()).rejects.toThrow('got lost')
  await Promise.all([meter.flush(), meter.flush()])
  expect(await usageOf(tenantId)).toEqual([{ day: TODAY, bucket: 'read', requests: 2 }])
})

test('the last use of a key is noted, never put back, and kept when it could not be noted', async () => {
  const tenantId = await makeTenant()
  const { id } = await createKey(db.operator, { tenantId, environment: 'sandbox' })
  const lastUse = async () => (await showTenant(db.operator, tenantId)).keys[0]?.last_used_at
  expect(await lastUse()).toBeNull()
  const [meter, late] = [
    createUsageMeter({ ...db, control: losing(db.control, 'keys_note_use', 1, false) }, db.clock),
    createUsageMeter(db, db.clock),
  ]
  meter.count('sandbox', tenantId, id, 'read', NOON)
  late.count('sandbox', tenantId, id, 'read', NOON - 1000)
  await expect(meter.flush()).rejects.toThrow('got lost')
  await meter.flush()
  await late.flush()
  expect(await lastUse()).toBe(new Date(NOON).toISOString())
})

test('a service that is stopped loses none of it', async () => {
  const service = startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper }, ['--json', '--role', 'api'])
  const { sandbox_base_url: url } = await service.ready()
  const headers = { Authorization: `Bearer ${db.keys.sandbox_secret}` }
  const paths = ['/v1/me', '/v1/passes', '/v1/passes/count', '/v1/nothing', '/v1/me']
  for (const path of paths) await fetch(url + path, { headers })
  expect(await usageOf(db.tenantId)).toEqual([])
  expect(await service.end('SIGTERM')).toMatchObject({ code: 0 })
  const day = new Date().toISOString().slice(0, 10)
  expect(await usageOf(db.tenantId)).toEqual([
    { day, bucket: 'passes_count', requests: 1 },
    { day, bucket: 'read', requests: 3 },
  ])
})
