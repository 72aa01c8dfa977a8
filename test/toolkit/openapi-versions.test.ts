/** OpenAPI 3.0, 3.1 and 3.2, generated from the cases in `test/golden` and served. */
import { describe, expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { diffApis } from '../../generators/diff/diff.ts'
import { parseText } from '../../generators/document/load.ts'
import { emitSite } from '../../generators/emit/site/site.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { createVersionedApi, fromHeader } from '../../generators/server/api.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import { versions as rooms } from '../golden/openapi-3.0/want/versions.ts'
import { createClient } from '../golden/openapi-3.2/want/client/src/2030-01-01/index.ts'
import { versions as library } from '../golden/openapi-3.2/want/versions.ts'
import { listening } from './listening.ts'

interface Input {
  readonly query: unknown
  readonly body: unknown
  readonly path: Record<string, unknown>
}

describe('OpenAPI 3.2', () => {
  const asked: unknown[] = []
  const keep =
    (status: number, ...names: (keyof Input)[]) =>
    (_: undefined, input: Input) => {
      asked.push(...names.map((name) => input[name]))
      return status === 204 ? { status } : { status, body: ['Momo'] }
    }
  const api = createVersionedApi({
    versions: library,
    resolveVersion: fromHeader('Api-Version'),
    context: () => undefined,
    handlers: {
      listBooks: keep(200, 'query'),
      searchBooks: keep(200, 'body'),
      linkBook: keep(204, 'path', 'body'),
    },
  })
  const base = listening(toNodeListener(api))

  test('the client calls QUERY, an additional method, and a query string of one schema', async () => {
    const client = createClient({ baseUrl: base() })
    expect(await client.listBooks({ query: { filter: { title: 'Momo & co', pages: 3 } } })).toEqual(['Momo'])
    expect(await client.searchBooks({ body: { pages: 3 } })).toEqual(['Momo'])
    await client.linkBook({ path: { book_id: '1' }, body: { to: '2' } })
    expect(asked).toEqual([
      { filter: { title: 'Momo & co', pages: 3 } },
      { pages: 3 },
      { book_id: '1' },
      { to: '2' },
    ])
  })

  test.each([
    ['GET', '/books?pages=0', undefined, 400],
    ['QUERY', '/books', { pages: 0 }, 422],
    ['LINK', '/books/1', {}, 422],
    ['UNLINK', '/books/1', {}, 405],
  ])('%s %s with %j is answered with %i', async (method, path, body, status) => {
    const response = await fetch(`${base()}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.status).toBe(status)
  })

  const HEAD = 'openapi: 3.2.0\ninfo: { title: T, version: "1" }\n'
  const read = (text: string, strict = true) => {
    const report = createReport()
    const document = parseText('a.yaml', HEAD + text, report)!
    return { api: buildApi(document, report, strict), findings: report.diagnostics }
  }
  const OK = 'responses: { "200": { description: ok } }'

  test('the media type and the query string of a different kind are compared and refused', () => {
    const search = (pages: string) =>
      `paths:\n  /a:\n    query:\n      operationId: a\n      requestBody: { content: { application/json: { $ref: "#/components/mediaTypes/A" } } }\n      ${OK}\ncomponents:\n  mediaTypes:\n    A: { schema: { type: object, properties: { pages: ${pages} } } }\n`
    const differences = diffApis(
      read(search('{ type: integer }')).api,
      read(search('{ type: integer, minimum: 1 }')).api,
    )
    expect(differences.map(({ code, class: kind }) => `${kind} ${code}`)).toEqual([
      'breaking bound-tightened',
    ])
    const json = `paths:\n  /a:\n    get:\n      operationId: a\n      parameters: [{ name: q, in: querystring, content: { application/json: { schema: {} } } }]\n      ${OK}\n`
    expect(read(json).findings.map(({ code, place }) => [code, place?.line])).toEqual([
      ['parameter-querystring', 7],
    ])
  })

  test('a missing media type is found at its line', () => {
    const text = `paths:\n  /a:\n    get:\n      operationId: a\n      responses: { "200": { description: ok, content: { text/plain: { $ref: "#/components/mediaTypes/B" } } } }\ncomponents: { mediaTypes: {} }\n`
    expect(read(text).findings.map(({ code, place }) => [code, place?.line])).toContainEqual([
      'ref-missing',
      7,
    ])
  })

  test('the reference shows tags by their summaries, below their parents', () => {
    const pages = emitSite(
      [
        read(
          `tags:\n  - { name: b, summary: Books, parent: c }\n  - { name: c, summary: Catalog }\n  - { name: p, kind: audience }\npaths:\n  /a:\n    get: { operationId: a, tags: [p, b], ${OK} }\n`,
        ).api,
      ],
      {},
    )
    expect(pages.map(({ text }) => text).join('\n')).toContain('Catalog: Books')
  })
})

test('OpenAPI 3.0 and 3.1 validate the same values, and a caller of 3.0 is translated to 3.1', async () => {
  const api = createVersionedApi({
    versions: rooms,
    resolveVersion: fromHeader('Api-Version'),
    context: () => undefined,
    handlers: { createRoom: (_: undefined, { body }: Input) => ({ status: 201, body }) },
  })
  const post = async (version: string, body: object) => {
    const headers = { 'Api-Version': version, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await api.fetch(new Request('http://localhost/rooms', request))
    return response.status === 201 ? response.json() : response.status
  }
  for (const [version, beds] of [
    ['2030-01-01', 'beds'],
    ['2030-06-01', 'bed_count'],
  ] as const) {
    const room = { [beds]: 2, rate: 999.9, note: null, size: null }
    expect(await post(version, room)).toEqual(room)
    for (const wrong of [{ rate: 0 }, { rate: 1000 }, { [beds]: null }, { size: 'huge' }])
      expect(await post(version, { ...room, ...wrong })).toBe(422)
  }
})
