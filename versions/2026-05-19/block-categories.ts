import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'
import catalogue from './merchant-category-codes.json' with { type: 'json' }

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

/** Represents every code outside the catalog, so that a list of allowed codes still blocks those. */
const OTHERS = '0000'

const KNOWN: readonly string[] = [...catalogue.map(({ code }) => code), OTHERS]
const IS_KNOWN: ReadonlySet<string> = new Set(KNOWN)

/** Returns the known codes except the given ones. */
function without(codes: readonly string[]): string[] {
  const left = new Set(codes)
  return KNOWN.filter((code) => !left.has(code))
}

/**
 * Returns all known codes that are not allowed; null means no restriction. An unknown code is kept, so that
 * validation rejects it by name.
 */
function blockedOf(allowed: readonly string[] | null): string[] | null {
  return allowed && [...without(allowed), ...allowed.filter((code) => !IS_KNOWN.has(code))]
}

/** Returns all known codes that are not blocked. An empty list means no restriction. */
function allowedOf(blocked: readonly string[] | null): string[] | null {
  return blocked && blocked.length > 0 ? without(blocked) : null
}

export default v.change({
  id: 'block-categories',
  why:
    '`spending_controls` lists the blocked merchant categories in `blocked_categories`, instead of the allowed ones in ' +
    '`allowed_categories`. Earlier versions keep `allowed_categories`: all known codes minus the blocked ones. A list ' +
    'of allowed codes also blocks `0000`, which represents every code outside the catalog. Null means no restriction in both.',
  lenses: [
    v.rename(['SpendingControls', 'SpendingControlsInput'], 'allowed_categories', 'blocked_categories', {
      up: blockedOf,
      down: allowedOf,
      // An empty list and null both mean no restriction.
      loss: 'merge',
    }),
  ],
  values: { MerchantCategoryCode: KNOWN },
  examples: [
    {
      schema: 'SpendingControlsInput',
      old: { allowed_categories: null },
      new: { blocked_categories: null },
    },
    {
      schema: 'SpendingControlsInput',
      old: { max_authorization_count: 3 },
      new: { max_authorization_count: 3 },
    },
    {
      schema: 'SpendingControls',
      old: {
        allowed_categories: null,
        blocked_countries: [],
        spending_limits: [],
        max_authorization_count: null,
      },
      new: {
        blocked_categories: [],
        blocked_countries: [],
        spending_limits: [],
        max_authorization_count: null,
      },
    },
    {
      schema: 'SpendingControlsInput',
      old: { allowed_categories: [] },
      new: { blocked_categories: [...KNOWN] },
    },
    {
      schema: 'SpendingControlsInput',
      old: { allowed_categories: without(['7995', OTHERS]) },
      new: { blocked_categories: ['7995', OTHERS] },
    },
  ],
})
