/**
 * Every kind of place that OpenAPI 3.0 and 3.1 have for a schema, as ways to put one into another, and ways to send one
 * between a caller and the service. Each knows how a value looks that has a given value there.
 */

export type Json = Readonly<Record<string, unknown>>
export type Dialect = '3.0' | '3.1'

/** A way to put a schema into another. */
export interface Holder {
  readonly name: string
  readonly dialects: readonly Dialect[]
  /** @param hoist makes a component of a schema. @returns the schema that holds it. */
  wrap(inner: Json, hoist: (name: string, schema: Json) => Json): Json
  /** @returns a value that has the given one there. */
  value(inner: unknown): unknown
}

const BOTH: readonly Dialect[] = ['3.0', '3.1']
const NEW: readonly Dialect[] = ['3.1']

const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const other = object({ other: { type: 'integer' } }, { required: ['other'] })
const inP = (inner: unknown) => ({ p: inner })
const bare = (inner: unknown) => inner

function holder(
  name: string,
  wrap: Holder['wrap'],
  value: Holder['value'] = bare,
  dialects: readonly Dialect[] = BOTH,
): Holder {
  return { name, wrap, value, dialects }
}

const tagged = (kind: string, properties: Json): Json =>
  object({ kind: { type: 'string', enum: [kind] }, ...properties }, { required: ['kind'] })

