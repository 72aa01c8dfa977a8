/** Recoveries of endpoints: which events are sent again, in which order, and what a lost process changes. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { recoveryWorker } from '../../../runtime/events/webhook-recoveries/job.ts'
import {
  beginRecovery,
  type RecoveryRow,
  readRecovery,
  updateRecovery,
} from '../../../runtime/events/webhook-recoveries/queries.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Endpoint, HOUR, MINUTE, openStage, START, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stage = await openStage()
})
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  Object.assign(stage.clock, { now: START, shift: 0, frozen: undefined })
})
afterEach(async () => {
  await stage.dismiss()
  receiver.close()
})
afterAll(() => stage.close())

const worker = () => recoveryWorker({ ...stage, wakeUpChannel: { publish: () => {} } })

type Asked = Parameters<typeof beginRecovery>[2]

async function recover(endpoint: Endpoint, content: Partial<Asked> = {}): Promise<string> {
  const { now } = stage.clock
  const period = { since: START, until: now }
  const asked = {
    endpoint_id: endpoint.id,
    ...period,
    types: null,
    scope: 'failed',
    rate: 100,
    ...content,
  } as const
  return (await beginRecovery(stage.database.sandbox, tenantId, asked, now)).id
}

const read = async (endpoint: Endpoint, id: string) =>
  (await readRecovery(stage.database.sandbox, tenantId, endpoint.id, id))!

/** Takes steps until the recovery has ended; the pace is skipped, so that no step waits. */
async function finish(endpoint: Endpoint, id: string, job = worker()): Promise<RecoveryRow> {
  await until('the end of the recovery', async () => {
    await stage.rows("UPDATE webhook_recoveries SET next_at = '-infinity'", [])
    await job.runOnce()
    return !['counting', 'running'].includes((await read(endpoint, id)).status)
  })
  return read(endpoint, id)
}

const idsAt = (path: string) => receiver.on(path).map(({ body }) => JSON.parse(body).id as string)

/** An endpoint that was down: it was disabled after five failures of its first event, and missed the others. */
async function failed(path = '/down', count = 5): Promise<{ endpoint: Endpoint; ids: string[] }> {
  const endpoint = await stage.addEndpoint(tenantId, `${receiver.url}${path}`, ['pass.revoked'])
  receiver.answer = () => 410
  const ids = await stage.emit(tenantId, count)
  stage.work()
  await until('the failures', () => receiver.on(path).length === count)
  await stage.drained(tenantId)
  receiver.answer = () => 204
  return { endpoint, ids }
}

test('events that failed and events that were missed are sent again with their ids, and others are not', async () => {
  const { endpoint, ids } = await failed()
  await stage.changeEndpoint(endpoint, 'disable')
  stage.clock.now += HOUR
  const missed = await stage.emit(tenantId, 3)
  await stage.drained(tenantId)
  await stage.changeEndpoint(endpoint, 'enable')
  stage.clock.now += HOUR
  const delivered = await stage.emit(tenantId, 2)
  await until('the delivery', () => idsAt('/down').includes(delivered[1]!))
  await stage.drained(tenantId)
  receiver.got.length = 0
  const done = await finish(endpoint, await recover(endpoint))
  expect(done).toMatchObject({ status: 'completed', total: 8, sent: 8, failed: 0, queued: [] })
  expect(idsAt('/down').toSorted()).toEqual([...ids, ...missed].toSorted())
  expect(await finish(endpoint, await recover(endpoint))).toMatchObject({ total: 0, sent: 0 })
})

test('one event at a time, events are sent in the order of the sequence; a recovery of all sends delivered ones too', async () => {
  const early = await stage.emit(tenantId, 3)
  const { endpoint, ids } = await failed('/order', 4)
  receiver.got.length = 0
  const done = await finish(endpoint, await recover(endpoint, { scope: 'all', rate: 1 }))
  expect(done).toMatchObject({ status: 'completed', total: 7, sent: 7 })
  expect(idsAt('/order')).toEqual([...early, ...ids])
})

