/** Parameters as the specification writes them: OpenAPI 3.1, "Style Values" and "Style Examples"; RFC 6570 for their values. */
export const text = { type: 'string' }
export const list = { type: 'array', items: { type: 'string' } }
export const colors = {
  type: 'object',
  properties: { R: { type: 'integer' }, G: { type: 'integer' }, B: { type: 'integer' } },
}

/** The values of the specification's table. */
export const BLUE = [text, 'blue'] as const
export const ARRAY = [list, ['blue', 'black', 'brown']] as const
const OBJECT = [colors, { R: 100, G: 200, B: 150 }] as const

export interface ParameterStyleRow {
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

const path = (
  style: string,
  explode: boolean,
  of: ParameterStyleRow['of'],
  want: string,
): ParameterStyleRow => ({
  in: 'path',
  ...{ style, explode, of, want },
})
const query = (
  style: string,
  explode: boolean,
  of: ParameterStyleRow['of'],
  want: string,
  more = {},
): ParameterStyleRow => ({
  in: 'query',
  ...{ style, explode, of, want, ...more },
})
export const json = (schema: object) => ({ 'application/json': { schema } })

export const ROWS: readonly ParameterStyleRow[] = [
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
  query('pipeDelimited', true, ARRAY, 'color=blue&color=black&color=brown'),
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

export const responses = { 200: { description: 'OK', content: json({ type: 'object' }) } }
export const idOf = (row: ParameterStyleRow) => `op${ROWS.indexOf(row)}`
export const get = (operationId: string, ...parameters: readonly object[]) => ({
  get: { operationId, parameters, responses },
})

export function operationOf(row: ParameterStyleRow): [string, object] {
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
