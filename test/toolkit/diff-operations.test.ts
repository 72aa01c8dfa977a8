/** Differences outside components: operations, parameters, bodies, responses, headers, events, who may call. */
import { describe, expect, test } from 'vitest'
import { counterpartsOf } from '../../generators/change/align.ts'
import type { Lens } from '../../generators/change/change.ts'
import { diffTexts, readPair } from './versions.ts'

const OK = "responses: { '200': { description: ok } }"
/** A document of one operation, whose members are given in flow style. */
const get = (members: string, path = '/a', more = ''): string =>
  `paths:\n  ${path}:\n    get: { operationId: getA, ${members} }\n${more}`
const post = (members: string): string => `paths:\n  /a:\n    post: { operationId: postA, ${members} }\n`
const parameter = (members: string): string => `${OK}, parameters: [{ name: q, in: query, ${members} }]`
const header = (members: string): string => `${OK}, parameters: [{ name: X-H, in: header, ${members} }]`
const body = (members: string): string => `${OK}, requestBody: { ${members} }`
const json = (schema: string): string => `content: { application/json: { schema: ${schema} } }`
const answer = (members: string): string => `responses: { '200': { description: ok, ${members} } }`
const event = (members: string): string =>
  `paths: {}\nwebhooks:\n  a.done:\n    post: { responses: { '200': { description: ok } }${members} }\n`
const signed = (name: string, more = ''): string =>
  event(`, parameters: [{ name: ${name}, in: header, required: true, schema: { type: string }${more} }]`)
const secured = (security: string): string => get(`${OK}, security: ${security}`)
const scheme = (members: string): string =>
  get(`${OK}, security: [{ key: [] }]`, '/a', `components: { securitySchemes: { key: { ${members} } } }\n`)

/** [what, old, new, every difference] */
type Row = readonly [string, string, string, readonly string[]]

