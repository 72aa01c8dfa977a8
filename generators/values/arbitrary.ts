/**
 * Generates values that fit a schema exactly: no undeclared properties, only listed members. For unsatisfiable
 * schemas and unsupported keywords, the values do not fit; laws skip those.
 */
import fc from 'fast-check'
import type { Api, ArraySchema, EnumSchema, Property, Schema, UnionSchema } from '../ir/model.ts'
import { shapeOf } from '../translate/shape.ts'
import { lazy } from './arbitrary-kinds.ts'
import { numbers, strings } from './scalars.ts'

/** Meaningful values by component, for components whose random values would rarely be meaningful. */
export type Domains = Readonly<Record<string, fc.Arbitrary<unknown>>>

export interface ArbitrarySource {
  readonly api: Api
  readonly domains: Domains
  /** Properties that the values do not have: read-only ones in requests, write-only ones in responses. */
  readonly hidden?: 'readOnly' | 'writeOnly'
  /** Members that an enumeration is restricted to; undefined for all. */
  members(component: string): readonly unknown[] | undefined
  /** Members that the other document lacks; half of the values use these. */
  preferred(component: string): readonly unknown[]
  /** The enumeration that is exempt from this restriction within a property of a component, if there is one. */
  freed(component: string, property: string): string | undefined
}

interface Builder extends ArbitrarySource {
  readonly known: Map<string, fc.Arbitrary<unknown>>
}

interface ArbitraryPlace {
  readonly depth: number
  readonly free: string
  readonly component: string
}

/** Depth from which optional properties and items are left out. */
const DEEPEST = 6
/** Depth at which generation stops, because a schema may require itself. */
const BOTTOM = 14
const MAX_ITEMS = 3
/** Maximum length of lists and maps, regardless of the document. */
const LONGEST = 100
/** Maximum number of optional properties by depth, so that values do not grow with each level. */
const MAX_OPTIONAL = [40, 24, 16, 8, 4, 2]

/** Returns a function that creates arbitraries. Arbitraries of components are cached. */
export function arbitrariesOf(source: ArbitrarySource): (schema: Schema) => fc.Arbitrary<unknown> {
  const builder: Builder = { ...source, known: new Map() }
  return (schema) => build(builder, schema, { depth: 0, free: '', component: '' })
}

function build(builder: Builder, schema: Schema, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  const bare = buildBare(builder, schema, at)
  return schema.nullable ? fc.option(bare, { nil: null, freq: 3 }) : bare
}

const NOTHING = fc.constant(undefined)

function buildBare(builder: Builder, schema: Schema, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  if (at.depth > BOTTOM) return NOTHING
  switch (schema.kind) {
    case 'ref':
      return component(builder, schema.name, at)
    case 'any':
      return fc.constantFrom('text', 7, true)
    case 'never':
      return NOTHING
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'number':
      return numbers(schema)
    case 'string':
      return strings(schema)
    case 'enum':
      return enums(builder, schema, at)
    case 'array':
      return arrays(builder, schema, at)
    case 'object':
      return objects(builder, schema, schema.properties, at)
    case 'union':
      return unions(builder, schema, at)
    case 'intersection':
      return intersections(builder, schema, at)
  }
}

function enums(builder: Builder, schema: EnumSchema, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  const values = schema.unheld?.admitted ?? schema.values
  const known = at.free === at.component ? undefined : builder.members(at.component)
  const members = (at.component === '' ? undefined : known) ?? values
  if (members.length === 0) return NOTHING
  const preferred =
    at.component === '' ? [] : builder.preferred(at.component).filter((each) => members.includes(each))
  if (preferred.length === 0) return fc.constantFrom(...members)
  return fc.oneof(fc.constantFrom(...members), fc.constantFrom(...preferred))
}

function arrays(builder: Builder, schema: ArraySchema, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  const minLength = Math.min(Math.max(Math.ceil(schema.minItems ?? 0), 0), LONGEST)
  const roomy = at.depth < DEEPEST ? Math.max(minLength, MAX_ITEMS) : minLength
  const maxLength = Math.max(Math.min(Math.floor(schema.maxItems ?? roomy), roomy), minLength)
  const items = lazy(() => build(builder, schema.items, inner(at)))
  if (schema.prefix.length > 0) {
    const prefix = schema.prefix.map((each) => lazy(() => build(builder, each, inner(at))))
    return fc.tuple(...prefix)
  }
  return schema.uniqueItems
    ? fc.uniqueArray(items, { minLength, maxLength, selector: JSON.stringify })
    : fc.array(items, { minLength, maxLength })
}

/** At the depth limit, prefers members that end the recursion. */
function unions(builder: Builder, schema: UnionSchema, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  const ends = schema.members.filter(({ kind }) => !/^(ref|array|object|union|intersection)$/.test(kind))
  const members = at.depth >= DEEPEST && ends.length > 0 ? ends : schema.members
  if (members.length === 0) return NOTHING
  return fc.oneof(...members.map((member) => lazy(() => tagged(builder, schema, member, at))))
}

