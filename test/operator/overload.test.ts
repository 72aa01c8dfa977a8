/** Too much to do: turned away early, at hardly any cost, and taken in again. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { watchLoad } from '../../runtime/operator/metrics/load.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { until } from '../support/programs.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const LIMITS = { delayMs: 100, heap: 0.85 }

describe('a process is overloaded', () => {
  const watch = (given: Partial<Parameters<typeof watchLoad>[0]> = {}) =>
    watchLoad({ limits: LIMITS, heap: () => 0.1, ...given })

  test('a process is overloaded when its event loop is late twice in a row, until it is not', async () => {
    let lost = 0
    const load = watch({ monotonic: () => performance.now() + lost })
    const reasons: (string | undefined)[] = []
    for (const late of [500, 0, 500, 500, 500, 0]) {
      const before = load.delayMs()
      lost += late
      await until('the next look', () => load.delayMs() !== before)
      reasons.push(load.overloaded())
    }
    load.stop()
    expect(reasons).toEqual([undefined, undefined, undefined, 'event_loop', 'event_loop', undefined])
  })

  test('a process is overloaded when its memory is used up', async () => {
    const load = watch({ heap: () => 0.9 })
    await until('a look', () => load.overloaded() === 'memory')
    load.stop()
  })

  test('a process is not overloaded when as much memory is used as may be', async () => {
    let looks = 0
    const count = () => {
      looks += 1
      return performance.now()
    }
    const load = watch({ heap: () => 0.85, monotonic: count })
    await until('three looks', () => looks > 3)
    expect(load.overloaded()).toBeUndefined()
    load.stop()
  })
})

/** A request that stays under way until it is finished; gives its status then. */
function beginRequest(url: string, secret: string): { finish(): Promise<number | undefined> } {
  const body = '{}'
  const begun = request(`${url}/v1/pass_templates`, {
    method: 'POST',
    agent: false,
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'Idempotency-Key': crypto.randomUUID(),
    },
  })
  const answered = once(begun, 'response') as Promise<[IncomingMessage]>
  begun.flushHeaders()
  return {
    finish: async () => {
      begun.end(body)
      const [response] = await answered
      response.resume()
      return response.statusCode
    },
  }
}

