/** What the client throws, and the notice that a version is deprecated. */
import { expect, test, vi } from 'vitest'
import { ResponseError, UnexpectedAnswerError } from '../../generators/client-runtime/errors.ts'
import { clientOf, NotFoundError, serve } from './scripted.ts'

const input = { path: { id: 'a' } }

test('a refusal is thrown as the class of its type, with everything that it says', async () => {
  const error = {
    type: 'not_found',
    code: 'not_found',
    message: 'There is no such thing.',
    param: 'id',
    details: [{ field: 'fields[0].key', issue: 'is not a key' }],
    retry_after_ms: 7,
    request_id: 'req_1',
    doc_url: 'https://docs.example/errors#not_found',
  }
  const server = await serve({ status: 404, headers: { 'Request-Id': 'req_1' }, body: { error } })
  const thrown = await clientOf(server)
    .getThing(input)
    .catch((reason: unknown) => reason)
  expect(thrown).toBeInstanceOf(NotFoundError)
  expect(thrown).toMatchObject({
    message: '404 not_found: There is no such thing. (req_1)',
    docUrl: 'https://docs.example/errors#not_found',
    status: 404,
    type: 'not_found',
    code: 'not_found',
    param: 'id',
    details: error.details,
    requestId: 'req_1',
    retryAfterMs: 7,
    body: { error },
  })
})

test.each([
  {
    given: { error: { type: 'brand_new', code: 'x', message: 'New.' } },
    want: { type: 'brand_new', message: '400 x: New.' },
  },
  {
    given: { error: { type: 'constructor' } },
    want: { type: 'constructor', message: '400 constructor: the response has no error message' },
  },
  { given: { error: 'text' }, want: { type: undefined, message: '400: the response has no error message' } },
  {
    given: '<html>Bad gateway</html>',
    want: { type: undefined, body: '<html>Bad gateway</html>', details: [] },
  },
  { given: '', want: { type: undefined, code: undefined } },
])('a body of $given is a plain ResponseError', async ({ given, want }) => {
  const server = await serve({ status: 400, body: given })
  const thrown = await clientOf(server)
    .getThing(input)
    .catch((reason: unknown) => reason)
  expect(thrown).toMatchObject({ ...want, status: 400 })
  expect(Object.getPrototypeOf(thrown)).toBe(ResponseError.prototype)
})

test('Retry-After is given where the body has no finer wish', async () => {
  const server = await serve({ status: 404, headers: { 'Retry-After': '3' }, body: {} })
  await expect(clientOf(server).getThing(input)).rejects.toMatchObject({ retryAfterMs: 3000 })
})

test('a success that is not JSON is no success', async () => {
  const server = await serve({ status: 200, body: '<html>' })
  await expect(clientOf(server).getThing(input)).rejects.toThrow(UnexpectedAnswerError)
})

test('a failure that is met through withResponse is met once', async () => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const server = await serve({ status: 404, body: {} })
  await expect(clientOf(server).getThing(input).withResponse()).rejects.toThrow(ResponseError)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

test('a deprecated version is told of once, whatever the calls come to', async () => {
  const headers = {
    Deprecation: '@1769904000',
    Sunset: 'Tue, 02 Feb 2027 00:00:00 GMT',
    Link: '<https://example.com/guide>; rel="deprecation"; type="text/html", </next>; rel=successor-version',
  }
  const server = await serve({ status: 404, headers, body: {} }, { status: 200, headers, body: {} })
  const onDeprecation = vi.fn()
  const client = clientOf(server, { onDeprecation })
  await expect(client.getThing(input)).rejects.toThrow(ResponseError)
  await client.getThing(input)
  expect(onDeprecation.mock.calls).toEqual([
    [
      {
        version: '2030-01-01',
        since: new Date('2026-02-01T00:00:00Z'),
        sunset: new Date('2027-02-02T00:00:00Z'),
        links: [
          { rel: 'deprecation', href: 'https://example.com/guide' },
          { rel: 'successor-version', href: '/next' },
        ],
      },
    ],
  ])
})

test('a version that is not deprecated is not told of', async () => {
  const server = await serve({ status: 200, body: {} })
  const onDeprecation = vi.fn()
  await clientOf(server, { onDeprecation }).getThing(input)
  expect(onDeprecation).not.toHaveBeenCalled()
})
