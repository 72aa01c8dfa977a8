/** The mock that programs use in their own tests, with the client of its version. */
import { expect, test } from 'vitest'
import * as oldest from '../../generated/client/src/2025-06-01/index.ts'
import { createMock as createOldestMock } from '../../generated/client/src/2025-06-01/testing.ts'
import {
  createClient,
  IdempotencyError,
  InvalidParameterError,
  InvalidRequestError,
  NotFoundError,
  TimeoutError,
} from '../../generated/client/src/2026-05-19/index.ts'
import { createMock } from '../../generated/client/src/2026-05-19/testing.ts'
import { versions } from '../../generated/versions.ts'
import { notedClock } from './scripted.ts'

const baseUrl = 'https://api.test'
const template = { template_id: 'tpl_01jx1a2b3c4d5e6f7g8h9j0k1m' }
const passId = 'pass_01jx1a2b3c4d5e6f7g8h9j0k1m'

function setUp() {
  const mock = createMock()
  return { mock, client: createClient({ baseUrl, apiKey: 'test', fetch: mock.fetch, clock: notedClock() }) }
}

test('answers with the example of the document, and keeps the request', async () => {
  const { mock, client } = setUp()
  const pass = await client.passes.create(template, { idempotencyKey: crypto.randomUUID() })
  expect(pass).toMatchObject({ object: 'pass', id: expect.stringMatching(/^pass_/) })
  await client.passes.list({ limit: 5, status: 'issued' })
  expect(mock.requests).toMatchObject([
    {
      operation: 'passes.create',
      path: {},
      query: {},
      headers: { 'service-version': '2026-05-19', authorization: 'Bearer test' },
      body: template,
    },
    { operation: 'passes.list', query: { limit: 5, status: 'issued' } },
  ])
})

test('answers what a test says, as members over the example or from the request', async () => {
  const { mock, client } = setUp()
  mock.answer('passes.create', ({ body }, example) => ({
    id: `${example.object}_9`,
    template_id: body.template_id,
  }))
  mock.answer('passes.retrieve', { status: 'redeemed' })
  mock.answer('passes.retrieve', { status: 'revoked' }, { times: 1 })
  expect(await client.passes.create(template)).toMatchObject({ id: 'pass_9', ...template })
  expect((await client.passes.retrieve(passId)).status).toBe('revoked')
  expect((await client.passes.retrieve(passId)).status).toBe('redeemed')
  expect(mock.requests[1]?.path).toEqual({ pass_id: passId })
  mock.reset()
  expect(mock.requests).toEqual([])
  // @ts-expect-error: there is no such operation
  expect(() => mock.answer('passes.creat', {})).toThrow('has no operation passes.creat')
})

test('refuses with the class of the error, and the client retries', async () => {
  const { mock, client } = setUp()
  mock.refuse('passes.create', 422, { code: 'idempotency_key_reused', message: 'The key was used.' })
  const refused = client.passes.create(template)
  await expect(refused).rejects.toThrow('422 idempotency_key_reused: The key was used. (req_mock_1)')
  await expect(refused).rejects.toBeInstanceOf(IdempotencyError)
  mock.refuse('me.retrieve', 503, { code: 'unavailable', retry_after_ms: 0 }, { times: 2 })
  expect(await client.me.retrieve()).toMatchObject({ object: 'me' })
  expect(mock.requests.map(({ operation }) => operation)).toEqual([
    'passes.create',
    ...Array(3).fill('me.retrieve'),
  ])
})