/** If a member's tag can be any string, uses the tag that the union's mapping assigns to it. */
function tagged(
  builder: Builder,
  { discriminator }: UnionSchema,
  member: Schema,
  at: ArbitraryPlace,
): fc.Arbitrary<unknown> {
  const made = build(builder, member, inner(at))
  if (!discriminator || member.kind !== 'ref') return made
  const { property, mapping } = discriminator
  const tags = [...mapping].flatMap(([tag, name]) => (name === member.name ? [tag] : []))
  const tag = shapeOf(member, builder.api, new Set())?.properties.get(property)
  if (tag?.schema.kind !== 'string') return made
  return made.map((value) =>
    isObject(value) && !tags.includes(String(value[property]))
      ? { ...value, [property]: tags[0] ?? member.name }
      : value,
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Generates the objects of an intersection as one object, with a member of each union. For other kinds, uses the
 * most specific part.
 */
function intersections(
  builder: Builder,
  schema: Extract<Schema, { kind: 'intersection' }>,
  at: ArbitraryPlace,
): fc.Arbitrary<unknown> {
  const shape = shapeOf(schema, builder.api, new Set())
  if (!shape) {
    const part = schema.members.find(({ kind }) => kind !== 'any') ?? schema.members[0]
    return part ? build(builder, part, inner(at)) : NOTHING
  }
  const own = objects(
    builder,
    { ...(shape.rest && { additional: shape.rest }) },
    [...shape.properties.values()],
    at,
  )
  if (shape.unions.length === 0) return own
  return fc
    .tuple(own, ...shape.unions.map((union) => lazy(() => unions(builder, union, inner(at)))))
    .map((parts) => Object.assign({}, ...parts.filter(isObject)) as unknown)
}

const inner = (at: ArbitraryPlace): ArbitraryPlace => ({ ...at, depth: at.depth + 1, component: '' })

function component(builder: Builder, name: string, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  const domain = builder.domains[name]
  if (domain) return domain
  const target = builder.api.schemas.get(name)
  // Components that consist only of references to each other also count toward the depth.
  const below = { ...at, depth: at.component === '' ? at.depth : at.depth + 1 }
  if (!target || below.depth > BOTTOM) return NOTHING
  const key = `${name} ${below.depth} ${at.free}`
  const known = builder.known.get(key)
  if (known) return known
  const made = lazy(() => build(builder, target, { ...below, component: name }))
  builder.known.set(key, made)
  return made
}

interface Additional {
  readonly additional?: Schema | 'open' | 'closed'
  readonly propertyNames?: Schema
  readonly minProperties?: number
}

function objects(
  builder: Builder,
  schema: Additional,
  properties: readonly Property[],
  at: ArbitraryPlace,
): fc.Arbitrary<unknown> {
  const { hidden } = builder
  const shown = properties.filter(
    (property) => !(hidden && property[hidden]) && (property.required || at.depth < DEEPEST),
  )
  const made = new Map(
    shown.map((property) => {
      const free = builder.freed(at.component, property.name) ?? at.free
      return [property.name, lazy(() => build(builder, property.schema, { ...inner(at), free }))] as const
    }),
  )
  const namesOf = (required: boolean) =>
    shown.filter((property) => property.required === required).map(({ name }) => name)
  const record = recordOf(made, namesOf(true), namesOf(false), MAX_OPTIONAL[at.depth] ?? 0)
  if (typeof schema.additional !== 'object') return record
  const names = schema.propertyNames
    ? build(builder, schema.propertyNames, inner(at)).map(String)
    : fc.stringMatching(/^[a-z]{1,8}$/)
  const rest = schema.additional
  const minKeys = Math.min(Math.max(Math.ceil(schema.minProperties ?? 0), 0), LONGEST)
  const map = fc.dictionary(
    names,
    lazy(() => build(builder, rest, inner(at))),
    {
      minKeys,
      maxKeys: Math.max(minKeys, MAX_ITEMS),
      noNullPrototype: true,
    },
  )
  return fc.tuple(map, record).map(([more, own]) => ({ ...more, ...own }))
}

/** @param most maximum number of optional properties in a value. */
function recordOf(
  made: ReadonlyMap<string, fc.Arbitrary<unknown>>,
  required: readonly string[],
  optional: readonly string[],
  most: number,
): fc.Arbitrary<Record<string, unknown>> {
  const of = (names: readonly string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, made.get(name)!])), {
      requiredKeys: [...required],
      noNullPrototype: true,
    }) as fc.Arbitrary<Record<string, unknown>>
  if (optional.length <= most) return of([...required, ...optional])
  return fc.subarray([...optional], { maxLength: most }).chain((some) => of([...required, ...some]))
}
