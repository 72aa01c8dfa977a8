/** What arrives on the socket and is hardly HTTP, or is HTTP that two readers would read differently. */
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { createLimiter, type RequestLimiter } from '../../runtime/tenants/limits/limiter.ts'
import { until } from '../support/programs.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { talk, type WireAnswer, type WireOptions } from '../support/wire.ts'

let secret: string
let templateId: string

/** The service's own, so that a test sees who has a slot: how long one is had depends on the machine. */
const slots = createLimiter()
const admissions: string[] = []
const limiter: RequestLimiter = {
  ...slots,
  acquire: (meter, ...rest) => {
    admissions.push(meter.name)
    return slots.acquire(meter, ...rest)
  },
}

function watchSlots(tenantId: string) {
  const name = `sandbox:${tenantId}`
  return {
    running: () => slots.meter(name).running,
    admitted: () => admissions.filter((each) => each === name).length,
  }
}

/** Small enough that a test can wait for them. */
const HEADERS_MS = 400
const REQUEST_MS = 800

const service = useService({
  watched: true,
  limiter,
  env: {
    SVC_HEADERS_TIMEOUT_MS: String(HEADERS_MS),
    SVC_REQUEST_TIMEOUT_MS: String(REQUEST_MS),
  },
})

beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service))).secret
  const send = speak(service.urls.sandbox, { secret })
  const { body } = await send('/v1/pass_templates', {
    body: {
      name: 'Coffee',
      kind: 'loyalty',
      brand: { background_color: '#000000', foreground_color: '#ffffff' },
      fields: [],
    },
  })
  templateId = body.id
})

const head = () => `Host: api.example\r\nAuthorization: Bearer ${secret}\r\n`
const key = () => `Idempotency-Key: ${crypto.randomUUID()}\r\n`
const JSON_TYPE = 'Content-Type: application/json\r\n'
const say = (bytes: string | Uint8Array, options?: WireOptions) => talk(service.urls.sandbox, bytes, options)

/** An error in our JSON, that shows nothing of what made it. */
function expectOurs(answer: WireAnswer | undefined, status: number): void {
  expect(answer?.status).toBe(status)
  expect(answer?.headers.get('content-type')).toBe('application/json')
  expect(answer?.body.error).toMatchObject({
    type: expect.any(String),
    code: expect.any(String),
    message: expect.any(String),
    request_id: expect.stringMatching(/^req_[0-9a-hjkmnp-tv-z]{26}$/),
  })
  expect(answer?.text).not.toMatch(/HPE_|node:|\bat .+:\d+|<html|SELECT|\.ts\b/)
}

const GOOD = () => `GET /v1/me HTTP/1.1\r\n${head()}\r\n`
const passes = async () => (await speak(service.urls.sandbox, { secret })('/v1/passes/count')).body.count

