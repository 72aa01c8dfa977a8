import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-11-01/types.ts'
import type * as New from '../../generated/2026-02-01/types.ts'
import categories from './merchant-categories.json' with { type: 'json' }

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

type Label = Old.components['schemas']['MerchantCategoryLabel']

const CODES = 10_000

/** Returns the normalized label that earlier versions show for a four-digit code. */
function labelOf(code: string): Label {
  const range = categories.ranges.find(({ from, to }) => from <= code && code <= to)
  const labels: Readonly<Record<string, string>> = categories.labels
  return (range?.label ?? labels[code] ?? categories.fallback) as Label
}

/** Returns the primary code of a label, which a label in a request means. */
function primaryOf(label: Label): string {
  const primary: Readonly<Record<string, string>> = categories.primary
  return primary[label] ?? categories.primary.miscellaneous
}

let byLabel: ReadonlyMap<string, readonly string[]> | undefined

/** Returns every code that has the label, including codes outside the catalog. */
function codesOf(label: Label): readonly string[] {
  // Built on first use, because most processes never filter by label.
  byLabel ??= Map.groupBy(
    Array.from({ length: CODES }, (_, number) => String(number).padStart(4, '0')),
    labelOf,
  )
  return byLabel.get(label) ?? []
}

export default v.change({
  id: 'return-merchant-category-code',
  why:
    '`merchant.category_code` is the card network’s four-digit merchant category code (MCC). Earlier versions show ' +
    'a normalized label instead, such as `restaurants` for `5812`. A label in a filter matches all codes with that label, ' +
    'and a label in a simulated authorization means its primary code.',
  lenses: [
    v.convert(['Merchant', 'MerchantInput'], 'category_code', {
      up: primaryOf,
      down: labelOf,
      loss: 'merge',
    }),
    v.filter('listCardTransactions', 'category_code', codesOf),
  ],
  examples: [
    {
      schema: 'Merchant',
      old: {
        name: 'HARBOR DINER',
        category_code: 'restaurants',
        network_id: null,
        city: 'Oakland',
        country: 'US',
      },
      new: { name: 'HARBOR DINER', category_code: '5812', network_id: null, city: 'Oakland', country: 'US' },
    },
    {
      schema: 'Merchant',
      old: { name: 'SKYWAYS', category_code: 'airlines', network_id: null, city: null, country: null },
      new: { name: 'SKYWAYS', category_code: '3001', network_id: null, city: null, country: null },
    },
    {
      schema: 'MerchantInput',
      old: { name: 'Skyways', category_code: 'airlines', country: 'US' },
      new: { name: 'Skyways', category_code: '4511', country: 'US' },
    },
  ],
})
