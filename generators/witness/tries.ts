/**
 * Values of a schema on which another schema may disagree: its members, what lies at its bounds and just beyond them,
 * objects with one property more or less, and the constants that occur anywhere in it.
 */
import { lookUp } from '../ir/document.ts'
import type { ArraySchema, NumberSchema, Schema, StringSchema } from '../ir/model.ts'
import { isObject } from '../runtime/explain/walk.ts'
import { type ObjectShape, shapeOf } from '../translate/shape.ts'
import { arbitrariesOf } from '../values/arbitrary.ts'
import { strings } from '../values/scalars.ts'
import {
  type Maker,
  membersOf,
  NOTHING,
  samples,
  simplest,
  simplestMember,
  simplestObject,
  simplestProperty,
  tagged,
  textLike,
} from './simplest.ts'

/** A property that no document declares. */
const UNLISTED = 'unlisted'
const KINDS: readonly unknown[] = ['a', 1, 1.5, true, null, [], {}, ['a'], { a: 'a' }]
/** Levels of nested lists, unions and properties whose values are varied. */
const DEEPEST = 3

/** Returns values in the order in which they occurred, without duplicates. They need not fit the schema. */
export function valuesOf(maker: Maker, schema: Schema): readonly unknown[] {
  const known = maker.tried.get(schema) ?? makeValues(maker, schema)
  maker.tried.set(schema, known)
  return known
}

function makeValues(maker: Maker, schema: Schema): readonly unknown[] {
  const all = [...vary(maker, schema, 0), ...harvest(maker, schema), ...KINDS]
  return unique(all.filter((value) => value !== NOTHING))
}

/** Returns random values that fit the schema, the same in every run. */
export function randomValues({ api, hidden }: Maker, schema: Schema, count: number): unknown[] {
  const make = arbitrariesOf({
    api,
    hidden,
    domains: {},
    members: () => undefined,
    preferred: () => [],
    freed: () => undefined,
  })
  return samples(make(schema), count)
}

export function unique(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

function vary(maker: Maker, schema: Schema, depth: number): unknown[] {
  const bare = varyBare(maker, schema, depth)
  return schema.nullable ? [...bare, null] : bare
}

function varyBare(maker: Maker, schema: Schema, depth: number): unknown[] {
  const own = simplest(maker, schema)
  if (depth > DEEPEST) return [own]
  switch (schema.kind) {
    case 'any':
      return [...KINDS]
    case 'boolean':
      return [true, false]
    case 'enum':
      return [...schema.values, UNLISTED]
    case 'string':
      return textsOf(schema, own)
    case 'number':
      return numbersOf(schema)
    case 'array':
      return listsOf(maker, schema, own, depth)
    case 'union': {
      const each = schema.members.flatMap((member) =>
        vary(maker, member, depth + 1).map((value) => tagged(maker, schema, member, value)),
      )
      const objects = schema.members.map((member) => simplest(maker, member)).filter(isObject)
      return [...each, Object.assign({}, ...objects) as unknown]
    }
    case 'ref': {
      const target = maker.api.schemas.get(schema.name)
      return target ? vary(maker, target, depth) : []
    }
    case 'object':
    case 'intersection': {
      const shape = shapeOf(schema, maker.api, new Set())
      if (shape) return [...objectsOf(maker, shape, depth), ...sizesOf(schema, own)]
      return schema.kind === 'intersection'
        ? schema.members.flatMap((member) => vary(maker, member, depth + 1))
        : []
    }
    default:
      return [own]
  }
}

function textsOf(schema: StringSchema, own: unknown): string[] {
  const bounds = [schema.minLength, schema.maxLength].filter((each) => each !== undefined && each < 10_000)
  const lengths = [1, ...bounds.flatMap((each) => [each! - 1, each!, each! + 1])].filter((each) => each >= 0)
  const sample = String(own)
  const resized = lengths.map((length) => sample.padEnd(length, sample.at(-1) ?? 'a').slice(0, length))
  const made = schema.pattern === undefined && schema.format === undefined ? [] : samples(strings(schema), 40)
  return [sample, '', 'a', 'a\na', ...resized, ...lengths.map((length) => 'a'.repeat(length)), ...made]
}

function numbersOf({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: NumberSchema): number[] {
  const marks = [
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    multipleOf,
    0,
    2 ** 31,
    2 ** 53,
  ].filter((each) => each !== undefined)
  return [
    1,
    ...marks.flatMap((each) => [each, each + 1, each - 1, each + 0.5, each - 0.5, each + 0.01, each * 2]),
  ]
}

function listsOf(maker: Maker, schema: ArraySchema, own: unknown, depth: number): unknown[] {
  const item = simplest(maker, schema.items)
  const others = vary(maker, schema.items, depth + 1).filter((each) => each !== NOTHING)
  const first = item === NOTHING ? others[0] : item
  const distinct = (length: number) => {
    const different = unique(others.length > 0 ? others : [first])
    return Array.from({ length }, (_, index) => different[index] ?? `${String(first)}${index}`)
  }
  const bounds = [schema.minItems, schema.maxItems].filter((each) => each !== undefined && each < 1000)
  const lengths = [0, 1, 2, ...bounds.flatMap((each) => [each! - 1, each!, each! + 1])].filter(
    (each) => each >= 0,
  )
  return [
    own,
    ...lengths.flatMap((length) => [Array.from({ length }, () => first), distinct(length)]),
    ...others.map((each) => [each]),
    ...(Array.isArray(own) ? [[...(own as unknown[]), UNLISTED], own.slice(0, -1)] : []),
  ]
}

function objectsOf(maker: Maker, shape: ObjectShape, depth: number): unknown[] {
  const bases = shape.unions.length > 0 ? basesOf(maker, shape) : [simplestObject(maker, shape)]
  const properties = [...shape.properties.values()].filter((property) => !property[maker.hidden])
  return bases.filter(isObject).flatMap((base) => {
    const made = properties.map((property) => [property, simplestProperty(maker, shape, property)] as const)
    const able = made.filter(([, value]) => value !== NOTHING)
    const full = Object.fromEntries([
      ...Object.entries(base),
      ...able.map(([{ name }, value]) => [name, value]),
    ])
    const pairs = Object.entries(base)
    return [
      base,
      ...able
        .filter(([{ name }]) => !Object.hasOwn(base, name))
        .map(([{ name }, value]) => ({ ...base, [name]: value })),
      ...pairs.map(([name]) => Object.fromEntries(pairs.filter(([other]) => other !== name))),
      { ...base, [UNLISTED]: 'a' },
      { ...base, [UNLISTED]: 1 },
      {},
      full,
      ...(shape.rest ? entriesOf(maker, shape.rest, base, depth) : []),
    ]
  })
}

/** Returns objects with as many properties as the bounds of the schema name, and one more or less. */
function sizesOf(schema: Schema, own: unknown): unknown[] {
  const parts = schema.kind === 'intersection' ? schema.members : [schema]
  const bounds = parts
    .flatMap((part) => (part.kind === 'object' ? [part.minProperties, part.maxProperties] : []))
    .filter((each) => each !== undefined)
  const base = isObject(own) ? own : {}
  const sizes = bounds
    .flatMap((each) => [each, each + 1, each - 1])
    .filter((each) => each >= 0 && each < 1000)
  return sizes.flatMap((size) => [filled(size, {}), filled(size, base)])
}

/** Returns the object with as many more properties as the size lacks. */
const filled = (size: number, base: object): object => ({
  ...base,
  ...Object.fromEntries(
    Array.from({ length: Math.max(size - Object.keys(base).length, 0) }, (_, at) => [`k${at}`, 'a']),
  ),
})

/** Returns an object for each member of the unions that the object is part of. */
function basesOf(maker: Maker, shape: ObjectShape): unknown[] {
  const own = membersOf(simplestObject(maker, { ...shape, unions: [] }))
  const { unions } = shape
  const parts = [
    ...unions.flatMap((union) =>
      union.members.map((member) => tagged(maker, union, member, simplest(maker, member))),
    ),
    ...unions.map((union) => simplestMember(maker, union)),
  ]
  return parts.map((part) => ({ ...own, ...membersOf(part) }))
}

function entriesOf(maker: Maker, rest: Schema, base: object, depth: number): unknown[] {
  const values = vary(maker, rest, depth + 1).filter((each) => each !== NOTHING)
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, values[0]]))
  return [...values.map((value) => ({ ...base, k: value })), { ...base, ...many(2) }, { ...base, ...many(5) }]
}

