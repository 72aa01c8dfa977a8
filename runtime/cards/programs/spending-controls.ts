/** Spending controls of cards, in normalized form: every field is present, and lists are sorted without duplicates. */

import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { mergePatch } from '../../api/json/merge-patch.ts'
import { categoriesNear, isCategory } from '../merchant-categories/catalogue.ts'
import { checkUseControls, readUseControls, sorted, unknownCountries } from './use-controls.ts'

type Schemas = components['schemas']

export type SpendingControls = Schemas['SpendingControls']
type SpendingControlsInput = Schemas['SpendingControlsInput']

export const NO_CONTROLS: SpendingControls = {
  blocked_categories: [],
  blocked_countries: [],
  spending_limits: [],
  max_authorization_count: null,
}

/** Normalizes spending controls. Absent and null fields restrict nothing. */
export function readControls(given: SpendingControlsInput | null): SpendingControls {
  const limits = given?.spending_limits ?? []
  return {
    blocked_categories: sorted(given?.blocked_categories ?? []),
    blocked_countries: sorted(given?.blocked_countries ?? []),
    spending_limits: limits.map(({ amount, interval, categories }) => ({
      amount,
      interval,
      categories: categories ? sorted(categories) : null,
    })),
    max_authorization_count: given?.max_authorization_count ?? null,
    ...readUseControls(given ?? {}),
  }
}

/** Applies a merge patch (RFC 7396) to spending controls. A null patch removes all of them. */
export function patchControls(
  controls: SpendingControls,
  patch: SpendingControlsInput | null | undefined,
): SpendingControls {
  return patch === undefined ? controls : readControls(mergePatch(controls, patch) as SpendingControlsInput)
}

/**
 * Finds faults that the schema cannot express: codes outside the catalog, unknown countries, and limits with the same
 * interval and categories.
 */
export function checkControls(given: SpendingControlsInput | null | undefined): Detail[] {
  if (!given) return []
  const limits = given.spending_limits ?? []
  const faults = [
    ...unknownCategories(given.blocked_categories, 'spending_controls.blocked_categories'),
    ...unknownCountries(given.blocked_countries, 'spending_controls.blocked_countries'),
    ...checkUseControls(given),
  ]
  const seen = new Set<string>()
  for (const [index, { interval, categories }] of limits.entries()) {
    const field = `spending_controls.spending_limits[${index}]`
    faults.push(...unknownCategories(categories, `${field}.categories`))
    const subject = JSON.stringify([interval, categories ? sorted(categories) : null])
    if (seen.has(subject))
      faults.push({ field, issue: 'has the same interval and categories as an earlier limit' })
    seen.add(subject)
  }
  return faults
}

function unknownCategories(codes: readonly string[] | null | undefined, list: string): Detail[] {
  return (codes ?? []).flatMap((code, index) =>
    isCategory(code) ? [] : [{ field: `${list}[${index}]`, issue: unknownCategory(code) }],
  )
}

const unknownCategory = (code: string) =>
  `is ${code}, which is not in the catalog; the nearest codes are ${categoriesNear(code).join(', ')}`
