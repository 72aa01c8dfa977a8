/** Fields and examples that several forms of the simulator have. */
import type { FormField, FormPreset } from '../../engine/shapes.ts'
import { words } from '../../engine/values.ts'
import { CATEGORY, COUNTRY_OPTIONS } from '../pickers/lists.ts'
import { CARD, PASS, TRANSACTION } from '../pickers/pickable.ts'

const currencyNames = new Intl.DisplayNames('en', { type: 'currency' })
export const options = (names: readonly string[]) => names.map((name) => [name, words(name)] as const)
export const orNone = (names: readonly string[]) => [['', '–'] as const, ...options(names)]

/** Currencies other than USD are declined, so that members can simulate this. */
export const currencies = ['usd', 'eur', 'gbp'].map(
  (code) => [code, `${code.toUpperCase()}, ${currencyNames.of(code.toUpperCase())}`] as const,
)

export const card: FormField = { name: 'card_id', label: 'Card', pick: CARD, picksNewest: true }
export const physicalCard: FormField = {
  name: 'card_id',
  label: 'Card',
  pick: CARD,
  hint: 'A physical card.',
}
export const amount: FormField = {
  name: 'amount',
  label: 'Amount (USD)',
  kind: 'amount',
  value: '12.50',
}
export const partOf = (whole: string): FormField => ({
  ...amount,
  value: '',
  optional: true,
  hint: `Leave empty for ${whole}.`,
})
export const transaction = (status: string): FormField => ({
  name: 'card_transaction_id',
  label: 'Transaction',
  pick: TRANSACTION,
  status,
  picksNewest: true,
})
export const merchant: readonly FormField[] = [
  { group: 'Merchant', name: 'merchant.name', label: 'Name', value: 'Harbor Grocer' },
  { group: 'Merchant', name: 'merchant.category_code', label: 'Category', pick: CATEGORY, value: '5411' },
  {
    group: 'Merchant',
    name: 'merchant.country',
    label: 'Country',
    kind: 'choice',
    options: [['', '–'], ...COUNTRY_OPTIONS],
    value: 'US',
  },
  { group: 'Merchant', name: 'merchant.city', label: 'City', optional: true, value: 'Oakland' },
  { group: 'Merchant', name: 'merchant.network_id', label: 'Network ID', optional: true },
]

/** Checks that spending controls can require. */
export const checks: readonly FormField[] = (
  [
    ['cvc', 'Security code'],
    ['address_line', 'Street'],
    ['postal_code', 'Postal code'],
  ] as const
).map(([name, label]) => ({
  group: 'Checks of the network',
  name: `checks.${name}`,
  label,
  kind: 'choice',
  options: orNone(['match', 'mismatch', 'unchecked']),
}))

/** Merchants for typical rules: limits by category, blocked categories, and blocked countries. */
export const merchants: readonly FormPreset[] = (
  [
    ['Groceries', 'Harbor Grocer', '5411', 'US', 'Oakland'],
    ['Restaurant', 'Dockside Diner', '5812', 'US', 'Oakland'],
    ['Online store', 'Paper & Ink', '5942', 'GB', 'London'],
    ['Hotel abroad', 'Hotel Lumière', '7011', 'FR', 'Paris'],
    ['Betting', 'Lucky Odds', '7995', 'US', 'Las Vegas'],
  ] as const
).map(([text, name, category, country, city]) => ({
  text,
  values: {
    'merchant.name': name,
    'merchant.category_code': category,
    'merchant.country': country,
    'merchant.city': city,
  },
}))

export const pass: FormField = { name: 'pass_id', label: 'Pass', pick: PASS, picksNewest: true }
export const platform: FormField = {
  name: 'platform',
  label: 'Wallet',
  kind: 'choice',
  options: [
    ['apple', 'Apple Wallet'],
    ['google', 'Google Wallet'],
  ],
}
