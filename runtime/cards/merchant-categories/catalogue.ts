/** The catalogue of merchant categories, which is a table of the changes of the API: K, with `0000` for every code outside it. */
import labels from '../../../versions/2026-02-01/merchant-categories.json' with { type: 'json' }
import codes from '../../../versions/2026-05-19/merchant-category-codes.json' with { type: 'json' }

/** Stands in lists for every code outside the catalogue. */
export const OTHER_CATEGORIES = '0000'

/** All members of the catalogue, in the order of the codes. */
export const CATEGORIES: readonly string[] = [OTHER_CATEGORIES, ...codes.map(({ code }) => code)].toSorted()

const members: ReadonlySet<string> = new Set(CATEGORIES)

/** Whether lists may hold the code: four digits of the catalogue, or `0000`. */
export function isCategory(code: string): boolean {
  return members.has(code)
}

/** The members next to a code that is none: the two before it, and the one after. */
export function categoriesNear(code: string): readonly string[] {
  const after = CATEGORIES.findIndex((member) => member > code)
  const place = after === -1 ? CATEGORIES.length : after
  return CATEGORIES.slice(Math.max(0, place - 2), place + 1)
}

/** The member of the catalogue that a merchant's code counts as: itself, or `0000`. */
export function categoryOf(code: string): string {
  return isCategory(code) ? code : OTHER_CATEGORIES
}

/** The normalized label of a code: its range's, its own, or `miscellaneous`. */
export function labelOf(code: string): string {
  const range = labels.ranges.find(({ from, to }) => from <= code && code <= to)
  return range?.label ?? (labels.labels as Readonly<Record<string, string>>)[code] ?? labels.fallback
}
