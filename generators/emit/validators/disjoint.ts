/** Detects unions whose members accept different JSON types. */
import type { Api, Schema } from '../../ir/model.ts'

/**
 * Returns whether no value fits two members, because their JSON types differ. The first member that fits then
 * decides.
 */
export function areDisjoint(members: readonly Schema[], api: Api): boolean {
  const seen = new Set<string>()
  for (const each of members) {
    const types = jsonTypes(each, api, new Set())
    if (!types || each.nullable || types.some((type) => seen.has(type))) return false
    for (const type of types) seen.add(type)
  }
  return true
}

function jsonTypes(schema: Schema, api: Api, seen: Set<string>): string[] | undefined {
  if (schema.nullable || schema.untyped || schema.partial) return undefined
  switch (schema.kind) {
    case 'null':
    case 'boolean':
    case 'number':
    case 'string':
    case 'array':
    case 'object':
      return [schema.kind]
    case 'enum':
      return [...new Set(schema.values.map((value) => (value === null ? 'null' : typeof value)))]
    case 'ref': {
      const target = api.schemas.get(schema.name)
      if (!target || seen.has(schema.name)) return undefined
      return jsonTypes(target, api, seen.add(schema.name))
    }
    default:
      return undefined
  }
}
