/** Merged operations, parameters in a different part of the request, and renamed events, end to end in three versions. */
import { expect, test } from 'vitest'
import { claimSteps } from '../../generators/gate/steps.ts'
import { proveSteps } from '../../generators/prove/family.ts'
import { refute } from '../../generators/prove/law.ts'
import { createVersionedApi, fromHeader } from '../../generators/server/api.ts'
import type { Handlers } from '../golden/moved-requests/want/canonical/handlers.ts'
import { events } from '../golden/moved-requests/want/events.ts'
import { versions } from '../golden/moved-requests/want/versions.ts'
import { readPair } from './versions.ts'

const deleted: unknown[] = []

/** Handlers get headers, but their types do not list them. */
interface WithReason {
  readonly headers?: { readonly reason?: string }
}

const handlers: Handlers<undefined> = {
  searchItems: async (_context, { body: { type, search } }) => ({
    status: 200,
    body: { data: [`${type}: ${search ?? 'all'}`] },
  }),
  async deleteBook(_context, { path, headers }: { path: { id: string } } & WithReason) {
    deleted.push([path.id, headers?.reason])
    return { status: 204, body: undefined }
  },
}

const touched: (readonly string[])[] = []
const api = createVersionedApi({
  versions,
  handlers,
  context: () => undefined,
  resolveVersion: fromHeader('Api-Version'),
  onTouched: ({ changes }) => touched.push([...changes]),
})

async function ask(version: string, method: string, path: string, more: RequestInit = {}) {
  const headers = { 'Api-Version': version, ...(more.headers as Record<string, string>) }
  const response = await api.fetch(new Request(`https://library.test${path}`, { method, ...more, headers }))
  const text = await response.text()
  return text === '' ? response.status : (JSON.parse(text) as unknown)
}

test('one handler serves the operations that were merged into one, with the values that tell them apart', async () => {
  expect(await ask('2030-01-01', 'GET', '/books?q=emma')).toEqual(['book: emma'])
  expect(await ask('2030-01-01', 'GET', '/films')).toEqual(['film: all'])
  expect(await ask('2030-06-01', 'GET', '/items?type=film&search=emma')).toEqual({ data: ['film: emma'] })
  const body = JSON.stringify({ type: 'book', search: 'emma' })
  const headers = { 'Content-Type': 'application/json' }
  expect(await ask('2031-01-01', 'POST', '/items/search', { body, headers })).toEqual({
    data: ['book: emma'],
  })
  expect(touched[0]).toEqual(['2030-06-01/merge-lists', '2031-01-01/search-with-a-body'])
})

test('a parameter reaches the handler where the newest version has it', async () => {
  expect(await ask('2030-01-01', 'DELETE', '/books/b1?reason=lost')).toBe(204)
  expect(await ask('2030-06-01', 'DELETE', '/books/b2', { headers: { 'Library-Reason': 'old' } })).toBe(204)
  expect(await ask('2031-01-01', 'DELETE', '/books/b3')).toBe(204)
  expect(deleted).toEqual([
    ['b1', 'lost'],
    ['b2', 'old'],
    ['b3', undefined],
  ])
})

test('an event has the name of the version in which it is sent', () => {
  const { name, down } = events['2030-01-01']!['loan.started']!
  const sent = (readers: readonly object[]) => down?.({ title: 'Emma', readers } as never)
  expect(name).toBe('book.lent')
  expect(sent([{ name: 'Ada' }, { name: 'Bo' }])).toEqual({ book: 'Emma', reader: { surname: 'Ada' } })
  expect(sent([])).toEqual({ book: 'Emma', reader: null })
  expect(events['2031-01-01']!['loan.started']).not.toHaveProperty('name')
})

test('the proof finds an optional parameter that moves to a place where it is required', () => {
  const operation = (parameter: string) =>
    `paths: { /a: { get: { operationId: getA, parameters: [${parameter}], responses: { '204': { description: ok } } } } }\n`
  const apis = readPair(
    operation('{ name: why, in: query, schema: { type: string } }'),
    operation('{ name: Why, in: header, required: true, schema: { type: string } }'),
  )
  const { version } = apis[1]
  const lens = {
    kind: 'moved-parameter',
    operations: ['getA'],
    from: ['query', 'why'],
    to: ['header', 'Why'],
  } as const
  const steps = claimSteps(apis, [{ id: 'move', why: '', version, file: 'move.ts', lenses: [lens] }])
  const found = proveSteps(steps).flatMap((law) => refute(law, { runs: 50, seed: 1 }) ?? [])
  expect(found.map(({ law, message }) => `${law.name}: ${message}`)).toEqual([
    expect.stringMatching(/getA request: .*Why is missing/),
  ])
})
