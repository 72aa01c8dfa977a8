/** Attempts made by hand, endpoints that are disabled and enabled while deliveries wait or are under way. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { MINUTE, openStage, START, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stage = await openStage()
  stage.work()
})
afterAll(() => stage.close())
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  stage.clock.now = START
})
afterEach(() => receiver.close())

async function arrived(number: number): Promise<void> {
  await until(`${number} deliveries`, () => receiver.got.length >= number)
  await stage.drained(tenantId)
  expect(receiver.got.length).toBe(number)
}

const waiting = () => stage.count('webhook_waiting', tenantId)

test('a retry by hand during the schedule, and another, leave the schedule as it is', async () => {
  receiver.answer = () => 500
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await arrived(1)
  const [first] = await stage.attempts(endpoint)
  for (const made of [2, 3]) {
    stage.clock.now += 1000
    await stage.retry(tenantId, first!.id)
    await arrived(made)
  }
  const [retried, second, ...more] = await stage.attempts(endpoint)
  expect(more).toEqual([])
  expect(retried).toMatchObject({
    id: first!.id,
    attempt: 1,
    trigger: 'manual',
    status: 'failed',
    attempted_at: START + 2000,
    next_attempt_at: START + 5 * MINUTE,
  })
  expect(second).toMatchObject({ attempt: 2, status: 'pending', scheduled_at: START + 5 * MINUTE })
  stage.clock.now = START + 5 * MINUTE
  await arrived(4)
  expect(receiver.got.map(({ headers }) => headers['service-delivery-attempt'])).toEqual([...'1112'])
})

test('a retry by hand that fails as fifth attempt disables nothing', async () => {
  receiver.answer = () => 410
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await arrived(1)
  const [attempt] = await stage.attempts(endpoint)
  await stage.rows('UPDATE webhook_attempts SET attempt = 5 WHERE tenant_id = $1', [tenantId])
  await stage.retry(tenantId, attempt!.id)
  await arrived(2)
  expect((await stage.endpoint(endpoint)).status).toBe('enabled')
})

test('a disabled endpoint gets what is retried by hand, and nothing else', async () => {
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.emit(tenantId)
  await stage.drained(tenantId)
  const [canceled] = await stage.attempts(endpoint)
  expect(canceled).toMatchObject({ status: 'canceled', attempt: 1 })
  await stage.retry(tenantId, canceled!.id)
  await arrived(1)
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'succeeded', trigger: 'manual' }])
})

test('a delivery that came into the queue while its endpoint was being disabled is canceled', async () => {
  const endpoint = await stage.addEndpoint(tenantId, 'http://127.0.0.1:1')
  await stage.database.sandbox.transaction(async (tx) => {
    await tx.query({ text: 'UPDATE webhook_senders SET tokens = 0, refilled_at = $1' }, ['2100-01-01'])
  })
  await stage.emit(tenantId, 3)
  await until('them to be planned', async () => (await stage.attempts(endpoint)).length === 3)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.rows('UPDATE webhook_senders SET tokens = 1, refilled_at = $2 WHERE tenant_id = $1', [
    tenantId,
    new Date().toISOString(),
  ])
  await stage.drained(tenantId)
  expect((await stage.attempts(endpoint)).map(({ status }) => status)).toEqual(Array(3).fill('canceled'))
})

test('a series from before the endpoint was enabled again does not go on', async () => {
  receiver.answer = () => 500
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await arrived(1)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.changeEndpoint(endpoint, 'enable')
  stage.clock.now += 5 * MINUTE
  await until('the attempt to be taken', async () => (await waiting()) === 0)
  await arrived(1)
  expect(
    (await stage.attempts(endpoint)).map(({ status, next_attempt_at }) => [status, next_attempt_at]),
  ).toEqual([
    ['failed', null],
    ['canceled', null],
  ])
})

test('an attempt that fails while its endpoint is disabled, and enabled again, is not followed by another', async () => {
  let answer = (_status: number) => {}
  receiver.answer = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await until('the delivery', () => receiver.got.length === 1)
  await stage.changeEndpoint(endpoint, 'disable')
  await stage.changeEndpoint(endpoint, 'enable')
  answer(500)
  await stage.drained(tenantId)
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'failed', next_attempt_at: null }])
  expect(await waiting()).toBe(0)
  receiver.answer = () => 200
  await stage.emit(tenantId)
  await arrived(2)
})

test('the secret is the one at the time of the attempt', async () => {
  receiver.answer = () => 500
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await arrived(1)
  await stage.rotate(endpoint)
  stage.clock.now += 5 * MINUTE
  await arrived(2)
  const signatures = receiver.got.map(
    ({ headers }) => String(headers['service-signature']).split('v1=').length - 1,
  )
  expect(signatures).toEqual([1, 2])
})

test('an endpoint that is deleted while something is under way, and while something waits', async () => {
  let answer = (_status: number) => {}
  receiver.answer = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await until('the attempt to be shown', async () => (await stage.attempts(endpoint)).length === 1)
  const stale = stage.workers[0]!.stats().attempts.stale
  await stage.rows('DELETE FROM webhook_ready WHERE tenant_id = $1', [tenantId])
  await stage.rows('DELETE FROM webhook_endpoints WHERE tenant_id = $1', [tenantId])
  answer(500)
  await until('the end', () => stage.workers[0]!.stats().attempts.stale === stale + 1)
  expect(await stage.attempts(endpoint)).toMatchObject([{ status: 'pending' }])
  expect(await waiting()).toBe(0)
})
