/** Determines which member of a union a value belongs to, from its discriminator property. */
import { partsOf, propertiesNamed } from './members.ts'
import type { Api, Schema, UnionSchema } from './model.ts'

export interface TaggedUnion {
  readonly property: string
  /** Tag value → member. */
  readonly members: ReadonlyMap<string, Schema>
}

/**
 * Returns the tags of a union. If every member has a constant tag, these decide. Otherwise the document's mapping
 * decides, or the component name if the mapping lacks it (OpenAPI, Discriminator Object).
 *
 * @returns undefined if the union has no discriminator, or tags do not identify its members.
 */
export function tagsOf(union: UnionSchema, api: Api): TaggedUnion | undefined {
  const { discriminator } = union
  if (!discriminator || union.members.length === 0) return undefined
  const { property, mapping } = discriminator
  const own = union.members.map((member) => constantsOf(api, member, property))
  const members = new Map<string, Schema>()
  const stated = own.every((values) => values.length > 0)
  for (const [index, member] of union.members.entries()) {
    const values = stated ? own[index]! : mappedValues(member, mapping)
    for (const value of values) {
      if (members.has(value)) return undefined
      members.set(value, member)
    }
    if (values.length === 0) return undefined
  }
  return { property, members }
}

function mappedValues(member: Schema, mapping: ReadonlyMap<string, string>): string[] {
  if (member.kind !== 'ref') return []
  const values = [...mapping].filter(([, component]) => component === member.name).map(([value]) => value)
  return values.length > 0 ? values : [member.name]
}

/** Returns the tag values that a member allows; empty if it allows any. */
export function constantsOf(api: Api, member: Schema, property: string): string[] {
  if (!partsOf(api, member).every((part) => part.kind === 'object')) return []
  const required = propertiesNamed(api, member, property).find((each) => each.required)
  if (!required) return []
  const parts = partsOf(api, required.schema)
  const only = parts.length === 1 ? parts[0] : undefined
  if (only?.kind !== 'enum' || only.nullable) return []
  const values = only.values.filter((value) => typeof value === 'string')
  return values.length === only.values.length ? values : []
}
