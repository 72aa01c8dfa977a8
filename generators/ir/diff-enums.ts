/** Members of enumerations. */
import { BOTH, found, NARROWING, places, RESPONSE, type Spot, WIDENING } from './diff-sheet.ts'
import type { EnumSchema } from './model.ts'

/**
 * A new member surprises readers unless they were told to expect more. A removed one is refused in requests; where
 * another came in the same edit, readers too have lost something: most likely it was renamed.
 */
export function compareEnums(spot: Spot, a: EnumSchema, b: EnumSchema): void {
  const added = b.values.filter((value) => !a.values.includes(value))
  const removed = a.values.filter((value) => !b.values.includes(value))
  for (const value of removed) {
    const breaks = added.length > 0 ? BOTH : NARROWING
    const subject = { name: String(value), side: 'old', shape: typeof value, examples: [] } as const
    found(spot, 'enum-value-removed', breaks, `${JSON.stringify(value)} is gone`, places(a, b), {
      value,
      subject,
    })
  }
  for (const value of added) {
    const breaks = a.open ? 0 : WIDENING
    const subject = { name: String(value), side: 'new', shape: typeof value, examples: [] } as const
    found(spot, 'enum-value-added', breaks, `${JSON.stringify(value)} is new`, places(a, b), {
      value,
      subject,
    })
  }
  if (a.open === b.open) return
  // Openness is a promise to readers: requests hold listed members only.
  const detail = { mask: spot.mask & RESPONSE }
  if (b.open)
    found(spot, 'enum-opened', RESPONSE, 'may come to hold members that are not listed', places(a, b), detail)
  else found(spot, 'enum-closed', 0, 'holds the listed members and no others', places(a, b), detail)
}
