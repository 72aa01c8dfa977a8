/** Spending controls of a card or a card program: form fields, parsing, and display. */
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { readCents, readNumber, writeCents } from '../../engine/bodies.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { FormField, FormValues, LinkTo } from '../../engine/shapes.ts'
import { money, orDash, words } from '../../engine/values.ts'

type Controls = components['schemas']['SpendingControls']
type Limit = components['schemas']['SpendingLimit']

const CURRENCY = 'usd'

export const CONTROL_FIELDS: readonly FormField[] = [
  {
    name: 'spending_controls.blocked_categories',
    label: 'Blocked merchant categories',
    optional: true,
    hint: 'Four-digit codes, separated by commas. For example, 7995 is betting.',
  },
  {
    name: 'spending_controls.blocked_countries',
    label: 'Blocked countries',
    optional: true,
    hint: 'Two-letter codes, separated by commas.',
  },
  {
    name: 'spending_controls.spending_limits',
    label: 'Spending limits',
    kind: 'lines',
    optional: true,
    hint: 'One limit per line: an amount, then per_authorization, daily, weekly, monthly, yearly, or all_time, and then the merchant categories that it applies to, if not all. For example, 500.00 monthly 5812 5411.',
  },
  {
    name: 'spending_controls.max_authorization_count',
    label: 'Maximum number of authorizations',
    kind: 'number',
    optional: true,
  },
]

const items = (text = '') => text.split(/[\s,]+/).filter((each) => each !== '')
const orNull = (list: readonly unknown[]) => (list.length > 0 ? list : null)

/** Parses a line such as `500.00 monthly 5812 5411`. */
function readLimit(line: string): object {
  const [amount = '', interval = '', ...categories] = items(line)
  return { amount: readCents(amount), interval, ...(categories.length > 0 && { categories }) }
}

/** Returns all controls. The form shows every control, so the result is also a correct merge patch. */
export function readControls(values: FormValues): object {
  const of = (name: string) => values[`spending_controls.${name}`] ?? ''
  const lines = of('spending_limits')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const count = of('max_authorization_count')
  return {
    blocked_categories: orNull(items(of('blocked_categories'))),
    blocked_countries: orNull(items(of('blocked_countries'))),
    spending_limits: orNull(lines.map(readLimit)),
    max_authorization_count: count === '' ? null : readNumber(count),
  }
}

function writeLimit({ amount, interval, categories }: Limit): string {
  return [writeCents(amount), interval, ...(categories ?? [])].join(' ')
}

export function controlValues(controls: Controls): FormValues {
  return {
    'spending_controls.blocked_categories': controls.blocked_categories.join(', '),
    'spending_controls.blocked_countries': controls.blocked_countries.join(', '),
    'spending_controls.spending_limits': controls.spending_limits.map(writeLimit).join('\n'),
    'spending_controls.max_authorization_count': String(controls.max_authorization_count ?? ''),
  }
}

export function controlFacts(controls: Controls): readonly (readonly [string, string])[] {
  return [
    ['Blocked merchant categories', orDash(controls.blocked_categories.join(', '))],
    ['Blocked countries', orDash(controls.blocked_countries.join(', '))],
    ['Maximum number of authorizations', orDash(controls.max_authorization_count?.toString())],
  ]
}

/** @param none shown if there are no limits. */
export function writeLimits({ spending_limits }: Controls, link: LinkTo, none: string): Html {
  return spending_limits.length === 0
    ? html`<p class="empty">${none}</p>`
    : writeTable('Spending limits', LIMIT_COLUMNS, spending_limits, link)
}

const LIMIT_COLUMNS = [
  { title: 'Amount', show: ({ amount }: Limit) => money(amount, CURRENCY) },
  { title: 'Interval', show: ({ interval }: Limit) => words(interval) },
  { title: 'Merchant categories', show: ({ categories }: Limit) => categories?.join(', ') ?? 'All' },
]
