/** Resolves objects through references and intersections. */
import { groupBy } from '../ir/group-by.ts'
import type { Api, Property, Schema, UnionSchema } from '../ir/model.ts'

/** An object with everything that intersections and references add to it. */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, Property>
  /** Additional schemas of properties that several parts declare. */
  readonly beside: ReadonlyMap<string, readonly Schema[]>
  /** The component that declares a property, if it came through a reference. */
  readonly homes: ReadonlyMap<string, string>
  /** Pointers of the references that were followed. */
  readonly refs: ReadonlySet<string>
  /** Components that describe the object; lenses find it by their names. */
  readonly owners: ReadonlySet<string>
  /** Schema of unlisted properties, if the object is a map. */
  readonly rest?: Schema
  /** Schemas of properties by name pattern. */
  readonly patterns: ReadonlyMap<string, Schema>
  readonly unions: readonly UnionSchema[]
  readonly closed: boolean
}

const NOTHING = {
  properties: new Map(),
  beside: new Map(),
  homes: new Map(),
  refs: new Set<string>(),
  patterns: new Map(),
  unions: [],
  closed: false,
} satisfies Omit<ObjectShape, 'owners'>

/** Returns the shape of an object, a union or an intersection of objects; undefined for anything else. */
export function shapeOf(schema: Schema, api: Api, owners: ReadonlySet<string>): ObjectShape | undefined {
  if (schema.kind === 'object') {
    return {
      ...NOTHING,
      properties: new Map(schema.properties.map((property) => [property.name, property])),
      owners,
      patterns: new Map(schema.patterns.map((each) => [each.pattern, each.schema])),
      closed: schema.additional === 'closed',
      ...(typeof schema.additional === 'object' && { rest: schema.additional }),
    }
  }
  if (schema.kind === 'union') return { ...NOTHING, owners, unions: [schema] }
  if (schema.kind === 'ref') {
    const target = api.schemas.get(schema.name)
    // A reference that was already followed adds nothing.
    if (!target || owners.has(schema.name)) return undefined
    const shape = shapeOf(target, api, new Set([...owners, schema.name]))
    if (!shape) return undefined
    const homes = new Map([...shape.properties.keys()].map((name) => [name, schema.name]))
    return {
      ...shape,
      homes: new Map([...homes, ...shape.homes]),
      refs: new Set([schema.place.pointer, ...shape.refs]),
    }
  }
  if (schema.kind !== 'intersection') return undefined
  const shapes = schema.members.flatMap((member) => shapeOf(member, api, owners) ?? [])
  if (shapes.length === 0) return undefined
  const rest = shapes.find((shape) => shape.rest)?.rest
  const all = groupBy(
    shapes.flatMap((shape) => [...shape.properties.values()]),
    (property) => property.name,
  )
  return {
    properties: new Map(shapes.flatMap((shape) => [...shape.properties])),
    beside: new Map([
      ...shapes.flatMap((shape) => [...shape.beside]),
      ...[...all].flatMap(([name, declared]): [string, Schema[]][] =>
        declared.length > 1 ? [[name, declared.slice(0, -1).map(({ schema }) => schema)]] : [],
      ),
    ]),
    homes: new Map(shapes.flatMap((shape) => [...shape.homes])),
    refs: new Set(shapes.flatMap((shape) => [...shape.refs])),
    owners: new Set([...owners, ...shapes.flatMap((shape) => [...shape.owners])]),
    patterns: new Map(shapes.flatMap((shape) => [...shape.patterns])),
    unions: shapes.flatMap((shape) => shape.unions),
    closed: shapes.some((shape) => shape.closed),
    ...(rest && { rest }),
  }
}
