/** The server reads what the client writes: the rows of `parameter-rows.ts`, over a socket, and what no client writes. */
import type { Parameter, Version } from 'dateline/runtime'
import {
  createQueryTable,
  ParameterError,
  readHeader,
  readQuery,
  readSegment,
} from 'dateline/runtime/parameters'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GeneratedClient, generateClient } from './generated-from.ts'
import { colors, get, idOf, list, operationOf, type ParameterStyleRow, ROWS, text } from './parameter-rows.ts'
import { serve } from './scripted.ts'

const integers = { type: 'array', maxItems: 3, items: { type: 'integer', minimum: 0 } }
const closed = { ...colors, additionalProperties: false }
const query = (name: string, schema: object, more = {}) => ({ name, in: 'query', schema, ...more })

let made: GeneratedClient
let version: Version
beforeAll(async () => {
  made = await generateClient(
    {
      openapi: '3.1.0',
      info: { title: 'Styles', version: '2030-01-01' },
      paths: {
        ...Object.fromEntries(ROWS.map(operationOf)),
        '/hostile': get(
          'hostile',
          query('ids', integers, { explode: false }),
          query('each', integers),
          query('many', list, { explode: false }),
          query('name', text),
          query('filter', closed, { style: 'deepObject', explode: true }),
          query('open', { type: 'object' }, { style: 'deepObject', explode: true }),
          query('spread', closed),
          query('pair', closed, { explode: false }),
          query('since', { oneOf: [{ type: 'integer' }, closed] }, { style: 'deepObject', explode: true }),
          query('mixed', { oneOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'number' } }] }),
          query('level', { enum: [1, 2, 3] }),
          { name: 'json', in: 'query', content: { 'application/json': { schema: {} } } },
          query('nested', { type: 'array', items: list }),
        ),
      },
    },
    ['validators', 'routes'],
  )
  version = ((await import(`${made.out}/2030-01-01/routes.ts`)) as { version: Version }).version
}, 60_000)
afterAll(() => made.remove())

const operationOfId = (id: string) => version.operations.find((each) => each.id === id)!

const PLACES = { path: 'pathParameters', query: 'query', header: 'headers' } as const

const isRead = (row: ParameterStyleRow): boolean => row.in !== 'cookie'

/** Empty lists and members without a value are not sent, unnamed members are text, and `allowReserved` keeps escapes. */
const READ = new Map<string, unknown>([
  ['[]', undefined],
  ['{"a&b":1,"G":null}', { 'a&b': '1' }],
  ['"a/b?c:d e&f#g%20"', 'a/b?c:d e&f#g '],
])

test.each(ROWS.filter(isRead).map((row) => [row.in, row.want, row] as const))(
  'in %s, %s is read as it was given',
  async (_where, _want, row) => {
    const server = await serve({ status: 200, body: {} })
    await made.createClient({ baseUrl: server.baseUrl })[idOf(row)]!({ [row.in]: { color: row.of[1] } })
    const { url, headers } = server.received[0]!
    const [path, search] = [url.replace(/\?.*/, ''), url.replace(/^[^?]*\??/, '')]
    const operation = operationOfId(idOf(row))
    const [parameter] = operation[PLACES[row.in as 'path']] as [Parameter]
    const read = {
      path: () => readSegment(parameter, path.split('/')[2]!),
      query: () => readQuery(createQueryTable(operation.query), search).color,
      header: () => readHeader(parameter, headers.color as string),
    }[row.in as 'path']()
    const given = JSON.stringify(row.of[1])
    expect(read).toEqual(READ.has(given) ? READ.get(given) : row.of[1])
  },
)

test('rows of cookies and of plain scalars say nothing of styles', () => {
  expect(operationOfId(idOf(ROWS.find((row) => row.in === 'cookie')!))).toMatchObject({
    query: [],
    headers: [],
  })
  const [plain] = operationOfId('hostile').query.filter(({ name }) => name === 'name')
  expect(Object.keys(plain!)).not.toContain('encoding')
})

const ask = (search: string) => readQuery(createQueryTable(operationOfId('hostile').query), search)

