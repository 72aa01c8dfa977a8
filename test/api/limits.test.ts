/** Buckets, their headers, and requests at the same time. */
import { beforeAll, describe, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { createLimiter, LIMITS, type Limiter } from '../../runtime/tenants/limits/limiter.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { issuePass, makeTemplate, TEMPLATE, whileHeld } from './fixtures.ts'

const service = useService({ keepsTime: true })

const WALL = 1_780_000_000_000

describe('a bucket', () => {
  let now = 0
  const fresh = (): { limiter: Limiter; meter: ReturnType<Limiter['meter']> } => {
    now = 0
    const limiter = createLimiter(
      () => now,
      () => WALL + now,
    )
    return { limiter, meter: limiter.meter('sandbox:ten') }
  }
  const drain = ({ limiter, meter }: ReturnType<typeof fresh>, bucket: keyof typeof LIMITS) => {
    let taken = 0
    while (limiter.take(meter, bucket).allowed) taken += 1
    return taken
  }

  test.each(Object.entries(LIMITS))('a bucket of %s bursts to exactly twice %i', (bucket, limit) => {
    expect(drain(fresh(), bucket as keyof typeof LIMITS)).toBe(2 * limit)
  })

  test.each(Object.entries(LIMITS))('%s averages %i a minute, however it is asked', (bucket, limit) => {
    for (const step of [1, 7, 59, 1000, 60_000]) {
      const both = fresh()
      drain(both, bucket as keyof typeof LIMITS)
      let taken = 0
      for (now = step; now <= 600_000; now += step) taken += drain(both, bucket as keyof typeof LIMITS)
      expect([step, taken]).toEqual([step, Math.floor((Math.floor(600_000 / step) * step * limit) / 60_000)])
    }
  })

  test('a bucket of a rate limit is full again after two minutes and holds no more than before', () => {
    const both = fresh()
    drain(both, 'read')
    now = 120_000
    expect(drain(both, 'read')).toBe(2000)
    now = 900_000
    expect(drain(both, 'read')).toBe(2000)
  })

  test.each(Object.entries(LIMITS))('%s: waiting as long as told suffices, and less does not', (bucket) => {
    const both = fresh()
    drain(both, bucket as keyof typeof LIMITS)
    const { retryAfterMs } = both.limiter.take(both.meter, bucket as keyof typeof LIMITS)
    now = retryAfterMs - 1
    expect(both.limiter.take(both.meter, bucket as keyof typeof LIMITS).allowed).toBe(false)
    now = retryAfterMs
    expect(both.limiter.take(both.meter, bucket as keyof typeof LIMITS).allowed).toBe(true)
  })

  test('a clock that is set back refills nothing', () => {
    const both = fresh()
    now = 60_000
    drain(both, 'read')
    now = 0
    expect(drain(both, 'read')).toBe(0)
    now = 60_060
    expect(drain(both, 'read')).toBe(1)
  })

  test('a bucket of a rate limit shows what is left, and when it is full again', () => {
    const { limiter, meter } = fresh()
    expect(limiter.take(meter, 'read')).toMatchObject({
      limit: 1000,
      remaining: 1000,
      reset: WALL / 1000 + 1,
    })
    for (let count = 0; count < 1009; count += 1) limiter.take(meter, 'read')
    expect(limiter.take(meter, 'read')).toMatchObject({ remaining: 989, reset: WALL / 1000 + 61 })
  })

  test('a bucket of a rate limit is its own for each meter and each name', () => {
    const both = fresh()
    drain(both, 'read')
    expect(both.limiter.take(both.meter, 'passes_write').allowed).toBe(true)
    expect(both.limiter.take(both.limiter.meter('live:ten'), 'read').allowed).toBe(true)
  })

  test('a flood of addresses is forgotten again', () => {
    const { limiter, meter } = fresh()
    for (let count = 0; count < 2000; count += 1) limiter.take(meter, 'read')
    for (let address = 0; address < 60_000; address += 1) {
      limiter.take(limiter.meter(`address ${address}`), 'unauthenticated')
    }
    // A full one among them is none of those that matter.
    expect(limiter.take(limiter.meter('address 59999'), 'unauthenticated').remaining).toBe(1000)
  })
})

describe('over HTTP', () => {
  let tenantId: string
  let send: Send

  beforeAll(async () => {
    tenantId = await makeTenant(service)
    send = await speaker()
  })

  const speaker = async (tenant = tenantId, environment: 'sandbox' | 'live' = 'sandbox'): Promise<Send> =>
    speak(service.urls[environment], { secret: (await makeKey(service, tenant, { environment })).secret })

  const shown = ({ headers }: { headers: Headers }) =>
    ['Resource', 'Limit', 'Remaining'].map((name) => headers.get(`X-RateLimit-${name}`))

  test('each operation shows its bucket', async () => {
    const templateId = await makeTemplate(send)
    const pass = await issuePass(send, templateId)
    for (const [method, path, bucket, limit, body] of [
      ['GET', '/v1/me', 'read', '1000'],
      ['GET', '/v1/passes', 'read', '1000'],
      ['GET', `/v1/passes/${pass.id}`, 'read', '1000'],
      ['GET', '/v1/passes/count', 'passes_count', '60'],
      ['PATCH', `/v1/passes/${pass.id}`, 'passes_write', '500', {}],
      ['POST', `/v1/passes/${pass.id}/revoke`, 'passes_write', '500'],
      ['POST', '/v1/passes/batch_revoke', 'passes_write', '500', { ids: [pass.id] }],
      ['PATCH', `/v1/pass_templates/${templateId}`, 'templates_write', '60', {}],
      ['POST', '/v1/passes', 'passes_write', '500', { nonsense: true }],
      ['GET', '/v1/nothing', 'read', '1000'],
    ] as const) {
      const answer = await send(path, { method, ...(body && { body }) })
      expect([path, ...shown(answer).slice(0, 2)]).toEqual([path, bucket, limit])
      const reset = Number(answer.headers.get('X-RateLimit-Reset'))
      expect(Math.abs(reset - Date.now() / 1000)).toBeLessThan(130)
    }
  })

  test('an empty bucket refuses, says how long, and does nothing', async () => {
    const tenant = await makeTenant(service)
    const by = await speaker(tenant)
    const answers = await Promise.all(
      Array.from({ length: 130 }, () => by('/v1/pass_templates', { body: TEMPLATE })),
    )
    const [made, refused] = [
      answers.filter(({ status }) => status === 201),
      answers.filter(({ status }) => status === 429),
    ]
    expect(made.length + refused.length).toBe(130)
    const buckets = refused.filter(({ headers }) => headers.get('X-RateLimit-Resource') === 'templates_write')
    // Slots may have refused some of them; what the bucket gave is exact.
    expect(made.length).toBeLessThanOrEqual(120)
    for (let left = made.length; left < 120; left += 1)
      expect((await by('/v1/pass_templates', { body: TEMPLATE })).status).toBe(201)
    const last = await by('/v1/pass_templates', { body: TEMPLATE })
    expect([last.status, last.body.error]).toMatchObject([
      429,
      { type: 'rate_limited', code: 'tenant_limit', retry_after_ms: 1000 },
    ])
    expect(last.headers.get('Retry-After')).toBe('1')
    expect(shown(last)).toEqual(['templates_write', '60', '0'])
    expect((await by('/v1/pass_templates?limit=1')).status).toBe(200)
    service.clock.monotonic += last.body.error.retry_after_ms
    expect((await by('/v1/pass_templates', { body: TEMPLATE })).status).toBe(201)
    expect(buckets.length).toBeLessThanOrEqual(10)
  })

  test('a bucket is one for all keys of a tenant, and one for each environment', async () => {
    const tenant = await makeTenant(service)
    const [one, other, live] = [await speaker(tenant), await speaker(tenant), await speaker(tenant, 'live')]
    for (let count = 0; count < 120; count += 1) await one('/v1/passes/count')
    expect((await other('/v1/passes/count')).status).toBe(429)
    expect((await live('/v1/passes/count')).status).toBe(200)
    expect((await send('/v1/passes/count')).status).toBe(200)
  })

  test('a lifted bucket admits more requests and says so in its headers', async () => {
    const tenant = await makeTenant(service)
    await liftLimit(service.operator, {
      tenantId: tenant,
      environment: 'sandbox',
      bucket: 'passes_count',
      factor: 2.5,
      hours: 1,
    })
    const by = await speaker(tenant)
    expect(shown(await by('/v1/passes/count'))).toEqual(['passes_count', '150', '150'])
  })

  test('a request without a key is counted against its address', async () => {
    const nobody = speak(service.urls.live, {})
    const answer = await nobody('/v1/me')
    expect(shown(answer).slice(0, 2)).toEqual(['unauthenticated', '1000'])
    const left = Number(answer.headers.get('X-RateLimit-Remaining'))
    expect(left).toBeLessThanOrEqual(1000)
    let last = answer
    for (let count = 0; count < 2100 && last.status !== 429; count += 50) {
      last = (await Promise.all(Array.from({ length: 50 }, () => nobody('/v1/me')))).at(-1)!
    }
    expect(last.body.error).toMatchObject({ type: 'rate_limited', code: 'tenant_limit' })
    // Who has a key is not held up by neighbours who have none.
    expect((await send('/v1/me')).status).toBe(200)
    service.clock.monotonic += 120_000
  })

  test('64 requests of a tenant run at once, and not one more', async () => {
    const tenant = await makeTenant(service)
    const by = await speaker(tenant)
    const templateId = await makeTemplate(by)
    const waiting = await whileHeld(service, templateId, async () => {
      const calls = Array.from({ length: 64 }, () => by('/v1/passes', { body: { template_id: templateId } }))
      await slotsTaken(by)
      const refused = await by('/v1/me')
      expect([refused.status, refused.body.error.code]).toEqual([429, 'tenant_limit'])
      expect(shown(refused)).toEqual(['concurrent_connections', '64', '0'])
      expect(refused.headers.get('Retry-After')).toBe('1')
      expect((await send('/v1/me')).status).toBe(200)
      return { calls }
    })
    const answers = await Promise.all(waiting.calls)
    expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(201))
    expect((await by('/v1/me')).status).toBe(200)
  })

  test('a caller that disconnects gives its slot back', async () => {
    const tenant = await makeTenant(service)
    const by = await speaker(tenant)
    const templateId = await makeTemplate(by)
    await whileHeld(service, templateId, async () => {
      const leaving = new AbortController()
      const call = { body: { template_id: templateId }, signal: leaving.signal }
      const calls = Array.from({ length: 64 }, () =>
        by('/v1/passes', call).catch((error: Error) => error.name),
      )
      await slotsTaken(by)
      leaving.abort()
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['AbortError']))
      await until(async () => (await by('/v1/me')).status === 200)
    })
  })

  const slotsTaken = (by: Send) => until(async () => (await by('/v1/me')).status === 429)

  async function until(holds: () => Promise<boolean>): Promise<void> {
    await expect.poll(holds, { timeout: 10_000, interval: 5 }).toBe(true)
  }
})

