/** The client writes parameters as the specification does: `parameter-rows.ts` has its table. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GeneratedClient, generateClient } from './generated-from.ts'
import { ARRAY, BLUE, colors, get, idOf, list, operationOf, ROWS, text } from './parameter-rows.ts'
import { serve } from './scripted.ts'

const cookie = (name: string) => ({ name, in: 'cookie', schema: text })
const unwritten = (name: string, more: object) => ({ name, in: 'query', schema: list, ...more })

let made: GeneratedClient
beforeAll(async () => {
  made = await generateClient({
    openapi: '3.1.0',
    info: { title: 'Styles', version: '2030-01-01' },
    paths: {
      ...Object.fromEntries(ROWS.map(operationOf)),
      '/two/{id}/{color}': get(
        'two',
        { name: 'id', in: 'path', required: true, schema: text },
        { name: 'color', in: 'path', required: true, style: 'matrix', schema: text },
        { name: 'limit', in: 'query', schema: { type: 'integer' } },
        { name: 'kind', in: 'query', schema: list },
        { name: 'filter', in: 'query', style: 'deepObject', explode: true, schema: colors },
        cookie('a'),
        cookie('b'),
      ),
      '/odd': get('odd', { name: 'a&b c', in: 'query', schema: text }),
      '/unwritten': get(
        'unwritten',
        unwritten('spaced', { style: 'spaceDelimited', explode: true, schema: { type: 'object' } }),
        unwritten('deepList', { style: 'deepObject', explode: true }),
        unwritten('nested', { schema: { type: 'array', items: colors } }),
        unwritten('nestedDeep', {
          style: 'deepObject',
          explode: true,
          schema: { type: 'object', properties: { a: list } },
        }),
        unwritten('xml', { schema: undefined, content: { 'application/xml': { schema: text } } }),
        { name: 'cookies', in: 'cookie', schema: list },
      ),
    },
  })
}, 60_000)
afterAll(() => made.remove())

test.each(
  ROWS.map(
    (row) => [row.in, row.style ?? '', row.explode ?? '', JSON.stringify(row.of[1]), row.want, row] as const,
  ),
)(
  'a parameter in %s, %s, explode %s: %s is written %s',
  async (_where, _style, _explode, _value, want, row) => {
    const server = await serve({ status: 200, body: {} })
    await made.createClient({ baseUrl: server.baseUrl })[idOf(row)]!({ [row.in]: { color: row.of[1] } })
    const { url, headers } = server.received[0]!
    const written = {
      path: url.slice(`/${idOf(row)}/`.length, -'/end'.length),
      query: url.slice(`/${idOf(row)}?`.length),
      header: headers.color,
      cookie: headers.cookie,
    }
    expect(written[row.in]).toBe(want)
  },
)

test('parameters of several styles are written together', async () => {
  const server = await serve({ status: 200, body: {} })
  await made.createClient({ baseUrl: `${server.baseUrl}/` }).two!({
    path: { id: 'a b', color: 'red' },
    query: { limit: 1, kind: ['x', 'y'], filter: { R: 1 } },
    cookie: { a: 1, b: 'two', c: undefined },
  })
  const { url, headers } = server.received[0]!
  expect([url, headers.cookie]).toEqual([
    '/two/a%20b/;color=red?limit=1&kind=x&kind=y&filter%5BR%5D=1',
    'a=1; b=two',
  ])
})

test('a name is encoded as its value is', async () => {
  const server = await serve({ status: 200, body: {} })
  await made.createClient({ baseUrl: server.baseUrl }).odd!({ query: { 'a&b c': 'd' } })
  expect(server.received[0]?.url).toBe('/odd?a%26b%20c=d')
})

test.each([
  ['a value with the delimiter of its list', 'spaceDelimited', list, ['a b', 'c']],
  ['a value with the delimiter of its list', 'pipeDelimited', list, ['a|b', 'c']],
  ['an object in an object', 'deepObject', colors, { R: { a: 1 } }],
  ['a list in a list', 'form', list, [['a']]],
])('a parameter with %s is not sent: style %s', async (_what, style, schema, value) => {
  const row = ROWS.find((each) => each.in === 'query' && each.style === style && each.of[0] === schema)!
  const server = await serve({ status: 200, body: {} })
  const call = made.createClient({ baseUrl: server.baseUrl })[idOf(row)]!({ query: { color: value } })
  await expect(call).rejects.toMatchObject({ name: 'ClientError' })
  expect(server.received).toEqual([])
})

test.each([
  ['simple', ARRAY, []],
  ['simple', ARRAY, ['..']],
  ['label', BLUE, ''],
  ['label', BLUE, '.'],
  ['matrix', ARRAY, undefined],
] as const)(
  'a parameter in the path is refused: %s: %j with the value %j would reach another operation',
  async (style, of, value) => {
    const row = ROWS.find((each) => each.style === style && each.of === of)!
    const server = await serve({ status: 200, body: {} })
    const call = made.createClient({ baseUrl: server.baseUrl })[idOf(row)]!({ path: { color: value } })
    await expect(call).rejects.toMatchObject({ name: 'ClientError' })
    expect(server.received).toEqual([])
  },
)

const UNWRITTEN = ['spaced', 'deepList', 'nested', 'nestedDeep', 'xml', 'cookies']

test.each(UNWRITTEN)(
  'the parameter %s, which the client cannot write, is found where it stands, and never sent',
  async (name) => {
    const found = made.findings.filter(({ code }) => code === 'client-parameter')
    expect(found.map(({ severity }) => severity)).toEqual(UNWRITTEN.map(() => 'warning'))
    expect(found[UNWRITTEN.indexOf(name)]).toMatchObject({
      message: expect.stringContaining(` parameter ${name}: `),
      place: { pointer: `/paths/~1unwritten/get/parameters/${UNWRITTEN.indexOf(name)}` },
    })
    const server = await serve({ status: 200, body: {} })
    const where = name === 'cookies' ? 'cookie' : 'query'
    const call = made.createClient({ baseUrl: server.baseUrl }).unwritten!({ [where]: { [name]: ['a'] } })
    await expect(call).rejects.toMatchObject({ name: 'ClientError' })
    expect(server.received).toEqual([])
  },
)

test('the types take what is written', () => {
  const content = ROWS.findIndex((each) => each.content && each.in === 'query')
  const program = `
import { flatMethods } from './client/src/2030-01-01/flat.ts'
import { connect } from './client/src/2030-01-01/index.ts'
const client = flatMethods(connect({ baseUrl: '' }))
await client.two({ path: { id: 'a', color: 'b' }, cookie: { a: 'x' }, query: { filter: { R: 1 } } })
await client.op${content}({ query: { color: { R: 1 } } })
await client.two({ path: { id: 'a', color: 'b' }, cookie: { c: 'x' } }) // wrong
await client.op${content}({ query: { color: '{}' } }) // wrong
`
  const wrong = made.compile(program).map((each) => each.slice(0, each.indexOf('// wrong') + 8))
  expect(wrong).toEqual(program.split('\n').filter((line) => line.endsWith('// wrong')))
})
