import { describe, expect, test } from 'vitest'
import { toJsonSchema } from '../../generators/emit/validators/json-schema.ts'
import { read, readSchema } from './document.ts'

const OPENAPI_30 = 'openapi: 3.0.3\ninfo: { title: Test, version: "1" }\n'

/** What a schema says, in the terms of a validator. */
const checked = (text: string, head?: string) => toJsonSchema(readSchema(text, head).schema, (name) => name)

describe('a schema is read as what it checks', () => {
  test.each([
    ['{ type: string, maxLength: 3, description: prose }', { type: 'string', maxLength: 3 }],
    ['{ type: [string, "null"], format: date }', { type: ['string', 'null'], format: 'date' }],
    ['{ type: [string, integer] }', { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['{ const: a }', { enum: ['a'] }],
    ['{ enum: [a, null] }', { enum: ['a', null] }],
    ['{ type: "null" }', { type: 'null' }],
    ['{ properties: { a: true } }', { properties: { a: true } }],
    ['{ minLength: 2 }', { minLength: 2 }],
    ['{ type: string, nullable: true }', { type: 'string' }],
    ['{ type: [string, "null"], enum: [a, 3, null] }', { enum: ['a', null] }],
    ['{ required: [a], type: object }', { type: 'object', required: ['a'], properties: { a: true } }],
    [
      '{ type: object, additionalProperties: { type: string } }',
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    ['{ type: array, items: { $ref: "#/components/schemas/Y" } }', { type: 'array', items: { $ref: 'Y' } }],
    [
      '{ oneOf: [{ $ref: "#/components/schemas/Y" }, { type: "null" }] }',
      { anyOf: [{ $ref: 'Y' }, { type: 'null' }] },
    ],
    [
      '{ anyOf: [{ type: string }, { type: boolean }] }',
      { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
    ],
    [
      '{ allOf: [{ $ref: "#/components/schemas/Y" }, { $ref: "#/components/schemas/Z" }] }',
      { allOf: [{ $ref: 'Y' }, { $ref: 'Z' }] },
    ],
    ['{ $ref: "#/components/schemas/Y" }', { $ref: 'Y' }],
  ])('the schema %s is read as what it checks', (given, want) => expect(checked(given)).toEqual(want))

  test.each([
    ['{ type: string, nullable: true }', { type: ['string', 'null'] }],
    ['{ type: integer, minimum: 1, exclusiveMinimum: true }', { type: 'integer', exclusiveMinimum: 1 }],
  ])('the OpenAPI 3.0 schema %s is read as what it checks', (given, want) =>
    expect(checked(given, OPENAPI_30)).toEqual(want),
  )
})

test('a node knows the line and the pointer that it came from', () => {
  const { schema } = readSchema('{ type: object, properties: { "a/b": { type: string } } }')
  const property = schema.kind === 'object' ? schema.properties[0] : undefined
  expect(property?.place).toMatchObject({
    file: 'test.yaml',
    line: 4,
    pointer: '/components/schemas/X/properties/a~1b',
  })
})

test.each([
  ['{ $ref: "#/components/schemas/None" }', 'ref-missing'],
  ['{ $ref: "other.yaml#/X" }', 'ref-missing'],
  ['{ $ref: "../../../../../../other.yaml#/X" }', 'ref-outside'],
  ['{ $ref: "https://example.com/other.yaml#/X" }', 'ref-remote'],
  ['{ $ref: "oth\\u0065r.yaml#/X" }', 'ref-external'],
  ['{ $ref: "#/components/schemas/X" }', 'ref-circular'],
  ['{ type: object, properties: { a: { $ref: "#/components/schemas/X/properties/a" } } }', 'ref-circular'],
  ['{ type: text }', 'schema-type-unknown'],
  ['{ not: { type: text } }', 'schema-type-unknown'],
  ['{ contains: { $ref: "#/components/schemas/None" } }', 'ref-missing'],
  ['{ $dynamicRef: "#None" }', 'ref-missing'],
  ['{ $dynamicRef: "#a", $dynamicAnchor: a, $defs: { b: { $id: b, $dynamicAnchor: a } } }', 'ref-dynamic'],
  ['{ $schema: "http://json-schema.org/draft-04/schema#" }', 'schema-dialect'],
  ['{ type: string, nullable: true }', 'schema-keyword-unsupported'],
  ['{ dependencies: { a: [b] } }', 'schema-keyword-unsupported'],
  ['{ patternProperties: { "(": true } }', 'pattern-invalid'],
])('the schema %s is refused as %s', (given, code) => {
  expect(readSchema(given).diagnostics.map((each) => each.code)).toContain(code)
})

test.each([
  ['a%20b', '#/components/schemas/a%2520b'],
  ['a b', '#/components/schemas/a%20b'],
  ['a~b/c', '#/components/schemas/a~0b~1c'],
  ['100%', '#/components/schemas/100%'],
])('a component named %j is what %s refers to', (name, ref) => {
  const quoted = JSON.stringify(name)
  const { api, diagnostics } = read(
    `paths: {}\ncomponents: { schemas: { ${quoted}: { type: string }, X: { $ref: ${JSON.stringify(ref)} } } }\n`,
  )
  expect(diagnostics).toEqual([])
  expect(api.schemas.get('X')).toMatchObject({ kind: 'ref', name })
})
