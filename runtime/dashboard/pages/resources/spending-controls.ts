/** Spending controls of a card or a card program: form fields, parsing, and display. */
import type { components } from '../../../../generated/canonical/types.ts'
import { describeCategory } from '../../../cards/merchant-categories/catalogue.ts'
import { type Html, html } from '../../../platform/html.ts'
import { bodyOf, rowValues, writeCents } from '../../engine/bodies.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { FormField, FormValues, LinkTo } from '../../engine/shapes.ts'
import { money, orDash, words } from '../../engine/values.ts'
import { CATEGORY, COUNTRY, countryName } from '../pickers/lists.ts'
import { USE_FIELDS } from './use-control-fields.ts'
import { readUseValues, useFacts, useValues } from './use-controls.ts'

type Controls = components['schemas']['SpendingControls']
type Limit = components['schemas']['SpendingLimit']

const CURRENCY = 'usd'

const INTERVALS = [
  'per_authorization',
  'daily',
  'weekly',
  'monthly',
  'yearly',
  'all_time',
] as const satisfies Limit['interval'][]

const LIMIT_FIELDS: readonly FormField[] = [
  { name: 'amount', label: 'Amount (USD)', kind: 'amount' },
  {
    name: 'interval',
    label: 'Interval',
    kind: 'choice',
    value: 'monthly',
    options: INTERVALS.map((interval) => [interval, words(interval)] as const),
  },
  {
    name: 'categories',
    label: 'Only these merchant categories',
    pick: CATEGORY,
    isMany: true,
    optional: true,
  },
]

export const CONTROL_FIELDS: readonly FormField[] = [
  {
    name: 'spending_controls.spending_limits',
    label: 'Spending limits',
    kind: 'rows',
    noun: 'limit',
    row: LIMIT_FIELDS,
    optional: true,
  },
  {
    name: 'spending_controls.blocked_categories',
    label: 'Blocked merchant categories',
    pick: CATEGORY,
    isMany: true,
    optional: true,
  },
  {
    name: 'spending_controls.blocked_countries',
    label: 'Blocked countries',
    pick: COUNTRY,
    isMany: true,
    optional: true,
  },
  {
    name: 'spending_controls.max_authorization_count',
    label: 'Maximum number of authorizations',
    kind: 'number',
    optional: true,
  },
  ...USE_FIELDS,
]

/** Returns a merge patch with every control that the form shows. */
export function readControls(values: FormValues): object {
  const { spending_controls = {} } = bodyOf(CONTROL_FIELDS, values) as {
    readonly spending_controls?: Readonly<Record<string, unknown>>
  }
  return {
    spending_limits: null,
    blocked_categories: null,
    blocked_countries: null,
    max_authorization_count: null,
    ...spending_controls,
    ...readUseValues(spending_controls),
  }
}

export function controlValues(controls: Controls): FormValues {
  const limits = controls.spending_limits.map(({ amount, interval, categories }) => ({
    amount: writeCents(amount),
    interval,
    categories: (categories ?? []).join('\n'),
  }))
  return {
    ...rowValues('spending_controls.spending_limits', limits),
    ...useValues(controls),
    'spending_controls.blocked_categories': controls.blocked_categories.join('\n'),
    'spending_controls.blocked_countries': controls.blocked_countries.join('\n'),
    'spending_controls.max_authorization_count': String(controls.max_authorization_count ?? ''),
  }
}

export function controlFacts(controls: Controls): readonly (readonly [string, string])[] {
  return [
    ['Blocked merchant categories', orDash(controls.blocked_categories.map(describeCategory).join(', '))],
    ['Blocked countries', orDash(controls.blocked_countries.map(countryName).join(', '))],
    ['Maximum number of authorizations', orDash(controls.max_authorization_count?.toString())],
    ...useFacts(controls),
  ]
}

/** @param none shown if there are no limits. */
export function writeLimits({ spending_limits }: Controls, link: LinkTo, none: string): Html {
  return spending_limits.length === 0
    ? html`<p class="empty">${none}</p>`
    : writeTable('Spending limits', LIMIT_COLUMNS, spending_limits, link)
}

const LIMIT_COLUMNS = [
  { title: 'Amount', show: ({ amount }: Limit) => money(amount, CURRENCY), isAmount: true },
  { title: 'Interval', show: ({ interval }: Limit) => words(interval) },
  {
    title: 'Merchant categories',
    show: ({ categories }: Limit) => categories?.map(describeCategory).join(', ') ?? 'All',
  },
]