/** Returns the constants in the schema as the document writes it, and objects of the names in it. */
function harvest({ api }: Maker, schema: Schema): unknown[] {
  const scalars: unknown[] = []
  const names: string[] = []
  const gather = (value: unknown, depth: number): void => {
    if (depth > 6) return
    if (typeof value === 'number') scalars.push(value, value + 1, value - 1)
    else if (Array.isArray(value)) {
      for (const each of value) {
        if (typeof each === 'string') scalars.push(each)
        gather(each, depth + 1)
      }
    } else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        if (name === 'const' || name === 'default' || name === 'example') scalars.push(each)
        if (name === 'properties' && isObject(each)) names.push(...Object.keys(each))
        if (name === 'patternProperties' && isObject(each))
          names.push(...Object.keys(each).flatMap((pattern) => textLike(schema, pattern) ?? []))
        if (name === 'required' && Array.isArray(each)) names.push(...each.map(String))
        if (name === 'dependentRequired' && isObject(each))
          names.push(...Object.keys(each), ...Object.values(each).flatMap((all) => [all].flat().map(String)))
        if (name === '$ref' && typeof each === 'string' && depth < 3) gather(lookUp(api, each), depth + 3)
        if (name !== 'description' && !name.startsWith('x-')) gather(each, depth + 1)
      }
    }
  }
  gather(lookUp(api, `#${schema.place.pointer.split('/').map(encodeURIComponent).join('/')}`), 0)
  const few = [...new Set(names)].slice(0, 12)
  const pairs = few.flatMap((one, index) => few.slice(index + 1).map((other) => [one, other]))
  const lists = unique(scalars.filter((each) => !Array.isArray(each))).slice(0, 12)
  return [
    ...scalars,
    ...lists.map((each) => [each]),
    ...few.flatMap((name) => ['a', 1, true, ...lists].map((value) => ({ [name]: value }))),
    ...pairs.flatMap((both) =>
      ['a', 1].map((value) => Object.fromEntries(both.map((name) => [name, value]))),
    ),
  ]
}