describe('a tenant lets requests of its sandbox fail', () => {
  const PATH = '/v1/test/faults'
  let tenant: string
  let key: { readonly secret: string }
  let ask: Send
  beforeAll(async () => {
    tenant = await makeTenant(service, 'enterprise', current)
    key = await makeKey(service, tenant, { scope: 'admin' })
    ask = speak(service.urls.sandbox, { secret: key.secret, version: current })
  })
  const put = (body: object) => ask(PATH, { method: 'PUT', body })
  const faultOf = ({ headers }: { headers: Headers }) => headers.get('Service-Injected-Fault')

  test('each affected request fails as often as set, and then succeeds, also after a repetition', async () => {
    expect((await ask(PATH)).status).toBe(404)
    const set = await put({ rate_limited_percent: 100, error_percent: 100, attempts: 2, latency_ms: 1 })
    expect(set.body).toMatchObject({ object: 'faults', attempts: 2, declined_percent: 0, seed: 0 })
    expect((await ask(PATH)).body).toEqual(set.body)
    const call = { body: TEMPLATE, headers: { 'Idempotency-Key': crypto.randomUUID() } }
    const answers = []
    for (let count = 0; count < 6; count += 1) answers.push(await ask('/v1/pass_templates', call))
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 500, 500, 201, 201])
    expect(answers.map(faultOf)).toEqual([
      ...['latency, rate_limited', 'latency, rate_limited', 'latency, error', 'latency, error'],
      ...['latency', 'latency'],
    ])
    expect(answers[0]!.headers.get('Retry-After')).toBe('1')
    expect(answers[4]!.body.id).toBe(answers[5]!.body.id)
    const live = speak(service.urls.live, {
      secret: (await makeKey(service, tenant, { environment: 'live', scope: 'admin' })).secret,
      version: current,
    })
    expect(await live('/v1/me')).toMatchObject({ status: 200 })
    expect((await live(PATH, { method: 'PUT', body: {} })).status).toBe(404)
    const other = await makeKey(service, await makeTenant(service, 'standard', current))
    expect(
      faultOf(await speak(service.urls.sandbox, { secret: other.secret, version: current })('/v1/me')),
    ).toBe(null)
  })

  test('which requests fail follows from the request and the seed', async () => {
    const paths = Array.from({ length: 40 }, (_, place) => `/v1/passes?limit=${place + 1}`)
    const statuses = async () => {
      const found = []
      for (const path of paths) found.push((await ask(path)).status)
      return found
    }
    await put({ error_percent: 30, seed: 7 })
    const first = await statuses()
    const failed = first.filter((status) => status === 500).length
    expect([failed > 3, failed < 25, first.includes(200)]).toEqual([true, true, true])
    await put({ error_percent: 30, seed: 7 })
    expect(await statuses()).toEqual(first)
    expect((await statuses()).includes(500)).toBe(false)
    await put({ error_percent: 30, seed: 8 })
    expect(await statuses()).not.toEqual(first)
  })

  test('authorizations are declined with the reason, until the failures end or expire', async () => {
    // Replaces the failures of the test before, which could affect the requests that follow.
    await put({ declined_percent: 100, decline_reason: 'card_stolen', expires_in_seconds: 60 })
    const cardholder_id = (await ask('/v1/cardholders', { body: { name: 'Ada Moreau' } })).body.id
    const card_id = (await ask('/v1/cards', { body: { cardholder_id, type: 'virtual' } })).body.id
    await ask('/v1/test/funding', { body: { amount: 5000 } })
    const body = { card_id, amount: 100, merchant: { name: 'Diner', category_code: '5812' } }
    const authorize = () => ask('/v1/test/cards/simulate_authorization', { body })
    const declined = await authorize()
    expect(faultOf(declined)).toBe('declined')
    expect(declined.body).toMatchObject({ status: 'declined', decline_reason: { code: 'card_stolen' } })
    service.clock.now += 60_000
    expect([(await authorize()).body.status, (await ask(PATH)).status]).toEqual(['authorized', 404])
    await put({ declined_percent: 100 })
    expect((await ask(PATH, { method: 'DELETE' })).body).toEqual({ object: 'faults', deleted: true })
    const answers = [await authorize(), await ask(PATH, { method: 'DELETE' })]
    expect(answers.map(({ status }) => status)).toEqual([201, 404])
    const { body: log } = await ask('/v1/audit_log?limit=100')
    const actions = log.data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['faults.set', 'faults.deleted']))
  })
})
