/** Attempts are planned by workers, from the events alone, whoever died when. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { VisitRequest } from '../../../runtime/events/delivery/queries/attempts.ts'
import { showAttempts, succeedAttempts } from '../../../runtime/events/delivery/queries/successes.ts'
import { planAttempts } from '../../../runtime/events/delivery/queries/visits.ts'
import { collectEvents } from '../../../runtime/events/emit/emit.ts'
import { cancelAttempts } from '../../../runtime/events/webhook-endpoints/cancel-attempts.ts'
import { lockEndpointCount } from '../../../runtime/events/webhook-endpoints/queries.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStage, START, type Stage, VERSION } from './setup.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  stage.clock.now = START
  for (const table of ['webhook_endpoints', 'webhook_ready', 'webhook_waiting', 'events'])
    await stage.rows(`DELETE FROM ${table}`)
})
afterEach(async () => {
  await stage.dismiss()
  receiver.close()
})

const NOWHERE = 'http://127.0.0.1:1'

const plan = (
  tenants: readonly string[],
  of: 'many' | 'one' = 'many',
  limit = 0,
  request: Partial<VisitRequest> = {},
) =>
  planAttempts(stage.database.sandbox, {
    of,
    tenants,
    now: stage.leaseClock.now(),
    leaseUntil: stage.leaseClock.now() + 20_000,
    token: randomUUID(),
    limit,
    allowance: 1000,
    allowances: {},
    ...request,
  })

const statuses = async (endpoint: Parameters<Stage['attempts']>[0]) =>
  (await stage.attempts(endpoint)).map(({ status }) => status)

test('emission writes no attempts, however many endpoints there are', async () => {
  for (let made = 0; made < 5; made += 1) await stage.addEndpoint(tenantId, NOWHERE)
  await stage.emit(tenantId, 3)
  expect(await stage.count('webhook_attempts', tenantId)).toBe(0)
  await stage.plan()
  expect(await stage.count('webhook_attempts', tenantId)).toBe(15)
  expect(await stage.count('webhook_ready', tenantId)).toBe(15)
})

test('an endpoint gets the events after its creation, by their numbers and not by the clock', async () => {
  const first = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.emit(tenantId, 2)
  const second = await stage.addEndpoint(tenantId, NOWHERE)
  stage.clock.now -= 1000 // another node, whose clock is behind
  await stage.emit(tenantId, 1)
  await stage.plan()
  expect([await statuses(first), await statuses(second)]).toEqual([Array(3).fill('pending'), ['pending']])
})

test('a tenant that makes its first endpoint gets nothing of what was before', async () => {
  await stage.emit(tenantId, 20)
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.plan()
  expect(await statuses(endpoint)).toEqual([])
})

test('an endpoint counts as it is when it is planned: disabled, enabled, subscribed', async () => {
  const off = await stage.addEndpoint(tenantId, NOWHERE)
  const on = await stage.addEndpoint(tenantId, NOWHERE)
  const other = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.changeEndpoint(on, 'disable')
  await stage.emit(tenantId)
  await stage.changeEndpoint(off, 'disable')
  await stage.changeEndpoint(on, 'enable')
  await stage.rows(`UPDATE webhook_endpoints SET enabled_events = '{pass.created}' WHERE id = $1`, [other.id])
  await stage.plan()
  expect(await Promise.all([off, on, other].map(statuses))).toEqual([['canceled'], ['pending'], []])
})

test.each(['many', 'one'] as const)(
  'a planning visit plans a bounded number of attempts (%s)',
  async (of) => {
    for (let made = 0; made < 60; made += 1) await stage.addEndpoint(tenantId, NOWHERE)
    await stage.emit(tenantId, 20)
    const { visits } = await plan([tenantId], of)
    expect(visits.get(tenantId)).toEqual({ more: true, ordered: false, queued: true })
    expect(await stage.count('webhook_attempts', tenantId)).toBe(480)
    while ((await plan([tenantId], of)).visits.get(tenantId)!.more) {
      // the next few
    }
    expect(await stage.count('webhook_attempts', tenantId)).toBe(1200)
  },
)

test.each(['many', 'one'] as const)('concurrent planning visits plan each attempt once (%s)', async (of) => {
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  const ids = await stage.emit(tenantId, 50)
  const plans = await Promise.all(Array.from({ length: 20 }, () => plan([tenantId], of, 10)))
  await stage.plan()
  const leased = plans.flatMap(({ rows }) => rows)
  const [sent, kept] = [leased, await stage.attempts(endpoint)].map((all) => all.map((each) => each.event_id))
  expect([...sent!, ...kept!].toSorted()).toEqual(ids.toSorted())
  expect([leased.length, new Set(leased.map(({ attempt_id }) => attempt_id)).size]).toEqual([10, 10])
  expect(await stage.count('webhook_ready', tenantId)).toBe(50)
})

test('planning visits during the making of endpoints plan each attempt once', async () => {
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  const pool = stage.database.sandbox
  let making = true
  const made = (async () => {
    while (making) await pool.transaction((tx) => lockEndpointCount(tx, tenantId))
  })()
  const ids: string[] = []
  for (let round = 0; round < 100; round += 1) {
    ids.push(...(await stage.emit(tenantId, 1)))
    await plan([tenantId])
  }
  making = false
  await made
  await stage.plan()
  expect((await stage.attempts(endpoint)).map(({ event_id }) => event_id).toSorted()).toEqual(ids.toSorted())
})

test('attempts that may be sent at once are in the queue only, until they are shown or over', async () => {
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.emit(tenantId, 5)
  const { rows } = await plan([tenantId], 'many', 3)
  expect([rows.length, (await statuses(endpoint)).length]).toEqual([3, 2])
  const [{ token }] = (await stage.rows<{ token: string }>(
    'SELECT token FROM webhook_ready WHERE tenant_id = $1 AND token IS NOT NULL',
    [tenantId],
  )) as [{ token: string }]
  const [first, second, third] = rows.map(({ attempt_id }) => ({ tenantId, attemptId: attempt_id, token }))
  const pool = stage.database.sandbox
  await showAttempts(pool, [first!, { ...second!, token: randomUUID() }])
  expect(await statuses(endpoint)).toEqual(['pending', 'pending', 'pending'])
  const end = { status: 'succeeded', responseStatus: 200, attemptedAt: START, durationMs: 1 } as const
  const ends = [first!, second!, { ...third!, token: randomUUID() }].map((each) => ({ ...each, ...end }))
  expect([...(await succeedAttempts(pool, ends, START))].toSorted()).toEqual(
    [first!.attemptId, second!.attemptId].toSorted(),
  )
  expect((await statuses(endpoint)).toSorted()).toEqual(['pending', 'pending', 'succeeded', 'succeeded'])
  expect(await stage.count('webhook_ready', tenantId)).toBe(3)
  await showAttempts(pool, [first!, second!]) // too late: nothing changes
  expect((await statuses(endpoint)).toSorted()).toEqual(['pending', 'pending', 'succeeded', 'succeeded'])
})

test('several tenants are written in one statement, each its own', async () => {
  const tenants = [newId('ten'), newId('ten')]
  const endpoints = await Promise.all(tenants.map((each) => stage.addEndpoint(each, NOWHERE)))
  for (const each of tenants) await stage.emit(each, 2)
  const request = { token: randomUUID(), leaseUntil: stage.leaseClock.now() + 20_000 }
  const { rows } = await plan(tenants, 'many', 10, request)
  const sent = rows.map((row) => ({
    tenantId: row.tenant_id,
    attemptId: row.attempt_id,
    token: request.token,
  }))
  await showAttempts(stage.database.sandbox, sent)
  expect(await Promise.all(endpoints.map(statuses))).toEqual(Array(2).fill(['pending', 'pending']))
  const crossed = sent.map((each) => ({
    ...each,
    tenantId: tenants.find((other) => other !== each.tenantId)!,
    status: 'succeeded' as const,
  }))
  expect((await succeedAttempts(stage.database.sandbox, crossed, START)).size).toBe(0)
  const ends = sent.map((each) => ({ ...each, status: 'succeeded' as const, responseStatus: 204 }))
  expect((await succeedAttempts(stage.database.sandbox, ends, START)).size).toBe(4)
  expect(await Promise.all(endpoints.map(statuses))).toEqual(Array(2).fill(['succeeded', 'succeeded']))
})

test('an endpoint is disabled after the worker that was to send was lost: the attempt is seen as cancelled', async () => {
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  const [eventId] = await stage.emit(tenantId, 1)
  await plan([tenantId], 'many', 1)
  expect(await statuses(endpoint)).toEqual([])
  await stage.changeEndpoint(endpoint, 'disable')
  const later = stage.leaseClock.now() + 21_000
  await stage.database.sandbox.transaction((tx) =>
    cancelAttempts(tx, tenantId, endpoint.id, stage.clock.now, later),
  )
  expect(await stage.attempts(endpoint)).toMatchObject([
    { event_id: eventId, attempt: 1, status: 'canceled', trigger: 'schedule', created: START },
  ])
  expect(await stage.count('webhook_ready', tenantId)).toBe(0)
})

test('attempts that are in the queue already go first', async () => {
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.emit(tenantId, 2)
  await stage.plan()
  await stage.emit(tenantId, 2)
  const { rows, visits } = await plan([tenantId], 'many', 100)
  expect([rows, visits.get(tenantId)]).toEqual([[], { more: false, ordered: false, queued: true }])
  expect(await statuses(endpoint)).toEqual(Array(4).fill('pending'))
})

test('events that are gone by a wipe leave nothing to do', async () => {
  await stage.addEndpoint(tenantId, NOWHERE)
  await stage.emit(tenantId, 5)
  await stage.rows('DELETE FROM events WHERE tenant_id = $1', [tenantId])
  expect((await plan([tenantId])).visits.get(tenantId)).toEqual({
    more: false,
    ordered: false,
    queued: false,
  })
  await stage.drained(tenantId)
})

test('an event whose attempts an earlier version has written itself is not planned again', async () => {
  const endpoint = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.emit(tenantId, 1, { attempt: 2 })
  await stage.plan()
  expect((await stage.attempts(endpoint)).map(({ attempt }) => attempt)).toEqual([2])
})

test('events without a wake-up are found: after a crash between commit and wake-up, and of many tenants', async () => {
  const tenants = Array.from({ length: 30 }, () => newId('ten'))
  for (const each of tenants) await stage.addEndpoint(each, receiver.url)
  for (const each of tenants) await stage.emit(each, 2)
  stage.work()
  await until('all of them', () => receiver.got.length === 60)
  await stage.drained()
})

test('a distributed database gets one tenant a statement, from the emission to the last attempt', async () => {
  receiver.answer = () => 500
  const tenants = Array.from({ length: 3 }, () => newId('ten'))
  const endpoints = await Promise.all(tenants.map((each) => stage.addEndpoint(each, receiver.url)))
  for (const each of tenants) await stage.emit(each, 2)
  const worker = stage.work({ distributed: true })
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await until(`attempt ${attempt}`, () => receiver.got.length === 6 * attempt)
    await stage.drained()
    stage.clock.now += 5 * 3_600_000
  }
  for (const endpoint of endpoints) {
    expect(await stage.endpoint(endpoint)).toMatchObject({
      status: 'disabled',
      disabled_reason: 'retry_exhausted',
    })
  }
  expect(worker.stats().attempts).toMatchObject({ failed: 27, disabled: 3, lost: 0, stale: 0 })
})

test('an event of others goes to all that are enabled but the one, an event of one to it alone', async () => {
  const [one, two] = [
    await stage.addEndpoint(tenantId, NOWHERE),
    await stage.addEndpoint(tenantId, NOWHERE, ['pass.created']),
  ]
  const off = await stage.addEndpoint(tenantId, NOWHERE)
  await stage.changeEndpoint(off, 'disable')
  await stage.database.sandbox.transaction(async (tx) => {
    const events = collectEvents({ tenantId, pin: VERSION, now: stage.clock.now })
    const tell = (recipients: { only: string } | { everyBut: string }) =>
      events.emit({ type: 'pass.revoked', data: { pass: { id: 'pass_1' } }, recipients })
    tell({ everyBut: one.id })
    tell({ only: off.id })
    await events.write(tx)
  })
  await stage.plan()
  expect(await Promise.all([one, two, off].map(statuses))).toEqual([[], ['pending'], ['canceled']])
})
