/** The merchant category catalog: a table of the API changes (K), with `0000` for every code outside the table. */
import labels from '../../../versions/2026-02-01/merchant-categories.json' with { type: 'json' }
import codes from '../../../versions/2026-05-19/merchant-category-codes.json' with { type: 'json' }

/** The list member that matches every code outside the catalog. */
export const OTHER_CATEGORIES = '0000'

/** All members of the catalog, ordered by code. */
export const CATEGORIES: readonly string[] = [OTHER_CATEGORIES, ...codes.map(({ code }) => code)].toSorted()

const members: ReadonlySet<string> = new Set(CATEGORIES)

const descriptions = new Map(codes.map(({ code, description }) => [code, description]))

/** Returns the description of a catalog member in plain words. Returns other codes unchanged. */
export function describeCategory(code: string): string {
  return code === OTHER_CATEGORIES ? 'All other categories' : (descriptions.get(code) ?? code)
}

/** Returns whether a list may contain the code: a four-digit code of the catalog, or `0000`. */
export function isCategory(code: string): boolean {
  return members.has(code)
}

/** Returns the catalog members nearest to an unknown code: the two before it and the one after it. */
export function categoriesNear(code: string): readonly string[] {
  const after = CATEGORIES.findIndex((member) => member > code)
  const place = after === -1 ? CATEGORIES.length : after
  return CATEGORIES.slice(Math.max(0, place - 2), place + 1)
}

/** Returns the catalog member that a merchant's code counts as: the code itself, or `0000`. */
export function categoryOf(code: string): string {
  return isCategory(code) ? code : OTHER_CATEGORIES
}

/** Returns the normalized label of a code: the label of its range, its own label, or the fallback. */
export function labelOf(code: string): string {
  const range = labels.ranges.find(({ from, to }) => from <= code && code <= to)
  return range?.label ?? (labels.labels as Readonly<Record<string, string>>)[code] ?? labels.fallback
}
