/** What the cases of other tools show: edits that they classify, and documents that they read. */
import type { OperationRow } from './operations.ts'
import type { SchemaRow } from './schemas.ts'

const OK = "responses: { '200': { description: ok } }"
const A = '{ $ref: "#/components/schemas/A" }'
const B = '{ $ref: "#/components/schemas/B" }'
const [LESS, MORE, OTHER, SAME] = ['ba', 'ab', 'bb', '--'] as const
const at = (members: string, path = '/a'): string =>
  `paths: { "${path}": { post: { operationId: sendA, ${members} } } }`
const json = (schema: string): string => `content: { application/json: { schema: ${schema} } }`
const body = (schema: string): string => at(`${OK}, requestBody: { ${json(schema)} }`)
const query = (schema: string, more = ''): string =>
  at(`${OK}, parameters: [{ name: q, in: query, schema: ${schema}${more} }]`)
const answer = (schema: string): string => at(`responses: { '200': { description: ok, ${json(schema)} } }`)

export const SCHEMAS_OF_OTHERS: readonly SchemaRow[] = [
  // Parts that say nothing new.
  ['a part that repeats another', `{ allOf: [${A}] }`, `{ allOf: [${A}, ${A}] }`, SAME, SAME],
  [
    'a part with the same property',
    '{ allOf: [{ type: object, properties: { p: { type: string } } }] }',
    '{ allOf: [{ type: object, properties: { p: { type: string } } }, { type: object, properties: { p: { type: string } } }] }',
    SAME,
    SAME,
  ],
  [
    'an optional property in one more part',
    `{ allOf: [${A}] }`,
    `{ allOf: [${A}, { type: object, properties: { p: { type: integer } } }] }`,
    'aa',
    OTHER,
  ],
  ['what a part requires', `{ allOf: [${A}] }`, `{ allOf: [${A}, { required: [n] }] }`, LESS, MORE],
  [
    'a part that closes the whole',
    `{ allOf: [${A}, { type: object, properties: { z: {} } }] }`,
    `{ allOf: [${A}, { type: object, properties: { z: {} }, additionalProperties: false }] }`,
    'ba',
    'aa',
  ],
  // Enumerations and constants.
  ['a list of numbers for a number', '{ type: integer }', '{ type: integer, enum: [1, 2] }', LESS, MORE],
  ['a number as text', '{ type: integer, enum: [1] }', '{ type: string, enum: ["1"] }', OTHER, OTHER],
  ['a constant', '{ type: string }', '{ type: string, const: a }', LESS, MORE, '3.1'],
  ['a constant or a list', '{ const: a }', '{ enum: [a, b] }', MORE, LESS, '3.1'],
  ['null in a list', '{ enum: [a, null] }', '{ enum: [a] }', LESS, MORE, '3.1'],
  [
    'known values that are only an extension',
    '{ type: string, x-extensible-enum: [a, b] }',
    '{ type: string, x-extensible-enum: [a] }',
    SAME,
    SAME,
  ],
  // Types.
  ['types in another order', '{ type: [string, integer] }', '{ type: [integer, string] }', SAME, SAME, '3.1'],
  ['whole numbers and numbers', '{ type: [integer, number] }', '{ type: number }', SAME, SAME, '3.1'],
  [
    'listed words beside any word',
    '{ anyOf: [{ type: string }, { type: string, enum: [a, b] }] }',
    '{ anyOf: [{ type: string }, { type: string, enum: [a] }] }',
    SAME,
    SAME,
  ],
  [
    'listed words beside any word, or any word',
    '{ anyOf: [{ type: string }, { enum: [a] }] }',
    '{ type: string }',
    SAME,
    SAME,
  ],
  [
    'listed words beside short ones',
    '{ anyOf: [{ type: string, maxLength: 1 }, { type: string, enum: [abc] }] }',
    '{ type: string, maxLength: 1 }',
    LESS,
    MORE,
  ],
  ['one more type', '{ type: string }', '{ type: [string, boolean] }', MORE, LESS, '3.1'],
  ['null as a type', '{ type: string }', '{ type: [string, "null"] }', MORE, LESS, '3.1'],
  [
    'null as a member',
    '{ type: string }',
    '{ anyOf: [{ type: string }, { type: "null" }] }',
    MORE,
    LESS,
    '3.1',
  ],
  [
    'null as a type or a member',
    '{ type: [string, "null"] }',
    '{ anyOf: [{ type: string }, { type: "null" }] }',
    SAME,
    SAME,
    '3.1',
  ],
  ['only null', '{ type: "null" }', '{ type: string }', OTHER, OTHER, '3.1'],
  ['a word beside a reference', A, '{ $ref: "#/components/schemas/A", maxProperties: 2 }', LESS, MORE, '3.1'],
  ['prose beside a reference', A, '{ $ref: "#/components/schemas/A", description: d }', SAME, SAME],
  [
    'a limit beside a reference, in 3.0',
    A,
    '{ $ref: "#/components/schemas/A", maxProperties: 2 }',
    SAME,
    SAME,
    '3.0',
  ],
  // Bounds.
  ['both bounds of a number', '{ type: number }', '{ type: number, minimum: 0, maximum: 1 }', LESS, MORE],
  [
    'bounds the other way',
    '{ type: integer, minimum: 1, maximum: 9 }',
    '{ type: integer, minimum: 2, maximum: 10 }',
    OTHER,
    OTHER,
  ],
  [
    'a bound that is now excluded',
    '{ type: number, exclusiveMinimum: 1 }',
    '{ type: number, minimum: 1 }',
    MORE,
    LESS,
    '3.1',
  ],
  [
    'a flag without a bound',
    '{ type: number }',
    '{ type: number, exclusiveMinimum: true }',
    SAME,
    SAME,
    '3.0',
  ],
  [
    'items at most',
    '{ type: array, items: {}, maxItems: 3 }',
    '{ type: array, items: {}, maxItems: 2 }',
    LESS,
    MORE,
  ],
  [
    'int32 for int64 in text',
    '{ type: string, format: int64 }',
    '{ type: string, format: int32 }',
    LESS,
    MORE,
  ],
  // Objects.
  [
    'a read-only property must be there',
    '{ type: object, properties: { p: { type: string, readOnly: true } } }',
    '{ type: object, required: [p], properties: { p: { type: string, readOnly: true } } }',
    '-a',
    '-b',
  ],
  [
    'a write-only property must be there',
    '{ type: object, properties: { p: { type: string, writeOnly: true } } }',
    '{ type: object, required: [p], properties: { p: { type: string, writeOnly: true } } }',
    'b-',
    'a-',
  ],
  [
    'a write-only property',
    '{ type: object, properties: { q: {} } }',
    '{ type: object, properties: { q: {}, p: { type: string, writeOnly: true } } }',
    'a-',
    'b-',
  ],
  [
    'a read-only property',
    '{ type: object, properties: { q: {} } }',
    '{ type: object, properties: { q: {}, p: { type: string, readOnly: true } } }',
    '-a',
    '-b',
  ],
  [
    'a required property with a default',
    '{ type: object, properties: { q: {} } }',
    '{ type: object, required: [p], properties: { q: {}, p: { type: string, default: a } } }',
    'ba',
    OTHER,
  ],
  [
    'a required name that no property describes',
    '{ type: object }',
    '{ type: object, required: [p] }',
    'ba',
    OTHER,
  ],
  [
    'a map of a list',
    '{ type: object, additionalProperties: { type: array, items: { type: string } } }',
    '{ type: object, additionalProperties: { type: array, items: { type: integer } } }',
    OTHER,
    OTHER,
  ],
  [
    'a schema of properties by a pattern',
    '{ type: object, patternProperties: { "^x-": { type: string } } }',
    '{ type: object, patternProperties: { "^x-": { type: string }, "^y-": { type: string } } }',
    LESS,
    OTHER,
    '3.1',
  ],
  // Unions.
  [
    'a component or its text in a union',
    `{ anyOf: [${A}, ${B}] }`,
    `{ anyOf: [{ type: object, required: [t], properties: { t: { type: string, enum: [a] }, n: { type: integer } } }, ${B}] }`,
    SAME,
    SAME,
  ],
  [
    'any or exactly one of different types',
    '{ anyOf: [{ type: string }, { type: array, items: {} }] }',
    '{ oneOf: [{ type: string }, { type: array, items: {} }] }',
    SAME,
    SAME,
  ],
  [
    'a required member of any',
    `{ anyOf: [{ required: [p] }, { required: [q] }], type: object }`,
    `{ anyOf: [{ required: [p] }], type: object }`,
    LESS,
    MORE,
  ],
  [
    'what must not be, narrower',
    '{ not: { type: string } }',
    '{ not: { type: string, maxLength: 3 } }',
    OTHER,
    OTHER,
    '3.1',
  ],
  [
    'the last items',
    '{ type: array, prefixItems: [{ type: string }], items: false }',
    '{ type: array, prefixItems: [{ type: string }], items: { type: integer } }',
    MORE,
    LESS,
    '3.1',
  ],
  [
    'a longer tuple',
    '{ type: array, prefixItems: [{ type: string }] }',
    '{ type: array, prefixItems: [{ type: string }, { type: integer }] }',
    LESS,
    MORE,
    '3.1',
  ],
]

