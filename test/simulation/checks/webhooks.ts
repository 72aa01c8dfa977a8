/** Delivery attempts: how many, when, what was sent and how it ended, compared with what the receivers saw. */
import type { Merchant } from '../merchant.ts'
import type { Arrival } from '../peers.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'
import { areSigned } from './signatures.ts'

export interface AttemptRow {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled'
  readonly trigger: 'schedule' | 'manual'
  readonly response_status: number | null
  readonly response_body: string | null
  readonly error: string | null
  readonly duration_ms: number | null
  readonly scheduled_at: number
  readonly attempted_at: number | null
  readonly next_attempt_at: number | null
  readonly created: number
  readonly updated: number
}

interface Filter {
  readonly property: string
  readonly equals: readonly unknown[]
}

/** Whether an event has one of the values of each filter. A property that it does not have is null. */
function matches({ body, source }: EventRow, filters: readonly Filter[] | null): boolean {
  const event = source ?? JSON.parse(body)
  return (filters ?? []).every(({ property, equals }) => {
    let value: unknown = event
    for (const name of property.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
    return equals.includes(value ?? null)
  })
}

export interface EndpointRow {
  readonly id: string
  readonly url: string
  readonly status: 'enabled' | 'disabled'
  readonly disabled_reason: string | null
  readonly delivery: 'unordered' | 'fifo'
  readonly retry_schedule: 'standard' | 'extended'
  readonly signature: 'service' | 'standard_webhooks'
  readonly filters: readonly Filter[] | null
  readonly fifo_key: 'endpoint' | 'object'
  readonly enabled_events: readonly string[]
  readonly generation: number
  readonly created: number
}

interface QueueRow {
  readonly attempt_id: string
  readonly due_at: number
  readonly lease_until?: number | null
  readonly token?: string | null
}

export interface EventRow {
  readonly id: string
  readonly body: string
  readonly sequence: number
  /** The event in the newest version, if `body` is in an older one. */
  readonly source: object | null
  readonly type: string
  readonly created: number
  readonly audience: 'only' | 'others' | 'subscribed' | null
  readonly audience_endpoint_id: string | null
}

const MINUTE_MS = 60_000
const SCHEDULES = { standard: [0, 5, 30, 120, 300], extended: [0, 5, 120, 1440, 4320] } as const
const LAST = 5

const isAbout = ({ audience_endpoint_id }: EventRow, { id }: EndpointRow) => audience_endpoint_id === id

/** Every event has its attempts at every endpoint that wants it, on schedule, and each tells what the receiver answered. */
export async function attemptsAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ['sandbox', 'live'] as const) {
    const all = await rowsOf<AttemptRow>(
      evidence,
      environment,
      merchant,
      'webhook_attempts',
      'event_id, attempt',
    )
    const events = await rowsOf<EventRow>(evidence, environment, merchant, 'events', 'sequence')
    const endpoints = await rowsOf<EndpointRow>(evidence, environment, merchant, 'webhook_endpoints')
    await queuesAreRight(evidence, merchant, environment, all, endpoints)
    for (const endpoint of endpoints) {
      const wasPaused =
        merchant.pauses.has(endpoint.id) ||
        events.some((event) => isAbout(event, endpoint) && event.type === 'webhook_endpoint.disabled')
      const { host } = new URL(endpoint.url)
      const arrivals = evidence.receivers.arrivals.get(host) ?? []
      areSigned(arrivals, endpoint, merchant, host)
      const attempts = Map.groupBy(
        all.filter(({ endpoint_id }) => endpoint_id === endpoint.id),
        ({ event_id }) => event_id,
      )
      for (const event of events) {
        const own = attempts.get(event.id) ?? []
        attempts.delete(event.id)
        const place = `${event.type} at ${host}`
        const isEither = Math.abs(event.created - endpoint.created) < evidence.skewMs
        if (isWanted(event, endpoint) !== own.length > 0 && !wasPaused && !isEither)
          fail(`${place} has ${own.length} attempts`)
        const seen = arrivals.filter(
          ({ event: id, headers }) => id === event.id && headers['Service-Injected-Fault'] !== 'duplicate',
        )
        chainIsRight(own, event, endpoint, place, wasPaused, evidence.skewMs)
        for (const attempt of own)
          endIsRight(
            attempt,
            seen.filter((each) => each.attempt === attempt.attempt),
            place,
            {
              isCalm: evidence.faults === 0 && !wasPaused,
              wasHurried: own.some((each) => each.attempt > attempt.attempt && each.trigger === 'manual'),
              isOrdered: endpoint.delivery === 'fifo',
              byHand: merchant.byHand.filter((each) => each.event === event.id).length,
            },
          )
        if (seen.some((arrival) => !own.some(({ attempt }) => attempt === arrival.attempt)))
          fail(`${place} arrived in an attempt that is not stored`)
      }
      if (endpoint.delivery === 'fifo') isInOrder(arrivals, events, endpoint)
      if (attempts.size > 0) fail(`${host} has attempts of an event that is not stored`)
      endpointIsRight(all, endpoint, events)
    }
  }
}

