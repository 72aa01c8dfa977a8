import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'
import catalogue from './merchant-category-codes.json' with { type: 'json' }

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

/** Stands in lists for every code outside the catalogue, so that a list of allowed ones stays closed to them. */
const OTHERS = '0000'

const KNOWN: readonly string[] = [...catalogue.map(({ code }) => code), OTHERS]
const IS_KNOWN: ReadonlySet<string> = new Set(KNOWN)

/** @returns the catalogue without the codes. */
function without(codes: readonly string[]): string[] {
  const left = new Set(codes)
  return KNOWN.filter((code) => !left.has(code))
}

/** All known minus allowed. Null is no restriction. A code that is no member of the catalogue stays, to be refused by name. */
function blockedOf(allowed: readonly string[] | null): string[] | null {
  return allowed && [...without(allowed), ...allowed.filter((code) => !IS_KNOWN.has(code))]
}

/** All known minus blocked; nothing blocked is no restriction. */
function allowedOf(blocked: readonly string[] | null): string[] | null {
  return blocked && blocked.length > 0 ? without(blocked) : null
}

export default v.change({
  id: 'block-categories',
  why:
    '`spending_controls` names the merchant categories that are blocked, `blocked_categories`, in place of those that ' +
    'are allowed. Earlier versions write and read `allowed_categories`: all known codes minus the blocked ones. A list ' +
    'of allowed codes blocks `0000` too, which is every code outside the catalogue. Null means no restriction in both.',
  lenses: [
    v.rename(['SpendingControls', 'SpendingControlsInput'], 'allowed_categories', 'blocked_categories', {
      up: blockedOf,
      down: allowedOf,
      // Nothing blocked, and nothing said, read alike.
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