const ROWS: readonly Row[] = [
  ['an operation came', 'paths: {}', get(OK), ['additive operation-added getA']],
  ['an operation went', get(OK), 'paths: {}', ['breaking operation-removed getA']],
  ['another id', get(OK), get(OK).replace('getA', 'readA'), ['additive operation-renamed readA']],
  ['another path', get(OK), get(OK, '/b'), ['additive path-changed getA']],
  [
    'another base path',
    `servers: [{ url: /v1 }]\n${get(OK)}`,
    `servers: [{ url: /v2 }]\n${get(OK)}`,
    ['additive server-removed servers', 'additive server-added servers'],
  ],
  [
    'a server of its own',
    get(`${OK}, servers: [{ url: /a }]`),
    get(`${OK}, servers: [{ url: /b }]`),
    ['additive server-removed getA servers', 'additive server-added getA servers'],
  ],
  ['another method', get(OK), get(OK).replace('get:', 'put:'), ['additive method-changed getA']],
  ['an operation is deprecated', get(OK), get(`deprecated: true, ${OK}`), ['additive deprecated getA']],
  [
    'an operation becomes alpha',
    get(OK),
    get(`x-stability: alpha, ${OK}`),
    ['breaking stability-lowered getA'],
  ],
  [
    'an operation becomes beta',
    get(OK),
    get(`x-stability: beta, ${OK}`),
    ['additive stability-lowered getA'],
  ],
  [
    'an alpha operation becomes stable and breaks its callers',
    get(`x-stability: alpha, ${parameter('schema: {}')}`),
    get(OK),
    ['additive stability-raised getA', 'alpha parameter-removed getA query q'],
  ],
  [
    'a parameter of an alpha tag breaks callers',
    get(`tags: [t], ${parameter('schema: {}')}`, '/a', 'tags: [{ name: t, x-stability: alpha }]\n'),
    get(`tags: [t], ${OK}`, '/a', 'tags: [{ name: t, x-stability: alpha }]\n'),
    ['alpha parameter-removed getA query q'],
  ],
  [
    'a stable operation gets a required alpha parameter',
    get(OK),
    get(parameter('required: true, schema: {}, x-stability: alpha')),
    ['breaking parameter-added-required getA query q'],
  ],
  ['only prose', get(OK), get(`summary: s, description: d, tags: [t], ${OK}`), []],

  ['a parameter came', get(OK), get(parameter('schema: {}')), ['additive parameter-added getA query q']],
  [
    'a required parameter came',
    get(OK),
    get(parameter('required: true, schema: {}')),
    ['breaking parameter-added-required getA query q'],
  ],
  ['a parameter went', get(parameter('schema: {}')), get(OK), ['breaking parameter-removed getA query q']],
  [
    'a parameter is required',
    get(parameter('schema: {}')),
    get(parameter('required: true, schema: {}')),
    ['breaking parameter-required getA query q'],
  ],
  [
    'a parameter may be absent',
    get(parameter('required: true, schema: {}')),
    get(parameter('schema: {}')),
    ['additive parameter-optional getA query q'],
  ],
  [
    'a parameter is deprecated',
    get(parameter('schema: {}')),
    get(parameter('deprecated: true, schema: {}')),
    ['additive deprecated getA query q'],
  ],
  [
    'a parameter of another type',
    get(parameter('schema: { type: string }')),
    get(parameter('schema: { type: integer }')),
    ['breaking type-changed getA query q'],
  ],
  [
    'fewer items in a parameter',
    get(parameter('schema: { type: array, items: { type: string } }')),
    get(parameter('schema: { type: array, items: { type: string, maxLength: 2 } }')),
    ['breaking bound-tightened getA query q[]'],
  ],
  [
    'a filter no longer',
    get(parameter('x-filter: equality, schema: {}')),
    get(parameter('schema: {}')),
    ['breaking filter-changed getA query q'],
  ],
  [
    'a filter now',
    get(parameter('schema: {}')),
    get(parameter('x-filter: equality, schema: {}')),
    ['additive filter-changed getA query q'],
  ],
  [
    'a header in other letters',
    get(header('schema: {}')),
    get(header('schema: {}').replace('X-H', 'x-h')),
    [],
  ],
  [
    'a header that moved to the query',
    get(header('schema: {}')),
    get(header('schema: {}').replace('in: header', 'in: query')),
    ['breaking parameter-removed getA header X-H', 'additive parameter-added getA query X-H'],
  ],
  [
    'a placeholder of another name',
    get(`${OK}, parameters: [{ name: x, in: path, required: true, schema: {} }]`, '/a/{x}'),
    get(`${OK}, parameters: [{ name: y, in: path, required: true, schema: {} }]`, '/a/{y}'),
    ['additive path-parameter-renamed getA path y'],
  ],
  [
    'parameters of the path, not of the operation',
    get(parameter('schema: {}')),
    `paths:\n  /a:\n    parameters: [{ name: q, in: query, schema: {} }]\n    get: { operationId: getA, ${OK} }\n`,
    [],
  ],

  [
    'a list written another way',
    get(parameter('schema: { type: array, items: { type: string } }')),
    get(parameter('explode: false, schema: { type: array, items: { type: string } }')),
    ['additive serialization-changed getA query q'],
  ],
  ['a body came', post(OK), post(body(json('{}'))), ['additive body-added postA body']],
  [
    'a required body came',
    post(OK),
    post(body(`required: true, ${json('{}')}`)),
    ['breaking body-added-required postA body'],
  ],
  ['a body went', post(body(json('{}'))), post(OK), ['breaking body-removed postA body']],
  [
    'a body is required',
    post(body(json('{}'))),
    post(body(`required: true, ${json('{}')}`)),
    ['breaking body-required postA body'],
  ],
  [
    'a body may be absent',
    post(body(`required: true, ${json('{}')}`)),
    post(body(json('{}'))),
    ['additive body-optional postA body'],
  ],
  [
    'a body of another type',
    post(body(json('{ type: string }'))),
    post(body(json('{ type: object }'))),
    ['breaking type-changed postA body'],
  ],
  [
    'something in a body',
    post(body(json('{ type: object, properties: { a: { type: string } } }'))),
    post(body(json('{ type: object, properties: { a: { type: string, maxLength: 3 } } }'))),
    ['breaking bound-tightened postA body.a'],
  ],
  [
    'a media type came',
    post(body(json('{}'))),
    post(body('content: { application/json: {}, text/plain: {} }')),
    ['additive content-type-added postA body'],
  ],
  [
    'a media type went',
    post(body('content: { application/json: {}, text/plain: {} }')),
    post(body(json('{}'))),
    ['breaking content-type-removed postA body'],
  ],
  [
    'a charset is no media type',
    post(body(json('{}'))),
    post(body('content: { "application/json; charset=utf-8": {} }')),
    [],
  ],

  [
    'a success came',
    get(OK),
    get("responses: { '200': { description: ok }, '202': { description: ok } }"),
    ['breaking status-added getA 202'],
  ],
  [
    'a success went',
    get("responses: { '200': { description: ok }, '202': { description: ok } }"),
    get(OK),
    ['breaking status-removed getA 202'],
  ],
  [
    'an error came',
    get(OK),
    get("responses: { '200': { description: ok }, '409': { description: no } }"),
    ['additive status-added getA 409'],
  ],
  [
    'an error went',
    get("responses: { '200': { description: ok }, '409': { description: no } }"),
    get(OK),
    ['additive status-removed getA 409'],
  ],
  [
    'an error that a range speaks for',
    get("responses: { '200': { description: ok }, '4XX': { description: no } }"),
    get("responses: { '200': { description: ok }, '4XX': { description: no }, '409': { description: no } }"),
    [],
  ],
  [
    'a media type of a response went',
    get(answer('content: { application/json: {}, text/csv: {} }')),
    get(answer('content: { application/json: {} }')),
    ['breaking content-type-removed getA 200'],
  ],
  [
    'something in a response',
    get(answer(json('{ type: string }'))),
    get(answer(json('{ type: [string, "null"] }'))),
    ['breaking null-added getA 200'],
  ],
  [
    'a header came',
    get(OK),
    get(answer('headers: { X-H: { schema: {} } }')),
    ['additive header-added getA 200 header X-H'],
  ],
  [
    'a header went',
    get(answer('headers: { X-H: { schema: {} } }')),
    get(OK),
    ['breaking header-removed getA 200 header X-H'],
  ],
  [
    'a header always comes',
    get(answer('headers: { X-H: { schema: {} } }')),
    get(answer('headers: { X-H: { required: true, schema: {} } }')),
    ['additive header-required getA 200 header X-H'],
  ],
  [
    'a header may be absent',
    get(answer('headers: { X-H: { required: true, schema: {} } }')),
    get(answer('headers: { X-H: { schema: {} } }')),
    ['breaking header-optional getA 200 header X-H'],
  ],
  [
    'a header of another type',
    get(answer('headers: { X-H: { schema: { type: integer } } }')),
    get(answer('headers: { X-H: { schema: { type: string } } }')),
    ['breaking type-changed getA 200 header X-H'],
  ],

  [
    'a part of a form of another media type',
    post(body('content: { multipart/form-data: { schema: { type: object }, encoding: {} } }')),
    post(
      body(
        'content: { multipart/form-data: { schema: { type: object }, encoding: { f: { contentType: image/png } } } }',
      ),
    ),
    ['breaking encoding-changed postA body.f', 'additive encoding-changed postA body.f'],
  ],
  [
    'a callback elsewhere',
    post(`${OK}, callbacks: { done: { "{$request.body#/a}": { post: { ${OK} } } } }`),
    post(`${OK}, callbacks: { done: { "{$request.body#/b}": { post: { ${OK} } } } }`),
    ['breaking callback-url-changed event postA done post'],
  ],

  ['an event came', 'paths: {}', event(''), ['additive event-added event a.done']],
  ['an event went', event(''), 'paths: {}', ['breaking event-removed event a.done']],
  ['an event is deprecated', event(''), event(', deprecated: true'), ['additive deprecated event a.done']],
  [
    'a payload came',
    event(''),
    event(`, requestBody: { ${json('{ type: object }')} }`),
    ['additive payload-added event a.done'],
  ],
  [
    'a payload went',
    event(`, requestBody: { ${json('{ type: object }')} }`),
    event(''),
    ['breaking payload-removed event a.done'],
  ],
  [
    'a payload may be absent',
    event(`, requestBody: { required: true, ${json('{ type: object }')} }`),
    event(`, requestBody: { ${json('{ type: object }')} }`),
    ['breaking payload-optional event a.done'],
  ],
  [
    'a payload changed',
    event(`, requestBody: { ${json('{ type: string }')} }`),
    event(`, requestBody: { ${json('{ type: object }')} }`),
    ['breaking type-changed event a.done'],
  ],
  [
    'a header of an event of another name',
    signed('X-Sign'),
    signed('Sign'),
    ['breaking header-removed event a.done header X-Sign', 'additive header-added event a.done header Sign'],
  ],

  [
    'another scope',
    secured('[{ oauth: [read] }]'),
    secured('[{ oauth: [write] }]'),
    ['breaking security-tightened getA security'],
  ],
  [
    'a scope more',
    secured('[{ oauth: [read] }]'),
    secured('[{ oauth: [read, write] }]'),
    ['breaking security-tightened getA security'],
  ],
  [
    'a scope less',
    secured('[{ oauth: [read, write] }]'),
    secured('[{ oauth: [read] }]'),
    ['additive security-loosened getA security'],
  ],
  [
    'another way in',
    secured('[{ key: [] }]'),
    secured('[{ oauth: [] }, { key: [] }]'),
    ['additive security-loosened getA security'],
  ],
  [
    'a way in less',
    secured('[{ oauth: [] }, { key: [] }]'),
    secured('[{ key: [] }]'),
    ['breaking security-tightened getA security'],
  ],
  ['open to all', secured('[{ key: [] }]'), secured('[]'), ['additive security-loosened getA security']],
  [
    'no longer open to all',
    secured('[]'),
    secured('[{ key: [] }]'),
    ['breaking security-tightened getA security'],
  ],
  [
    'ways in, in another order',
    secured('[{ oauth: [a, b] }, { key: [] }]'),
    secured('[{ key: [] }, { oauth: [b, a] }]'),
    [],
  ],
  [
    'a key sent elsewhere',
    scheme('type: apiKey, in: header, name: K'),
    scheme('type: apiKey, in: query, name: K'),
    ['breaking security-scheme-changed security scheme key'],
  ],
  [
    'a scheme described',
    scheme('type: apiKey, in: header, name: K'),
    scheme('type: apiKey, in: header, name: K, description: d'),
    [],
  ],
  [
    'a scheme went',
    scheme('type: apiKey, in: header, name: K'),
    get(`${OK}, security: [{ key: [] }]`),
    ['breaking security-scheme-removed security scheme key'],
  ],

  [
    'a higher scope',
    get(`x-scope: read, ${OK}`),
    get(`x-scope: write, ${OK}`),
    ['breaking requirement-tightened getA x-scope'],
  ],
  [
    'a lower scope',
    get(`x-scope: admin, ${OK}`),
    get(`x-scope: any, ${OK}`),
    ['additive requirement-loosened getA x-scope'],
  ],
  ['a plan', get(OK), get(`x-plan: enterprise, ${OK}`), ['breaking requirement-tightened getA x-plan']],
  ['no plan', get(`x-plan: enterprise, ${OK}`), get(OK), ['additive requirement-loosened getA x-plan']],
  [
    'publishable keys too',
    get(OK),
    get(`x-publishable: true, ${OK}`),
    ['additive requirement-loosened getA x-publishable'],
  ],
  [
    'publishable keys no longer',
    get(`x-publishable: true, ${OK}`),
    get(OK),
    ['breaking requirement-tightened getA x-publishable'],
  ],
  [
    'another bucket',
    get(`x-rate-limit: read, ${OK}`),
    get(`x-rate-limit: slow, ${OK}`),
    ['additive limit-changed getA x-rate-limit'],
  ],
  ['pages', get(OK), get(`x-pagination: cursor, ${OK}`), ['breaking pagination-changed getA x-pagination']],
  ['an extension of somebody else', get(OK), get(`x-amazon: 1, ${OK}`), []],
]

