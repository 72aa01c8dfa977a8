/** Walking a list over its pages. */
import { expect, test } from 'vitest'
import { UnexpectedAnswerError } from '../../generators/client-runtime/errors.ts'
import { clientOf, serve } from './scripted.ts'

const page = (ids: string, next: string | null, more = next !== null) => ({
  status: 200,
  body: { data: [...ids].map((id) => ({ id })), has_more: more, next_cursor: next },
})

const three = [page('ab', 'c1'), page('cd', 'c2'), page('e', null)]

test('await gives one page', async () => {
  const server = await serve(...three)
  expect((await clientOf(server).listThings()).data).toEqual([{ id: 'a' }, { id: 'b' }])
  expect(server.received).toHaveLength(1)
})

test('for await walks every record, under the same filters', async () => {
  const server = await serve(...three)
  const ids: string[] = []
  for await (const { id } of clientOf(server).listThings({ query: { limit: 2, status: 'active' } }))
    ids.push(id)
  expect(ids.join('')).toBe('abcde')
  expect(server.received.map(({ url }) => url)).toEqual([
    '/things?limit=2&status=active',
    '/things?limit=2&status=active&starting_after=c1',
    '/things?limit=2&status=active&starting_after=c2',
  ])
})

test('a walk goes on from the cursor it was given', async () => {
  const server = await serve(page('cd', 'c2'), page('e', null))
  const ids: string[] = []
  for await (const { id } of clientOf(server).listThings({ query: { starting_after: 'c1' } })) ids.push(id)
  expect(ids.join('')).toBe('cde')
  expect(server.received.map(({ url }) => url)).toEqual([
    '/things?starting_after=c1',
    '/things?starting_after=c2',
  ])
})

test('a walk back goes back, the nearest record first', async () => {
  const server = await serve(page('cd', 'c1'), page('ab', null))
  const ids: string[] = []
  for await (const { id } of clientOf(server).listThings({ query: { ending_before: 'c2' } })) ids.push(id)
  expect(ids.join('')).toBe('dcba')
  expect(server.received.map(({ url }) => url)).toEqual([
    '/things?ending_before=c2',
    '/things?ending_before=c1',
  ])
})

test('pages() gives whole pages, the call’s own first', async () => {
  const server = await serve(...three)
  const list = clientOf(server).listThings()
  await list
  const sizes: number[] = []
  for await (const { data } of list.pages()) sizes.push(data.length)
  expect(sizes).toEqual([2, 2, 1])
  expect(server.received).toHaveLength(3)
})

test.each([
  { limit: undefined, ids: 'abcde', pages: 3 },
  { limit: 3, ids: 'abc', pages: 2 },
  { limit: 2, ids: 'ab', pages: 1 },
  { limit: 0, ids: '', pages: 1 },
])(
  'toArray() gives at most $limit records, and asks for no page after them',
  async ({ limit, ids, pages }) => {
    const server = await serve(...three)
    const list = clientOf(server).listThings()
    const records = await list.toArray(limit === undefined ? {} : { limit })
    expect(records.map(({ id }) => id).join('')).toBe(ids)
    await list
    expect(server.received).toHaveLength(pages)
  },
)

test('a walk that is left asks for no further page', async () => {
  const server = await serve(...three)
  for await (const { id } of clientOf(server).listThings()) if (id === 'b') break
  expect(server.received).toHaveLength(1)
})

test('an empty list has nothing to walk', async () => {
  const server = await serve(page('', null))
  for await (const thing of clientOf(server).listThings()) expect.unreachable(JSON.stringify(thing))
})

test('an error on the way reaches the walker', async () => {
  const server = await serve(page('a', 'c1'), { status: 400, body: { error: { code: 'invalid_cursor' } } })
  const walk = async () => {
    for await (const _ of clientOf(server).listThings());
  }
  await expect(walk()).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test('a list that runs in a circle is not walked for ever', async () => {
  const server = await serve(page('a', 'c1'))
  const walk = async () => {
    for await (const _ of clientOf(server).listThings());
  }
  await expect(walk()).rejects.toThrow(UnexpectedAnswerError)
  expect(server.received).toHaveLength(2)
})
