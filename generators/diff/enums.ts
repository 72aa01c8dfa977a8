/** Compares the members of enumerations. */

import type { Api, EnumSchema, Scalar, Schema } from '../ir/model.ts'
import {
  BOTH,
  type ComparisonPosition,
  found,
  NARROWING,
  places,
  RESPONSE,
  targetOf,
  WIDENING,
} from './position.ts'

/** Returns the members that the enumeration's other keywords allow. */
export const admittedBy = (schema: EnumSchema): readonly Scalar[] => schema.unheld?.admitted ?? schema.values

/** Returns an enumeration, or a union of enumerations as one, unless a `oneOf` has a member twice. */
export function asEnum(api: Api, schema: Schema): EnumSchema | undefined {
  if (schema.kind === 'enum') return schema
  if (schema.kind !== 'union' || schema.discriminator) return undefined
  const members = schema.members.map((member) => targetOf(api, member))
  const lists = members.flatMap((member) => (member.kind === 'enum' && !member.nullable ? [member] : []))
  const values = lists.flatMap(admittedBy)
  if (lists.length < members.length || lists.length === 0) return undefined
  if (schema.mode === 'oneOf' && new Set(values).size < values.length) return undefined
  const open = lists.some((list) => list.open)
  const { mode: _, members: __, kind: ___, ...base } = schema
  return { ...base, kind: 'enum', values: [...new Set(values)], open }
}

/**
 * Compares enumerations. A new member breaks readers unless the enumeration is extensible. A removed member is
 * rejected in requests. If members were added in the same edit, a removal also breaks readers, because it is
 * probably a rename.
 */
export function compareEnums(position: ComparisonPosition, a: EnumSchema, b: EnumSchema): void {
  const [was, is] = [admittedBy(a), admittedBy(b)]
  const added = is.filter((value) => !was.includes(value))
  const removed = was.filter((value) => !is.includes(value))
  for (const value of removed) {
    const breaks = added.length > 0 ? BOTH : NARROWING
    const subject = { name: String(value), side: 'old', shape: typeof value, examples: [] } as const
    found(position, 'enum-value-removed', breaks, `${JSON.stringify(value)} was removed`, places(a, b), {
      value,
      subject,
    })
  }
  for (const value of added) {
    const breaks = a.open ? 0 : WIDENING
    const subject = { name: String(value), side: 'new', shape: typeof value, examples: [] } as const
    found(position, 'enum-value-added', breaks, `${JSON.stringify(value)} was added`, places(a, b), {
      value,
      subject,
    })
  }
  if (a.open === b.open) return
  // `open` only concerns readers: requests may hold listed members only.
  const detail = { mask: position.mask & RESPONSE }
  if (b.open)
    found(position, 'enum-opened', RESPONSE, 'may now hold members that are not listed', places(a, b), detail)
  else found(position, 'enum-closed', 0, 'now holds only the listed members', places(a, b), detail)
}
