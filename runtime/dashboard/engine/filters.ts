/** Filters of list pages: removable chips, a form that adds filters, and dates. */
import { filters as documented } from '../../../generated/canonical/records.ts'
import { type Html, html } from '../../platform/html.ts'
import { choice, field } from '../html/components.ts'
import { icon } from '../html/icons.ts'
import { picker, typedName } from '../html/picker.ts'
import { findTyped, lookupOf, type TypedRecord } from './picking.ts'
import type { DashboardResource, Identified, ListFilter } from './shapes.ts'
import { words } from './values.ts'
import { type DashboardVisit, queryText } from './visit.ts'

/**
 * Values of the filters by name, and the time of creation: either the first and last day, `from` and `to`, or a `period`
 * that ends today. Empty if a filter is not applied.
 */
export type AskedFilters = Readonly<Record<string, string>>

/** Returns the filters of a list, with the values that the OpenAPI document defines. */
export function filtersOf({
  operation,
  filters: labels = {},
}: DashboardResource<Identified>['list']): ListFilter[] {
  const listed: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = documented
  return Object.entries(labels).map(([name, label]) => {
    const options = listed[operation]?.[name]
    return { name, ...(typeof label === 'string' ? { label } : label), ...(options && { options }) }
  })
}

export function readFilters(visit: DashboardVisit, filters: readonly ListFilter[]): AskedFilters {
  const names = [...filters.map(({ name }) => name), 'period', 'from', 'to']
  const asked: Record<string, string> = Object.fromEntries(
    names.map((name) => [name, queryText(visit, name).trim()]),
  )
  return asked.from || asked.to ? { ...asked, period: '' } : asked
}

/** What the pickers of the filters show, by filter name. */
export type FilterPicks = ReadonlyMap<string, { readonly typed: string } & TypedRecord>

/** Reads the filters of a page whose pickers can have a name in place of an ID. A name of one record is replaced with its ID. */
export async function readPicked(
  visit: DashboardVisit,
  filters: readonly ListFilter[],
): Promise<{ readonly asked: AskedFilters; readonly picks: FilterPicks }> {
  const asked = { ...readFilters(visit, filters) }
  const picks = new Map<string, { readonly typed: string } & TypedRecord>()
  for (const { name, pick } of filters) {
    if (!pick) continue
    const typed = queryText(visit, typedName(name)).trim()
    const value = asked[name] ?? ''
    const found =
      typed === ''
        ? { id: value, matches: value === '' ? [] : await pick.read(visit, [value]) }
        : await findTyped(visit, pick, typed)
    asked[name] = found.id ?? ''
    picks.set(name, { ...found, typed })
  }
  return { asked, picks }
}

/** Whether a filter is applied. */
export function isNarrowed(asked: AskedFilters): boolean {
  return Object.values(asked).some((value) => value !== '')
}

/** Returns the query parameters of the API's list operation. Every list operation filters by `created`. */
export function queryOf(visit: DashboardVisit, asked: AskedFilters): Readonly<Record<string, string>> {
  const { period, from, to, ...equal } = asked
  const created = createdOf(visit, asked)
  return { ...equal, 'created[gte]': created.from, 'created[lt]': created.before }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

const PERIODS: Readonly<Record<string, string>> = {
  today: 'Today',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  month: 'This month',
}

/** Returns the bounds of `created`. A text that is not a date is returned unchanged, so that the API reports the error. */
export function createdOf(
  { operator, environment }: DashboardVisit,
  { period = '', from = '', to = '' }: AskedFilters,
): { readonly from: string; readonly before: string } {
  const now = operator.clock.service(environment)
  const daysAgo = (count: number) => new Date(now - count * DAY_MS).toISOString().slice(0, 10)
  const starts: Readonly<Record<string, string>> = {
    today: daysAgo(0),
    '7d': daysAgo(6),
    '30d': daysAgo(29),
    month: `${daysAgo(0).slice(0, 8)}01`,
  }
  const end = DATE.test(to) ? Date.parse(to) : Number.NaN
  return {
    from: starts[period] ?? from,
    before: Number.isNaN(end) ? to : new Date(end + DAY_MS).toISOString(),
  }
}

/** Returns a query string without empty values. */
export function writeQuery(values: AskedFilters): string {
  return `?${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))}`
}

/** Writes the applied filters as links that remove them, and the form that adds filters. @param more at the end of the line. */
export async function writeFilters(
  visit: DashboardVisit,
  filters: readonly ListFilter[],
  asked: AskedFilters,
  more?: Html,
  picks: FilterPicks = new Map(),
): Promise<Html> {
  const names = await visit.names(Object.values(asked).filter((value) => value.includes('_')))
  const chips = filters
    .filter(({ name }) => asked[name])
    .map(({ name, label, options }) => {
      const value = asked[name] ?? ''
      const picked = picks.get(name)?.matches[0]?.name
      return chip(asked, [name], label, options ? words(value) : (picked ?? names.get(value) ?? value))
    })
  const isFaulty = [...picks.values()].some(({ fault }) => fault !== undefined)
  const { period = '', from = '', to = '' } = asked
  const created = PERIODS[period] ?? showDates(from, to)
  if (created !== '') chips.push(chip(asked, ['period', 'from', 'to'], 'Created', created))
  return html`<div class="narrow">
${chips.length > 0 && html`<ul class="chips" aria-label="Filters">${chips}</ul>`}
<details class="pops"${isFaulty && html` open`}><summary>${icon('list-filter')}Add filter</summary>
<form class="add" method="get">
${filters.map((each) => writeFilter(visit, each, asked[each.name], picks))}
<fieldset><legend>Created</legend>
${choice({ name: 'period', label: 'Period', value: period, options: [['', 'Any'], ...Object.entries(PERIODS)] })}
<div class="dates">
${field({ name: 'from', label: 'Or from', type: 'date', value: from, optional: true })}
${field({ name: 'to', label: 'To', type: 'date', value: to, optional: true })}
</div>
<p class="hint">Days begin and end at midnight UTC.</p></fieldset>
<button type="submit">Apply filters</button>
</form></details>
${chips.length > 1 && html`<a class="clear" href="?">Clear filters</a>`}${more}
</div>`
}

function writeFilter(
  visit: DashboardVisit,
  { name, label, options, pick }: ListFilter,
  value: string | undefined,
  picks: FilterPicks,
): Html {
  if (pick) {
    const { typed = '', fault, matches = [] } = picks.get(name) ?? {}
    const picked = matches.filter(({ id }) => id === value).map(({ id }) => id)
    const text = matches.length > 0 ? undefined : typed || value
    const given = { name, label, value: text, fault, optional: true }
    return picker({ ...given, offered: matches, picked, lookup: lookupOf(visit, pick) })
  }
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
  if (from === '' && to === '') return ''
  if (to === '') return `since ${showDay(from)}`
  if (from === '') return `until ${showDay(to)}`
  return from === to ? showDay(from) : `${showDay(from)} – ${showDay(to)}`
}
