/** Finds the property values that select a union member. */
import { isObject, type Json, listIn, own } from './walk.ts'

type TargetOf = (schema: object, ref: string) => unknown

/**
 * Maps each value of the tag to the index of the member that it selects. The values come from constants in the members,
 * or otherwise from the mapping and the component names.
 *
 * @returns an empty map if the tag does not distinguish the members.
 */
export function tagsIn(
  rules: Json,
  members: readonly unknown[],
  tag: string,
  targetOf: TargetOf,
): ReadonlyMap<string, number> {
  const constants = members.map((member) => constantsOf(targetOf, member, tag))
  const stated = constants.every((each) => each.length > 0)
  const mapping = Object.entries((own(rules.discriminator, 'mapping') ?? {}) as Json)
  const tags = new Map<string, number>()
  for (const [index, member] of members.entries()) {
    const values = stated ? constants[index]! : mappedValues(member, mapping)
    if (values.length === 0 || values.some((each) => tags.has(each))) return new Map()
    for (const value of values) tags.set(value, index)
  }
  return tags
}

const COMBINED = ['$ref', 'allOf', 'required']

/** Returns the strings that a member allows for its tag; empty if it does not restrict the tag. */
function constantsOf(targetOf: TargetOf, member: unknown, tag: string): readonly string[] {
  const parts = partsOf(targetOf, member, 0)
  if (
    !parts.every(
      (part) => part.type === 'object' || 'properties' in part || COMBINED.some((name) => name in part),
    )
  )
    return []
  if (!parts.some((part) => Array.isArray(part.required) && part.required.includes(tag))) return []
  for (const part of parts) {
    for (const rules of partsOf(targetOf, own(part.properties, tag), 0)) {
      const values = 'const' in rules ? [rules.const] : rules.enum
      if (Array.isArray(values)) return values.every((each) => typeof each === 'string') ? values : []
    }
  }
  return []
}

/** Returns a schema with its references and `allOf` parts resolved. */
function partsOf(targetOf: TargetOf, schema: unknown, depth: number): Json[] {
  if (!isObject(schema) || depth > 20) return []
  const target = typeof schema.$ref === 'string' ? targetOf(schema, schema.$ref) : undefined
  return [
    schema,
    ...[target, ...listIn(schema, 'allOf')].flatMap((each) => partsOf(targetOf, each, depth + 1)),
  ]
}

function mappedValues(member: unknown, mapping: readonly (readonly [string, unknown])[]): string[] {
  const ref = own(member, '$ref')
  if (typeof ref !== 'string') return []
  const name = decodeURIComponent(ref.split('/').at(-1) ?? '')
  const values = mapping.filter(([, target]) => target === ref || target === name)
  return values.length > 0 ? values.map(([value]) => value) : [name]
}
