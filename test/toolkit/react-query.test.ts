/** Generated options of TanStack Query, run by its client against a server over HTTP. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MutationObserver, QueryClient } from '@tanstack/react-query'
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest'
import { loadFamily, openRun } from '../../generators/cli/run.ts'
import { createMock } from '../../generators/mock/mock.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import { type Book, connect } from '../golden/react-query/want/client/src/2030-01-01/index.ts'
import {
  check_reading_roomOptions,
  createBookMutationOptions,
  getBookOptions,
  keys,
  listBooksInfiniteOptions,
  listBooksOptions,
  ringMutationOptions,
} from '../golden/react-query/want/client/src/2030-01-01/react-query.ts'

const server = createServer()
let connection: ReturnType<typeof connect>

beforeAll(async () => {
  const terminal = { out: () => undefined, error: () => undefined }
  const apis = await loadFamily(await openRun('test/golden/react-query/dateline.config.json', terminal))
  server.on('request', toNodeListener(createMock(apis, [], { seed: 1 })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  connection = connect({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
afterAll(() => server.close())

const createBook = (queries: QueryClient, title: string) =>
  new MutationObserver(queries, createBookMutationOptions(connection)).mutate([{ title }])

test('a mutation creates a book, and a query shows it under its key', async () => {
  const queries = new QueryClient()
  const made = await createBook(queries, 'Emma')
  const options = getBookOptions(connection, made.id)
  expect(options.queryKey).toEqual(['2030-01-01', 'books', 'getBook', made.id])
  const book = await queries.fetchQuery(options)
  expect(book).toEqual({ id: made.id, title: 'Emma' })
  expectTypeOf(book).toEqualTypeOf<Book>()
  const cached = queries.getQueryData(options.queryKey)
  expect(cached).toBe(book)
  expectTypeOf(cached).toEqualTypeOf<Book | undefined>()
})

test('an infinite query follows the cursor through all pages', async () => {
  const queries = new QueryClient()
  for (const title of ['Emma', 'Persuasion', 'Lady Susan']) await createBook(queries, title)
  const all = await queries.fetchQuery(listBooksOptions(connection, { limit: 50 }))
  const options = listBooksInfiniteOptions(connection, { limit: 2 })
  const { pages } = await queries.fetchInfiniteQuery({ ...options, pages: 50 })
  expect(pages.length).toBe(Math.ceil(all.data.length / 2))
  expect(pages.flatMap(({ data }) => data)).toEqual(all.data)
  expectTypeOf(pages[0]!.data).toEqualTypeOf<Book[]>()
})

test('one key invalidates all queries of a resource, and no others', async () => {
  const queries = new QueryClient()
  await queries.fetchQuery(listBooksOptions(connection))
  await queries.fetchInfiniteQuery(listBooksInfiniteOptions(connection))
  await queries.fetchQuery(check_reading_roomOptions(connection))
  await queries.invalidateQueries({ queryKey: keys.books })
  const stale = queries.getQueryCache().findAll({ predicate: ({ state }) => state.isInvalidated })
  expect(stale.map(({ queryKey }) => queryKey)).toEqual([
    ['2030-01-01', 'books', 'listBooks'],
    ['2030-01-01', 'books', 'listBooks', 'pages'],
  ])
})

test('an answer without body is null, because a query must not return undefined', async () => {
  expect(await new QueryClient().fetchQuery(check_reading_roomOptions(connection))).toBeNull()
})

test('call options are not part of a key', () => {
  const options = { timeout: 5, signal: AbortSignal.timeout(1000) }
  expect(getBookOptions(connection, '1', options).queryKey.at(-1)).toBe('1')
})

test('a canceled query aborts its request', async () => {
  const queries = new QueryClient()
  const sent = Promise.withResolvers<AbortSignal>()
  const waiting = connect({
    baseUrl: 'http://127.0.0.1',
    fetch: (input, init) =>
      new Promise((_, reject) => {
        const { signal } = new Request(input, init)
        signal.addEventListener('abort', () => reject(signal.reason))
        sent.resolve(signal)
      }),
  })
  const failed = expect(queries.fetchQuery(listBooksOptions(waiting))).rejects.toThrow()
  const signal = await sent.promise
  await queries.cancelQueries({ queryKey: keys.books })
  await failed
  expect(signal.aborted).toBe(true)
})

test('options take the input of their operation', () => {
  // @ts-expect-error a book needs its id
  getBookOptions(connection)
  // @ts-expect-error the limit is a number
  listBooksOptions(connection, { limit: 'all' })
  const { mutate } = new MutationObserver(new QueryClient(), ringMutationOptions(connection))
  expectTypeOf(mutate).toBeCallableWith()
  const create = createBookMutationOptions(connection).mutationFn
  expectTypeOf(create).parameter(0).toExtend<[{ title: string }, ...unknown[]]>()
})
