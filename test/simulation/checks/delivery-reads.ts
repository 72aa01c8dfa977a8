/** What the dashboard reads of deliveries, computed a second time from the attempts. */
import type { Database } from '../../../runtime/database/database.ts'
import { compareDeliveries } from '../../../runtime/events/delivery-attempts/comparison.ts'
import { countAttemptsByHour, readAttemptHealth } from '../../../runtime/events/delivery-attempts/queries.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'
import type { AttemptRow, EndpointRow, EventRow } from './webhooks.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** More than a merchant has. */
const ALL = 100_000

/** Each comparison of endpoints, count by hour and summary of an endpoint follows from the attempts. */
export async function deliveriesAreSummed(evidence: Evidence, merchant: Merchant): Promise<void> {
  const { db } = evidence
  for (const environment of ['sandbox', 'live'] as const) {
    const read = <Row>(table: string, order?: string) =>
      rowsOf<Row>(evidence, environment, merchant, table, order)
    const attempts = await read<AttemptRow>('webhook_attempts')
    const endpoints = await read<EndpointRow>('webhook_endpoints')
    const events = await read<EventRow>('events', 'sequence DESC')
    await db.query({ text: `SET search_path = ${environment}` })
    await hoursAreCounted(db, merchant, attempts)
    for (const [index, { id }] of endpoints.entries()) {
      const own = attempts.filter(({ endpoint_id }) => endpoint_id === id)
      await isSummed(db, merchant, id, own)
      const other = endpoints[(index + 1) % endpoints.length]!
      await areCompared(db, merchant, [id, other.id], events, attempts)
    }
    await db.query({ text: 'RESET search_path' })
  }
}

/** Differences on one page. */
const SHOWN = 50

/** A merchant sees page by page which events only one of two endpoints has received, the newest first. */
async function areCompared(
  db: Database,
  { tenantId, name }: Merchant,
  pair: readonly [string, string],
  events: readonly EventRow[],
  attempts: readonly AttemptRow[],
): Promise<void> {
  const receivedBy = (endpoint: string) =>
    new Set(
      attempts
        .filter(({ endpoint_id, status }) => endpoint_id === endpoint && status === 'succeeded')
        .map(({ event_id }) => event_id),
    )
  const [one, other] = pair.map(receivedBy) as [Set<string>, Set<string>]
  const wanted = events
    .filter(({ id }) => one.has(id) !== other.has(id))
    .map(({ id, sequence, type, created }) => ({
      ...{ id, sequence, type, created },
      received_by: one.has(id) ? pair[0] : pair[1],
    }))
  const found: object[] = []
  for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
    const { differences, next } = await compareDeliveries(db, tenantId, pair, before)
    const isLast = found.length + differences.length >= wanted.length
    if (!isLast && differences.length !== SHOWN)
      fail(`a page of a comparison of ${name} has ${differences.length} differences`)
    found.push(...differences)
    if (isLast) mustEqual([found.length, next], [wanted.length, undefined], 'the end of a comparison')
    before = next
  }
  mustEqual(found, wanted, `what one of two endpoints of ${name} received`)
}

/** Counts by the hour of those that were made since an instant, which is included. */
async function hoursAreCounted(
  db: Database,
  { tenantId, name }: Merchant,
  attempts: readonly AttemptRow[],
): Promise<void> {
  const newest = attempts.toSorted((a, b) => (a.id < b.id ? 1 : -1))
  for (const most of [Math.ceil(newest.length / 2), ALL]) {
    const some = newest.slice(0, most).filter(({ attempted_at }) => attempted_at !== null)
    const times = some.map(({ attempted_at }) => attempted_at!).toSorted((a, b) => a - b)
    const since = times[Math.floor(times.length / 3)]
    if (since === undefined) continue
    const hours = Map.groupBy(
      some.filter(({ attempted_at }) => attempted_at! >= since),
      ({ attempted_at }) => Math.floor(attempted_at! / HOUR_MS) * HOUR_MS,
    )
    mustEqual(
      await countAttemptsByHour(db, tenantId, since, most),
      [...hours]
        .toSorted(([a], [b]) => a - b)
        .map(([hour, own]) => ({ hour, succeeded: count(own, 'succeeded'), failed: count(own, 'failed') })),
      `attempts of ${name} by the hour`,
    )
  }
}

const count = (rows: readonly AttemptRow[], wanted: string) =>
  rows.filter(({ status }) => status === wanted).length

/** A summary by the hour, or by the day if the attempts are of more than two days. */
async function isSummed(
  db: Database,
  { tenantId }: Merchant,
  endpoint: string,
  attempts: readonly AttemptRow[],
): Promise<void> {
  const ended = attempts.filter(
    ({ status, attempted_at }) => (status === 'succeeded' || status === 'failed') && attempted_at !== null,
  )
  const begins = ended.map(({ created }) => created).toSorted((a, b) => a - b)
  for (const since of [begins[0] ?? 0, begins[Math.floor(begins.length / 2)] ?? 0]) {
    const some = ended.filter(({ created }) => created >= since)
    const times = some.map(({ attempted_at }) => attempted_at!)
    const unit = Math.max(...times) - Math.min(...times) <= 2 * DAY_MS ? 'hour' : 'day'
    const length = unit === 'hour' ? HOUR_MS : DAY_MS
    const periods = Map.groupBy(some, ({ attempted_at }) => Math.floor(attempted_at! / length) * length)
    const sumOf = (start: number | null, own: readonly AttemptRow[]) => ({
      ...{ start, unit, succeeded: count(own, 'succeeded'), failed: count(own, 'failed') },
      ...{ p50: percentile(own, 0.5), p95: percentile(own, 0.95) },
    })
    const wanted = [...periods].toSorted(([a], [b]) => a - b).map(([start, own]) => sumOf(start, own))
    const rows = await readAttemptHealth(db, tenantId, endpoint, since, ALL)
    mustEqual(rows, some.length === 0 ? [] : [...wanted, sumOf(null, some)], `the health of ${endpoint}`)
  }
  const [few] = (await readAttemptHealth(db, tenantId, endpoint, 0, FEW)).slice(-1)
  mustEqual((few?.succeeded ?? 0) + (few?.failed ?? 0), Math.min(FEW, ended.length), 'a short summary')
}

const FEW = 3

/** The smallest duration that a share of the durations does not exceed. */
function percentile(rows: readonly AttemptRow[], share: number): number | null {
  const durations = rows.flatMap(({ duration_ms }) => duration_ms ?? []).toSorted((a, b) => a - b)
  return durations[Math.ceil(share * durations.length) - 1] ?? null
}
