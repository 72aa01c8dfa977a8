/** What is sent, when it is sent again, and what the attempts tell of it. */
import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { classifyOutcome, nextDue } from '../../../runtime/events/delivery/record.ts'
import { createOutbound, type OutboundResult } from '../../../runtime/events/outbound/outbound.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { putFaults } from '../../../runtime/tenants/faults/queries.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Endpoint, HOUR, MINUTE, openStage, START, type Stage, VERSION } from './setup.ts'

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

/** Waits until so many have arrived, and what came of them is written. */
async function arrived(number: number): Promise<void> {
  await until(`${number} deliveries`, () => receiver.got.length >= number)
  await stage.drained(tenantId)
  expect(receiver.got.length).toBe(number)
}

/** Lets an attempt fail, and the next one, up to the given one. */
async function failUpTo(attempt: number): Promise<void> {
  for (let made = 1; made <= attempt; made += 1) {
    await arrived(made)
    if (made === attempt) return
    const [next] = await stage.rows<{ due_at: number }>(
      'SELECT due_at FROM webhook_waiting WHERE tenant_id = $1',
      [tenantId],
    )
    stage.clock.now = next!.due_at
  }
}

/** Some looks at the queue find nothing. */
async function expectNoMore(): Promise<void> {
  const [worker, number] = [stage.workers[0]!, receiver.got.length]
  const { claims } = worker.stats()
  await until('some looks at the queue', () => worker.stats().claims > claims + 3)
  expect(receiver.got.length).toBe(number)
}

const signatureOf = (secret: string, seconds: string, body: string) =>
  createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')

describe('one delivery', () => {
  test('a delivery is the event as it was rendered, signed; its attempt tells the answer', async () => {
    const endpoint = await stage.addEndpoint(tenantId, `${receiver.url}/hook`)
    const [eventId] = await stage.emit(tenantId)
    await arrived(1)
    const { body, headers, path } = receiver.got[0]!
    const [stored] = await stage.rows<{ body: string }>('SELECT body FROM events WHERE id = $1', [eventId])
    expect({ path, body }).toEqual({ path: '/hook', body: stored!.body })
    expect(headers).toMatchObject({
      'service-event-id': eventId,
      'service-delivery-attempt': '1',
      'content-type': 'application/json',
    })
    const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['service-signature']))!
    expect(digest).toBe(signatureOf(endpoint.secret, seconds!, body))
    expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(5)
    expect(await stage.attempts(endpoint)).toMatchObject([
      { attempt: 1, status: 'succeeded', trigger: 'schedule', response_status: 204, attempted_at: START },
    ])
  })

  test('a delivery carries the header of the version in which its event was rendered', async () => {
    await stage.addEndpoint(tenantId, receiver.url)
    await stage.emit(tenantId, 1, { version: '2025-11-01' })
    await arrived(1)
    const { headers } = receiver.got[0]!
    expect(headers['x-service-signature']).toMatch(/^t=/)
    expect(headers).not.toHaveProperty('service-signature')
  })

  test('a delivery is signed with the old and the new secret for 24 hours, then with the new one', async () => {
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    const secret = await stage.rotate(endpoint)
    await stage.emit(tenantId)
    await arrived(1)
    stage.clock.now = START + 24 * HOUR
    await stage.emit(tenantId)
    await arrived(2)
    const given = receiver.got.map(({ headers, body }) => {
      const [t, ...digests] = String(headers['service-signature'])
        .split(/,?(?:t|v1)=/)
        .slice(1)
      return { digests, wanted: [secret, endpoint.secret].map((each) => signatureOf(each, t!, body)) }
    })
    expect(given[0]!.digests).toEqual(given[0]!.wanted)
    expect(given[1]!.digests).toEqual(given[1]!.wanted.slice(0, 1))
  })
})