describe('over HTTP', () => {
  const service = useService({
    watched: true,
    poolSize: 5,
    env: {
      SVC_MAX_REQUESTS: '20',
      SVC_MAX_QUEUE: '3',
      SVC_ANSWER_TIMEOUT_MS: '3000',
    },
  })
  let send: Send
  let templateId: string

  beforeAll(async () => {
    send = await speaker()
    templateId = await makeTemplate(send)
    await Promise.all([issue(), send('/v1/me')]) // the second opinion takes its time for the first of each kind
  })

  const speaker = async () =>
    speak(service.urls.sandbox, { secret: (await makeKey(service, await makeTenant(service))).secret })

  /** Works while nobody can write a pass of the template. */
  const whileHeld = <T>(work: () => Promise<T>) =>
    service.database.control.transaction(async (db) => {
      await db.query({ text: 'SELECT 1 FROM sandbox.pass_templates WHERE id = $1 FOR UPDATE' }, [templateId])
      return work()
    })

  const issue = () => send('/v1/passes', { body: { template_id: templateId } })

  /** Writes of one tenant until more wait than may; beside others, most would wait their turn ahead of the pool. */
  const crowd = async () => {
    const waiting = Array.from({ length: 8 }, issue)
    await until('too many to wait', () => service.database.sandbox.load().waiting > 3)
    return waiting
  }

  test('a caller that is turned away pays nothing', async () => {
    const left = async () => Number((await send('/v1/me')).headers.get('X-RateLimit-Remaining'))
    for (let count = 0; count < 1010; count += 10) await Promise.all(Array.from({ length: 10 }, left))
    const before = await left()
    await whileHeld(async () => {
      const waiting = await crowd()
      for (let count = 0; count < 20; count += 1) expect((await send('/v1/me')).status).toBe(503)
      return { waiting }
    }).then(({ waiting }) => Promise.all(waiting))
    expect(before - (await left())).toBeLessThanOrEqual(1)
  })

  test('the pool’s queue turns new requests away of those who fill it, and takes them in again', async () => {
    const other = await speaker()
    const { waiting, turnedAway, welcome } = await whileHeld(async () => {
      const waiting = await crowd()
      const turnedAway = await send('/v1/me')
      return { waiting, turnedAway, welcome: [await other('/v1/me'), await makeTemplate(other)] }
    })
    expect(welcome).toEqual([expect.objectContaining({ status: 200 }), expect.stringMatching(/^tpl_/)])
    expect([turnedAway.status, turnedAway.body.error]).toMatchObject([
      503,
      { type: 'unavailable', code: 'unavailable', retry_after_ms: 1000 },
    ])
    expect(turnedAway.headers.get('Retry-After')).toBe('1')
    // What was let in is done: the one under way, and as many as may wait.
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(4)
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([])
    await until('new ones to be taken', async () => (await send('/v1/me')).status === 200)
    const { shed } = await metrics()
    expect(shed('database')).toBeGreaterThanOrEqual(1)
  })

  test('requests under way are bounded, whoever sends them', async () => {
    const underWay = async () => (await metrics()).value('svc_requests_under_way', 'environment="sandbox"')
    const { secret } = await makeKey(service, await makeTenant(service))
    const slow = Array.from({ length: 20 }, () => beginRequest(service.urls.sandbox, secret))
    await until('all to be under way', async () => (await underWay()) === slow.length)
    const before = (await metrics()).shed('requests')
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await send('/v1/me')).status))
    expect(statuses).toEqual(Array(50).fill(503))
    expect((await metrics()).shed('requests') - before).toBe(50)
    expect(await Promise.all(slow.map(({ finish }) => finish()))).toEqual(Array(20).fill(422))
    expect((await send('/v1/me')).status).toBe(200)
    expect(await underWay()).toBe(0)
  })

  test('a request that takes too long is answered, and its retry finds what it did', async () => {
    const expired = async () => (await metrics()).value('svc_requests_expired_total', 'environment="sandbox"')
    const before = await expired()
    const key = crypto.randomUUID()
    const call = { body: { template_id: templateId }, headers: { 'Idempotency-Key': key } }
    const late = await whileHeld(() => send('/v1/passes', call))
    expect([late.status, late.body.error.code]).toEqual([503, 'unavailable'])
    expect(late.headers.get('Retry-After')).toBe('1')
    const again = await until('the first to have ended', async () => {
      const answer = await send('/v1/passes', call)
      return answer.status === 409 ? undefined : answer
    })
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([201, 'true'])
    expect((await expired()) - before).toBe(1)
  })

  test('clients that go away are counted and leave nothing behind', async () => {
    const before = (await metrics()).value('svc_requests_aborted_total', 'environment="sandbox"')
    const { hostname, port } = new URL(service.urls.sandbox)
    const secret = (await makeKey(service, await makeTenant(service))).secret
    for (let count = 0; count < 5; count += 1) {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      socket.write(
        `POST /v1/passes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n` +
          `Idempotency-Key: ${crypto.randomUUID()}\r\nContent-Length: 100\r\n\r\n{`,
      )
      await until(
        'it to be under way',
        async () => (await metrics()).value('svc_requests_under_way', 'environment="sandbox"') === 1,
      )
      socket.destroy()
      await until(
        'it to be over',
        async () => (await metrics()).value('svc_requests_under_way', 'environment="sandbox"') === 0,
      )
    }
    const after = (await metrics()).value('svc_requests_aborted_total', 'environment="sandbox"')
    expect(after - before).toBe(5)
  })

  test('an event for which no worker has planned an attempt is in the queue', async () => {
    const { secret } = await makeKey(service, await makeTenant(service), { scope: 'admin' })
    const by = speak(service.urls.sandbox, { secret })
    const endpoint = { url: 'https://example.com/hook', enabled_events: ['*'] }
    expect((await by('/v1/webhook-endpoints', { body: endpoint })).status).toBe(201)
    await makeTemplate(by)
    const age = async () =>
      (await metrics()).value('svc_queue_age_seconds', 'environment="sandbox",queue="webhooks"')
    service.clock.now += 90_000
    // Reads of a second are shared.
    await until('the age of the event', async () => (await age()) === 90)
  })

  test('requests are counted by operation, version, status and duration, and by nothing of the caller’s', async () => {
    const tenantId = await makeTenant(service)
    const { secret, id } = await makeKey(service, tenantId)
    const by = speak(service.urls.sandbox, { secret })
    const old = speak(service.urls.sandbox, { secret, version: '2025-06-01' })
    const before = await metrics()
    const own = await makeTemplate(by)
    const pass = await issuePass(by, own)
    for (let count = 0; count < 3; count += 1) await by(`/v1/passes/${pass.id}`)
    await old(`/v1/passes/${pass.id}`)
    await by('/v1/passes/pass_00000000000000000000000000')
    await by('/v1/nothing/svc_sk_live_abcdefgh')
    const { text, value } = await metrics()
    const labels = (operation: string, version: string, status: number) =>
      `environment="sandbox",operation="${operation}",version="${version}",status="${status}"`
    const counted = (...given: Parameters<typeof labels>) =>
      value('svc_requests_total', labels(...given)) - before.value('svc_requests_total', labels(...given))
    expect(counted('getPass', '2026-05-19', 200)).toBe(3)
    expect(counted('getPass', '2025-06-01', 200)).toBe(1)
    expect(counted('getPass', '2026-05-19', 404)).toBe(1)
    expect(counted('createPass', '2026-05-19', 201)).toBe(1)
    expect(counted('', '', 404)).toBe(1)
    expect(text).toMatch(/^svc_ready 1$/m)
    for (const queue of ['webhooks', 'chain_signing', 'chain', 'bank'])
      expect(text).toContain(`svc_queue_age_seconds{environment="live",queue="${queue}"} 0\n`)
    expect(text).toMatch(/^svc_database_bytes [1-9]\d+$/m)
    // A gauge without a value has no series: 0 would mean something else.
    expect(text).not.toMatch(
      /^svc_(verification_timestamp_seconds|archive_failing|network_messages_under_way) /m,
    )
    const duration = 'environment="sandbox",operation="getPass"'
    expect(value('svc_request_duration_seconds_count', duration)).toBe(5)
    expect(value('svc_request_duration_seconds_bucket', `${duration},le="+Inf"`)).toBe(5)
    expect(value('svc_request_duration_seconds_sum', duration)).toBeGreaterThan(0)
    const buckets = [
      ...text.matchAll(
        /svc_request_duration_seconds_bucket\{environment="sandbox",operation="getPass",le="[^"]+"\} (\d+)/g,
      ),
    ]
    expect(buckets).toHaveLength(13)
    expect(buckets.map(([, count]) => Number(count))).toEqual(
      buckets.map(([, count]) => Number(count)).toSorted((a, b) => a - b),
    )
    for (const secretive of [tenantId, id, secret, pass.id, own, 'svc_sk_', '/v1/nothing', '127.0.0.1']) {
      expect(text).not.toContain(secretive)
    }
  })

  test('refusals for want of tokens are counted by bucket', async () => {
    const by = await speaker()
    for (let count = 0; count < 125; count += 5) {
      await Promise.all(Array.from({ length: 5 }, () => by('/v1/passes/count')))
    }
    const { value } = await metrics()
    expect(value('svc_rate_limited_total', 'environment="sandbox",bucket="passes_count"')).toBe(5)
  })

  /** What `/metrics` says, through the page that serves it. */
  async function metrics() {
    const text = await page('/metrics')
    const value = (name: string, labels: string) => {
      const line = text.split('\n').find((each) => each.startsWith(`${name}{${labels}} `))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const shed = (reason: string) =>
      value('svc_requests_shed_total', `environment="sandbox",reason="${reason}"`)
    return { text, value, shed }
  }

  async function page(path: string): Promise<string> {
    const { default: express } = await import('express')
    const server = express().use(service.observability!.pages).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    const text = await response.text()
    server.close()
    expect(response.status).toBe(200)
    return text
  }
})