export const OPERATIONS_OF_OTHERS: readonly OperationRow[] = [
  // A schema of a media type.
  [
    'a schema of a body',
    at(`${OK}, requestBody: { content: { application/json: {} } }`),
    body('{ type: string }'),
    'b',
    'a',
  ],
  [
    'a schema of an answer',
    at("responses: { '200': { description: ok, content: { application/json: {} } } }"),
    answer('{ type: string }'),
    'a',
    'b',
  ],
  [
    'problem details for JSON',
    answer('{}'),
    answer('{}').replace('application/json', 'application/problem+json'),
    'b',
    'b',
  ],
  [
    'a body by reference',
    body('{ type: string }'),
    `${at(`${OK}, requestBody: { $ref: "#/components/requestBodies/R" }`)}\ncomponents: { requestBodies: { R: { ${json('{ type: string }')} } } }`,
    '-',
    '-',
  ],
  [
    'style of a word in a form',
    at(
      `${OK}, requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { p: { type: string } } } } } }`,
    ),
    at(
      `${OK}, requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { p: { type: string } } }, encoding: { p: { style: deepObject, explode: true } } } } }`,
    ),
    '-',
    '-',
  ],
  [
    'a property of a form with its own encoding',
    at(
      `${OK}, requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { p: {} } } } } }`,
    ),
    at(
      `${OK}, requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { p: {}, q: { type: object } } }, encoding: { q: { style: deepObject } } } } }`,
    ),
    'a',
    'b',
  ],
  // Parameters that stand elsewhere.
  [
    'a parameter of the path',
    query('{ type: string }'),
    `paths: { /a: { parameters: [{ name: q, in: query, schema: { type: string } }], post: { operationId: sendA, ${OK} } } }`,
    '-',
    '-',
  ],
  [
    'a parameter of the path, overridden',
    `paths: { /a: { parameters: [{ name: q, in: query, required: true, schema: {} }], post: { operationId: sendA, ${OK}, parameters: [{ name: q, in: query, schema: {} }] } } }`,
    query('{}'),
    '-',
    '-',
  ],
  [
    'a parameter by reference',
    query('{ type: string }'),
    `${at(`${OK}, parameters: [{ $ref: "#/components/parameters/Q" }]`)}\ncomponents: { parameters: { Q: { name: q, in: query, schema: { type: string } } } }`,
    '-',
    '-',
  ],
  [
    'parameters in another order',
    at(`${OK}, parameters: [{ name: q, in: query, schema: {} }, { name: r, in: query, schema: {} }]`),
    at(`${OK}, parameters: [{ name: r, in: query, schema: {} }, { name: q, in: query, schema: {} }]`),
    '-',
    '-',
  ],
  [
    'one name in two places',
    query('{}'),
    at(`${OK}, parameters: [{ name: q, in: query, schema: {} }, { name: q, in: header, schema: {} }]`),
    'a',
    'b',
  ],
  [
    'a parameter that a list limits',
    query('{ type: string }'),
    query('{ type: string, enum: [a] }'),
    'b',
    'a',
  ],
  ['null in a parameter', query('{ type: [string, "null"] }'), query('{ type: string }'), 'b', 'a', '3.1'],
  ['explode of one word', query('{ type: string }'), query('{ type: string }', ', explode: false'), '-', '-'],
  [
    'an example of a parameter',
    query('{ type: string }'),
    query('{ type: string }', ', example: a'),
    '-',
    '-',
  ],
  // Answers.
  [
    'an error less',
    at("responses: { '200': { description: ok }, '404': { description: no } }"),
    at(OK),
    'a',
    'a',
  ],
  ['prose of an answer', at(OK), at(OK.replace('ok', 'fine')), '-', '-'],
  [
    'an answer by reference',
    answer('{ type: string }'),
    `${at(`responses: { '200': { $ref: "#/components/responses/R" } }`)}\ncomponents: { responses: { R: { description: ok, ${json('{ type: string }')} } } }`,
    '-',
    '-',
  ],
  // Access.
  [
    'access without a key',
    `${at(`${OK}, security: [{ k: [] }]`)}\ncomponents: { securitySchemes: { k: { type: http, scheme: bearer } } }`,
    `${at(`${OK}, security: [{ k: [] }, {}]`)}\ncomponents: { securitySchemes: { k: { type: http, scheme: bearer } } }`,
    'a',
    'b',
  ],
  [
    'access that all operations share',
    `${at(`${OK}, security: [{ k: [] }]`)}\ncomponents: { securitySchemes: { k: { type: http, scheme: bearer } } }`,
    `security: [{ k: [] }]\n${at(OK)}\ncomponents: { securitySchemes: { k: { type: http, scheme: bearer } } }`,
    '-',
    '-',
  ],
  [
    'how a token is written',
    `${at(`${OK}, security: [{ k: [] }]`)}\ncomponents: { securitySchemes: { k: { type: http, scheme: bearer } } }`,
    `${at(`${OK}, security: [{ k: [] }]`)}\ncomponents: { securitySchemes: { k: { type: http, scheme: bearer, bearerFormat: JWT } } }`,
    '-',
    '-',
  ],
  // Events go to the caller.
  [
    'a payload that is always sent',
    `paths: {}\nwebhooks: { a: { post: { requestBody: { ${json('{}')} }, ${OK} } } }`,
    `paths: {}\nwebhooks: { a: { post: { requestBody: { required: true, ${json('{}')} }, ${OK} } } }`,
    '-',
    'b',
    '3.1',
  ],
  [
    'a property of an event',
    `paths: {}\nwebhooks: { a: { post: { requestBody: { ${json('{ type: object, properties: { p: {} } }')} }, ${OK} } } }`,
    `paths: {}\nwebhooks: { a: { post: { requestBody: { ${json('{ type: object, required: [q], properties: { p: {}, q: {} } }')} }, ${OK} } } }`,
    'a',
    'b',
    '3.1',
  ],
  // Models that contain themselves.
  [
    'a tree whose leaves change',
    `${answer('{ $ref: "#/components/schemas/T" }')}\ncomponents: { schemas: { T: { type: object, properties: { next: { $ref: "#/components/schemas/T" }, v: { type: string } } } } }`,
    `${answer('{ $ref: "#/components/schemas/T" }')}\ncomponents: { schemas: { T: { type: object, properties: { next: { $ref: "#/components/schemas/T" }, v: { type: integer } } } } }`,
    'b',
    'b',
  ],
  [
    'a tree, and itself',
    `${answer('{ $ref: "#/components/schemas/T" }')}\ncomponents: { schemas: { T: { allOf: [{ $ref: "#/components/schemas/U" }, { type: object, properties: { next: { $ref: "#/components/schemas/T" } } }] }, U: { type: object, properties: { v: { type: string } } } } }`,
    `${answer('{ $ref: "#/components/schemas/T" }')}\ncomponents: { schemas: { T: { type: object, properties: { v: { type: string }, next: { $ref: "#/components/schemas/T" } } } } }`,
    '-',
    '-',
  ],
]
