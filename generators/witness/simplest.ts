/** Makes the simplest value of a schema: required properties only, short texts, numbers near zero. */
import fc from 'fast-check'
import { targetOf } from '../diff/position.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, NumberSchema, Property, Schema, StringSchema, UnionSchema } from '../ir/model.ts'
import { isObject, type Json } from '../runtime/explain/walk.ts'
import { explain } from '../runtime/explain.ts'
import { type ObjectShape, shapeOf } from '../translate/shape.ts'
import { mismatch } from '../values/closed-reading.ts'
import { numbers, strings } from '../values/scalars.ts'
import type { Hidden } from './route.ts'

/** The document that values are made for, and the properties that its messages never have. */
export interface Maker {
  readonly api: Api
  readonly hidden: Hidden
  /** Simplest values of the schemas that were met. */
  readonly known: Map<Schema, unknown>
  /** Values to try by schema. */
  readonly tried: Map<Schema, readonly unknown[]>
}

export const createMaker = (api: Api, hidden: Hidden): Maker => ({
  api,
  hidden,
  known: new Map(),
  tried: new Map(),
})

/** Marks a value that cannot be made. */
export const NOTHING: unique symbol = Symbol('no value')

/** Depth at which a schema that requires itself is given up. */
const DEEPEST = 12
/** The same seed for every sample, so that the same documents always have the same witnesses. */
const SEED = 1

/** Returns the simplest value, or `NOTHING` if none can be made. */
export function simplest(maker: Maker, schema: Schema, depth = 0): unknown {
  if (depth > DEEPEST) return schema.nullable ? null : NOTHING
  const known = maker.known.get(schema)
  if (known !== undefined) return known
  const value = make(maker, schema, depth)
  // Without a value, the depth may have been the reason.
  if (value !== NOTHING || depth === 0) maker.known.set(schema, value)
  return value
}

function make(maker: Maker, schema: Schema, depth: number): unknown {
  switch (schema.kind) {
    case 'any':
      return 'a'
    case 'never':
      return schema.nullable ? null : NOTHING
    case 'null':
      return null
    case 'boolean':
      return true
    case 'enum':
      return (schema.unheld?.admitted ?? schema.values)[0] ?? NOTHING
    case 'string':
      return simplestText(maker, schema)
    case 'number':
      return simplestNumber(maker, schema)
    case 'array': {
      const items = schema.prefix.map((each) => simplest(maker, each, depth + 1))
      while (items.length < Math.min(schema.minItems ?? 0, LONGEST))
        items.push(anotherItem(maker, schema.items, items, schema.uniqueItems, depth))
      return items.includes(NOTHING) ? NOTHING : items
    }
    case 'ref': {
      const target = maker.api.schemas.get(schema.name)
      const value = target ? simplest(maker, target, depth + 1) : NOTHING
      return value === NOTHING && schema.nullable ? null : value
    }
    case 'union':
      return simplestMember(maker, schema, depth)
    default: {
      const shape = shapeOf(schema, maker.api, new Set())
      return shape ? simplestObject(maker, shape, depth) : simplestPart(maker, schema, depth)
    }
  }
}

const LONGEST = 1000

function anotherItem(
  maker: Maker,
  schema: Schema,
  before: readonly unknown[],
  unique: boolean,
  depth: number,
): unknown {
  const first = simplest(maker, schema, depth + 1)
  if (!unique || before.length === 0) return first
  const seen = new Set(before.map((each) => JSON.stringify(each)))
  if (typeof first === 'string') return `${first}${before.length}`
  if (typeof first === 'number') return first + before.length
  const members = schema.kind === 'enum' ? schema.values : [true, false]
  return members.find((each) => !seen.has(JSON.stringify(each))) ?? NOTHING
}

/** Returns the value of the first member that has one. For `oneOf`, prefers a value that no other member accepts. */
export function simplestMember(maker: Maker, union: UnionSchema, depth = 0): unknown {
  const made = union.members.map((member) => tagged(maker, union, member, simplest(maker, member, depth + 1)))
  const [first, ...others] = made.filter((value) => value !== NOTHING)
  if (first === undefined) return union.nullable ? null : NOTHING
  if (union.mode === 'anyOf' || union.discriminator || isValid(maker, union, first)) return first
  const constants = union.members.flatMap((member) => {
    const target = targetOf(maker.api, member)
    return target.kind === 'enum' ? target.values : []
  })
  return [...others, ...constants].find((value) => isValid(maker, union, value)) ?? first
}

