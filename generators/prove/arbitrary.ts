/** Schemas of a document → values that fit them and nothing else: no undeclared property, only listed members. */
import fc from 'fast-check'
import type { Api, ObjectSchema, Property, Schema, StringSchema } from '../ir/model.ts'
import { shapeOf } from '../translate/shape.ts'

/** Real domains of components, where a random value of the right form would hardly ever mean anything. */
export type Domains = Readonly<Record<string, fc.Arbitrary<unknown>>>

export interface Source {
  readonly api: Api
  readonly domains: Domains
  /** Members of an enumeration to keep to; undefined for all. */
  members(component: string): readonly unknown[] | undefined
  /** Members that the other document lacks: half of the values are of these. */
  preferred(component: string): readonly unknown[]
  /** The enumeration that is free of that within a property of a component, if there is one. */
  freed(component: string, property: string): string | undefined
}

interface Builder extends Source {
  readonly known: Map<string, fc.Arbitrary<unknown>>
}

interface At {
  readonly depth: number
  readonly free: string
  readonly component: string
}

const DEEPEST = 6
const MAX_ITEMS = 3

/** @returns a maker of arbitraries; arbitraries of components are made once. */
export function arbitrariesOf(source: Source): (schema: Schema) => fc.Arbitrary<unknown> {
  const builder: Builder = { ...source, known: new Map() }
  return (schema) => build(builder, schema, { depth: 0, free: '', component: '' })
}

function build(builder: Builder, schema: Schema, at: At): fc.Arbitrary<unknown> {
  const bare = buildBare(builder, schema, at)
  return schema.nullable ? fc.option(bare, { nil: null, freq: 3 }) : bare
}

function buildBare(builder: Builder, schema: Schema, at: At): fc.Arbitrary<unknown> {
  switch (schema.kind) {
    case 'ref':
      return component(builder, schema.name, at)
    case 'any':
      return fc.constantFrom('text', 7, true)
    case 'never':
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'number':
      return numbers(schema)
    case 'string':
      return strings(schema)
    case 'enum':
      return enums(builder, schema.values, at)
    case 'array': {
      const minLength = schema.minItems ?? 0
      const roomy = at.depth < DEEPEST ? Math.max(minLength, MAX_ITEMS) : minLength
      const items = build(builder, schema.items, inner(at))
      const bounds = { minLength, maxLength: Math.min(schema.maxItems ?? roomy, roomy) }
      return schema.uniqueItems
        ? fc.uniqueArray(items, { ...bounds, selector: JSON.stringify })
        : fc.array(items, bounds)
    }
    case 'object':
      return objects(builder, schema, schema.properties, at)
    case 'union':
      return fc.oneof(...schema.members.map((member) => build(builder, member, inner(at))))
    case 'intersection': {
      const properties = shapeOf(schema, builder.api, new Set())?.properties.values() ?? []
      return objects(builder, undefined, [...properties], at)
    }
  }
}

function enums(builder: Builder, values: readonly unknown[], at: At): fc.Arbitrary<unknown> {
  if (at.component === '') return fc.constantFrom(...values)
  const members = (at.free === at.component ? undefined : builder.members(at.component)) ?? values
  const preferred = builder.preferred(at.component).filter((each) => members.includes(each))
  if (preferred.length === 0) return fc.constantFrom(...members)
  return fc.oneof(fc.constantFrom(...members), fc.constantFrom(...preferred))
}

const inner = (at: At): At => ({ ...at, depth: at.depth + 1, component: '' })

function component(builder: Builder, name: string, at: At): fc.Arbitrary<unknown> {
  const domain = builder.domains[name]
  if (domain) return domain
  const key = `${name} ${Math.min(at.depth, DEEPEST)} ${at.free}`
  const known = builder.known.get(key)
  if (known) return known
  const made = build(builder, builder.api.schemas.get(name)!, { ...at, component: name })
  builder.known.set(key, made)
  return made
}

function objects(
  builder: Builder,
  schema: ObjectSchema | undefined,
  properties: readonly Property[],
  at: At,
): fc.Arbitrary<unknown> {
  const shown = properties.filter((property) => property.required || at.depth < DEEPEST)
  const entries = shown.map((property) => {
    const free = builder.freed(at.component, property.name) ?? at.free
    return [property.name, build(builder, property.schema, { ...inner(at), free })] as const
  })
  const requiredKeys = shown.filter((property) => property.required).map((property) => property.name)
  const record = fc.record(Object.fromEntries(entries), { requiredKeys, noNullPrototype: true })
  if (typeof schema?.additional !== 'object') return record
  const names = schema.propertyNames
    ? build(builder, schema.propertyNames, inner(at))
    : fc.stringMatching(/^[a-z]{1,8}$/)
  const values = build(builder, schema.additional, inner(at))
  const map = fc.dictionary(names as fc.Arbitrary<string>, values, {
    maxKeys: 3,
    minKeys: schema.minProperties ?? 0,
    noNullPrototype: true,
  })
  return fc.tuple(map, record).map(([more, own]) => ({ ...more, ...own }))
}

function numbers(schema: Extract<Schema, { kind: 'number' }>): fc.Arbitrary<number> {
  const min =
    schema.minimum ?? (schema.exclusiveMinimum === undefined ? -1_000_000 : schema.exclusiveMinimum + 1)
  const max =
    schema.maximum ?? (schema.exclusiveMaximum === undefined ? min + 2_000_000 : schema.exclusiveMaximum - 1)
  const step = schema.multipleOf ?? 1
  if (schema.integer || schema.multipleOf !== undefined) {
    const multiples = fc.integer({ min: Math.ceil(min / step), max: Math.floor(max / step) })
    // Rounded to what a person would write: 3 × 0.1 is not 0.3 in binary.
    return multiples.map((each) => Number((each * step).toPrecision(12)))
  }
  return fc.double({ min, max, noNaN: true, noDefaultInfinity: true })
}

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  date: fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  uri: fc.constantFrom('https://example.test/a', 'https://hooks.example.test/b?c=d'),
  email: fc.constantFrom('ada@example.test', 'b@example.test'),
  uuid: fc.uuid(),
  ipv4: fc.constantFrom('192.0.2.1'),
}

/** Texts by their rules: most of the time would go into compiling the same patterns again. */
const texts = new Map<string, fc.Arbitrary<string>>()

function strings(schema: StringSchema): fc.Arbitrary<string> {
  const key = JSON.stringify([schema.pattern, schema.format, schema.minLength, schema.maxLength])
  const known = texts.get(key) ?? makeStrings(schema)
  texts.set(key, known)
  return known
}

function makeStrings(schema: StringSchema): fc.Arbitrary<string> {
  const fits = (text: string) =>
    text.length >= (schema.minLength ?? 0) && text.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY)
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern, 'u')).filter(fits)
  const format = FORMATS[schema.format ?? '']
  if (format) return format.filter(fits)
  const minLength = schema.minLength ?? 0
  return fc.string({ minLength, maxLength: Math.min(schema.maxLength ?? 12, Math.max(minLength, 12)) })
}