export function isWanted(event: EventRow, { id, enabled_events, created, filters }: EndpointRow): boolean {
  const { audience, audience_endpoint_id: other } = event
  if (audience === 'only') return other === id
  // Every other endpoint is told of a disabled one.
  if (audience === 'others') return other !== id && event.created > created
  const isSubscribed = enabled_events.includes('*') || enabled_events.includes(event.type)
  const isOther = audience === 'subscribed' && other !== id && event.created > created
  return isSubscribed && isOther && matches(event, filters)
}

/** Longest time for which an attempt can have been in progress when another one succeeds. */
const UNDER_WAY_MS = 120_000

/** Attempts are numbered, each begins when the one before it says, and only the last of them has not ended. */
function chainIsRight(
  own: readonly AttemptRow[],
  event: EventRow,
  endpoint: EndpointRow,
  place: string,
  wasPaused: boolean,
  skewMs: number,
): void {
  const byHand = own.find(({ trigger, status }) => trigger === 'manual' && status === 'succeeded')
  const needless = own.find(
    ({ trigger, status, attempted_at }) =>
      byHand &&
      trigger === 'schedule' &&
      (status === 'pending' || (attempted_at ?? 0) > byHand.updated + skewMs + UNDER_WAY_MS),
  )
  if (needless && !wasPaused) fail(`attempt ${needless.attempt} of ${place} follows a success by hand`)
  // After a pause, an ordered endpoint begins again with the first attempt, and another one follows beside a canceled one.
  const made = own.filter(({ status }) => !(wasPaused && status === 'canceled'))
  for (const [
    index,
    { attempt, scheduled_at, attempted_at, next_attempt_at, status, trigger },
  ] of made.entries()) {
    if (attempt !== index + 1) fail(`attempt ${index + 1} of ${place} has the number ${attempt}`)
    if (wasPaused) continue // canceled attempts are made again in a recovery
    const before = own[index - 1]
    const isScheduled = trigger === 'schedule' && status !== 'canceled'
    if (before?.trigger === 'schedule' && before.next_attempt_at === null && isScheduled)
      fail(`attempt ${attempt} of ${place} follows one that ended it`)
    if (before && trigger === 'schedule' && status !== 'canceled') {
      const delays = SCHEDULES[endpoint.retry_schedule]
      const base =
        endpoint.delivery === 'fifo' ? before.attempted_at! - delays[index - 1]! * MINUTE_MS : event.created
      const due = Math.max(base + delays[index]! * MINUTE_MS, before.attempted_at! + MINUTE_MS)
      if (before.trigger === 'schedule') {
        mustEqual(before.next_attempt_at, due, `the time after attempt ${attempt - 1} of ${place}`)
        mustEqual(scheduled_at, due, `the time of attempt ${attempt} of ${place}`)
      }
    }
    if (!before && trigger === 'schedule' && endpoint.delivery !== 'fifo')
      mustEqual(scheduled_at, event.created, `the time of the first attempt of ${place}`)
    if (attempted_at !== null && attempted_at < scheduled_at - skewMs)
      fail(`attempt ${attempt} of ${place} came too early`)
    if (next_attempt_at !== null && (status !== 'failed' || !own[index + 1]))
      fail(`attempt ${attempt} of ${place} is ${status}, and has no next one`)
  }
}

const REDIRECTED = 'the endpoint redirects; redirects are not followed'

/** Between the end of an attempt and its record. */
const SOON_MS = 5000

/** Between the clock's reading and the request. */
const SKEW_MS = 5000

interface Circumstances extends Readonly<Record<'isCalm' | 'isOrdered' | 'wasHurried', boolean>> {
  /** How often the event was sent again by hand. An attempt that fails so returns to its schedule, with its number. */
  readonly byHand: number
}

