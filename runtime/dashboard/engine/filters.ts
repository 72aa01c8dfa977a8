/** Filters of list pages: removable chips, a form that adds filters, and dates. */
import { filters as documented } from '../../../generated/canonical/records.ts'
import { type Html, html } from '../../platform/html.ts'
import { choice, field } from '../html/components.ts'
import { icon } from '../html/icons.ts'
import type { DashboardResource, Identified, ListFilter } from './shapes.ts'
import { words } from './values.ts'
import type { DashboardVisit } from './visit.ts'

/** Values of the filters by name, and the dates `from` and `to`. Empty if a filter is not applied. */
export type AskedFilters = Readonly<Record<string, string>>

/** Returns the filters of a list, with the values that the OpenAPI document defines. */
export function filtersOf({
  operation,
  filters: labels = {},
}: DashboardResource<Identified>['list']): ListFilter[] {
  const listed: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = documented
  return Object.entries(labels).map(([name, label]) => {
    const options = listed[operation]?.[name]
    return { name, label, ...(options && { options }) }
  })
}

export function readFilters({ request }: DashboardVisit, filters: readonly ListFilter[]): AskedFilters {
  const names = [...filters.map(({ name }) => name), 'from', 'to']
  return Object.fromEntries(
    names.map((name) => {
      const value = request.query[name]
      return [name, typeof value === 'string' ? value.trim() : '']
    }),
  )
}

/** Whether a filter is applied. */
export function isNarrowed(asked: AskedFilters): boolean {
  return Object.values(asked).some((value) => value !== '')
}

/** Returns the query parameters of the API's list operation. Every list operation filters by `created`. */
export function queryOf({ from = '', to = '', ...asked }: AskedFilters): Readonly<Record<string, string>> {
  return { ...asked, 'created[gte]': from, 'created[lt]': endOf(to) }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

/** Returns the end of the last day. Other texts are returned unchanged, so that the API reports the error. */
export function endOf(to: string): string {
  const day = DATE.test(to) ? Date.parse(to) : Number.NaN
  return Number.isNaN(day) ? to : new Date(day + DAY_MS).toISOString()
}

/** Returns a query string without empty values. */
export function writeQuery(values: AskedFilters): string {
  return `?${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))}`
}

/** Writes the applied filters as links that remove them, and the form that adds filters. */
export async function writeFilters(
  visit: DashboardVisit,
  filters: readonly ListFilter[],
  asked: AskedFilters,
): Promise<Html> {
  const names = await visit.names(Object.values(asked).filter((value) => value.includes('_')))
  const chips = filters
    .filter(({ name }) => asked[name])
    .map(({ name, label, options }) => {
      const value = asked[name] ?? ''
      return chip(asked, [name], label, options ? words(value) : (names.get(value) ?? value))
    })
  const { from = '', to = '' } = asked
  if (from !== '' || to !== '') chips.push(chip(asked, ['from', 'to'], 'Created', showDates(from, to)))
  return html`<div class="narrow">
${chips.length > 0 && html`<ul class="chips" aria-label="Filters">${chips}</ul>`}
<details class="pops"><summary>${icon('list-filter')}Add filter</summary>
<form class="add" method="get">
${filters.map((each) => writeFilter(each, asked[each.name]))}
<fieldset><legend>Created</legend>
<p class="presets">${presets(visit).map(
    ([text, dates]) => html`<a href="${writeQuery({ ...asked, ...dates })}">${text}</a>`,
  )}</p>
<div class="dates">
${field({ name: 'from', label: 'From', type: 'date', value: from, optional: true })}
${field({ name: 'to', label: 'To', type: 'date', value: to, optional: true })}
</div>
<p class="hint">Days begin and end at midnight UTC.</p></fieldset>
<button type="submit">Apply filters</button>
</form></details>
${chips.length > 1 && html`<a class="clear" href="?">Clear filters</a>`}
</div>`
}

function writeFilter({ name, label, options }: ListFilter, value: string | undefined): Html {
  if (!options) return field({ name, label, value, optional: true })
  const all = [['', 'Any'], ...options.map((option) => [option, words(option)] as const)] as const
  return choice({ name, label, value, options: all })
}

function chip(asked: AskedFilters, names: readonly string[], label: string, value: string): Html {
  const others = { ...asked, ...Object.fromEntries(names.map((name) => [name, ''])) }
  return html`<li><a class="chip" href="${writeQuery(others)}" aria-label="Remove filter: ${label} ${value}">${label} <strong>${value}</strong>${icon('x')}</a></li>`
}

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })

/** Formats a date as "Nov 26, 2026". Other texts are returned unchanged. */
function showDay(text: string): string {
  const day = Date.parse(text)
  return DATE.test(text) && !Number.isNaN(day) ? dayFormat.format(day) : text
}

function showDates(from: string, to: string): string {
  if (to === '') return `since ${showDay(from)}`
  if (from === '') return `until ${showDay(to)}`
  return from === to ? showDay(from) : `${showDay(from)} – ${showDay(to)}`
}

type Preset = readonly [text: string, dates: { readonly from: string; readonly to: string }]

/** Returns periods that end today, in UTC of the environment's clock. */
function presets({ operator, environment }: DashboardVisit): readonly Preset[] {
  const now = operator.clock.service(environment)
  const daysAgo = (count: number) => new Date(now - count * DAY_MS).toISOString().slice(0, 10)
  const to = daysAgo(0)
  return [
    ['Today', { from: to, to }],
    ['7 days', { from: daysAgo(6), to }],
    ['30 days', { from: daysAgo(29), to }],
    ['This month', { from: `${to.slice(0, 8)}01`, to }],
  ]
}
