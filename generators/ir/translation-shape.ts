/** Objects, seen through references and intersections. */
import type { Api, Property, Schema, UnionSchema } from './model.ts'

/** An object with everything that intersections and references add to it. */
export interface Shape {
  readonly properties: ReadonlyMap<string, Property>
  /** Components that describe it, by which lenses find it. */
  readonly owners: ReadonlySet<string>
  /** What a property that is not listed must be, if the object is a map. */
  readonly rest?: Schema
  /** What properties must be whose names match. */
  readonly patterns: ReadonlyMap<string, Schema>
  readonly unions: readonly UnionSchema[]
  readonly closed: boolean
}

/** @returns the shape of an object or of an intersection of objects; undefined for anything else. */
export function shapeOf(schema: Schema, api: Api, owners: ReadonlySet<string>): Shape | undefined {
  if (schema.kind === 'object') {
    return {
      properties: new Map(schema.properties.map((property) => [property.name, property])),
      owners,
      patterns: new Map(schema.patterns.map((each) => [each.pattern, each.schema])),
      unions: [],
      closed: schema.additional === 'closed',
      ...(typeof schema.additional === 'object' && { rest: schema.additional }),
    }
  }
  if (schema.kind === 'union') {
    return { properties: new Map(), owners, patterns: new Map(), unions: [schema], closed: false }
  }
  if (schema.kind === 'ref') {
    const target = api.schemas.get(schema.name)
    // A reference that is met again adds nothing.
    if (!target || owners.has(schema.name)) return undefined
    return shapeOf(target, api, new Set([...owners, schema.name]))
  }
  if (schema.kind !== 'intersection') return undefined
  const shapes = schema.members.flatMap((member) => shapeOf(member, api, owners) ?? [])
  if (shapes.length === 0) return undefined
  const rest = shapes.find((shape) => shape.rest)?.rest
  return {
    properties: new Map(shapes.flatMap((shape) => [...shape.properties])),
    owners: new Set([...owners, ...shapes.flatMap((shape) => [...shape.owners])]),
    patterns: new Map(shapes.flatMap((shape) => [...shape.patterns])),
    unions: shapes.flatMap((shape) => shape.unions),
    closed: shapes.some((shape) => shape.closed),
    ...(rest && { rest }),
  }
}