/** The attempt tells what the receiver answered. */
function endIsRight(
  row: AttemptRow,
  seen: readonly Arrival[],
  place: string,
  { isCalm, isOrdered, wasHurried, byHand }: Circumstances,
): void {
  const { attempt, status, response_status, response_body, error, duration_ms, attempted_at } = row
  const what = `attempt ${attempt} of ${place}`
  if (status === 'pending' || status === 'canceled') {
    if (status === 'pending' && response_status !== null) fail(`${what} is pending with an answer`)
    return
  }
  if (attempted_at === null || duration_ms === null) fail(`${what} ended without a time`)
  const isGood = response_status !== null && response_status >= 200 && response_status < 300
  if (isGood !== (status === 'succeeded')) fail(`${what} is ${status} after the answer ${response_status}`)
  if (response_status === null && error === null) fail(`${what} has neither an answer nor an error`)
  const answered = seen.filter(
    (arrival) => arrival.status === response_status && arrival.answer === response_body,
  )
  if (seen.length > 0 && response_status !== null && response_status !== 503 && answered.length === 0)
    fail(`${what} has the answer ${response_status} ${response_body}, which the receiver did not give`)
  const isOften = seen.length < 1 || seen.length > 1 + byHand
  if (isCalm && row.trigger === 'schedule' && isOften) fail(`${what} was sent ${seen.length} times`)
  if (isCalm && !seen.some(({ at }) => Math.abs(at - attempted_at!) <= duration_ms! + SKEW_MS))
    fail(`${what} was sent at ${seen.map(({ at }) => Math.round(at))}, not ${attempted_at}`)
  const isRetried =
    response_status === null ||
    [408, 409, 425, 429].includes(response_status) ||
    (response_status >= 500 && response_status < 600)
  if (isGood && row.next_attempt_at !== null) fail(`${what} is repeated after a success`)
  if (isCalm && !isOrdered && !isRetried && row.next_attempt_at !== null)
    fail(`${what} is repeated after ${response_status}`)
  if (isCalm && row.trigger === 'schedule') {
    const redirects = response_status !== null && response_status >= 300 && response_status < 400
    const wanted = redirects ? REDIRECTED : response_status === null ? seen.at(-1)?.failure : null
    mustEqual(error, wanted ?? null, `the error of ${what}`)
    mustEqual(response_status ?? 0, seen.at(-1)?.status, `the status of ${what}`)
    if (row.updated < attempted_at! || row.updated > attempted_at! + duration_ms! + SOON_MS)
      fail(`${what} was written ${row.updated - attempted_at!} ms after its beginning`)
    mustEqual(row.created <= row.scheduled_at, true, `${what} was made before its time`)
  }
  const mustFollow = isRetried && attempt < LAST && row.trigger === 'schedule' && !wasHurried
  if (isCalm && mustFollow && row.next_attempt_at === null)
    fail(`${what} is not repeated after ${response_status}`)
}

/** The first success of an event comes after those of the events before it, of the same object or of all. */
function isInOrder(
  arrivals: readonly Arrival[],
  events: readonly EventRow[],
  { url, fifo_key }: EndpointRow,
): void {
  const sequences = new Map(events.map(({ id }, index) => [id, index]))
  const last = new Map<string, number>()
  const known = new Set<string>()
  for (const { event, body, status } of arrivals) {
    if (status < 200 || status >= 300 || known.has(event)) continue
    known.add(event)
    const [object] = Object.values((JSON.parse(body) as { data: Record<string, { id?: string }> }).data)
    const key = fifo_key === 'object' ? (object?.id ?? event) : ''
    const sequence = sequences.get(event)!
    if (sequence < (last.get(key) ?? -1)) fail(`event ${sequence + 1} arrived too late at ${url}`)
    last.set(key, sequence)
  }
}

/** What waits has an attempt that is pending, and nothing is due or leased. */
async function queuesAreRight(
  evidence: Evidence,
  merchant: Merchant,
  environment: 'sandbox' | 'live',
  all: readonly AttemptRow[],
  endpoints: readonly EndpointRow[],
): Promise<void> {
  const ready = await rowsOf<QueueRow>(evidence, environment, merchant, 'webhook_ready', 'attempt_id')
  const waiting = await rowsOf<QueueRow>(evidence, environment, merchant, 'webhook_waiting', 'attempt_id')
  const pending = all
    .filter(
      ({ status, endpoint_id }) => status === 'pending' && endpoints.some(({ id }) => id === endpoint_id),
    )
    .map(({ id }) => id)
  mustEqual(
    [...ready, ...waiting].map(({ attempt_id }) => attempt_id).toSorted(),
    pending.toSorted(),
    `what waits in ${environment} for ${merchant.name}`,
  )
  const late = evidence.now - LATE_MS
  const left = [...ready, ...waiting].find(
    ({ due_at, lease_until }) => Math.max(due_at, lease_until ?? 0) < late,
  )
  if (left)
    fail(`an attempt of ${merchant.name} was due at ${new Date(left.due_at).toISOString()}, and is not made`)
}

/** Polls can be late by this. */
const LATE_MS = 8 * 3_600_000

/** A fifth failure disables the endpoint, which one event tells to the others. */
function endpointIsRight(
  all: readonly AttemptRow[],
  endpoint: EndpointRow,
  events: readonly EventRow[],
): void {
  const { id, url, status, disabled_reason, generation, delivery } = endpoint
  // A recovery makes a last attempt again, with the trigger `manual`.
  const ends = all.filter(
    ({ endpoint_id, attempt, status }) => endpoint_id === id && attempt === LAST && status === 'failed',
  )
  const lasts = ends.filter(({ trigger }) => trigger === 'schedule')
  const told = events.filter(
    (event) => isAbout(event, endpoint) && event.type === 'webhook_endpoint.disabled',
  )
  if (delivery === 'fifo') return
  const isExhausted = disabled_reason === 'retry_exhausted'
  if (isExhausted && (status !== 'disabled' || ends.length === 0)) fail(`${url} is disabled without a reason`)
  if (lasts.length > 0 && told.length === 0) fail(`no event tells that ${url} was disabled`)
  if (told.length > ends.length || (isExhausted && told.length === 0) || told.length > generation + 1)
    fail(`${told.length} events tell that ${url} was disabled`)
  if (status === 'disabled') {
    const left = all.find((each) => each.endpoint_id === id && each.status === 'pending')
    if (left) fail(`${url} is disabled, and attempt ${left.attempt} is pending`)
  }
}
