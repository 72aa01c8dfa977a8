/** Who is served when there is more to do than can be done. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { VisitRequest } from '../../../runtime/events/delivery/queries/attempts.ts'
import { findDue } from '../../../runtime/events/delivery/queries/due.ts'
import { claimAttempts } from '../../../runtime/events/delivery/queries/visits.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { liftLimit } from '../../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { createSlots } from '../../../runtime/work/slots.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStage, START, type Stage, VERSION } from './setup.ts'

let stage: Stage
let receiver: Receiver
beforeAll(async () => {
  stage = await openStage(12)
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  stage.clock.now = START
  stage.clock.frozen = undefined
  for (const table of ['webhook_ready', 'webhook_waiting']) await stage.rows(`DELETE FROM ${table}`)
})
afterEach(async () => {
  receiver.answer = () => 200
  receiver.close()
  await stage.dismiss()
})

/** Plans what was emitted, and claims for every tenant for whom something is in the queue. */
const claim = async (request: Partial<VisitRequest> = {}) => {
  const now = request.now ?? stage.leaseClock.now()
  await stage.plan()
  return claimAttempts(stage.database.sandbox, {
    of: 'many',
    tenants: (await findDue(stage.database.sandbox, now)).map(({ tenant_id }) => tenant_id),
    now,
    leaseUntil: now + 20_000,
    token: randomUUID(),
    limit: 1000,
    allowance: 1000,
    allowances: {},
    ...request,
  })
}

