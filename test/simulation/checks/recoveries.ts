/** Recoveries of webhook endpoints, computed a second time from the events and the attempts. */
import type { Merchant } from '../merchant.ts'
import type { Arrival } from '../peers.ts'
import { type RecoveryRow, recoveryOf } from './endpoints.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'
import { type AttemptRow, type EndpointRow, type EventRow, isWanted } from './webhooks.ts'

/** A recovery ends within this time, and one late poll for each of its steps. */
const SOON_MS = 3_600_000

/** Between the clock's reading and the request. */
const SKEW_MS = 5000

/** Each recovery sent the events of its period, at its pace, and told how they ended. */
export async function recoveriesAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  const { faults, now, lateMs } = evidence
  const read = <Row>(table: string, order = 'id') => rowsOf<Row>(evidence, 'live', merchant, table, order)
  const recoveries = await read<RecoveryRow>('webhook_recoveries')
  const events = await read<EventRow>('events', 'sequence')
  const attempts = await read<AttemptRow>('webhook_attempts')
  const endpoints = await read<EndpointRow>('webhook_endpoints')
  const told = events.filter(({ type }) => type === 'webhook_recovery.completed')
  for (const row of recoveries) {
    const what = `recovery ${row.id} of ${merchant.name}`
    const endpoint = endpoints.find(({ id }) => id === row.endpoint_id)
    const isOpen = row.status === 'counting' || row.status === 'running'
    if (isOpen && row.updated < now - SOON_MS - 2 * lateMs)
      fail(`${what} is ${row.status} since ${row.updated}`)
    if (row.updated < row.created || row.until > row.created || row.since > row.until)
      fail(`the times of ${what} are wrong`)
    // In a storm, an event that is older than the recovery can be committed after it.
    if (faults === 0)
      mustEqual(rangeOf(row, events), { before: row.before, last: row.last }, `the range of ${what}`)
    if (row.reached < row.before || row.reached > Math.max(row.last, row.before))
      fail(`${what} is at ${row.reached}, from ${row.before} to ${row.last}`)
    const own = told.filter(({ body }) => JSON.parse(body).data.webhook_recovery.id === row.id)
    if (merchant.isCurrent)
      mustEqual(own.length, row.status === 'completed' ? 1 : 0, `events that tell the end of ${what}`)
    if (row.status !== 'completed') continue
    if (merchant.isCurrent)
      mustEqual(
        JSON.parse(own[0]!.body).data.webhook_recovery,
        recoveryOf(row),
        `what tells the end of ${what}`,
      )
    mustEqual([row.queued, row.reached], [[], row.last], `what is left of ${what}`)
    // A retry by hand decides whether an event is still missing when the recovery comes to it.
    const isDisturbed = merchant.byHand.some(({ at }) => at >= row.created - SKEW_MS && at <= row.updated)
    if (faults > 0 || !endpoint || isDisturbed) continue
    isSent(evidence, row, {
      endpoint,
      events: events.filter((event) => isRecovered(event, row, endpoint)),
      attempts: attempts.filter(({ endpoint_id }) => endpoint_id === endpoint.id),
    })
  }
}

/** The sequence numbers around the events of the period. */
function rangeOf({ since, until, created }: RecoveryRow, events: readonly EventRow[]) {
  const before = events.filter((event) => event.created <= created)
  const first = before.find((event) => event.created >= since)
  const last = before.findLast((event) => event.created <= until)
  return first && last ? { before: first.sequence - 1, last: last.sequence } : { before: 0, last: 0 }
}

/** Whether the event is one of the period that the recovery looks for. */
function isRecovered(event: EventRow, { since, until, types }: RecoveryRow, endpoint: EndpointRow): boolean {
  if (event.created < since || event.created > until) return false
  if (types !== null && !types.includes(event.type)) return false
  return isWanted(event, {
    ...endpoint,
    created: Number.NEGATIVE_INFINITY,
    ...(types !== null && { enabled_events: ['*'] }),
  })
}

/** In a calm universe: each event of the recovery arrived once more, in order, a batch a second. */
function isSent(
  { receivers }: Evidence,
  row: RecoveryRow,
  parts: {
    readonly endpoint: EndpointRow
    readonly events: readonly EventRow[]
    readonly attempts: readonly AttemptRow[]
  },
): void {
  const what = `recovery ${row.id}`
  const { endpoint, events, attempts } = parts
  const arrivals = receivers.arrivals.get(new URL(endpoint.url).host) ?? []
  const sentOf = ({ id, sequence }: EventRow) => {
    const own = arrivals.filter(({ event }) => event === id)
    const before = own.filter(({ at }) => at < row.created)
    const during = own.filter(({ at }) => at >= row.created && at <= row.updated)
    const isDelivered = before.some(({ status }) => status >= 200 && status < 300)
    const wasTried = attempts.some(({ event_id, created }) => event_id === id && created <= row.created)
    return { sequence, first: during[0], isMissing: wasTried && !isDelivered }
  }
  const wanted = events.map(sentOf).filter(({ isMissing }) => row.scope === 'all' || isMissing)
  const lost = wanted.find(({ first }) => !first)
  if (lost) fail(`${what} did not send event ${lost.sequence}`)
  const [sent, failed] = [true, false].map(
    (isGood) => wanted.filter(({ first }) => (first!.status >= 200 && first!.status < 300) === isGood).length,
  )
  mustEqual(
    { total: row.total, sent: row.sent, failed: row.failed },
    { total: wanted.length, sent, failed },
    `what ${what} of ${row.rate} events a second counted`,
  )
  isContinuous(
    row,
    wanted.map(({ first }) => first!),
    what,
  )
  for (const [index, { first, sequence }] of wanted.entries()) {
    const later = wanted[index + row.rate]?.first?.at
    const muchLater = wanted[index + 2 * row.rate]?.first?.at
    if (later !== undefined && later < first!.at) fail(`${what} sent event ${sequence} too late`)
    if (muchLater !== undefined && muchLater < first!.at + PACE_MS)
      fail(`${what} was faster than ${row.rate} a second`)
  }
}

/** A batch follows as soon as the one before it has ended, if that took longer than a second. */
function isContinuous(row: RecoveryRow, sent: readonly Arrival[], what: string): void {
  for (let index = row.rate; index < sent.length; index += row.rate) {
    const batch = sent.slice(index - row.rate, index)
    const began = Math.min(...batch.map(({ at }) => at))
    const ended = Math.max(...batch.map(({ at, failure }) => at + (failure === undefined ? 0 : DEADLINE_MS)))
    if (ended > began + 2 * PACE_MS && sent[index]!.at > ended + NEXT_MS)
      fail(`${what} waited for ${sent[index]!.at - ended} ms between two batches`)
  }
}

const DEADLINE_MS = 10_000

/** Between the end of a batch and the next one. Where an endpoint does not answer, the next one can wait for other attempts. */
const NEXT_MS = 4 * DEADLINE_MS

/** A batch a second; at most one batch is late. Arrivals differ by the latency of the network. */
const PACE_MS = 850