describe('one request that could be two', () => {
  const inner = () => `POST /v1/passes HTTP/1.1\r\n${head()}${key()}${JSON_TYPE}`
  const smuggled = () => {
    const body = JSON.stringify({ template_id: templateId })
    return `${inner()}Content-Length: ${body.length}\r\n\r\n${body}`
  }

  test.each<readonly [string, (body: string) => string]>([
    [
      'both Content-Length and Transfer-Encoding',
      (b) => `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${b}`,
    ],
    [
      'Transfer-Encoding and then Content-Length',
      (b) => `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${b}`,
    ],
    ['xchunked', (b) => `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${b}`],
    ['chunked with a tab before it', (b) => `Transfer-Encoding:\tchunked, identity\r\n\r\n0\r\n\r\n${b}`],
    ['chunked twice', (b) => `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${b}`],
    [
      'chunked, then identity',
      (b) => `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${b}`,
    ],
    ['identity', (b) => `Transfer-Encoding: identity\r\n\r\n${b}`],
    ['gzip, chunked', (b) => `Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${b}`],
    ['a space before the colon', (b) => `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${b}`],
    ['two lengths', (b) => `Content-Length: 0\r\nContent-Length: 4\r\n\r\n${b}`],
    ['the same length twice', (b) => `Content-Length: 0\r\nContent-Length: 0\r\n\r\n${b}`],
    ['a list of lengths', (b) => `Content-Length: 0, 4\r\n\r\n${b}`],
    ['a signed length', (b) => `Content-Length: +0\r\n\r\n${b}`],
    ['a negative length', (b) => `Content-Length: -1\r\n\r\n${b}`],
    ['a length in hex', (b) => `Content-Length: 0x0\r\n\r\n${b}`],
    ['a length beyond all range', (b) => `Content-Length: 99999999999999999999\r\n\r\n${b}`],
    [
      'a header line that goes on',
      (b) => `Content-Length: 0\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n${b}`,
    ],
    ['a bare line feed between headers', (b) => `X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${b}`],
    ['a bare carriage return in a value', (b) => `X: a\rb\r\nContent-Length: 0\r\n\r\n${b}`],
    ['a NUL in a value', (b) => `X: a\0b\r\nContent-Length: 0\r\n\r\n${b}`],
  ])('%s: refused, the connection ends, and what follows is not done', async (_, framing) => {
    const before = await passes()
    const { answers, closed } = await say(`${inner()}${framing(smuggled())}`, { answers: 3 })
    expect(answers).toHaveLength(1)
    expectOurs(answers[0], 400)
    expect(answers[0]?.headers.get('connection')).toBe('close')
    expect(closed).toBe(true)
    expect(await passes()).toBe(before)
  })

  test.each([
    ['a chunk size that is no number', 'zz\r\n'],
    ['a chunk size beyond all range', 'fffffffffffffffff\r\n'],
    ['a chunk longer than its size', '2\r\n{}xx\r\n0\r\n\r\n'],
    ['a bare line feed after a chunk size', '2\n{}\r\n0\r\n\r\n'],
    ['a negative chunk size', '-1\r\n'],
  ])('a body whose chunks are malformed is refused once: %s', async (_, chunks) => {
    const before = await passes()
    const { answers, closed } = await say(`${inner()}Transfer-Encoding: chunked\r\n\r\n${chunks}`, {
      answers: 2,
    })
    expect(answers).toHaveLength(1)
    expectOurs(answers[0], 400)
    expect(closed).toBe(true)
    expect(await passes()).toBe(before)
  })

  test('nonsense behind a good request does not spoil its answer', async () => {
    const { answers, closed, rest } = await say(`${smuggled()}\r\n\0\0nonsense\r\n\r\n`, { answers: 3 })
    expect(answers[0]?.status).toBe(201)
    expect([answers.length <= 2, closed, rest]).toEqual([true, true, ''])
  })

  test('good requests in one packet are answered in turn', async () => {
    const { answers } = await say(GOOD() + GOOD() + GOOD(), { answers: 3 })
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ headers }) => headers.get('request-id'))).size).toBe(3)
  })
})

