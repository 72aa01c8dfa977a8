/** In a calm universe: how fast deliveries are made, how many at once, and what the workers count. */
import type { WorkerStats } from '../../../runtime/events/delivery/worker.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import type { Arrival } from '../peers.ts'
import { SANDBOX_RATE } from '../tenants.ts'
import { type Evidence, read } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface MadeRow {
  readonly url: string
  readonly attempt: number
  readonly trigger: 'schedule' | 'manual'
  readonly delivery: 'unordered' | 'fifo'
  readonly status: string
  readonly scheduled_at: number
  readonly attempted_at: number
  readonly event_created: number
  readonly updated: number
}

const MADE = (environment: string) => `
  SELECT w.url, w.delivery, a.attempt, a.trigger, a.status, a.scheduled_at, a.attempted_at, a.updated, e.created AS event_created
    FROM ${environment}.webhook_attempts a
    JOIN ${environment}.webhook_endpoints w ON w.tenant_id = a.tenant_id AND w.id = a.endpoint_id
    JOIN ${environment}.events e ON e.tenant_id = a.tenant_id AND e.id = a.event_id
   WHERE a.attempted_at IS NOT NULL`

/** Between the time from which an attempt could be made, and its beginning. A poll comes later than that. */
export const PROMPT_MS = 3000

/** Requests that a tenant may send at once, and in a second. */
const BUCKETS = { sandbox: SANDBOX_RATE, live: 100 }

/** Requests at once to one endpoint. */
const WIDTH = 64

/** Between a poll and the attempt. */
const SOON_MS = 60_000

/** From the start until the first day. */
const HOLD_MS = 2 * 86_400_000

const DEADLINE_MS = 10_000

export async function deliveriesAreTimely(evidence: Evidence): Promise<void> {
  const { db, receivers, faults, stats, merchants } = evidence
  if (faults > 0 || !stats) return
  for (const environment of ['sandbox', 'live'] as const) {
    const made = await read<MadeRow>(db, MADE(environment))
    for (const own of Map.groupBy(made, ({ url }) => url).values()) isPrompt(own, evidence)
    const own = [...receivers.arrivals].filter(([host]) => host.startsWith(`${environment}.`))
    // An endpoint that was enabled again has no timeouts.
    for (const [host, arrivals] of own) if (!host.includes('.broken.')) isNarrow(host, arrivals)
    const all = own.flatMap(([, arrivals]) => arrivals)
    const usual = all.filter(({ headers }) => headers['Service-Injected-Fault'] !== 'duplicate')
    isPaced(environment, usual)
    isCounted(environment, usual, stats[environment])
  }
  await areTimeoutsCounted(evidence)
  for (const { disturbed } of merchants) areDisturbed(disturbed, evidence)
}

/**
 * A first attempt is made at once, and a later one after a poll; or as soon as another attempt of its endpoint has ended: a receiver
 * that is silent gets few requests at once. Ordered endpoints have their own rule for first attempts.
 */
function isPrompt(own: readonly MadeRow[], { lateMs, started }: Evidence): void {
  const ends = own.map(({ updated }) => updated)
  for (const { url, attempt, trigger, delivery, scheduled_at, attempted_at, event_created } of own) {
    // Before the first day, polls are later.
    const isOfDay = scheduled_at > started + HOLD_MS
    if (trigger !== 'schedule' || (attempt === 1 ? delivery === 'fifo' : !isOfDay)) continue
    const due = attempt === 1 ? event_created : scheduled_at + lateMs + SOON_MS
    const since = Math.max(due, ...ends.filter((end) => end <= attempted_at))
    if (attempted_at - since > PROMPT_MS)
      fail(`attempt ${attempt} at ${url} was made ${attempted_at - since} ms after it could have been`)
  }
}

/** An endpoint that never answers has as many timeouts in a row as are counted at most. */
async function areTimeoutsCounted({ db, receivers, merchants }: Evidence): Promise<void> {
  for (const { endpoints, hosts, name } of merchants) {
    const id = endpoints.get('live.broken')!
    const [row] = await read<{ timeouts: number; status: string }>(
      db,
      'SELECT timeouts, status FROM live.webhook_endpoints WHERE id = $1',
      id,
    )
    const disabled = await read<{ created: number }>(
      db,
      `SELECT created FROM live.events WHERE type = 'webhook_endpoint.disabled' AND audience_endpoint_id = $1 ORDER BY created`,
      id,
    )
    const since = disabled.at(row!.status === 'disabled' ? -2 : -1)?.created ?? 0
    const arrivals = receivers.arrivals.get(`live.${hosts.broken}`) ?? []
    // The last attempt of an event is not counted.
    const own = arrivals.filter(({ at, attempt }) => at > since && attempt < 5)
    if (own.length >= 8) mustEqual(row!.timeouts, 6, `the timeouts in a row of the endpoint of ${name}`)
  }
}