export const HOLDERS: readonly Holder[] = [
  holder('the schema itself', bare as Holder['wrap']),
  holder('a property', (inner) => object({ p: inner }), inP),
  holder('a required property', (inner) => object({ p: inner }, { required: ['p'] }), inP),
  holder(
    'an odd name',
    (inner) => object({ 'a b/c~': inner }),
    (inner) => ({ 'a b/c~': inner }),
  ),
  holder(
    'items',
    (inner) => ({ type: 'array', items: inner }),
    (inner) => [inner, inner],
  ),
  holder(
    'a map',
    (inner) => ({ type: 'object', additionalProperties: inner }),
    (inner) => ({ x: inner }),
  ),
  holder(
    'a map beside a property',
    (inner) => object({ n: { type: 'string' } }, { additionalProperties: inner }),
    (inner) => ({ n: 'red', x: inner }),
  ),
  holder('allOf of one', (inner) => ({ allOf: [inner] })),
  holder('allOf with prose', (inner) => ({ allOf: [inner], description: 'the same' })),
  holder(
    'allOf of parts',
    (inner) => ({ allOf: [object({ p: inner }), object({ q: { type: 'string' } })] }),
    inP,
  ),
  holder(
    'a property that two parts declare',
    (inner) => ({ allOf: [object({ p: inner }), object({ p: { description: 'again' } })] }),
    inP,
  ),
  holder(
    'a property that two parts declare, the other way round',
    (inner) => ({ allOf: [object({ p: { description: 'again' } }), object({ p: inner })] }),
    inP,
  ),
  holder(
    'allOf of a component',
    (inner, hoist) => ({ allOf: [hoist('Base', object({ p: inner })), object({ q: { type: 'string' } })] }),
    inP,
  ),
  holder('a member of oneOf', (inner) => ({ oneOf: [inner, { type: 'integer' }] })),
  holder('a member of anyOf', (inner) => ({ anyOf: [{ type: 'boolean' }, inner] })),
  holder('a union within a union', (inner) => ({
    oneOf: [{ oneOf: [inner, { type: 'integer' }] }, { type: 'boolean' }],
  })),
  holder(
    'a union within a union, by name',
    (inner, hoist) => ({
      oneOf: [
        hoist('Union', { oneOf: [object({ p: inner }, { required: ['p'] }), other] }),
        { type: 'boolean' },
      ],
    }),
    inP,
  ),
  holder(
    'an inline member with a tag',
    (inner) => ({ oneOf: [tagged('a', { p: inner }), tagged('b', { p: { type: 'string' } })] }),
    (inner) => ({ kind: 'a', p: inner }),
  ),
  holder(
    'a member by name with a tag',
    (inner, hoist) => ({
      oneOf: [hoist('A', tagged('a', { p: inner })), hoist('B', tagged('b', { p: { type: 'string' } }))],
    }),
    (inner) => ({ kind: 'a', p: inner }),
  ),
  holder(
    'a discriminated member',
    (inner, hoist) => {
      const members = [
        hoist('A', tagged('a', { p: inner })),
        hoist('B', tagged('b', { p: { type: 'string' } })),
      ]
      const mapping = { a: String(members[0]!.$ref), b: String(members[1]!.$ref) }
      return { oneOf: members, discriminator: { propertyName: 'kind', mapping } }
    },
    (inner) => ({ kind: 'a', p: inner }),
  ),
  holder(
    'a discriminated member without a mapping',
    (inner, hoist) => ({
      oneOf: [hoist('A', tagged('a', { p: inner })), hoist('B', tagged('b', { p: { type: 'string' } }))],
      discriminator: { propertyName: 'kind' },
    }),
    (inner) => ({ kind: 'a', p: inner }),
  ),
  holder(
    'a discriminated member whose tag stands in a base',
    (inner, hoist) => {
      const base = hoist('Base', object({ kind: { type: 'string' } }, { required: ['kind'] }))
      const member = (kind: string, p: Json) => ({ allOf: [tagged(kind, { p }), base] })
      return { oneOf: [hoist('A', member('a', inner)), hoist('B', member('b', { type: 'string' }))] }
    },
    (inner) => ({ kind: 'a', p: inner }),
  ),
  holder(
    'an heir of what has a discriminator',
    (inner, hoist) => {
      const base = hoist(
        'Base',
        object({ kind: { type: 'string' } }, { discriminator: { propertyName: 'kind' } }),
      )
      hoist('Heir', { allOf: [base, object({ p: inner })] })
      return base
    },
    (inner) => ({ kind: 'Heir', p: inner }),
  ),
  holder(
    'a component that contains itself',
    (inner, hoist) => {
      const self = { $ref: hoist('Node', {}).$ref }
      return hoist('Node', object({ p: inner, next: self, all: { type: 'array', items: self } }))
    },
    (inner) => ({ p: inner, next: { p: inner, all: [{ p: inner }] } }),
  ),
  holder('a component of its own', (inner, hoist) => hoist('Own', object({ p: inner })), inP),
  holder('a component that is the schema', (inner, hoist) => hoist('Alias', inner)),
  holder('a reference into a component', (inner, hoist) => ({
    $ref: `${hoist('Holder', object({ p: inner })).$ref}/properties/p`,
  })),
  holder('nullable', (inner) => ({ allOf: [inner], nullable: true }), bare, ['3.0']),
  holder('null beside it', (inner) => ({ oneOf: [inner, { type: 'null' }] }), bare, NEW),
  holder('keywords beside a reference', (inner) => ({ ...inner, minProperties: 0, minLength: 0 }), bare, NEW),
  holder(
    'a property of another kind beside a reference',
    (inner) => ('$ref' in inner ? { ...inner, properties: { q: { type: 'string' } } } : inner),
    bare,
    NEW,
  ),
  holder(
    'a position',
    (inner) => ({ type: 'array', prefixItems: [{ type: 'string' }, inner] }),
    (inner) => ['red', inner],
    NEW,
  ),
  holder(
    'items after positions',
    (inner) => ({ type: 'array', prefixItems: [{ type: 'string' }], items: inner }),
    (inner) => ['red', inner],
    NEW,
  ),
  holder(
    'names by pattern',
    (inner) => ({ type: 'object', patternProperties: { '^x': inner } }),
    (inner) => ({ x: inner }),
    NEW,
  ),
  holder(
    'contains',
    (inner) => ({ type: 'array', contains: inner }),
    (inner) => [inner],
    NEW,
  ),
  holder('not', (inner) => object({ p: { not: { allOf: [inner, { type: 'integer' }] } } }), inP, NEW),
  holder(
    'else',
    (inner) => ({ ...object({ n: {} }), if: { required: ['m'] }, else: object({ p: inner }) }),
    (inner) => ({ n: 1, p: inner }),
    NEW,
  ),
  holder(
    'dependentSchemas',
    (inner) => ({ ...object({ n: {} }), dependentSchemas: { n: object({ p: inner }) } }),
    (inner) => ({ n: 1, p: inner }),
    NEW,
  ),
  holder(
    'unevaluatedProperties',
    (inner) => ({ ...object({ n: {} }), unevaluatedProperties: inner }),
    (inner) => ({ x: inner }),
    NEW,
  ),
  holder(
    'unevaluatedItems',
    (inner) => ({ type: 'array', unevaluatedItems: inner }),
    (inner) => [inner],
    NEW,
  ),
]

