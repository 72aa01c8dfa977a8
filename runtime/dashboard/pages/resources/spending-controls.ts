/** What cards may be used for, of a program or of one card: as it is typed, and as it is shown. */
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
    label: 'Categories that decline',
    optional: true,
    hint: 'Four digits each, with commas in between: 7995 is betting.',
  },
  {
    name: 'spending_controls.blocked_countries',
    label: 'Countries that decline',
    optional: true,
    hint: 'Two letters each, with commas in between.',
  },
  {
    name: 'spending_controls.spending_limits',
    label: 'Limits',
    kind: 'lines',
    optional: true,
    hint: 'One a line: an amount, per_authorization, daily, weekly, monthly, yearly or all_time, and the categories it counts if not all. “500.00 monthly 5812 5411”.',
  },
  {
    name: 'spending_controls.max_authorization_count',
    label: 'Authorizations in all',
    kind: 'number',
    optional: true,
  },
]

const items = (text = '') => text.split(/[\s,]+/).filter((each) => each !== '')
const orNull = (list: readonly unknown[]) => (list.length > 0 ? list : null)

/** A line such as `500.00 monthly 5812 5411`. */
function readLimit(line: string): object {
  const [amount = '', interval = '', ...categories] = items(line)
  return { amount: readCents(amount), interval, ...(categories.length > 0 && { categories }) }
}

/** All of what is in the form: also right for a merge patch, since the form shows all there is. */
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

/** What stands in the form before anything is typed. */
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
    ['Categories that decline', orDash(controls.blocked_categories.join(', '))],
    ['Countries that decline', orDash(controls.blocked_countries.join(', '))],
    ['Authorizations in all', orDash(controls.max_authorization_count?.toString())],
  ]
}

/** @param none what is said where there is no limit. */
export function writeLimits({ spending_limits }: Controls, link: LinkTo, none: string): Html {
  return spending_limits.length === 0
    ? html`<p class="empty">${none}</p>`
    : writeTable('Limits', LIMIT_COLUMNS, spending_limits, link)
}

const LIMIT_COLUMNS = [
  { title: 'Up to', show: ({ amount }: Limit) => money(amount, CURRENCY) },
  { title: 'In', show: ({ interval }: Limit) => words(interval) },
  { title: 'Categories', show: ({ categories }: Limit) => categories?.join(', ') ?? 'All' },
]
