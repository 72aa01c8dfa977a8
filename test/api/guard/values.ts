import fc from 'fast-check'
import type { Random } from './random.ts'

/** A schema of a document, as JSON. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly propertyNames?: Schema
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
}

/** The document that schemas refer to. */
export interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const name = schema.$ref.slice('#/components/schemas/'.length)
  const target = document.components.schemas[name]
  if (!target) throw new Error(`${schema.$ref} leads nowhere`)
  return resolve(document, target)
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  uri: ['https://example.com/hooks', 'http://127.0.0.1:9/x?y=1', 'https://example.com'],
  date: ['1980-02-29', '2027-12-31'],
  'date-time': ['2027-01-01T00:00:00Z', '2027-06-30T23:59:59.999+02:00', '2028-02-29T12:00:00.5Z'],
  email: ['ada@example.com', 'a.b+c@sub.example.org'],
  uuid: ['0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0'],
}

const TEXTS = [
  'a',
  'Harbour Coffee',
  'naïve café',
  '日本語',
  '😀',
  '0',
  'null',
  'a b',
  'x'.repeat(39),
  '{"a":1}',
]

const matching = new Map<string, readonly string[]>()

function textsOf(pattern: string): readonly string[] {
  const known = matching.get(pattern)
  if (known) return known
  const made = fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 12, seed: 1 })
  matching.set(pattern, made)
  return made
}

/** A value that fits the schema, as a rule: where it does not, both checks have to say so. */
export function makeValue(document: Document, given: Schema, random: Random, depth = 0): unknown {
  const schema = resolve(document, given)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return makeValue(document, random.pick(choices), random, depth)
  const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type ?? ['object'])
  switch (type) {
    case 'null':
      return null
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return makeNumber(schema, type, random)
    case 'string':
      return makeText(schema, random)
    case 'array':
      return makeList(document, schema, random, depth)
    default:
      return makeObject(document, schema, random, depth)
  }
}

function makeNumber({ minimum = -90, maximum = 1_000_000 }: Schema, type: string, random: Random): number {
  const edge = random.pick([minimum, maximum, undefined])
  if (edge !== undefined) return edge
  const value = minimum + random.next() * (maximum - minimum)
  return type === 'integer' ? Math.floor(value) : value
}

function makeText({ format, pattern, minLength = 0, maxLength = 200 }: Schema, random: Random): string {
  if (pattern !== undefined) return random.pick(textsOf(pattern))
  if (format !== undefined) return random.pick(FORMATS[format] ?? [''])
  const text = random.pick(random.chance(0.1) ? ['é'.repeat(maxLength), '😀'.repeat(maxLength)] : TEXTS)
  return text.slice(0, maxLength).padEnd(minLength, 'x')
}

function makeList(document: Document, schema: Schema, random: Random, depth: number): unknown[] {
  const { items = {}, minItems = 0, maxItems = 3 } = schema
  const size = depth > 4 ? minItems : Math.min(maxItems, minItems + random.below(3))
  return Array.from({ length: size }, () => makeValue(document, items, random, depth + 1))
}

function makeObject(document: Document, schema: Schema, random: Random, depth: number): object {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema
  const wanted = Object.entries(properties).filter(
    ([name]) => required.includes(name) || (depth < 5 && random.chance(0.5)),
  )
  const made: Record<string, unknown> = Object.fromEntries(
    wanted.map(([name, property]) => [name, makeValue(document, property, random, depth + 1)]),
  )
  if (typeof additionalProperties === 'object') {
    for (let count = random.below(3); count > 0; count -= 1) {
      const name = propertyNames ? makeText(resolve(document, propertyNames), random) : 'key'
      made[name] = makeValue(document, additionalProperties, random, depth + 1)
    }
  }
  return schema.allOf
    ? Object.assign(made, ...schema.allOf.map((part) => makeValue(document, part, random, depth)))
    : made
}
