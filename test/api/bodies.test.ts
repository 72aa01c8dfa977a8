/** What arrives broken, hostile or too large, down to the bytes. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { firstFault, makeTemplate, refusal, TEMPLATE } from './fixtures.ts'

const service = useService()
let secret: string
let send: Send
let templateId: string

beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service))).secret
  send = speak(service.urls.sandbox, { secret })
  templateId = await makeTemplate(send)
})

const JSON_TYPE = { 'Content-Type': 'application/json' }

const post = (
  raw: string | Uint8Array,
  headers: Record<string, string | null> = JSON_TYPE,
  path = '/v1/passes',
) => send(path, { method: 'POST', raw, headers })

describe('what is no JSON', () => {
  test.each([
    ['', 'nothing'],
    [' ', 'blank'],
    ['{', 'cut'],
    ["{'a': 1}", 'other quotes'],
    ['{"a": 1,}', 'a comma too many'],
    ['{"a": NaN}', 'NaN'],
    ['{"a": 01}', 'a leading zero'],
    ['{"a": "\n"}', 'a raw newline'],
    ['{"a": "\0"}', 'a raw NUL'],
    ['{}{}', 'two values'],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'bytes that are no UTF-8'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'brackets without end'],
    [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 'objects in objects'],
  ])('a body that is not JSON is refused as malformed: %j', async (raw, _what) => {
    expect(refusal(await post(raw))).toEqual([400, 'invalid_parameter', 'malformed_json'])
  })
})

describe('a member twice', () => {
  test.each([
    '{"template_id":"T","template_id":"T"}',
    '{"template_id":"T","metadata":{"a":"1","a":"2"}}',
    '{"template_id":"T","metadata":{"a":"1","\\u0061":"2"}}',
    '{"template_id":"T","metadata":{"a:":"1","a\\u003A":"2"}}',
    '{"template_id":"T","metadata":{"\\u003a":"1","\\u003a":"2"}}',
    '{"template_id":"T","metadata":{"a":"::","a":"\\u003a:"}}',
    '{"template_id":"T","metadata":{"":"1","":"2"}}',
    '{"template_id":"T","metadata":{"__proto__":"1","__proto__":"2"}}',
    '{"template_id":"T","more":[{"a":{"b":1,"b":1}}]}',
    '{"template_id":"T","metadata":{"a":"1"},"metadata":{"b":"2"}}',
  ])('a body that has a member twice is refused: %s', async (text) => {
    const answer = await post(text.replaceAll('"T"', JSON.stringify(templateId)))
    expect(refusal(answer)).toEqual([400, 'invalid_parameter', 'malformed_json'])
  })

  test('a member twice in an item of a batch, or of its envelope, is refused', async () => {
    for (const text of ['{"passes":[{"a":1,"a":2}]}', '{"passes":[{}],"passes":[{}]}']) {
      const answer = await post(text, JSON_TYPE, '/v1/passes/batch')
      expect(refusal(answer)).toEqual([400, 'invalid_parameter', 'malformed_json'])
    }
  })

  test.each([
    '{"a":"x:y","b":"\\u003a","c":"\\\\u003a","d":":\\":\\\\"}',
    '{"a:":"1","b\\u003A":"2","c\\\\":"u003a"}',
    '{"a":"1","A":"2","\\u0062":"::::"}',
    '{ "ä:🎟️" : "\\\\:" }',
  ])('a colon elsewhere in a body is not taken for a repeated member: %s', async (text) => {
    const answer = await post(`{"template_id":"${templateId}","metadata":${text}}`)
    expect([answer.status, answer.body.metadata]).toEqual([201, JSON.parse(text)])
  })
})

describe('an instant outside the years 0001 to 9999 in UTC', () => {
  test.each([
    '9999-12-31T23:59:59-00:01',
    '9999-12-31T23:59:59.9999-23:59',
    '9999-12-31T23:59:60Z',
    '0000-12-31T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '2026-02-30T00:00:00Z',
  ])(
    'an instant outside the years 0001 to 9999 is refused: %s in a body and in an item',
    async (expires_at) => {
      const answer = await send('/v1/passes', { body: { template_id: templateId, expires_at } })
      expect(firstFault(answer)).toMatchObject([422, 'validation_failed', { field: 'expires_at' }])
      const passes = [{ template_id: templateId, expires_at }, { template_id: templateId }]
      const { body } = await send('/v1/passes/batch', { body: { passes } })
      expect(body.results[0].error.details).toMatchObject([{ field: 'expires_at' }])
      expect(body.results[1].status).toBe('succeeded')
    },
  )

  test('the last one within is stored as it is', async () => {
    const body = { template_id: templateId, expires_at: '9999-12-31T23:59:59.9999Z' }
    expect((await send('/v1/passes', { body })).body.expires_at).toBe('9999-12-31T23:59:59.999Z')
  })

  test.each(['created_after', 'created[gt]', 'created[gte]', 'created[lt]', 'created[lte]'])(
    'the filter %s refuses an instant outside the years 0001 to 9999 in UTC',
    async (name) => {
      for (const [text, status] of [
        ['9999-12-31T23:59:59-00:01', 400],
        ['0001-01-01T00:00:00+00:01', 400],
        ['0000-06-01', 400],
        ['9999-12-31T23:59:59.9999Z', 200],
        ['0001-01-01', 200],
      ] as const) {
        const answer = await send(`/v1/passes?${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
        expect(answer.status).toBe(status)
        if (status === 400)
          expect([answer.body.error.code, answer.body.error.param]).toEqual(['invalid_format', name])
      }
    },
  )
})

describe('what is JSON of another kind', () => {
  test.each(['null', '1', '"a"', 'true', '[]', '[{}]'])(
    'a body that is not an object fails validation: %s',
    async (raw) => {
      const answer = await post(raw)
      expect(refusal(answer)).toEqual([422, 'invalid_request', 'validation_failed'])
      expect(answer.body.error.details).toMatchObject([{ field: '' }])
    },
  )
})

describe('content types', () => {
  test.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="UTF-8"', 201],
    ['application/json; charset=latin1', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/vnd.api+json', 415],
    ['application/jsonp', 415],
    ['', 415],
  ])('a body of the content type %s is answered with %i', async (type, status) => {
    const answer = await post(JSON.stringify({ template_id: templateId }), { 'Content-Type': type })
    expect(answer.status).toBe(status)
    if (status === 415) {
      expect(refusal(answer)).toEqual([415, 'unsupported_media_type', 'unsupported_media_type'])
    }
  })

  test('a compressed body is refused', async () => {
    const raw = gzipSync(JSON.stringify({ template_id: templateId }))
    const answer = await post(raw, { ...JSON_TYPE, 'Content-Encoding': 'gzip' })
    expect(refusal(answer)).toEqual([415, 'unsupported_media_type', 'unsupported_media_type'])
  })
})

describe('size', () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ template_id: templateId })
    return body + ' '.repeat(bytes - body.length)
  }

  test('1 MiB is read, one byte more is not', async () => {
    expect((await post(padded(1024 * 1024))).status).toBe(201)
    const answer = await post(padded(1024 * 1024 + 1))
    expect(refusal(answer)).toEqual([413, 'body_too_large', 'body_too_large'])
    expect(answer.body.error.message).toBe('The body is larger than 1 MiB.')
  })

  test('a body that is too large is refused also when it does not say how long it is', async () => {
    const text = await speakRaw(
      [
        `POST /v1/passes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n`,
        'Idempotency-Key: 0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0\r\n',
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      ].join('') + `10000\r\n${' '.repeat(0x10000)}\r\n`.repeat(17),
    )
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(text).toContain('"code":"body_too_large"')
    expect(text).toMatch(/\r\nConnection: close\r\n/i)
  })
})

describe('text that the database cannot hold', () => {
  test.each([
    ['{"template_id":"T","metadata":{"a":"x\\u0000"}}', 'metadata.a'],
    ['{"template_id":"T","metadata":{"a\\u0000":"x"}}', 'metadata.a\ufffd'],
    ['{"template_id":"T","holder":{"name":"\\ud800"}}', 'holder.name'],
    ['{"template_id":"T","metadata":{"a":"\\udc00\\ud800"}}', 'metadata.a'],
    ['{"template_id":"T","metadata":{"__proto__":"x"}}', 'metadata.__proto__'],
    ['{"__proto__":{"template_id":"T"}}', '__proto__'],
    ['{"template_id":"T","fields":[1e999]}', 'fields[0]'],
  ])('text that the database cannot hold is refused by its field: %s', async (text, field) => {
    const answer = await post(text.replaceAll('"T"', JSON.stringify(templateId)))
    expect(refusal(answer)).toEqual([422, 'invalid_request', 'validation_failed'])
    expect(answer.body.error.details).toMatchObject([{ field }])
  })

  test('text that the database can hold comes back as it was', async () => {
    const metadata = {
      emoji: '🎟️',
      'a"b\\c': '</script>\u2028',
      constructor: 'x',
      toString: 'y',
      'ä.b[0]': "'; --",
    }
    const made = await send('/v1/passes', { body: { template_id: templateId, metadata } })
    expect((await send(`/v1/passes/${made.body.id}`)).body.metadata).toEqual(metadata)
    expect(({} as Record<string, unknown>).template_id).toBeUndefined()
  })
})

describe('operations without fields', () => {
  test.each([
    [undefined, undefined, 404],
    ['{}', 'application/json', 404],
    ['{"a":1}', 'application/json', 422],
    ['[]', 'application/json', 422],
    ['{}', 'text/plain', 415],
    ['{', 'application/json', 400],
  ])('an operation without fields answers the body %s of type %s with %i', async (raw, type, status) => {
    const answer = await send('/v1/passes/pass_00000000000000000000000000/revoke', {
      method: 'POST',
      ...(raw === undefined ? {} : { raw }),
      headers: { 'Content-Type': type ?? null },
    })
    expect(answer.status).toBe(status)
  })
})

test('faults are told in full, at most 50', async () => {
  const fields = Array.from({ length: 20 }, () => ({ key: 'Bad Key', label: 1, value: 2 }))
  const many = await send('/v1/pass_templates', { body: { ...TEMPLATE, fields } })
  expect(many.body.error.details.length).toBeGreaterThan(19)
  expect(many.body.error.details.length).toBeLessThanOrEqual(50)
  expect(many.body.error.details[0].field).toMatch(/^fields\[0\]\./)
})

describe('what is hardly HTTP', () => {
  const head = () => `Host: x\r\nAuthorization: Bearer ${secret}\r\n`
  test.each([
    [
      'both lengths',
      () =>
        `POST /v1/passes HTTP/1.1\r\n${head()}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'two lengths',
      () => `POST /v1/passes HTTP/1.1\r\n${head()}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
    ],
    ['xchunked', () => `POST /v1/passes HTTP/1.1\r\n${head()}Transfer-Encoding: xchunked\r\n\r\n{}`, 400],
    ['bare line feeds', () => `GET /v1/me HTTP/1.1\n${head().replaceAll('\r', '')}\n`, 400],
    ['headers without end', () => `GET /v1/me HTTP/1.1\r\n${head()}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['no HTTP at all', () => 'hello\r\n\r\n', 400],
  ])('a request with %s is refused with an error in JSON', async (_, request, status) => {
    const text = await speakRaw(request())
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(text).toMatch(/\r\n\r\n\{"error":\{"type":"invalid_parameter",.+"request_id":"req_[^"]+"\}\}$/)
    expect(text).not.toMatch(/<html|node:|at .+:\d+/i)
  })

  test('a request with a whole address as its target is answered', async () => {
    const text = await speakRaw(`GET http://svc.example/v1/me HTTP/1.1\r\n${head()}Connection: close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
  })
})

test.each(['//v1/me', '*', 'http://a:b/x', 'http://', '/#', '/v1#', '/\\v1'])(
  'target %s is not there',
  async (target) => {
    const method = target === '*' ? 'OPTIONS' : 'GET'
    const text = await speakRaw(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 40[04] /)
    expect(text).toMatch(/\r\n\r\n\{"error":/)
  },
)

/** Sends bytes and gives what came back until the other side closed or had answered once. */
function speakRaw(request: string): Promise<string> {
  const { hostname, port } = new URL(service.urls.sandbox)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(request))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (/\r\n\r\n[\s\S]/.test(text)) socket.end()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