test('in order, attempts that are not sent when their lease is about to run out are released, and sent next', async () => {
  const endpoint = await stage.addEndpoint(tenantId, `${receiver.url}/order`, ['pass.revoked'], {
    delivery: 'fifo',
  })
  const ids = await stage.emit(tenantId, 6)
  // Machine time stands still, so a lease that is not released never ends.
  stage.clock.frozen = Date.now()
  receiver.answer = () => {
    if (receiver.got.length === 3) stage.clock.shift = 10_000
    return 204
  }
  const id = await recover(endpoint, { scope: 'all' })
  await worker().runOnce()
  await stage.rows("UPDATE webhook_recoveries SET next_at = '-infinity'", [])
  await worker().runOnce()
  const { stats } = stage.work({ leaseMs: 20_000 })
  expect(await finish(endpoint, id)).toMatchObject({ total: 6, sent: 6, failed: 0 })
  expect(idsAt('/order')).toEqual(ids)
  expect(stats().attempts).toMatchObject({ succeeded: 6, lost: 0 })
})

test('the period and the types limit a recovery; failures are counted and not repeated', async () => {
  const { endpoint } = await failed()
  stage.clock.now = START + 10 * MINUTE
  receiver.answer = () => 500
  const later = await stage.emit(tenantId, 2)
  await until('the failures', () => receiver.got.length === 7)
  await stage.drained(tenantId)
  receiver.got.length = 0
  const since = stage.clock.now
  expect(await finish(endpoint, await recover(endpoint, { since, types: ['pass.created'] }))).toMatchObject({
    total: 0,
  })
  const done = await finish(endpoint, await recover(endpoint, { since }))
  expect(done).toMatchObject({ total: 2, sent: 0, failed: 2 })
  expect(idsAt('/down').toSorted()).toEqual(later.toSorted())
  // What was scheduled stays scheduled.
  expect(await stage.count('webhook_waiting', tenantId)).toBe(2)
})

test('two nodes and a lost sender send no batch twice and lose nothing', async () => {
  const { endpoint, ids } = await failed('/down', 6)
  await stage.dismiss()
  receiver.got.length = 0
  const id = await recover(endpoint, { rate: 4 })
  const early = "UPDATE webhook_recoveries SET next_at = '-infinity'"
  await stage.rows(early, [])
  await Promise.all([worker().runOnce(), worker().runOnce()])
  // One counted, the other queued a batch: the next batch waits.
  const waiting = "SELECT FROM webhook_recoveries WHERE tenant_id = $1 AND id = $2 AND next_at > '-infinity'"
  expect(await stage.rows(waiting, [tenantId, id])).toHaveLength(1)
  await stage.rows(early, [])
  await Promise.all([worker().runOnce(), worker().runOnce()])
  const [one, two] = [await read(endpoint, id), await stage.count('webhook_ready', tenantId)]
  expect([one.queued.length, two]).toEqual([4, 4])
  stage.work()
  const done = await finish(endpoint, id)
  expect(done).toMatchObject({ status: 'completed', total: 6, sent: 6 })
  expect(idsAt('/down').toSorted()).toEqual(ids.toSorted())
})

test('a recovery ends when its endpoint is disabled or when it is canceled', async () => {
  const { endpoint } = await failed()
  const id = await recover(endpoint)
  await stage.changeEndpoint(endpoint, 'disable')
  expect(await finish(endpoint, id)).toMatchObject({ status: 'canceled', sent: 0 })
  await stage.changeEndpoint(endpoint, 'enable')
  const next = await recover(endpoint)
  await updateRecovery(stage.database.sandbox, tenantId, {
    ...(await read(endpoint, next)),
    status: 'canceled',
  })
  receiver.got.length = 0
  await worker().runOnce()
  expect([await stage.count('webhook_ready', tenantId), receiver.got.length]).toEqual([0, 0])
})

test('the end of a recovery is an event and an audit entry', async () => {
  const { endpoint } = await failed()
  const id = await recover(endpoint)
  await finish(endpoint, id)
  const [event] = await stage.rows<{ body: string }>(
    `SELECT body FROM events WHERE tenant_id = $1 AND type = 'webhook_recovery.completed'`,
    [tenantId],
  )
  expect(JSON.parse(event!.body).data.webhook_recovery).toMatchObject({ id, status: 'completed', sent: 5 })
  expect(
    await stage.rows('SELECT action, actor_type FROM audit_log WHERE tenant_id = $1 AND target_id = $2', [
      tenantId,
      id,
    ]),
  ).toEqual([{ action: 'webhook_recovery.completed', actor_type: 'system' }])
})