test.each(ROWS)('diff names a difference of operations: %s', (_, old, next, want) => {
  expect(diffTexts(old, next).texts).toEqual(want)
})

describe('proposals', () => {
  const object = (properties: string) => get(answer(json(`{ type: object, properties: { ${properties} } }`)))
  const proposed = (old: string, next: string) =>
    diffTexts(old, next).found.flatMap(({ proposal }) =>
      proposal ? [`${proposal.kind} ${proposal.from} → ${proposal.to}: ${proposal.evidence.join(', ')}`] : [],
    )
  test.each([
    [
      'other letters',
      object('lineType: { type: string }, b: {}'),
      object('line_type: { type: string }, b: {}'),
      ['rename lineType → line_type: same shape, the same words: line type'],
    ],
    [
      'a word shared',
      object('weight: { type: integer }'),
      object('weight_grams: { type: integer }'),
      ['rename weight → weight_grams: same shape, both names contain weight'],
    ],
    [
      'the only one, alike',
      object('city: { type: string }'),
      object('town: { type: string }'),
      ['rename city → town: same shape, one was removed and one was added'],
    ],
    [
      'the same example',
      object('city: { type: string, example: Oslo }, code: { type: integer }'),
      object('town: { type: string, example: Oslo }, kind: { type: integer }'),
      ['rename city → town: same shape, same examples'],
    ],
    ['another shape', object('a: { type: string }'), object('b: { type: integer }'), []],
    [
      'two parts',
      object('name: { type: string }'),
      object('first_name: { type: string }, last_name: { type: string }')
        .replace('type: string }, last', 'type: string, maxLength: 9 }, last')
        .replace('type: string } } }', 'type: string, maxLength: 9 } } }'),
      ['split name → first_name,last_name: every name contains name'],
    ],
    [
      'one of two parts',
      object('first_name: { type: string, maxLength: 9 }, last_name: { type: string, maxLength: 9 }'),
      object('name: { type: string }'),
      [
        'merge first_name,last_name → name: every name contains name',
        'merge first_name,last_name → name: every name contains name',
      ],
    ],
    [
      'into an object',
      object('city: { type: string }, address: { type: object }'),
      object('address: { type: object, properties: { city: { type: string } } }'),
      ['move getA 200.city → getA 200.address.city: same name, same shape'],
    ],
    [
      'a parameter elsewhere',
      get(header('schema: {}')),
      get(header('schema: {}').replace('in: header', 'in: query')),
      ['move getA header X-H → getA query X-H: same shape, the same words: h'],
    ],
    [
      'a header',
      signed('X-Sign'),
      signed('Sign'),
      ['rename X-Sign → Sign: same shape, the same words: sign'],
    ],
    [
      'an operation',
      get(OK).replace('getA', 'fetchParcel'),
      get(OK, '/b').replace('getA', 'getParcel'),
      ['rename fetchParcel → getParcel: same shape, both names contain parcel'],
    ],
  ])('diff proposes a lens for %s', (_, old, next, want) => {
    expect(proposed(old, next)).toEqual(want)
  })
})