describe('the schedule', () => {
  test('the schedule of attempts has delays from the emission: 5 and 30 minutes, 2 and 5 hours', async () => {
    receiver.answer = () => 500
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    await stage.emit(tenantId)
    await failUpTo(5)
    const attempts = await stage.attempts(endpoint)
    const dues = [0, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR].map((delay) => START + delay)
    expect(attempts.map(({ scheduled_at }) => scheduled_at)).toEqual(dues)
    expect(attempts.map(({ attempted_at }) => attempted_at)).toEqual(dues)
    expect(attempts.map(({ next_attempt_at }) => next_attempt_at)).toEqual([...dues.slice(1), null])
    expect(attempts.map(({ attempt, status }) => `${attempt} ${status}`)).toEqual(
      [1, 2, 3, 4, 5].map((attempt) => `${attempt} failed`),
    )
    expect(new Set(receiver.got.map(({ body }) => body)).size).toBe(1)
    expect(receiver.got.map(({ headers }) => headers['service-delivery-attempt'])).toEqual([...'12345'])
    expect(await stage.endpoint(endpoint)).toMatchObject({
      status: 'disabled',
      disabled_reason: 'retry_exhausted',
    })
  })

  test('the schedule of attempts does not come before its time', async () => {
    receiver.answer = () => 'drop'
    await stage.addEndpoint(tenantId, receiver.url)
    await stage.emit(tenantId)
    await arrived(1)
    stage.clock.now = START + 5 * MINUTE - 1
    await expectNoMore()
    expect(receiver.got.length).toBe(1)
    stage.clock.now += 1
    await arrived(2)
  })

  test('the schedule of attempts keeps a minute between attempts after six hours without a sender', async () => {
    receiver.answer = () => 503
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    await stage.emit(tenantId)
    await arrived(1)
    stage.clock.now = START + 6 * HOUR
    await failEachMinute(endpoint)
    const times = (await stage.attempts(endpoint)).map(({ attempted_at }) => attempted_at! - START)
    expect(times).toEqual([0, 6 * HOUR, 6 * HOUR + MINUTE, 6 * HOUR + 2 * MINUTE, 6 * HOUR + 3 * MINUTE])
  })

  async function failEachMinute(endpoint: Endpoint): Promise<void> {
    for (let made = 2; made <= 5; made += 1) {
      await arrived(made)
      await expectNoMore()
      expect((await stage.endpoint(endpoint)).status).toBe(made === 5 ? 'disabled' : 'enabled')
      stage.clock.now += MINUTE
    }
  }

  const answered = (status: number): OutboundResult => ({ status, body: '', durationMs: 1 })
  test.each([
    ...[200, 201, 204, 299].map((status) => ({ given: answered(status), want: 'delivered' })),
    ...[408, 409, 425, 429, 500, 502, 503, 504, 599].map((status) => ({
      given: answered(status),
      want: 'failed',
    })),
    ...[300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 410, 422, 451, 600].map((status) => ({
      given: answered(status),
      want: 'refused',
    })),
    ...(['timeout', 'connection', 'tls', 'dns', 'blocked', 'response'] as const).map((kind) => ({
      given: { kind, error: 'no answer', durationMs: 1 },
      want: 'failed',
    })),
  ])('an attempt that ends with $given is classified as $want', ({ given, want }) => {
    expect(classifyOutcome(given)).toBe(want)
  })

  test('the schedule of attempts ends after the fifth', () => {
    expect(nextDue({ attempt: 5, retry_schedule: 'standard' }, START, START)).toBeUndefined()
  })

  test.each([302, 404, 422])('the schedule of attempts ends with a deliberate %i', async (status) => {
    receiver.answer = () => status
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    await stage.emit(tenantId)
    await arrived(1)
    expect(await stage.attempts(endpoint)).toMatchObject([
      { status: 'failed', response_status: status, next_attempt_at: null },
    ])
    expect(await stage.count('webhook_waiting', tenantId)).toBe(0)
    expect((await stage.endpoint(endpoint)).status).toBe('enabled')
  })
})

describe('endpoints that misbehave', () => {
  test('an answer that never comes is a failure that is tried again, and narrows the partition', async () => {
    const outbound = createOutbound({ allowPlainHttp: true, allow: stage.allow, deadlineMs: 150 })
    const other = await openStage()
    try {
      other.work({ outbound })
      receiver.answer = () => 'hang'
      const endpoint = await other.addEndpoint(tenantId, receiver.url)
      await other.emit(tenantId)
      await until('the end', async () => (await other.attempts(endpoint)).length === 2)
      const [first] = await other.attempts(endpoint)
      expect(first).toMatchObject({ status: 'failed', response_status: null })
      expect(first!.error).toMatch(/time|answer/)
      await until('the note', async () => (await other.endpoint(endpoint)).timeouts === 1)
      receiver.answer = () => 200
      await other.emit(tenantId)
      await until('the note', async () => (await other.endpoint(endpoint)).timeouts === 0)
    } finally {
      outbound.close()
      await other.close()
    }
  })

  test('bytes of an answer that are not text are kept as far as they can be', async () => {
    receiver.answer = () => (response) =>
      response.writeHead(500).end(Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80, 0x62]))
    const endpoint = await stage.addEndpoint(tenantId, receiver.url)
    await stage.emit(tenantId)
    await arrived(1)
    const [attempt] = await stage.attempts(endpoint)
    expect(attempt!.response_body).toMatch(/^a\ufffd+b$/)
  })

  test('an attempt that is refused at dial counts as a failed connection', async () => {
    const endpoint = await stage.addEndpoint(tenantId, 'http://169.254.169.254/latest')
    await stage.emit(tenantId)
    await until('the end', async () => (await stage.attempts(endpoint)).length === 2)
    expect(await stage.attempts(endpoint)).toMatchObject([
      { status: 'failed', response_status: null, next_attempt_at: START + 5 * MINUTE },
      { status: 'pending', attempt: 2 },
    ])
  })
})

test('deliveries are late and made twice as the tenant has set, and tell so', async () => {
  await stage.dismiss()
  const { id } = await createTenant(stage.database.operator, { name: 'A', plan: 'standard' }, VERSION)
  tenantId = id
  const none = { latency_ms: 0, rate_limited_percent: 0, error_percent: 0, declined_percent: 0 } as const
  const webhooks = { late_webhooks_percent: 100, webhook_delay_ms: 50, duplicate_webhooks_percent: 100 }
  await putFaults(stage.database.control, tenantId, {
    ...none,
    ...webhooks,
    ...{ decline_reason: 'suspected_fraud', attempts: 1, seed: 0, request_id: 'req_1' },
    ...{ created: START, expires_at: START + MINUTE },
  })
  stage.work()
  const endpoint = await stage.addEndpoint(tenantId, receiver.url)
  await stage.emit(tenantId)
  await arrived(2)
  expect(receiver.got.map(({ headers }) => headers['service-injected-fault'])).toEqual(['late', 'duplicate'])
  expect(new Set(receiver.got.map(({ body }) => body)).size).toBe(1)
  expect((await stage.attempts(endpoint)).map(({ status }) => status)).toEqual(['succeeded'])
  stage.clock.now = START + MINUTE
  await stage.emit(tenantId)
  await arrived(3)
  expect(receiver.got[2]!.headers['service-injected-fault']).toBe(undefined)
})