/** At most 64 requests to an endpoint are in progress, half as many after each timeout in a row. */
function isNarrow(host: string, arrivals: readonly Arrival[]): void {
  const endOf = ({ at, failure }: Arrival) => at + (failure === undefined ? 200 : DEADLINE_MS)
  for (const { at } of arrivals) {
    const ended = arrivals.filter((each) => endOf(each) < at).toSorted((a, b) => endOf(a) - endOf(b))
    const answer = ended.findLast(({ failure }) => failure !== LATE)
    // What ends together is recorded together, and an answer outweighs timeouts.
    const since = answer ? endOf(answer) + 1000 : 0
    const late = ended.filter((each) => endOf(each) > since && endOf(each) < at - 2000)
    const timeouts = Math.min(6, late.length)
    const open = arrivals.filter((each) => each.at <= at && endOf(each) > at + 200).length
    if (open > WIDTH >> timeouts) fail(`${host} got ${open} requests at once after ${timeouts} timeouts`)
  }
}

/** A tenant's bucket holds as many requests as it may send in a second, and refills in one second. Arrivals differ by the latency of the network. */
function isPaced(environment: Environment, arrivals: readonly Arrival[]): void {
  const times = arrivals.map(({ at }) => at).toSorted((a, b) => a - b)
  for (const [from, start] of times.entries())
    for (let to = from; to < times.length && times[to]! < start + 5000; to += 1)
      if (to - from + 1 > BUCKETS[environment] * (1 + (times[to]! - start + 200) / 1000))
        fail(`${to - from + 1} requests were sent in ${environment} in ${times[to]! - start} ms`)
}

/** The worker has counted each attempt by how it ended, and how late it was. */
function isCounted(environment: string, arrivals: readonly Arrival[], stats: WorkerStats): void {
  const good = arrivals.filter(({ status }) => status >= 200 && status < 300).length
  const { succeeded, failed, disabled, stale, lost, canceled } = stats.attempts
  mustEqual(
    { succeeded, failed: failed + disabled, stale, lost },
    { succeeded: good, failed: arrivals.length - good, stale: 0, lost: 0 },
    `what the worker of ${environment} has counted`,
  )
  const { underWay, capacity, failing, lateness, latenessMs, claims } = stats
  mustEqual(
    { underWay, capacity, failing },
    { underWay: 0, capacity: 1024, failing: false },
    `the worker of ${environment} at rest`,
  )
  const count = lateness.durations.reduce((sum, each) => sum + each, 0)
  mustEqual(count, arrivals.length + canceled, `delays that the worker of ${environment} has counted`)
  if (latenessMs < 0 || lateness.totalMs <= 0 || lateness.totalMs > count * 86_400_000)
    fail(`the worker of ${environment} was ${lateness.totalMs} ms late`)
  if (claims < count / WIDTH) fail(`the worker of ${environment} has claimed ${claims} times`)
}

/** Deliveries that a merchant wants late and twice in the sandbox are so, and no others. */
function areDisturbed(disturbed: ReadonlyMap<string, boolean | undefined>, { receivers }: Evidence): void {
  for (const [host, arrivals] of receivers.arrivals)
    if (host.startsWith('live.') && arrivals.some(({ headers }) => headers['Service-Injected-Fault']))
      fail(`${host} was disturbed`)
  for (const [event, isOn] of disturbed) {
    if (isOn === undefined) continue
    const seen = [...receivers.arrivals.values()].flat().filter((arrival) => arrival.event === event)
    mustEqual(
      seen.map(({ headers }) => headers['Service-Injected-Fault'] ?? null),
      isOn ? ['late', 'duplicate'] : [null],
      'what a test delivery is marked with',
    )
    const emitted = Date.parse((JSON.parse(seen[0]!.body) as { readonly created: string }).created)
    if (isOn && seen[0]!.at - emitted < 150) fail('a delivery that must be late was not late')
  }
}

const LATE = 'no answer in time'