test('handlers serve the routes that the diff compares', () => {
  const two = (one: string, other: string) =>
    `paths:\n  /a: { get: { operationId: ${one}, ${OK} } }\n  /b: { get: { operationId: ${other}, ${OK} } }\n`
  const served = (old: string, next: string, lenses: readonly Lens[] = []) =>
    Object.fromEntries(
      [...counterpartsOf(...readPair(old, next), lenses)].map(([id, { path }]) => [id, path]),
    )
  expect(served(two('one', 'two'), two('two', 'one'))).toEqual({ one: '/a', two: '/b' })
  // An id that is gone keeps its handler, unless a lens names another.
  expect(served(two('one', 'two'), two('three', 'two'))).toEqual({ two: '/b' })
  const lens = { kind: 'served', from: 'one', by: 'three' } as const
  expect(served(two('one', 'two'), two('four', 'three'), [lens])).toEqual({ one: '/b' })
})

test('a proposal says where in both documents', () => {
  const { found } = diffTexts(
    get(parameter('schema: { type: string }')),
    get(parameter('schema: { type: integer }')),
  )
  expect(found[0]).toMatchObject({
    old: { line: 5, pointer: '/paths/~1a/get/parameters/0/schema' },
    new: { line: 5, pointer: '/paths/~1a/get/parameters/0/schema' },
    uses: ['getA'],
    directions: ['request'],
  })
})
