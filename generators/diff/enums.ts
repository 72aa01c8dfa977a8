/** Members of enumerations. */

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

/** The members that the keywords beside the list admit. */
export const admittedBy = (schema: EnumSchema): readonly Scalar[] => schema.unheld?.admitted ?? schema.values

/** An enumeration, or a union of nothing but enumerations: one list, where no member is in two. */
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
 * A new member surprises readers unless they were told to expect more. A removed one is refused in requests; where
 * another came in the same edit, readers too have lost something: most likely it was renamed.
 */
export function compareEnums(position: ComparisonPosition, a: EnumSchema, b: EnumSchema): void {
  const [was, is] = [admittedBy(a), admittedBy(b)]
  const added = is.filter((value) => !was.includes(value))
  const removed = was.filter((value) => !is.includes(value))
  for (const value of removed) {
    const breaks = added.length > 0 ? BOTH : NARROWING
    const subject = { name: String(value), side: 'old', shape: typeof value, examples: [] } as const
    found(position, 'enum-value-removed', breaks, `${JSON.stringify(value)} is gone`, places(a, b), {
      value,
      subject,
    })
  }
  for (const value of added) {
    const breaks = a.open ? 0 : WIDENING
    const subject = { name: String(value), side: 'new', shape: typeof value, examples: [] } as const
    found(position, 'enum-value-added', breaks, `${JSON.stringify(value)} is new`, places(a, b), {
      value,
      subject,
    })
  }
  if (a.open === b.open) return
  // Readers are told to expect unlisted members; requests hold listed ones only.
  const detail = { mask: position.mask & RESPONSE }
  if (b.open)
    found(
      position,
      'enum-opened',
      RESPONSE,
      'may come to hold members that are not listed',
      places(a, b),
      detail,
    )
  else found(position, 'enum-closed', 0, 'holds the listed members and no others', places(a, b), detail)
}
