/** Parameters as the specification writes them: OpenAPI 3.1, "Style Values" and "Style Examples"; RFC 6570 for their values. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GeneratedClient, generateClient } from './generated-from.ts'
import { serve } from './scripted.ts'

const text = { type: 'string' }
const list = { type: 'array', items: { type: 'string' } }
const colors = {
  type: 'object',
  properties: { R: { type: 'integer' }, G: { type: 'integer' }, B: { type: 'integer' } },
}

/** The values of the specification's table. */
const BLUE = [text, 'blue'] as const
const ARRAY = [list, ['blue', 'black', 'brown']] as const
const OBJECT = [colors, { R: 100, G: 200, B: 150 }] as const

interface Row {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly style?: string
  readonly explode?: boolean
  readonly allowReserved?: boolean
  /** Instead of a schema. */
  readonly content?: object
  readonly of: readonly [schema: object, value: unknown]
  /** The segment of the path, the query, the header's value, or the cookie. */
  readonly want: string
}

const path = (style: string, explode: boolean, of: Row['of'], want: string): Row => ({
  in: 'path',
  ...{ style, explode, of, want },
})
const query = (style: string, explode: boolean, of: Row['of'], want: string, more = {}): Row => ({
  in: 'query',
  ...{ style, explode, of, want, ...more },
})
const json = (schema: object) => ({ 'application/json': { schema } })

const ROWS: readonly Row[] = [
  path('matrix', false, [text, ''], ';color'),
  path('matrix', false, BLUE, ';color=blue'),
  path('matrix', false, ARRAY, ';color=blue,black,brown'),
  path('matrix', false, OBJECT, ';color=R,100,G,200,B,150'),
  path('matrix', true, BLUE, ';color=blue'),
  path('matrix', true, ARRAY, ';color=blue;color=black;color=brown'),
  path('matrix', true, OBJECT, ';R=100;G=200;B=150'),
  path('label', false, BLUE, '.blue'),
  path('label', false, ARRAY, '.blue,black,brown'),
  path('label', false, OBJECT, '.R,100,G,200,B,150'),
  path('label', true, BLUE, '.blue'),
  path('label', true, ARRAY, '.blue.black.brown'),
  path('label', true, OBJECT, '.R=100.G=200.B=150'),
  path('simple', false, BLUE, 'blue'),
  path('simple', false, ARRAY, 'blue,black,brown'),
  path('simple', false, OBJECT, 'R,100,G,200,B,150'),
  path('simple', true, BLUE, 'blue'),
  path('simple', true, ARRAY, 'blue,black,brown'),
  path('simple', true, OBJECT, 'R=100,G=200,B=150'),
  path('simple', false, [list, ['a/b', 'c,d', 'é']], 'a%2Fb,c%2Cd,%C3%A9'),
  query('form', false, [text, ''], 'color='),
  query('form', false, BLUE, 'color=blue'),
  query('form', false, ARRAY, 'color=blue,black,brown'),
  query('form', false, OBJECT, 'color=R,100,G,200,B,150'),
  query('form', true, BLUE, 'color=blue'),
  query('form', true, ARRAY, 'color=blue&color=black&color=brown'),
  query('form', true, OBJECT, 'R=100&G=200&B=150'),
  query('spaceDelimited', false, ARRAY, 'color=blue%20black%20brown'),
  query('spaceDelimited', false, OBJECT, 'color=R%20100%20G%20200%20B%20150'),
  query('pipeDelimited', false, ARRAY, 'color=blue%7Cblack%7Cbrown'),
  query('pipeDelimited', false, OBJECT, 'color=R%7C100%7CG%7C200%7CB%7C150'),
  query('deepObject', true, OBJECT, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'),
  query('form', true, [text, 'a/b?c:d e&f#g'], 'color=a%2Fb%3Fc%3Ad%20e%26f%23g'),
  query('form', true, [text, 'a/b?c:d e&f#g%20'], 'color=a/b?c:d%20e%26f%23g%20', { allowReserved: true }),
  query('form', false, [list, ['a/b', 'c,d']], 'color=a/b,c%2Cd', { allowReserved: true }),
  query('form', true, [colors, { 'a&b': 1, R: undefined, G: null }], 'a%26b=1'),
  query('form', false, [list, []], ''),
  query('form', false, [{}, ['blue', 'black']], 'color=blue,black'),
  {
    in: 'query',
    of: OBJECT,
    content: json(colors),
    want: 'color=%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D',
  },
  { in: 'query', of: BLUE, content: json(text), want: 'color=%22blue%22' },
  { in: 'query', of: BLUE, content: { 'text/plain': { schema: text } }, want: 'color=blue' },
  {
    in: 'path',
    of: OBJECT,
    content: json(colors),
    want: '%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D',
  },
  { in: 'header', of: BLUE, want: 'blue' },
  { in: 'header', of: ARRAY, want: 'blue,black,brown' },
  { in: 'header', of: OBJECT, want: 'R,100,G,200,B,150' },
  { in: 'header', explode: true, of: ARRAY, want: 'blue,black,brown' },
  { in: 'header', explode: true, of: OBJECT, want: 'R=100,G=200,B=150' },
  { in: 'header', of: [colors, { é: 1 }], content: json(colors), want: '{"\\u00e9":1}' },
  { in: 'cookie', of: BLUE, want: 'color=blue' },
  { in: 'cookie', of: [text, 'a; b=é'], want: 'color=a%3B%20b%3D%C3%A9' },
  { in: 'cookie', explode: false, of: ARRAY, want: 'color=blue,black,brown' },
  { in: 'cookie', explode: false, of: OBJECT, want: 'color=R,100,G,200,B,150' },
  {
    in: 'cookie',
    of: OBJECT,
    content: json(colors),
    want: 'color=%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D',
  },
]

const responses = { 200: { description: 'OK', content: json({ type: 'object' }) } }
const idOf = (row: Row) => `op${ROWS.indexOf(row)}`
const get = (operationId: string, ...parameters: readonly object[]) => ({
  get: { operationId, parameters, responses },
})

function operationOf(row: Row): [string, object] {
  const { in: where, style, explode, allowReserved, content, of } = row
  const inPath = where === 'path'
  const parameter = {
    name: 'color',
    in: where,
    ...(inPath && { required: true }),
    ...(content ? { content } : { schema: of[0] }),
    ...(style && { style }),
    ...(explode !== undefined && { explode }),
    ...(allowReserved && { allowReserved }),
  }
  return [`/${idOf(row)}${inPath ? '/{color}/end' : ''}`, get(idOf(row), parameter)]
}

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
        unwritten('spaced', { style: 'spaceDelimited', explode: true }),
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
      message: expect.stringContaining(` ${name} `),
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
import { createClient } from './client/src/2030-01-01/index.ts'
const client = createClient({ baseUrl: '' })
await client.two({ path: { id: 'a', color: 'b' }, cookie: { a: 'x' }, query: { filter: { R: 1 } } })
await client.op${content}({ query: { color: { R: 1 } } })
await client.two({ path: { id: 'a', color: 'b' }, cookie: { c: 'x' } }) // wrong
await client.op${content}({ query: { color: '{}' } }) // wrong
`
  const wrong = made.compile(program).map((each) => each.slice(0, each.indexOf('// wrong') + 8))
  expect(wrong).toEqual(program.split('\n').filter((line) => line.endsWith('// wrong')))
})
