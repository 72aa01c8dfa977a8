/** The committed package: what the documents and the configuration make of the runtime, in every version. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as v1 from '../../generated/client/src/2025-06-01/index.ts'
import * as v2 from '../../generated/client/src/2025-11-01/index.ts'
import * as v3 from '../../generated/client/src/2026-02-01/index.ts'
import * as v4 from '../../generated/client/src/2026-05-19/index.ts'
import { createClient } from '../../generated/client/src/index.ts'
import { Resource } from '../../generated/client/src/runtime/resource.ts'
import { versions } from '../../generated/versions.ts'
import { notedClock, serve } from './scripted.ts'

const packages = { '2025-06-01': v1, '2025-11-01': v2, '2026-02-01': v3, '2026-05-19': v4 }

/** Paths of all methods below an object, such as `passes.create`. */
function methodsOf(object: object, path: readonly string[] = []): string[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter(
    (name) => name !== 'constructor',
  )
  const below = Object.entries(object).filter(([, value]) => value instanceof Resource)
  return [
    ...own.map((name) => [...path, name].join('.')),
    ...below.flatMap(([name, value]) => methodsOf(value, [...path, name])),
  ]
}

test('every version has its subpath, with a method for each operation', () => {
  expect(Object.keys(packages)).toEqual(versions.map(({ name }) => name))
  for (const { name, operations } of versions) {
    const client = packages[name as keyof typeof packages].createClient({
      baseUrl: 'http://127.0.0.1',
      apiKey: 'k',
    })
    const methods = methodsOf(client).filter((method) => method.includes('.'))
    expect(methods).toHaveLength(operations.length)
    expect(new Set(methods).size).toBe(operations.length)
    expect(client).toMatchObject(Object.fromEntries(operations.map(({ id }) => [id, expect.any(Function)])))
  }
})

test('methods are named after the paths of their operations', () => {
  const client = v4.createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'k' })
  expect(methodsOf(client)).toEqual(
    expect.arrayContaining([
      'passes.create',
      'passes.retrieve',
      'passes.list',
      'passes.revoke',
      'passes.batch.create',
      'webhookEndpoints.deliveryAttempts.retry',
      'balance.retrieve',
      'test.cards.simulateAuthorization',
    ]),
  )
})

test.each(versions)('$name shows an example of each call where it is declared', ({ name }) => {
  const text = readFileSync(`generated/client/src/${name}/resources.ts`, 'utf8')
  const shown = [...text.matchAll(/\* (?:await |for await \(const item of )client\.(?:\w+\.)*(\w+)\(/g)].map(
    ([, method]) => method,
  )
  expect(shown).toEqual(
    [...text.matchAll(/^ {2}(\w+)\(.*(?:\{|RequestOptions)$/gm)].map(([, method]) => method),
  )
})

test.each(Object.entries(packages))(
  'the client of %s asks for its version, under a key',
  async (version, { createClient }) => {
    const server = await serve({ status: 201, body: {} })
    const client = createClient({ baseUrl: server.baseUrl, apiKey: 'svc_sk_1' })
    await client.passes.create({ template_id: 'tpl_1' })
    expect(server.received[0]?.headers).toMatchObject({
      authorization: 'Bearer svc_sk_1',
      'service-version': version,
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  },
)

test('lists can be walked from 2026-02-01 on', () => {
  const walkable = Object.entries(packages).map(([version, { createClient }]) => {
    const list = createClient({
      baseUrl: 'http://127.0.0.1:1',
      apiKey: 'k',
      maxRetries: 0,
      clock: notedClock(),
    }).passes.list()
    list.catch(() => {}) // nobody listens there
    return [version, Symbol.asyncIterator in list]
  })
  expect(walkable).toEqual([
    ['2025-06-01', false],
    ['2025-11-01', false],
    ['2026-02-01', true],
    ['2026-05-19', true],
  ])
})

test('a refusal is of the class of its type, the same in every version', async () => {
  const server = await serve({
    status: 404,
    body: { error: { type: 'not_found', code: 'not_found', message: 'No.' } },
  })
  const call = v1.createClient({ baseUrl: server.baseUrl, apiKey: 'k' }).passes.retrieve('pass_1')
  await expect(call).rejects.toThrow(v4.NotFoundError)
})

test('one set of settings serves all versions, each asking for its own', async () => {
  const server = await serve({ status: 200, body: {} })
  const client = createClient({ baseUrl: server.baseUrl, apiKey: 'svc_sk_1' })
  await client.at('2025-06-01').me.retrieve()
  await client.at('2026-05-19').me.retrieve()
  await client.at('2025-06-01').me.retrieve()
  const asked = server.received.map(({ headers }) => [headers['service-version'], headers.authorization])
  expect(asked).toEqual([
    ['2025-06-01', 'Bearer svc_sk_1'],
    ['2026-05-19', 'Bearer svc_sk_1'],
    ['2025-06-01', 'Bearer svc_sk_1'],
  ])
  expect(client.at('2025-11-01')).toBe(client.at('2025-11-01'))
})

test.each(['2024-01-01', 'constructor', '__proto__'])('there is no version %s', (version) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'k' })
  const known = versions.map(({ name }) => name).join(', ')
  expect(() => client.at(version as '2026-05-19')).toThrow(
    new v4.ClientError(`Version ${version} does not exist: expected one of ${known}`),
  )
})

test('missing settings are named at once', () => {
  expect(() => v4.createClient({} as never)).toThrow(
    'The option baseUrl is missing: expected the URL of the service, such as https://api.example.com',
  )
  expect(() => v4.createClient({ baseUrl: 'api.example' })).toThrow('The option baseUrl is "api.example"')
  expect(() => v4.createClient({ baseUrl: 'https://api.example' })).toThrow('The option apiKey is missing')
})

test('options of one call override those of the client, and a client is copied with others', async () => {
  const server = await serve({ status: 200, body: {} })
  const client = v4.createClient({ baseUrl: server.baseUrl, apiKey: 'k' })
  await client.passes.revoke('pass_1', {
    idempotencyKey: 'mine',
    version: '2026-02-01',
    headers: { 'X-Trace': 't' },
  })
  await client.withOptions({ apiKey: 'other' }).passes.list({ limit: 2 })
  expect(server.received.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
    ['POST', '/v1/passes/pass_1/revoke', 'Bearer k'],
    ['GET', '/v1/passes?limit=2', 'Bearer other'],
  ])
  expect(server.received[0]?.headers).toMatchObject({
    'idempotency-key': 'mine',
    'service-version': '2026-02-01',
    'x-trace': 't',
  })
})

test('a call gives its response, unread', async () => {
  const server = await serve({ status: 200, headers: { 'Request-Id': 'req_1' }, body: { object: 'me' } })
  const client = v4.createClient({ baseUrl: server.baseUrl, apiKey: 'k' })
  const response = await client.me.retrieve().asResponse()
  expect([response.status, await response.json()]).toEqual([200, { object: 'me' }])
  const answer = await client.me.retrieve().withResponse()
  expect([answer.data, await answer.response.json()]).toEqual([{ object: 'me' }, { object: 'me' }])
})
