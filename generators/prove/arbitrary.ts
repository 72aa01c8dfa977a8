/**
 * Schemas of a document → values that fit them and nothing else: no undeclared property, only listed members. A schema
 * that no value fits, or whose keywords nothing here looks at, gives values that do not fit: laws pass over those.
 */
import fc from 'fast-check'
import type { Api, ArraySchema, EnumSchema, Property, Schema, UnionSchema } from '../ir/model.ts'
import { shapeOf } from '../translate/shape.ts'
import { lazy } from './arbitrary-kinds.ts'
import { numbers, strings } from './scalars.ts'

/** Real domains of components, where a random value of the right form would hardly ever mean anything. */
export type Domains = Readonly<Record<string, fc.Arbitrary<unknown>>>

export interface ArbitrarySource {
  readonly api: Api
  readonly domains: Domains
  /** Properties that the values do not have: read-only ones of requests, write-only ones of answers. */
  readonly hidden?: 'readOnly' | 'writeOnly'
  /** Members of an enumeration to keep to; undefined for all. */
  members(component: string): readonly unknown[] | undefined
  /** Members that the other document lacks: half of the values are of these. */
  preferred(component: string): readonly unknown[]
  /** The enumeration that is free of that within a property of a component, if there is one. */
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

/** Optional properties and items are left out further down. */
const DEEPEST = 6
/** Nothing is made further down: a schema that requires itself has no end. */
const BOTTOM = 14
const MAX_ITEMS = 3
/** Lists and maps are no longer than that, whatever a document asks for. */
const LONGEST = 100
/** How many optional properties an object has at most, by its depth: a value would grow with each level otherwise. */
const MAX_OPTIONAL = [40, 24, 16, 8, 4, 2]

/** @returns a maker of arbitraries; arbitraries of components are made once. */
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

/** What leads no further is preferred where values have to end. */
function unions(builder: Builder, schema: UnionSchema, at: ArbitraryPlace): fc.Arbitrary<unknown> {
  const ends = schema.members.filter(({ kind }) => !/^(ref|array|object|union|intersection)$/.test(kind))
  const members = at.depth >= DEEPEST && ends.length > 0 ? ends : schema.members
  if (members.length === 0) return NOTHING
  return fc.oneof(...members.map((member) => lazy(() => tagged(builder, schema, member, at))))
}

/** A member whose tag may be any text has the one that the union knows it by. */
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

/** Objects are made as one, with a member of each union in it; of other parts, the first says most. */
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
  // Components that consist of nothing but each other go down as well.
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

/** @param most of the optional properties that a value has. */
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