test('refuses invalid requests as the service does, and says what is wrong', async () => {
  const { mock, client } = setUp()
  // @ts-expect-error: the name has a typo
  const body = client.passes.create({ ...template, holdr: {} })
  await expect(body).rejects.toThrow(
    '422 validation_failed: The request body is not valid: holdr is not a known property (did you mean holder?).',
  )
  await expect(body).rejects.toMatchObject({ details: [{ field: 'holdr' }] })
  await expect(body).rejects.toBeInstanceOf(InvalidRequestError)
  const limit = client.passes.list({ limit: 1000 })
  await expect(limit).rejects.toThrow('limit must be')
  await expect(limit).rejects.toBeInstanceOf(InvalidParameterError)
  // @ts-expect-error: there is no such parameter
  await expect(client.passes.list({ stauts: 'issued' })).rejects.toThrow('unknown_parameter: stauts is not')
  await expect(client.passes.list({ starting_after: 'pass_0' })).rejects.toThrow('400 invalid_cursor')
  await expect(client.passes.create(template, { idempotencyKey: 'not a UUID' })).rejects.toThrow(
    'Idempotency-Key',
  )
  expect(mock.requests).toHaveLength(1)
})

test('names the nearest operations of an unknown path, and the methods of a known one', async () => {
  const { mock } = setUp()
  const messageOf = async (path: string, method = 'GET') => {
    const { error } = (await (await mock.fetch(baseUrl + path, { method })).json()) as {
      error: { message: string }
    }
    return error.message
  }
  expect(await messageOf('/v1/pases/pass_1')).toMatch(
    /^Version 2026-05-19 has no operation GET \/v1\/pases\/pass_1\. The nearest are GET \/v1\/passes\/\{pass_id\} \(passes\.retrieve\), /,
  )
  expect(await messageOf('/v1/passes', 'PUT')).toBe('The path /v1/passes has no method PUT: use POST or GET.')
  const elsewhere = createClient({ baseUrl: `${baseUrl}/eu`, apiKey: 'test', fetch: mock.fetch })
  await expect(elsewhere.me.retrieve()).rejects.toBeInstanceOf(NotFoundError)
  const there = createMock({ baseUrl: `${baseUrl}/eu/` })
  const client = createClient({ baseUrl: `${baseUrl}/eu`, apiKey: 'test', fetch: there.fetch })
  expect(await client.me.retrieve()).toMatchObject({ object: 'me' })
})

test('answers a list page by page, in both directions', async () => {
  const { mock, client } = setUp()
  const [example] = (await client.passes.list()).data
  const ids = ['pass_1', 'pass_2', 'pass_3', 'pass_4', 'pass_5']
  mock.answer('passes.list', { data: ids.map((id) => ({ ...example!, id })) })
  const walk = async (query: { ending_before?: string }) => {
    const found: string[] = []
    for await (const { id } of client.passes.list({ limit: 2, ...query })) found.push(id)
    return found
  }
  expect(await walk({})).toEqual(ids)
  expect(await walk({ ending_before: 'pass_4' })).toEqual(['pass_3', 'pass_2', 'pass_1'])
  expect(mock.requests.map(({ query }) => query.starting_after ?? query.ending_before)).toEqual([
    ...[undefined, undefined, 'pass_2', 'pass_4'],
    ...['pass_4', 'pass_2'],
  ])
})

test('an answer that does not come is a timeout, and an abort ends the wait', async () => {
  const { mock, client } = setUp()
  mock.answer('me.retrieve', () => new Promise<never>(() => {}))
  await expect(client.me.retrieve({ timeout: 5, maxRetries: 0 })).rejects.toBeInstanceOf(TimeoutError)
  const abort = new AbortController()
  const waiting = client.me.retrieve({ signal: abort.signal })
  abort.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('every operation of a version answers, in the shape of that version', async () => {
  const mock = createOldestMock()
  const client = oldest.createClient({ baseUrl, apiKey: 'test', fetch: mock.fetch })
  expect(await client.passes.create(template)).toMatchObject({ object: 'pass' })
  const { operations } = versions.find(({ name }) => name === '2026-05-19')!
  const newest = createMock()
  const unanswered: string[] = []
  for (const { id, method, path, body } of operations) {
    const url = baseUrl + path.replaceAll(/\{\w+\}/g, 'x')
    const given = { method, ...(body && { body: '[]', headers: { 'content-type': 'application/json' } }) }
    const { status } = await newest.fetch(url, given)
    if (status === 404 || status === 405 || status >= 500) unanswered.push(id)
  }
  expect(unanswered).toEqual([])
})