/** A way to send a value, with the schema of it in a document. */
export interface Carrier {
  readonly name: string
  readonly direction: 'up' | 'down'
  readonly dialects: readonly Dialect[]
  /** Which translation carries it; absent where none does. */
  readonly by?:
    | 'body'
    | 'query'
    | 'header'
    | 'answer'
    | 'event'
    | { readonly status: string }
    | { readonly form: string }
  /** @returns members of the document beside its components' schemas. */
  document(schema: Json): Json
}

const json = (schema: Json): Json => ({ content: { 'application/json': { schema } } })
const ok = { description: 'ok' }
const operation = (own: Json): Json => ({
  paths: { '/r': { post: { operationId: 'go', responses: { '204': ok }, ...own } } },
})
const answers = (responses: Json): Json => operation({ responses })
const answer = (schema: Json, more: Json = {}): Json => ({ ...ok, ...json(schema), ...more })
const event = (own: Json, answered: Json = ok): Json => ({
  paths: {},
  webhooks: { 'a.done': { post: { ...own, responses: { '200': answered } } } },
})
const callback = (own: Json, answered: Json = ok): Json =>
  operation({
    responses: { '204': ok },
    callbacks: { done: { '{$request.body#/url}': { post: { ...own, responses: { '200': answered } } } } },
  })
const parameter = (where: string, name: string, own: Json): Json => ({ name, in: where, ...own })

function carrier(
  direction: Carrier['direction'],
  name: string,
  document: Carrier['document'],
  by?: Carrier['by'],
  dialects: readonly Dialect[] = BOTH,
): Carrier {
  return { name, direction, document, dialects, ...(by && { by }) }
}

