/** The timeline of a pass: what happened to it, newest first. */
import type { components } from '../../../../generated/canonical/types.ts'
import { listScans } from '../../../passes/scans/queries.ts'
import { showScan } from '../../../passes/scans/recording.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import { orDash, when, words } from '../../engine/values.ts'
import { type DashboardVisit, queryText } from '../../engine/visit.ts'
import { type TimelineEntry, timeline } from '../../html/records.ts'
import { type HistoryPlace, type PassEventRow, readPassEvents } from './history-queries.ts'
import { isUsable, PASSES_PATH, type PassObject, templateOf, WALLETS } from './pass.ts'
import { labelOf } from './values.ts'

const SHOWN = 20

/** Query parameter with the position after which the timeline continues. */
const BEFORE = 'before'

type PlacedEntry = HistoryPlace & TimelineEntry

export async function writeHistory(pass: PassObject, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const asked = readPlace(queryText(visit, BEFORE))
  const before = asked ?? { created: LATEST, id: '~' }
  const { db, space } = await visit.place()
  const [template, events, scans] = await Promise.all([
    templateOf(visit, pass),
    readPassEvents(db, space, pass.id, before, SHOWN + 1),
    listScans(
      db,
      space,
      { pass_id: [pass.id], created: {} },
      { limit: SHOWN, order: 'desc', backward: false, boundary: { ...before, side: 'after' } },
    ),
  ])
  const labels = new Map(template.fields.map((field) => [field.key, labelOf(field)]))
  const entries = [
    ...events.map((event) => tellEvent(event, labels)),
    ...scans.rows.map((row) => tellScan(showScan(row), row)),
    ...milestones(pass, events).filter((each) => isBefore(each, before)),
  ].toSorted((a, b) => (isBefore(a, b) ? 1 : -1))
  const shown = entries.slice(0, SHOWN)
  const last = shown.at(-1)
  const isMore = entries.length > SHOWN || scans.hasMore
  const page = `${PASSES_PATH}/${pass.id}`
  return html`${timeline([...(asked ? [] : upcoming(pass)), ...shown])}
${(asked || isMore) && html`<nav class="paging" aria-label="Timeline">${asked && link(page, 'Newest')}${isMore && last && link(`${page}?${BEFORE}=${last.created}.${last.id}`, 'Earlier')}</nav>`}`
}

/** The last time of PostgreSQL's and JavaScript's common range that has four digits of year. */
const LATEST = Date.UTC(9999, 11, 31)

function readPlace(text: string): HistoryPlace | undefined {
  const [, created, id] = /^(\d{1,15})\.([0-9a-z_]{1,32})$/.exec(text) ?? []
  return id === undefined || Number(created) > LATEST ? undefined : { created: Number(created), id }
}

function isBefore(one: HistoryPlace, other: HistoryPlace): boolean {
  return one.created < other.created || (one.created === other.created && one.id < other.id)
}

/** What the pass itself records. An installation is left out if its event tells it. */
function milestones(pass: PassObject, events: readonly PassEventRow[]): PlacedEntry[] {
  const { created, installed_at, revoked_at, archived_at, expires_at, status } = pass
  const isTold = events.some((each) => each.created === Date.parse(installed_at ?? ''))
  // At the same time, an entry with a lower ID comes first.
  const entries: readonly (readonly [id: string, at: string | null, entry: Omit<TimelineEntry, 'at'>])[] = [
    ['0', created, { what: 'Issued', icon: 'ticket' }],
    ['1', isTold ? null : installed_at, { what: 'Added to a wallet', icon: 'wallet' }],
    ['x', status === 'expired' ? expires_at : null, { what: 'Expired', mood: 'bad' }],
    ['x', revoked_at, { what: 'Revoked', mood: 'bad' }],
    ['y', archived_at, { what: 'Archived' }],
  ]
  return entries.flatMap(([id, at, entry]) =>
    at === null ? [] : [{ created: Date.parse(at), id, at: when(at), ...entry }],
  )
}

function upcoming(pass: PassObject): TimelineEntry[] {
  if (pass.expires_at === null || !isUsable(pass)) return []
  return [{ what: 'Expires', at: when(pass.expires_at), icon: 'calendar' }]
}

interface ToldPass {
  readonly platform?: string
  readonly [name: string]: unknown
}

interface ToldEvent {
  readonly data: { readonly pass: ToldPass }
  readonly previous_attributes?: Readonly<Record<string, unknown>>
}

function tellEvent(
  { id, type, body, created }: PassEventRow,
  labels: ReadonlyMap<string, string>,
): PlacedEntry {
  const { data, previous_attributes: previous = {} } = JSON.parse(body) as ToldEvent
  const place = { created, id, at: when(new Date(created).toISOString()) }
  const wallet = WALLETS[data.pass.platform ?? ''] ?? 'a wallet'
  if (type === 'pass.installed') return { ...place, what: `Added to ${wallet}`, icon: 'wallet', mood: 'good' }
  if (type === 'pass.uninstalled') return { ...place, what: `Removed from ${wallet}`, icon: 'trash-2' }
  const changes = [...changesOf(previous, data.pass, labels)]
  return {
    ...place,
    what: 'Changed',
    icon: 'pencil',
    more: html`<dl class="changes">${changes.map(
      ([name, from, to]) =>
        html`<dt>${name}</dt><dd><span class="was">${orDash(from)}</span> → <strong>${orDash(to)}</strong></dd>`,
    )}</dl>`,
  }
}

type ToldChange = readonly [name: string, from: string, to: string]

/** Lists the changed values. Members of `fields` have the labels of the template. */
function* changesOf(
  previous: Readonly<Record<string, unknown>>,
  now: unknown,
  labels: ReadonlyMap<string, string>,
  above: readonly string[] = [],
): Generator<ToldChange> {
  for (const [name, from] of Object.entries(previous)) {
    const to = isMembers(now) ? now[name] : undefined
    if (above.length === 0 && name === 'updated') continue
    if (isMembers(from)) yield* changesOf(from, to, labels, [...above, name])
    else if (isMembers(to)) continue
    else yield [nameOf([...above, name], labels), textOf(from), textOf(to)]
  }
}

function nameOf(path: readonly string[], labels: ReadonlyMap<string, string>): string {
  const [first = '', second] = path
  if (second === undefined) return words(first)
  return first === 'fields' ? (labels.get(second) ?? second) : `${words(first)} ${second}`
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Scan = components['schemas']['Scan']

const SCANNED: Readonly<Record<Scan['mode'], string>> = { verify: 'Checked in', redeem: 'Redeemed' }

function tellScan(
  { id, mode, result, scanner, location, scanned_at }: Scan,
  { created }: HistoryPlace,
): PlacedEntry {
  const isAccepted = result === 'accepted'
  const place = location && `${location.latitude}, ${location.longitude}`
  const where = [scanner, place].filter(Boolean).join(' · ')
  return {
    created,
    id,
    at: when(scanned_at),
    what: isAccepted ? SCANNED[mode] : `Scan refused: ${words(result).toLowerCase()}`,
    icon: 'scan-line',
    mood: isAccepted ? 'good' : 'warn',
    ...(where !== '' && { more: html`${where}` }),
  }
}