function tally(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** Attempts that are due, in any number, without events being emitted one by one. */
async function fill(tenantId: string, endpointId: string, number: number): Promise<void> {
  const [eventId] = await stage.emit(tenantId)
  await stage.plan()
  await stage.rows('DELETE FROM webhook_ready WHERE tenant_id = $1', [tenantId])
  await stage.rows(
    `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at)
     SELECT $1, 'wdla_' || lpad(n::text, 26, '0'), $2, $3, 1, 'schedule', $4::timestamptz + n * interval '1 ms'
       FROM generate_series(1, $5::integer) AS n`,
    [tenantId, endpointId, eventId, new Date(START - 3_600_000).toISOString(), number],
  )
}

test('a tenant has 100 at once and 100 in each second, however many workers there are', async () => {
  stage.clock.frozen = Date.now()
  const tenantId = newId('ten')
  await stage.addEndpoint(tenantId, `${receiver.url}/1`)
  await stage.addEndpoint(tenantId, `${receiver.url}/2`)
  const workers = [stage.work(), stage.work(), stage.work()]
  await stage.emit(tenantId, 300)
  /** All that may be sent has been, and some looks more have found nothing. */
  const sent = async (number: number) => {
    await until(`${number} deliveries`, () => receiver.got.length >= number)
    const claims = workers.map((worker) => worker.stats().claims)
    await until('more looks', () => workers.every((each, index) => each.stats().claims > claims[index]! + 2))
    expect(receiver.got.length).toBe(number)
  }
  await sent(100)
  stage.clock.frozen += 10
  await sent(101)
  stage.clock.frozen += 1000
  await sent(201)
  stage.clock.frozen += 3
  await sent(201)
  stage.clock.frozen += 7
  await sent(202)
  stage.clock.frozen += 3_600_000
  await sent(302)
  stage.clock.frozen -= 3_600_000
  await sent(302)
})

test.each([
  ['plans and claims for many tenants', false],
  ['for one', true],
])('a lift of webhooks_outbound multiplies that while it lasts: %s', async (_, distributed) => {
  const { database, clock } = stage
  stage.clock.frozen = Date.now()
  const { id: tenantId } = await createTenant(database.operator, { name: 'Lifted' }, VERSION)
  const other = await createTenant(database.operator, { name: 'Ordinary' }, VERSION)
  const operator = { ...database.operator, clock }
  const lift = { tenantId, environment: 'sandbox', bucket: 'webhooks_outbound', hours: 1 } as const
  await liftLimit(operator, { ...lift, factor: 5 })
  await liftLimit(operator, { ...lift, factor: 0.5 })
  await liftLimit(operator, { ...lift, environment: 'live', factor: 100 })
  await liftLimit(operator, { ...lift, bucket: 'read', factor: 100 })
  for (const [path, tenant] of Object.entries({ lifted: tenantId, ordinary: other.id })) {
    for (const part of ['1', '2', '3', '4', '5'])
      await stage.addEndpoint(tenant, `${receiver.url}/${path}/${part}`)
    await stage.emit(tenant, 200)
  }
  const worker = stage.work({ distributed })
  const counts = () => tally(receiver.got.map(({ path }) => path.split('/')[1]!))
  const sent = async (lifted: number, ordinary: number) => {
    await until('the deliveries', () => receiver.got.length >= lifted + ordinary)
    const { claims } = worker.stats()
    await until('more looks', () => worker.stats().claims > claims + 4)
    expect(counts()).toEqual({ lifted, ordinary })
  }
  await sent(250, 100)
  clock.frozen! += 1000
  await sent(500, 200)
  clock.frozen! += 3_600_000
  await sent(600, 300)
})

test('the first of each partition comes before the second of any, and the next claim goes on behind the last partition', async () => {
  const tenantId = newId('ten')
  const endpoints = await Promise.all(
    Array.from({ length: 6 }, () => stage.addEndpoint(tenantId, 'http://127.0.0.1:1')),
  )
  await stage.emit(tenantId, 10)
  const ids = endpoints.map(({ id }) => id).toSorted()
  const partitionsOf = async (limit: number) =>
    (await claim({ allowance: limit })).rows.map((row) => row.endpoint_id)
  expect(await partitionsOf(4)).toEqual(ids.slice(0, 4))
  expect(await partitionsOf(4)).toEqual([...ids.slice(4), ...ids.slice(0, 2)])
  const many = await partitionsOf(12)
  expect(many.slice(0, 6)).toEqual([...ids.slice(2), ...ids.slice(0, 2)])
  expect(many.slice(6)).toEqual(many.slice(0, 6))
  const uneven = await partitionsOf(8)
  expect(new Set(uneven.slice(0, 6)).size).toBe(6)
  expect(new Set(uneven.slice(6)).size).toBe(2)
})

test('concurrent claims take nothing twice, spend no token twice and fill no partition beyond its width', async () => {
  const tenants = Array.from({ length: 5 }, () => newId('ten'))
  for (const tenantId of tenants) {
    const { id } = await stage.addEndpoint(tenantId, 'http://127.0.0.1:1')
    await fill(tenantId, id, 500)
  }
  stage.clock.frozen = Date.now()
  const claims = await Promise.all(Array.from({ length: 40 }, () => claim({ allowance: 10 })))
  const taken = claims.flatMap(({ rows }) => rows.map((row) => `${row.tenant_id} ${row.attempt_id}`))
  expect(new Set(taken).size).toBe(taken.length)
  const more = [...claims, ...(await Promise.all(Array.from({ length: 40 }, () => claim({ allowance: 7 }))))]
  while (more.at(-1)!.rows.length > 0) more.push(await claim())
  const byTenant = tally(more.flatMap(({ rows }) => rows.map((row) => row.tenant_id)))
  expect(byTenant).toEqual(Object.fromEntries(tenants.map((id) => [id, 64])))
  const tokens = await stage.rows<{ tokens: number }>(
    'SELECT tokens FROM webhook_senders WHERE tenant_id = ANY ($1)',
    [tenants],
  )
  expect(tokens.map((row) => row.tokens)).toEqual(tenants.map(() => 36))
})

test('deliveries that a lost worker held come before those that have never been tried', async () => {
  const tenantId = newId('ten')
  const { id } = await stage.addEndpoint(tenantId, 'http://127.0.0.1:1')
  await fill(tenantId, id, 1000)
  const lost = await claim({ allowance: 3 })
  expect((await claim({ allowance: 1 })).rows[0]!.attempt_id > lost.rows[2]!.attempt_id).toBe(true)
  const later = stage.leaseClock.now() + 21_000
  const found = await claim({ allowance: 4, now: later, leaseUntil: later + 20_000 })
  expect(found.rows.map((row) => row.attempt_id).slice(0, 3)).toEqual(lost.rows.map((row) => row.attempt_id))
})

test('a time-out narrows a partition to one attempt at once', async () => {
  const tenantId = newId('ten')
  const { id } = await stage.addEndpoint(tenantId, 'http://127.0.0.1:1')
  await fill(tenantId, id, 200)
  for (const [timeouts, width] of [
    [6, 1],
    [3, 8],
    [1, 32],
  ] as const) {
    await stage.rows(`UPDATE webhook_ready SET lease_until = '-infinity'`)
    await stage.rows('UPDATE webhook_endpoints SET timeouts = $2 WHERE id = $1', [id, timeouts])
    expect([timeouts, (await claim({ allowance: 50 })).rows.length]).toEqual([timeouts, width])
    expect((await claim({ allowance: 50 })).rows.length).toBe(0)
  }
})

test('a third tenant is served at once beside 20,000 due for one and 60 hanging endpoints of another', async () => {
  receiver.answer = ({ path }) => (path === '/hangs' ? 'hang' : 200)
  const [huge, hanging, third] = [newId('ten'), newId('ten'), newId('ten')]
  const { id } = await stage.addEndpoint(huge, `${receiver.url}/huge`)
  await fill(huge, id, 20_000)
  for (let each = 0; each < 60; each += 1) await stage.addEndpoint(hanging, `${receiver.url}/hangs`)
  await stage.emit(hanging, 5)
  const good = await stage.addEndpoint(hanging, `${receiver.url}/good`)
  const worker = stage.work({ concurrency: 128 })
  await stage.addEndpoint(third, `${receiver.url}/third`)
  await until(
    'the others to be busy',
    () => receiver.on('/hangs').length > 20 && receiver.on('/huge').length > 50,
  )
  const latencies: number[] = []
  let overtaken = 0
  for (let each = 1; each <= 20; each += 1) {
    const began = performance.now()
    const before = receiver.on('/huge').length
    await stage.emit(third)
    worker.wake(third)
    await until('its delivery', () => receiver.on('/third').length === each)
    latencies.push(performance.now() - began)
    overtaken = Math.max(overtaken, receiver.on('/huge').length - before)
  }
  console.log('beside noise, milliseconds:', latencies.map(Math.round).join(' '))
  // Of 20,000 that were due before: how fast all of them go depends on the machine.
  expect(overtaken).toBeLessThan(1000)
  expect(receiver.on('/hangs').length).toBeLessThanOrEqual(32)
  expect(worker.stats().underWay).toBeLessThan(128)
  expect(good.id).toBeDefined()
})

test('a slow endpoint delays no other of its tenant', async () => {
  receiver.answer = ({ path }) => (path === '/slow' ? 'hang' : 200)
  const tenantId = newId('ten')
  await stage.addEndpoint(tenantId, `${receiver.url}/slow`)
  await stage.addEndpoint(tenantId, `${receiver.url}/quick`)
  const worker = stage.work()
  await stage.emit(tenantId, 80)
  worker.wake()
  await until('all of the quick one', () => receiver.on('/quick').length === 80)
  expect(receiver.on('/slow').length).toBeLessThanOrEqual(64)
})

test('slots: one tenant gets a quarter, several get less each, something stays free', () => {
  const slots = createSlots(1024)
  const greedy = (tenant: string) => {
    let held = 0
    for (;;) {
      const { allowance, allowances } = slots.allowances(64, [tenant])
      const more = allowances[tenant] ?? allowance
      if (more === 0) return held
      for (let each = 0; each < more; each += 1) slots.take(tenant)
      held += more
    }
  }
  expect(greedy('one')).toBe(256)
  const rest = Array.from({ length: 20 }, (_, index) => greedy(`other ${index}`))
  expect(Math.max(...rest)).toBeLessThanOrEqual(192)
  expect(slots.free).toBeGreaterThan(0)
  for (let each = 0; each < 256; each += 1) slots.give('one')
  expect(greedy('newcomer')).toBeGreaterThan(60)
})
