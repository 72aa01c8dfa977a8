/** Reads schemas through references, unions and intersections. */
import type { Api, EnumSchema, Property, RefSchema, Scalar, Schema } from './model.ts'

/** A member of an enumeration, with its description in the document. */
export interface EnumMember {
  readonly value: Scalar
  readonly description?: string
}

/** Returns the schemas that a schema consists of, with references, unions and intersections resolved. */
export function partsOf(api: Pick<Api, 'schemas'>, schema: Schema): Exclude<Schema, RefSchema>[] {
  return collect(api, schema, new Set())
}

function collect(api: Pick<Api, 'schemas'>, schema: Schema, seen: Set<string>): Exclude<Schema, RefSchema>[] {
  if (schema.kind === 'union' || schema.kind === 'intersection') {
    return schema.members.flatMap((member) => collect(api, member, seen))
  }
  if (schema.kind !== 'ref') return [schema]
  const target = api.schemas.get(schema.name)
  if (!target || seen.has(schema.name)) return []
  return collect(api, target, new Set([...seen, schema.name]))
}

/** Returns the properties with this name in every object that the schema consists of. */
export function propertiesNamed(api: Api, schema: Schema, name: string): Property[] {
  return partsOf(api, schema).flatMap((part) =>
    part.kind === 'object' ? part.properties.filter((property) => property.name === name) : [],
  )
}

/** Returns the members of an enumeration, or of a union of constants, in document order. */
export function enumMembers(api: Api, schema: Schema): EnumMember[] {
  return partsOf(api, schema).flatMap((part) => (part.kind === 'enum' ? membersOf(part) : []))
}

/** Returns the members of one enumeration with their descriptions. */
export function membersOf(schema: EnumSchema): EnumMember[] {
  const listed = schema.extensions['x-enumDescriptions']
  const descriptions =
    typeof listed === 'object' && listed !== null ? (listed as Record<string, unknown>) : {}
  return schema.values.map((value) => {
    const own = schema.values.length === 1 ? schema.description : undefined
    const description = descriptions[String(value)] ?? own
    return { value, ...(typeof description === 'string' && { description }) }
  })
}
