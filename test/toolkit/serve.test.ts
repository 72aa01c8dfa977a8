/**
 * `createVersionedApi`: with tables written by hand, versions by header, query and path, refusals, streams, and what breaks off; with
 * generated ones, lists in queries.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Operation, Parameter, Reply, Version } from '../../generators/runtime/contract.ts'
import { touched } from '../../generators/runtime/touched.ts'
import {
  createVersionedApi,
  ErrorReply,
  fromHeader,
  fromPath,
  fromQuery,
  type VersionedApiOptions,
  type VersionLife,
} from '../../generators/server/api.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import type { Handlers as ListHandlers } from '../golden/query-lists/want/canonical/handlers.ts'
import type { Asked } from '../golden/query-lists/want/canonical/types.ts'
import * as lists1 from '../golden/query-lists/want/client/src/2030-01-01/index.ts'
import * as lists2 from '../golden/query-lists/want/client/src/2030-06-01/index.ts'
import { versions as listVersions } from '../golden/query-lists/want/versions.ts'
import { listening } from './listening.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const NOW = Date.parse('2031-01-01T00:00:00Z')

const bookId: Parameter = {
  name: 'book_id',
  type: 'string',
  required: true,
  set: false,
  validate: (value) => /^book_\d+$/.test(String(value)),
  pointer: '/book_id',
}

const isTitled = (name: string) => (value: unknown) =>
  typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[name] === 'string'

function operation(
  id: string,
  method: 'GET' | 'POST',
  path: string,
  rest: Partial<Operation> = {},
): Operation {
  const pathParameters = path.includes('{') ? [bookId] : []
  return {
    id,
    method,
    path,
    status: 200,
    oauth: [],
    extensions: {},
    pathParameters,
    query: [],
    headers: [],
    ...rest,
  }
}

const rename = (from: string, to: string) => (value: never) => {
  const { [from]: moved, ...rest } = value as Record<string, unknown>
  return moved === undefined ? value : { ...rest, [to]: touched('2030-06-01/rename-title', moved) }
}

const body = (name: string) => ({ required: true, validate: isTitled(name), pointer: '/body' })

const VERSIONS: readonly Version<unknown, VersionLife>[] = [
  {
    name: '2029-01-01',
    deprecated: '2029-06-01T00:00:00Z',
    sunset: '2030-01-01T00:00:00Z',
    operations: [operation('getBook', 'GET', '/books/{book_id}')],
  },
  {
    name: '2030-01-01',
    deprecated: '2030-06-01T00:00:00Z',
    sunset: '2032-01-01T00:00:00Z',
    operations: [
      operation('createBook', 'POST', '/books', {
        status: 201,
        body: body('title'),
        upBody: rename('title', 'name'),
        down: rename('name', 'title'),
        downs: { '4XX': rename('message', 'title') },
        downStatus: { 409: 400 },
      }),
    ],
  },
  {
    name: '2030-06-01',
    operations: [
      operation('createBook', 'POST', '/books', { status: 201, body: body('name') }),
      operation('getBook', 'GET', '/books/{book_id}'),
      operation('watchBooks', 'GET', '/books/events', { stream: true }),
      operation('deleteBooks', 'POST', '/books/delete', { status: 204 }),
    ],
  },
]

type Input = Readonly<Record<'path' | 'body', Record<string, unknown>>>

const handlers = {
  async createBook(_context: string, { body }: Input): Promise<Reply> {
    if (body.name === 'conflict') throw new ErrorReply(409, { message: 'exists' })
    if (body.name === 'untranslatable') throw new ErrorReply(410, null)
    if (body.name === 'fault') throw new Error('a fault of the handler')
    return { status: 201, body: { ...body } }
  },
  async getBook(context: string, { path }: Input): Promise<Reply> {
    return { status: 200, body: { id: path.book_id, by: context } }
  },
  async watchBooks(): Promise<Reply> {
    return { status: 200, body: pieces() }
  },
  async deleteBooks(): Promise<Reply> {
    return { status: 204, body: undefined }
  },
}

let endPieces: () => void = () => undefined
let wereReturned = Promise.resolve()
async function* pieces() {
  let returned: () => void = () => undefined
  wereReturned = new Promise((resolve) => {
    returned = resolve
  })
  try {
    yield 'data: one\n\n'
    await new Promise<void>((resolve) => {
      endPieces = resolve
    })
    throw new Error('a fault of the stream')
  } finally {
    returned()
  }
}

const create = (options: Partial<VersionedApiOptions<typeof handlers>> = {}) =>
  createVersionedApi({
    versions: VERSIONS,
    handlers,
    context: () => 'caller',
    resolveVersion: fromHeader('Book-Version'),
    now: () => NOW,
    ...options,
  })

async function send(
  api: ReturnType<typeof create>,
  path: string,
  { version, json, ...init }: RequestInit & { readonly version?: string; readonly json?: unknown } = {},
) {
  const headers = new Headers(init.headers)
  if (version !== undefined) headers.set('book-version', version)
  if (json !== undefined) headers.set('content-type', 'application/json')
  const response = await api.fetch(
    new Request(`http://api.test${path}`, {
      ...init,
      headers,
      ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
    }),
  )
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

describe('versions', () => {
  test('a caller of the older version gets requests, answers, errors and statuses of that version', async () => {
    const onTouched = vi.fn()
    const api = create({ onTouched })
    const created = await send(api, '/books', { version: '2030-01-01', json: { title: 'Emma' } })
    expect([created.status, created.body]).toEqual([201, { title: 'Emma' }])
    expect(
      onTouched.mock.calls.map(([{ version, operation, changes }]) => [version, operation, [...changes]]),
    ).toEqual([['2030-01-01', 'createBook', ['2030-06-01/rename-title']]])
    const refused = await send(api, '/books', { version: '2030-01-01', json: { title: 'conflict' } })
    expect([refused.status, refused.body]).toEqual([400, { title: 'exists' }])
    const newest = await send(api, '/books', { json: { name: 'conflict' } })
    expect([newest.status, newest.body]).toEqual([409, { message: 'exists' }])
  })

  test('a deprecated version says so until its sunset, and is gone from then on', async () => {
    const api = create({ guideUrl: (version) => `https://docs.test/${version}` })
    const { headers } = await send(api, '/books', { version: '2030-01-01', json: { title: 'Emma' } })
    expect(Object.fromEntries(headers)).toMatchObject({
      'book-version': '2030-01-01',
      vary: 'Book-Version',
      deprecation: '@1906502400',
      sunset: 'Thu, 01 Jan 2032 00:00:00 GMT',
      link: '<https://docs.test/2030-01-01>; rel="deprecation"; type="text/html"',
    })
    const gone = await send(api, '/books/book_1', { version: '2029-01-01' })
    expect([gone.status, gone.body.code]).toEqual([410, 'version_sunset'])
    expect(gone.body.title).toContain('2030-01-01')
    const before = create({ now: () => Date.parse('2030-01-01T00:00:00Z') - DAY_MS })
    expect((await send(before, '/books/book_1', { version: '2029-01-01' })).status).toBe(200)
  })

  test.each([
    [
      'a query parameter',
      fromQuery('version'),
      '/books/book_1?version=2030-06-01',
      '/books/book_1?version=2031-01-01',
    ],
    ['the path', fromPath(), '/2030-06-01/books/book_1', '/2031-01-01/books/book_1'],
    [
      'a function of the service',
      async ({ request }: { readonly request: Request }) => request.headers.get('x-pin') ?? '2031-01-01',
      '/books/book_1',
      '/books/book_2',
    ],
  ] as const)('the version comes from %s', async (_, resolveVersion, path, unknown) => {
    const api = create({ resolveVersion, defaultVersion: '2030-01-01' })
    const found = await send(api, path, { headers: { 'x-pin': '2030-06-01' } })
    expect([found.status, found.body]).toEqual([200, { id: 'book_1', by: 'caller' }])
    const refused = await send(api, unknown)
    expect([refused.status, refused.body.code]).toEqual([400, 'unknown_version'])
  })

  test('a default version that does not exist is refused at the start', () => {
    expect(() => create({ defaultVersion: '2031-01-01' })).toThrow('there is no version 2031-01-01')
    expect(() => create({ versions: [] })).toThrow('`versions` is empty')
  })

  test('documents are served by version', async () => {
    const api = create({ documents: { '2030-01-01': async () => ({ openapi: '3.1.0' }) } })
    expect((await send(api, '/openapi/2030-01-01.json')).body).toEqual({ openapi: '3.1.0' })
    expect((await send(api, '/openapi/2031-01-01.json')).status).toBe(404)
  })
})

describe('refusals', () => {
  const json = { headers: { 'content-type': 'application/json' } }
  test.each([
    ['a path that the version lacks', '/shelves', {}, 404, 'not_found'],
    ['a path outside of the base path', '/elsewhere', {}, 404, 'not_found'],
    ['a method that the path does not take', '/api/books', {}, 405, 'method_not_allowed'],
    ['a parameter that is not valid', '/api/books/emma', {}, 400, 'invalid_parameter'],
    ['a query parameter that is not described', '/api/books/book_1?page=2', {}, 400, 'invalid_parameter'],
    ['a body that is not JSON', '/api/books', { method: 'POST', body: '{', ...json }, 400, 'malformed_body'],
    ['a body that is missing', '/api/books', { method: 'POST', ...json }, 400, 'malformed_body'],
    ['a body of another type', '/api/books', { method: 'POST', body: '<a/>' }, 415, 'unsupported_media_type'],
    ['a body that is too large', '/api/books', { json: { name: 'x'.repeat(200) } }, 413, 'body_too_large'],
    [
      'a body with a prototype',
      '/api/books',
      { method: 'POST', body: '{"name":"a","__proto__":{}}', ...json },
      422,
      'invalid_body',
    ],
    ['a body that does not match', '/api/books', { json: { title: 'Emma' } }, 422, 'invalid_body'],
  ] as const)('%s', async (_, path, init, status, code) => {
    const api = create({ basePath: '/api', maxBodyBytes: 100 })
    const refused = await send(api, path, init)
    expect([refused.status, refused.body.code]).toEqual([status, code])
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
  })

  test('the service gives refusals a form of its own', async () => {
    const refuse = ({ status, code }: { readonly status: number; readonly code: string }) => ({
      status,
      body: { code },
    })
    expect(await send(create({ refuse }), '/shelves')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
  })

  test('a fault of a handler is reported, and its caller learns nothing of it', async () => {
    const onError = vi.fn()
    const failed = await send(create({ onError }), '/books', { json: { name: 'fault' } })
    expect([failed.status, JSON.stringify(failed.body)]).toEqual([
      500,
      expect.not.stringContaining('handler'),
    ])
    expect(onError.mock.calls[0]![0]).toMatchObject({ message: 'a fault of the handler' })
  })

  test('an error whose body does not translate is reported, and answered as a fault', async () => {
    const onError = vi.fn()
    const json = { title: 'untranslatable' }
    const failed = await send(create({ onError }), '/books', { version: '2030-01-01', json })
    expect([failed.status, failed.body.code, onError.mock.calls.length]).toEqual([500, 'internal_error', 1])
  })

  test('an answer stands when the hook for metrics fails', async () => {
    const onError = vi.fn()
    const onTouched = () => {
      throw new Error('a fault of the hook')
    }
    const created = await send(create({ onError, onTouched }), '/books', {
      version: '2030-01-01',
      json: { title: 'Emma' },
    })
    expect([created.status, onError.mock.calls[0]![0].message]).toEqual([201, 'a fault of the hook'])
  })
})

describe('on node:http', () => {
  const onError = vi.fn()
  const server = createServer(toNodeListener(create({ onError }))).listen(0, '127.0.0.1')
  const ready = once(server, 'listening')
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  test('an answer without a body has none, and one for HEAD has its headers', async () => {
    await ready
    expect((await fetch(`${origin()}/books/delete`, { method: 'POST' })).status).toBe(204)
    const head = await fetch(`${origin()}/books/book_1`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      'application/json',
      '',
    ])
  })

  test('a stream ends where its client leaves, and its pieces are returned', async () => {
    await ready
    const leaving = new AbortController()
    const response = await fetch(`${origin()}/books/events`, { signal: leaving.signal })
    const reader = response.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: one\n\n')
    leaving.abort()
    await expect(reader.read()).rejects.toThrow()
    endPieces()
    await wereReturned
    expect((await fetch(`${origin()}/books/book_1`)).status).toBe(200)
  })

  test('a stream whose pieces fail breaks off, and the fault is reported', async () => {
    await ready
    onError.mockClear()
    const response = await fetch(`${origin()}/books/events`)
    const reader = response.body!.getReader()
    await reader.read()
    endPieces()
    await expect(reader.read()).rejects.toThrow()
    expect(onError.mock.calls.map(([error]) => error.message)).toEqual(['a fault of the stream'])
  })

  test('a request with a host that is no host is refused', async () => {
    await ready
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET /books/book_1 HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('lists in queries', () => {
  const asked: unknown[] = []
  const lists = createVersionedApi({
    versions: listVersions,
    handlers: {
      async findParcels(_context: null, { query }): Promise<Reply<200, Asked>> {
        asked.push(query)
        return { status: 200, body: { asked: query } }
      },
    } satisfies ListHandlers<null>,
    context: () => null,
    resolveVersion: fromHeader('Api-Version'),
  })
  const base = listening(toNodeListener(lists))
  const options = (version: string) => ({ baseUrl: base(), headers: { 'Api-Version': version } })
  const rest = {
    tags: ['a,b', 'c'],
    hubs: ['one', 'three'],
    zones: ['|', 'z'],
    sent: { from: '2030-01-01', to: '2030-02-01' },
  }

  test('the handler gets the lists of both versions in its own words, whatever their style', async () => {
    const wanted: lists2.FindParcelsQuery = {
      ...rest,
      parcel_ids: ['p&q', ''],
      weights: [0.5, 2],
      states: ['shipped', 'new'],
      carrier: ['x'],
    }
    const newest = await lists2.createClient(options('2030-06-01')).findParcels({ query: wanted })
    const old = await lists1.createClient(options('2030-01-01')).findParcels({
      query: { ...rest, ids: ['p&q', ''], weights: [500, 2000], states: ['sent', 'new'], carrier: 'x' },
    })
    expect([newest.asked, old.asked]).toEqual([wanted, wanted])
  })

  test.each([
    ['ids=a&ids=b', { parcel_ids: ['a', 'b'] }],
    ['tags=a,b%2Cc', { tags: ['a', 'b,c'] }],
    ['hubs=a%20b+c', { hubs: ['a', 'b', 'c'] }],
    ['weights=1|2%7C3', { weights: [0.001, 0.002, 0.003] }],
    ['zones=a&zones=b', { zones: ['a', 'b'] }],
    ['sent[from]=a&sent%5Bto%5D=b', { sent: { from: 'a', to: 'b' } }],
    ['zones=a&zones=b&zones=c', undefined],
    ['weights=1|x', undefined],
    ['states=lost', undefined],
    ['tags=a&tags=b', undefined],
  ])('%s', async (search, want) => {
    asked.length = 0
    const { status } = await fetch(`${base()}/parcels?${search}`, {
      headers: { 'Api-Version': '2030-01-01' },
    })
    expect([status, asked]).toEqual(want ? [200, [want]] : [400, []])
  })
})