const ASKED: readonly (readonly [search: string, want: unknown])[] = [
  ['ids=1,2', { ids: [1, 2] }],
  ['ids=1%2C2,3', ['format', 'ids[0]', 'must be a whole number']],
  ['ids=1,,3', ['format', 'ids[1]', 'must be a whole number']],
  ['ids=1,-2', ['invalid', 'ids', 'does not match its schema']],
  ['ids=1&ids=2', ['repeated', 'ids', 'must occur only once']],
  ['each=1&each=2', { each: [1, 2] }],
  ['each=1&each=two', ['format', 'each[1]', 'must be a whole number']],
  ['each=1,2', ['format', 'each[0]', 'must be a whole number']],
  ['many=a%2Cb,c+d,%C3%A9', { many: ['a,b', 'c d', 'é'] }],
  ['many=a,%', ['encoding', 'many[1]', 'is not percent-encoded UTF-8 text']],
  ['many=a,%00', ['encoding', 'many[1]', 'is not percent-encoded UTF-8 text']],
  ['many=a,%ff', ['encoding', 'many[1]', 'is not percent-encoded UTF-8 text']],
  ['%=a', ['encoding', '%', 'is not percent-encoded UTF-8 text']],
  ['name=a,b', { name: 'a,b' }],
  ['name=a&name=b', ['repeated', 'name', 'must occur only once']],
  ['filter[R]=1&filter%5BG%5D=2', { filter: { R: 1, G: 2 } }],
  ['filter[R]=1&filter[R]=2', ['repeated', 'filter.R', 'must occur only once']],
  ['filter[R]=x', ['format', 'filter.R', 'must be a whole number']],
  ['filter[X]=1', ['invalid', 'filter', 'does not match its schema']],
  ['filter[R][a]=1', ['format', 'filter.R', 'must not contain a list or an object']],
  ['filter=1', ['format', 'filter', 'must be an object']],
  ['filter[__proto__]=1', ['format', 'filter.__proto__', 'is not allowed as a name']],
  ['open[__proto__]=1', ['format', 'open.__proto__', 'is not allowed as a name']],
  ['open[constructor]=1', { open: { constructor: '1' } }],
  ['R=1&G=2', { spread: { R: 1, G: 2 } }],
  ['R=1&R=2', ['repeated', 'spread.R', 'must occur only once']],
  ['pair=R,1,G,2', { pair: { R: 1, G: 2 } }],
  ['pair=R,1,R,2', ['repeated', 'pair.R', 'must occur only once']],
  ['pair=R,1,G', ['format', 'pair', 'must have a value after each name']],
  ['pair=__proto__,1', ['format', 'pair.__proto__', 'is not allowed as a name']],
  ['since=7', { since: 7 }],
  ['since[R]=7', { since: { R: 7 } }],
  ['since=x', ['format', 'since', 'must be a whole number']],
  ['mixed=true', { mixed: true }],
  ['mixed=1.5', { mixed: [1.5] }],
  ['mixed=1&mixed=2', { mixed: [1, 2] }],
  ['level=2', { level: 2 }],
  ['level=4', ['invalid', 'level', 'does not match its schema']],
  ['json=[1,{"a":"b"}]', { json: [1, { a: 'b' }] }],
  ['json=[1', ['format', 'json', 'must be valid JSON']],
  ['json={"a":{"__proto__":1}}', ['format', 'json.a.__proto__', 'is not allowed as a name']],
  ['json=["\\u0000"]', ['format', 'json[0]', 'must not contain U+0000']],
  [
    `json=${'['.repeat(5000)}${']'.repeat(5000)}`,
    ['format', `json${'[0]'.repeat(32)}`, 'is nested deeper than 32 levels'],
  ],
  ['nested=a', ['format', 'nested', 'cannot be sent, because no style can represent it; omit it']],
  ['unknown=1', ['unknown', 'unknown', 'is not a known parameter']],
]

test.each(ASKED.map(([search, want]) => [search.slice(0, 60), search, want] as const))(
  '?%s',
  (_shown, search, want) => {
    const read = () => {
      try {
        return ask(search)
      } catch (error) {
        if (!(error instanceof ParameterError)) throw error
        return [error.fault, error.field, error.issue]
      }
    }
    expect(read()).toEqual(want)
  },
)

const rowOf = (where: string, style: string | undefined) =>
  ROWS.find((row) => row.in === where && row.style === style && Array.isArray(row.of[1]))!

test('spaces after commas of a header, and pipes that other clients leave unencoded, separate items', () => {
  const [header] = operationOfId(idOf(rowOf('header', undefined))).headers as [Parameter]
  expect(readHeader(header, 'blue, black ,brown')).toEqual(['blue', 'black', 'brown'])
  const { query: piped } = operationOfId(idOf(rowOf('query', 'pipeDelimited')))
  expect(readQuery(createQueryTable(piped), 'color=blue|black')).toEqual({ color: ['blue', 'black'] })
})

test('10,000 items and 10,000 repetitions are read once each', () => {
  const items = Array.from({ length: 10_000 }, (_, index) => String(index))
  expect(ask(`many=${items.join(',')}`)).toEqual({ many: items })
  expect(() => ask(items.map((each) => `each=${each}`).join('&'))).toThrow('each does not match its schema')
  const members = ask(items.map((each) => `open[k${each}]=${each}`).join('&')).open as object
  expect(Object.keys(members)).toHaveLength(10_000)
})

test('a parameter that no style can write is found', () => {
  expect(made.findings.filter(({ code }) => code === 'server-parameter')).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('the query parameter nested') },
  ])
})
