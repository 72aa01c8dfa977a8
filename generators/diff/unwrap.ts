/** Unwraps `allOf` that adds nothing to its only member. */
import type { IntersectionSchema, Schema } from '../ir/model.ts'

/** Unwraps an `allOf` with one member, which 3.0 documents use to add prose to a reference. */
export function unwrap(schema: Schema): Schema {
  if (schema.kind !== 'intersection') return schema
  if (schema.unheld?.loose) return unwrapLoose(schema)
  const only = schema.members.length === 1 ? schema.members[0] : undefined
  if (!only || schema.unheld) return schema
  const inner = unwrap(only)
  const { nullable = false, default: given = inner.default } = schema
  return { ...inner, nullable: nullable || inner.nullable, ...(given !== undefined && { default: given }) }
}

/** Removes the part that represents raw keywords, which are compared separately. */
function unwrapLoose({ members, unheld, ...base }: IntersectionSchema): Schema {
  const rest = members.slice(0, -1)
  const only = rest.length === 1 ? rest[0] : undefined
  const keywords = { ...unheld!.keywords, ...only?.unheld?.keywords }
  if (only) return { ...only, nullable: base.nullable || only.nullable, unheld: { ...only.unheld, keywords } }
  return { ...base, members: rest, unheld: { keywords } }
}