describe('what is no request of ours', () => {
  test.each<readonly [string, () => string, number]>([
    ['no HTTP', () => 'hello\r\n\r\n', 400],
    ['TLS on a plain port', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP/0.9', () => 'GET /v1/me\r\n\r\n', 400],
    ['HTTP/1.2', () => `GET /v1/me HTTP/1.2\r\n${head()}\r\n`, 400],
    ['a method that is none', () => `GETT /v1/me HTTP/1.1\r\n${head()}\r\n`, 400],
    ['a target with a space', () => `GET /v1/me now HTTP/1.1\r\n${head()}\r\n`, 400],
    ['a target with a control character', () => `GET /v1/\x01 HTTP/1.1\r\n${head()}\r\n`, 400],
    ['bare line feeds', () => `GET /v1/me HTTP/1.1\n${head().replaceAll('\r', '')}\n`, 400],
    ['no Host', () => `GET /v1/me HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\n\r\n`, 400],
    ['two Hosts', () => `GET /v1/me HTTP/1.1\r\nHost: a\r\n${head()}\r\n`, 400],
    ['a header without a name', () => `GET /v1/me HTTP/1.1\r\n${head()}: x\r\n\r\n`, 400],
    ['a header without a colon', () => `GET /v1/me HTTP/1.1\r\n${head()}oops\r\n\r\n`, 400],
    ['a tunnel', () => `CONNECT 127.0.0.1:5432 HTTP/1.1\r\n${head()}\r\n`, 405],
    [
      'an expectation of another kind',
      () => `POST /v1/passes HTTP/1.1\r\n${head()}Expect: tea\r\nContent-Length: 2\r\n\r\n{}`,
      417,
    ],
    [
      'headers of more than 16 KiB',
      () => `GET /v1/me HTTP/1.1\r\n${head()}X: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
    ],
    ['a target of more than 16 KiB', () => `GET /v1/me?${'x'.repeat(17_000)} HTTP/1.1\r\n${head()}\r\n`, 431],
    [
      'more headers than anybody needs',
      () => `GET /v1/me HTTP/1.1\r\n${head()}${'a: b\r\n'.repeat(2500)}\r\n`,
      431,
    ],
    ['a method that no path has', () => `TRACE /v1/me HTTP/1.1\r\n${head()}\r\n`, 405],
  ])('the listener answers what is not a request: %s, with %s', async (_, request, status) => {
    const { answers, rest } = await say(request())
    expectOurs(answers[0], status)
    expect(rest).toBe('')
  })

  test('no header is left out silently: the last of many counts too', async () => {
    const many = Array.from({ length: 150 }, (_, index) => `X-${index}: 1\r\n`).join('')
    const { answers } = await say(
      `GET /v1/me HTTP/1.1\r\nHost: x\r\n${many}Authorization: Bearer ${secret}\r\n\r\n`,
    )
    expect(answers[0]?.status).toBe(200)
  })

  test('HTTP/1.0 without Host is answered', async () => {
    const { answers, closed } = await say(`GET /v1/me HTTP/1.0\r\nAuthorization: Bearer ${secret}\r\n\r\n`, {
      answers: 2,
    })
    expect([answers[0]?.status, closed]).toEqual([200, true])
  })

  test('an upgrade is not taken up', async () => {
    const { answers } = await say(
      `GET /v1/me HTTP/1.1\r\n${head()}Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
    )
    expect(answers[0]?.status).toBe(200)
  })

  test('a client that expects 100-continue is told to continue', async () => {
    const body = JSON.stringify({ template_id: templateId })
    const { answers } = await say(
      `POST /v1/passes HTTP/1.1\r\n${head()}${key()}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
      { answers: 2, afterwards: (socket) => void socket.write(body) },
    )
    expect(answers.map(({ status }) => status)).toEqual([100, 201])
  })
})

describe('what comes slowly', () => {
  const drip =
    (text: string) => async (socket: { write(text: string): boolean; readonly destroyed: boolean }) => {
      for (const letter of text) {
        if (socket.destroyed) return
        socket.write(letter)
        await wait(20)
      }
    }

  test('a request whose headers come too slowly is answered with 408', async () => {
    const { answers, closed, ms } = await say(`GET /v1/me HTTP/1.1\r\n${head()}X: `, {
      answers: 2,
      afterwards: drip('x'.repeat(200)),
    })
    expectOurs(answers[0], 408)
    expect(closed).toBe(true)
    expect(ms).toBeGreaterThan(HEADERS_MS / 2)
  })

  test('a request whose body comes too slowly is answered with 408', async () => {
    const before = await passes()
    const { answers, closed, ms } = await say(
      `POST /v1/passes HTTP/1.1\r\n${head()}${key()}${JSON_TYPE}Content-Length: 1000\r\n\r\n`,
      { answers: 2, afterwards: drip(`{"template_id":"${templateId}"${' '.repeat(200)}`) },
    )
    expectOurs(answers[0], 408)
    expect(closed).toBe(true)
    expect(ms).toBeGreaterThan(REQUEST_MS / 2)
    expect(await passes()).toBe(before)
  })

  test('a slow body takes a slot, and gives it back when it is refused', async () => {
    const tenantId = await makeTenant(service)
    const own = (await makeKey(service, tenantId)).secret
    const { running, admitted } = watchSlots(tenantId)
    const slow = `POST /v1/passes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own}\r\n${JSON_TYPE}Content-Length: 9\r\n`
    const talks = Array.from({ length: 8 }, () => say(`${slow}${key()}\r\n{`, { answers: 2 }))
    const answered = await Promise.all(talks)
    expect(answered.map(({ answers, closed }) => [answers[0]?.status, closed])).toEqual(
      answered.map(() => [408, true]),
    )
    expect(admitted()).toBe(8)
    await until('the slots to be given back', () => running() === 0)
  })

  test('a connection that says nothing', async () => {
    const { answers, closed } = await say('', { answers: 2 })
    expect([answers.map(({ status }) => status), closed]).toEqual([[408], true])
  })

  test('others are served meanwhile', async () => {
    const slow = Array.from({ length: 50 }, () => say(`GET /v1/me HTTP/1.1\r\n${head()}X: `))
    const { answers } = await say(GOOD())
    expect(answers[0]?.status).toBe(200)
    expect((await Promise.all(slow)).every(({ answers: [answer] }) => answer?.status === 408)).toBe(true)
  })
})

describe('size', () => {
  const post = (more: string, body: string | Uint8Array, framing?: string) =>
    Buffer.concat([
      Buffer.from(
        `POST /v1/passes HTTP/1.1\r\n${head()}${key()}${JSON_TYPE}${more}${framing ?? `Content-Length: ${body.length}\r\n`}\r\n`,
      ),
      Buffer.from(body),
    ])

  test('a body that says that it is too large is refused before it is read', async () => {
    const { answers, closed } = await say(post('', '', 'Content-Length: 1048577\r\n'), { answers: 2 })
    expectOurs(answers[0], 413)
    expect([answers[0]?.body.error.code, closed]).toEqual(['body_too_large', true])
  })

  test('a body that does not say so is refused when it is', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    const { answers } = await say(post('', chunk.repeat(17), 'Transfer-Encoding: chunked\r\n'))
    expectOurs(answers[0], 413)
  })

  test('a large body without a key is not waited for', async () => {
    const { answers, closed } = await say(
      `POST /v1/passes HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n10000\r\n`,
      { answers: 2 },
    )
    expectOurs(answers[0], 401)
    expect([answers[0]?.headers.get('connection'), closed]).toEqual(['close', true])
  })

  test.each(['gzip', 'deflate', 'br', 'x-gzip', 'gzip, gzip', 'GZIP'])(
    'a bomb in %s is not even unpacked',
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
      expect(bomb.length).toBeLessThan(64 * 1024)
      const before = process.memoryUsage().arrayBuffers
      const { answers } = await say(post(`Content-Encoding: ${encoding}\r\n`, bomb))
      expectOurs(answers[0], 415)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024)
    },
  )

  test('a request with a long chunk extension is answered with 413', async () => {
    const { answers, closed } = await say(
      post('', `1;${'x'.repeat(20_000)}\r\n{\r\n`, 'Transfer-Encoding: chunked\r\n'),
      { answers: 2 },
    )
    expectOurs(answers[0], 413)
    expect(closed).toBe(true)
  })
})

test('the service answers after all that, and what it gave up is counted', async () => {
  const { answers } = await say(GOOD())
  expect(answers[0]?.status).toBe(200)
  expect(service.observability).toBeDefined()
})