export const CARRIERS: readonly Carrier[] = [
  carrier('up', 'a body', (schema) => operation({ requestBody: json(schema) }), 'body'),
  carrier(
    'up',
    'a body by name',
    (schema) => ({
      ...operation({ requestBody: { $ref: '#/components/requestBodies/B' } }),
      components: { requestBodies: { B: json(schema) } },
    }),
    'body',
  ),
  carrier('up', 'a body beside another kind of JSON', (schema) =>
    operation({
      requestBody: {
        content: { 'application/json': { schema: {} }, 'application/merge-patch+json': { schema } },
      },
    }),
  ),
  ...(['application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml'] as const).map(
    (mediaType) =>
      carrier(
        'up',
        `a body of ${mediaType}`,
        (schema) => operation({ requestBody: { content: { [mediaType]: { schema } } } }),
        mediaType === 'application/xml' ? undefined : { form: mediaType },
      ),
  ),
  carrier('up', 'the envelope of a batch', (schema) =>
    operation({
      requestBody: json(object({ items: { type: 'array', 'x-judged': 'each', items: {} }, p: schema })),
    }),
  ),
  ...(['query', 'header', 'cookie'] as const).map((where) =>
    carrier(
      'up',
      `a parameter in ${where}`,
      (schema) => operation({ parameters: [parameter(where, 'q', { schema })] }),
      where === 'cookie' ? undefined : where,
    ),
  ),
  carrier('up', 'a parameter as JSON', (schema) =>
    operation({ parameters: [parameter('query', 'q', json(schema))] }),
  ),
  carrier(
    'up',
    'a parameter by name',
    (schema) => ({
      ...operation({ parameters: [{ $ref: '#/components/parameters/Q' }] }),
      components: { parameters: { Q: parameter('header', 'q', { schema }) } },
    }),
    'header',
  ),
  carrier(
    'up',
    'a parameter of a path',
    (schema) => ({
      paths: {
        '/r': {
          parameters: [parameter('header', 'q', { schema })],
          get: { operationId: 'go', responses: { '204': ok } },
        },
      },
    }),
    'header',
  ),
  carrier('down', 'an answer', (schema) => answers({ '200': answer(schema) }), 'answer'),
  carrier(
    'down',
    'an item of a stream',
    (schema) => answers({ '200': { ...ok, content: { 'application/x-ndjson': { itemSchema: schema } } } }),
    'answer',
  ),
  carrier(
    'down',
    'an answer by name',
    (schema) => ({
      ...answers({ '200': { $ref: '#/components/responses/R' } }),
      components: { responses: { R: answer(schema) } },
    }),
    'answer',
  ),
  carrier('down', 'a range of answers', (schema) => answers({ '2XX': answer(schema) }), 'answer'),
  carrier('down', 'a further answer', (schema) => answers({ '200': ok, '202': answer(schema) }), {
    status: '202',
  }),
  carrier('down', 'an error', (schema) => answers({ '204': ok, '404': answer(schema) }), { status: '404' }),
  carrier('down', 'a range of errors', (schema) => answers({ '204': ok, '4XX': answer(schema) }), {
    status: '409',
  }),
  carrier('down', 'every other answer', (schema) => answers({ '204': ok, default: answer(schema) }), {
    status: '500',
  }),
  carrier('down', 'an answer that is not JSON', (schema) =>
    answers({ '200': { ...ok, content: { 'application/xml': { schema } } } }),
  ),
  carrier('down', 'a further media type of an answer', (schema) =>
    answers({ '200': { ...ok, content: { 'application/json': { schema: {} }, 'text/csv': { schema } } } }),
  ),
  carrier('down', 'a header of an answer', (schema) =>
    answers({ '200': { ...ok, headers: { 'X-H': { schema } } } }),
  ),
  carrier('down', 'a header of an answer as JSON', (schema) =>
    answers({ '200': { ...ok, headers: { 'X-H': json(schema) } } }),
  ),
  carrier('down', 'a header by name', (schema) => ({
    ...answers({ '200': { ...ok, headers: { 'X-H': { $ref: '#/components/headers/H' } } } }),
    components: { headers: { H: { schema } } },
  })),
  carrier('down', 'an event', (schema) => event({ requestBody: json(schema) }), 'event', NEW),
  carrier(
    'down',
    'a header of an event',
    (schema) => event({ parameters: [parameter('header', 'X-H', { schema })] }),
    undefined,
    NEW,
  ),
  carrier('up', 'what an event is answered with', (schema) => event({}, answer(schema)), undefined, NEW),
  carrier('down', 'a callback', (schema) => callback({ requestBody: json(schema) })),
  carrier('down', 'a header of a callback', (schema) =>
    callback({ parameters: [parameter('header', 'X-H', { schema })] }),
  ),
  carrier('up', 'what a callback is answered with', (schema) => callback({}, answer(schema))),
  carrier(
    'up',
    'a path by name',
    (schema) => ({
      paths: { '/r': { $ref: '#/components/pathItems/P' } },
      components: {
        pathItems: {
          P: { post: { operationId: 'go', requestBody: json(schema), responses: { '204': ok } } },
        },
      },
    }),
    'body',
    NEW,
  ),
]

/** A document in which the carrier brings a schema with the component `Thing`, put into holders, the first innermost. */
export function documentOf(
  dialect: Dialect,
  version: string,
  thing: Json,
  carried: Carrier,
  holders: readonly Holder[],
): Json {
  const schemas: Record<string, Json> = { Thing: thing }
  const schema = holders.reduce<Json>(
    (inner, each, depth) =>
      each.wrap(inner, (name, own) => {
        schemas[`${name}${depth}`] = own
        return { $ref: `#/components/schemas/${name}${depth}` }
      }),
    { $ref: '#/components/schemas/Thing' },
  )
  const { components, ...rest } = carried.document(schema)
  return {
    openapi: dialect === '3.0' ? '3.0.3' : '3.1.0',
    info: { title: 'T', version },
    paths: {},
    ...rest,
    components: { ...(components as Json | undefined), schemas },
  }
}
