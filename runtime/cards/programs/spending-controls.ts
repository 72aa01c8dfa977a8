/** What cards may be used for, in one form however it was written: lists sorted and without repetitions, everything present. */

import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { mergePatch } from '../../api/json/merge-patch.ts'
import { isCountry } from '../../platform/countries.ts'
import { categoriesNear, isCategory } from '../merchant-categories/catalogue.ts'

type Schemas = components['schemas']

export type SpendingControls = Schemas['SpendingControls']
type SpendingControlsInput = Schemas['SpendingControlsInput']

/** No restriction. */
export const NO_CONTROLS: SpendingControls = {
  blocked_categories: [],
  blocked_countries: [],
  spending_limits: [],
  max_authorization_count: null,
}

/** The controls that were given; what is absent or null restricts nothing. */
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
  }
}

/** Controls after a merge patch (RFC 7396): null as a whole removes all of them. */
export function patchControls(
  controls: SpendingControls,
  patch: SpendingControlsInput | null | undefined,
): SpendingControls {
  return patch === undefined ? controls : readControls(mergePatch(controls, patch) as SpendingControlsInput)
}

const sorted = (words: readonly string[]): string[] => [...new Set(words)].toSorted()

/** What is wrong with controls beyond their schema: codes outside the catalogue, countries that are none, and limits that say the same twice. */
export function checkControls(given: SpendingControlsInput | null | undefined): Detail[] {
  if (!given) return []
  const limits = given.spending_limits ?? []
  const faults = [
    ...unknownCategories(given.blocked_categories, 'spending_controls.blocked_categories'),
    ...unknownCountries(given.blocked_countries, 'spending_controls.blocked_countries'),
  ]
  const seen = new Set<string>()
  for (const [index, { interval, categories }] of limits.entries()) {
    const field = `spending_controls.spending_limits[${index}]`
    faults.push(...unknownCategories(categories, `${field}.categories`))
    const subject = JSON.stringify([interval, categories ? sorted(categories) : null])
    if (seen.has(subject)) faults.push({ field, issue: 'has the interval and categories of another limit' })
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
  `names ${code}, which is not in the catalogue; next to it are ${categoriesNear(code).join(', ')}`

function unknownCountries(codes: readonly string[] | null | undefined, list: string): Detail[] {
  return (codes ?? []).flatMap((code, index) =>
    isCountry(code) ? [] : [{ field: `${list}[${index}]`, issue: 'is no country of ISO 3166-1' }],
  )
}