const isValid = ({ api }: Maker, { place }: Schema, value: unknown): boolean =>
  explain(api.document, place.pointer, value, FORMAT_CHECKS, 1).length === 0

/** Gives an object the tag by which the union's discriminator finds the member. */
export function tagged(
  { api }: Maker,
  { discriminator }: UnionSchema,
  member: Schema,
  value: unknown,
): unknown {
  if (!discriminator || member.kind !== 'ref' || !isObject(value)) return value
  const { property, mapping } = discriminator
  const tags = [...mapping].flatMap(([tag, name]) => (name === member.name ? [tag] : []))
  const own = shapeOf(member, api, new Set())?.properties.get(property)?.schema
  const given = value[property]
  const isTag = typeof given === 'string' && (tags.length === 0 || tags.includes(given))
  if (own?.kind === 'enum' && isTag) return value
  const constant = own?.kind === 'enum' ? own.values[0] : undefined
  return { ...value, [property]: tags[0] ?? constant ?? member.name }
}

/** Returns the members of an object; none for other values. */
export const membersOf = (value: unknown): Json => (isObject(value) ? value : {})

/** Returns an object with its required properties. */
export function simplestObject(maker: Maker, shape: ObjectShape, depth = 0): unknown {
  const made: Record<string, unknown> = {}
  for (const union of shape.unions) Object.assign(made, simplestMember(maker, union, depth))
  for (const property of shape.properties.values()) {
    if (!property.required || property[maker.hidden] || Object.hasOwn(made, property.name)) continue
    const value = simplestProperty(maker, shape, property, depth)
    if (value === NOTHING) return NOTHING
    made[property.name] = value
  }
  return made
}

/** Returns a value that every declaration of a property allows. */
export function simplestProperty(
  maker: Maker,
  shape: ObjectShape,
  { name, schema }: Property,
  depth = 0,
): unknown {
  const all = [schema, ...(shape.beside.get(name) ?? [])]
  const values = all.map((each) => simplest(maker, each, depth + 1)).filter((each) => each !== NOTHING)
  const fitting = values.find((value) => all.every((each) => !mismatch(maker.api, each, value)))
  return fitting ?? values[0] ?? NOTHING
}

/** For an intersection of other kinds, returns a part's value that fits all parts. */
function simplestPart(maker: Maker, schema: Schema, depth: number): unknown {
  if (schema.kind !== 'intersection') return NOTHING
  const values = schema.members
    .map((member) => simplest(maker, member, depth + 1))
    .filter((value) => value !== NOTHING)
  const fits = (value: unknown) => schema.members.every((member) => !mismatch(maker.api, member, value))
  return values.find(fits) ?? values[0] ?? NOTHING
}

const WORDS = ['a', 'aa', 'A', '1', '00', 'abc', 'https://example.com', 'name@example.com', '2030-01-31']

function simplestText({ api }: Maker, schema: StringSchema): string {
  const least = Math.min(schema.minLength ?? 0, LONGEST)
  const own = schema.examples.filter((each) => typeof each === 'string')
  const padded = 'a'.repeat(Math.max(least, 1))
  const fits = (text: string) => text !== '' && !mismatch(api, schema, text)
  const short = [schema.format === undefined ? padded : '', ...WORDS, ...own]
  return short.find(fits) ?? samples(strings(schema), 8).find(fits) ?? padded
}

/** Returns the first sample of the texts that match a pattern; undefined if none can be made. */
export function textLike(
  { place, deprecated, extensions, examples }: Schema,
  pattern: string,
): string | undefined {
  const base = { place, deprecated, extensions, examples, nullable: false }
  return samples(strings({ ...base, kind: 'string', pattern }), 1)[0]
}

function simplestNumber({ api }: Maker, schema: NumberSchema): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const step = schema.multipleOf ?? (schema.integer ? 1 : 0.5)
  const near = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter((each) => each !== undefined)
  const tries = [
    1,
    0,
    ...near,
    ...near.flatMap((each) => [each + step, each - step]),
    ...samples(numbers(schema), 8),
  ]
  return tries.find((value) => !mismatch(api, schema, value)) ?? 1
}

/** Returns samples, the same in every run. */
export const samples = <Value>(arbitrary: fc.Arbitrary<Value>, count: number): Value[] =>
  fc.sample(arbitrary, { seed: SEED, numRuns: count })
