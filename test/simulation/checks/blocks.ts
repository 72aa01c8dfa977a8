/** Ordered endpoints: what blocks them, what events tell of it, and which events wait. */
import type { Merchant } from '../merchant.ts'
import { PROMPT_MS } from './deliveries.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'
import { type AttemptRow, type EndpointRow, type EventRow, isWanted } from './webhooks.ts'

interface OrderedRow extends EndpointRow {
  readonly settled: number | null
  readonly since: number | null
}

interface WaitingRow {
  readonly attempt_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly previous_id: string | null
  readonly due_at: number
}

interface HeldRow {
  readonly endpoint_id: string
  readonly key: string
  readonly sequence: number
  readonly event_id: string
  readonly state: 'held' | 'queued' | 'skipped'
}

interface BlockRow {
  readonly endpoint_id: string
  readonly event_id: string
  readonly key: string | null
  readonly since: number
}

/** What an event tells of a block. */
interface Told {
  readonly id: string
  readonly blocked?: Readonly<Record<string, unknown>>
  readonly unblocked?: Readonly<Record<string, unknown>>
}

const at = (ms: number) => new Date(ms).toISOString()

const keyOf = ({ body, source }: EventRow): string => {
  const [object] = Object.values((source ?? JSON.parse(body)).data as Record<string, { id?: string }>)
  return object?.id ?? ''
}

interface Ordered {
  readonly endpoint: OrderedRow
  readonly events: readonly EventRow[]
  readonly attempts: readonly AttemptRow[]
  readonly waiting: readonly WaitingRow[]
  readonly ready: readonly WaitingRow[]
  readonly held: readonly HeldRow[]
  readonly blocks: readonly BlockRow[]
  readonly merchant: Merchant
}

/** In a calm universe: an event of an ordered endpoint is sent as soon as the events before it have ended. */
function isSentInTurn({ endpoint, events, attempts }: Ordered): void {
  const isKeyed = endpoint.fifo_key === 'object'
  const chains = Map.groupBy(attempts, ({ event_id }) => event_id)
  const ends = new Map<string, number>()
  for (const event of events) {
    const chain = chains.get(event.id)
    if (!chain) continue
    const key = isKeyed ? keyOf(event) : ''
    const start = Math.max(event.created, ends.get(key) ?? 0)
    const [{ attempted_at, trigger, status }] = chain as [AttemptRow]
    const isSent = trigger === 'schedule' && attempted_at !== null && status !== 'canceled'
    if (isSent && attempted_at > start + PROMPT_MS)
      fail(
        `event ${event.sequence} was sent to ${endpoint.url} ${attempted_at - start} ms after its turn began`,
      )
    ends.set(key, Math.max(start, ...chain.map(({ updated }) => updated)))
  }
}

/** In a calm universe, everything that is kept of the order of endpoints follows from events and attempts. */
export async function blocksAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ['sandbox', 'live'] as const) {
    const read = <Row>(table: string, order: string) =>
      rowsOf<Row>(evidence, environment, merchant, table, order)
    const endpoints = await read<OrderedRow>('webhook_endpoints', 'id')
    const events = await read<EventRow>('events', 'sequence')
    const attempts = await read<AttemptRow>('webhook_attempts', 'event_id, attempt')
    const waiting = await read<WaitingRow>('webhook_waiting', 'event_id')
    const ready = await read<WaitingRow>('webhook_ready', 'event_id')
    const held = await read<HeldRow>('webhook_held_events', 'sequence')
    const blocks = await read<BlockRow>('webhook_blocks', 'event_id')
    const senders = await read<{ planned: number; tokens: number }>('webhook_senders', 'tenant_id')
    if (evidence.faults === 0)
      mustEqual(
        senders.map(({ planned }) => planned),
        [events.at(-1)?.sequence ?? 0],
        `up to which event attempts of ${merchant.name} are planned in ${environment}`,
      )
    if (senders.some(({ tokens }) => tokens < -1 || tokens > 100))
      fail(`${merchant.name} has too many tokens`)
    for (const endpoint of endpoints) {
      const isOwn = (row: { readonly endpoint_id: string }) => row.endpoint_id === endpoint.id
      const ordered: Ordered = {
        ...{ endpoint, events, merchant },
        attempts: attempts.filter(isOwn),
        waiting: waiting.filter(isOwn),
        ready: ready.filter(isOwn),
        held: held.filter(isOwn),
        blocks: blocks.filter(isOwn),
      }
      if (endpoint.delivery !== 'fifo') {
        mustEqual([ordered.held, ordered.blocks], [[], []], `what is kept of the order of ${endpoint.url}`)
        continue
      }
      // Where the secret was rotated, the endpoint was disabled by hand, too, and an event can block it twice.
      const isPlain = !merchant.rotated.has(endpoint.id)
      if (merchant.isCurrent && isPlain) areAnnounced(ordered, evidence.faults === 0)
      if (evidence.faults > 0 || endpoint.status === 'disabled') continue
      if (isPlain) isSentInTurn(ordered)
      areNoted(ordered)
      isSettled(ordered)
      isShown(ordered)
    }
  }
}

/** Between the count of the events that wait and the event that tells of it. */
const COUNTED_MS = 1000

/** A first attempt that is repeated blocks its endpoint, or the events of its object. */
function areAnnounced(
  { endpoint, events, attempts, waiting, ready, merchant }: Ordered,
  isCalm: boolean,
): void {
  const isKeyed = endpoint.fifo_key === 'object'
  const told = events
    .filter(({ type }) => type === 'webhook_endpoint.blocked' || type === 'webhook_endpoint.unblocked')
    .map((event) => ({ event, tells: JSON.parse(event.body).data.webhook_endpoint as Told }))
    .filter(({ tells }) => tells.id === endpoint.id)
  const isOpen = new Set([...waiting, ...ready].map(({ event_id }) => event_id))
  const chains = Map.groupBy(attempts, ({ event_id }) => event_id)
  for (const [id, chain] of chains) {
    const what = `event ${id} at ${endpoint.url}`
    const begins = told.filter(({ tells }) => tells.blocked?.event_id === id)
    const ends = told.filter(({ tells }) => tells.unblocked?.event_id === id)
    const wasBlocked = chain.length > 1 && chain[1]!.trigger === 'schedule'
    if (!isCalm && isOpen.has(id)) continue // the events may still follow
    if (merchant.pauses.has(endpoint.id) && !isCalm) continue
    // A block that ends before a process that lives looks at it is not announced.
    if (wasBlocked && (isCalm ? begins.length !== 1 : begins.length > 1))
      fail(`${begins.length} events tell that ${what} blocks`)
    if (!wasBlocked && begins.length > 0) fail(`${what} does not block`)
    if (begins.length === 0) continue
    if (!isOpen.has(id) !== (ends.length === 1))
      fail(`${ends.length} events tell that ${what} no longer blocks`)
    const [{ event, tells }] = begins as [(typeof begins)[number]]
    const [first, second] = chain as [AttemptRow, AttemptRow]
    const key = isKeyed ? keyOf(events.find((each) => each.id === id)!) : undefined
    const { sequence } = events.find((each) => each.id === id)!
    const behind = events.filter(
      (each) =>
        each.sequence > sequence &&
        each.sequence < event.sequence &&
        isWanted(each, endpoint) &&
        (!isKeyed || keyOf(each) === key),
    )
    if (!isCalm) continue
    const { waiting_events: waiting, ...others } = tells.blocked!
    mustEqual(
      others,
      {
        ...{ event_id: id, delivery_attempt_id: second.id, reason: reasonOf(first), key },
        ...{
          since: at(first.attempted_at!),
          next_attempt_at: at(first.next_attempt_at ?? second.scheduled_at),
        },
      },
      `what tells that ${what} blocks`,
    )
    // Those of the last moment can be committed after they were counted.
    const early = behind.filter(({ created }) => created < event.created - COUNTED_MS)
    const isCounted = Number(waiting) >= early.length && Number(waiting) <= behind.length
    if (!isCounted) fail(`${waiting} events wait for ${what}, not ${behind.length}`)
    if (Math.abs(event.created - first.attempted_at! - (first.duration_ms ?? 0)) > TOLD_MS)
      fail(`an event told at ${at(event.created)} that ${what} blocks`)
    for (const end of ends)
      mustEqual(
        end.tells.unblocked,
        { event_id: id, key, since: at(first.attempted_at!) },
        `what tells that ${what} no longer blocks`,
      )
  }
}

const reasonOf = ({ error, response_status }: AttemptRow) =>
  error ?? `the endpoint answered ${response_status}`

/** Between the end of an attempt and an event that tells of it. */
const TOLD_MS = 10_000

/** The table of blocks has each event that waits for a further attempt. */
function areNoted({ endpoint, waiting, ready, blocks, attempts, events }: Ordered): void {
  const open = [...waiting, ...ready].filter(({ previous_id }) => previous_id !== null)
  mustEqual(
    blocks.map(({ event_id, key, since }) => ({ event_id, key, since })),
    open
      .toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
      .map(({ event_id }) => ({
        event_id,
        key: endpoint.fifo_key === 'object' ? keyOf(events.find(({ id }) => id === event_id)!) : null,
        since: attempts.find((each) => each.event_id === event_id)?.attempted_at,
      })),
    `the blocks of ${endpoint.url}`,
  )
}

/** The events up to `settled` are delivered, skipped or held, and the next one is what blocks. */
function isSettled({ endpoint, events, attempts, waiting, ready, held, merchant }: Ordered): void {
  const delivered = new Set(
    attempts.filter(({ status }) => status === 'succeeded').map(({ event_id }) => event_id),
  )
  const start = endpoint.since ?? 0
  const left = events.filter(
    (event) =>
      event.sequence > start &&
      isWanted(event, { ...endpoint, created: Number.NEGATIVE_INFINITY }) &&
      !delivered.has(event.id) &&
      !merchant.skipped.has(`${endpoint.id} ${event.id}`),
  )
  const settled = endpoint.settled ?? start
  if (endpoint.fifo_key === 'endpoint') {
    mustEqual(held, [], `events that are held for ${endpoint.url}`)
    mustEqual(
      settled,
      left[0] ? left[0].sequence - 1 : (events.at(-1)?.sequence ?? 0),
      `up to which event ${endpoint.url} is settled`,
    )
    return
  }
  mustEqual(settled, events.at(-1)?.sequence ?? 0, `up to which event ${endpoint.url} is read`)
  const open = new Set([...waiting, ...ready].map(({ event_id }) => event_id))
  const keys = new Set<string>()
  mustEqual(
    held.map(({ event_id, key, sequence, state }) => ({ event_id, key, sequence, state })),
    left.map((event) => {
      const key = keyOf(event)
      const isFirst = !keys.has(key)
      keys.add(key)
      return { event_id: event.id, key, sequence: event.sequence, state: isFirst ? 'queued' : 'held' }
    }),
    `events that are held for ${endpoint.url}`,
  )
  const idle = held.find(({ event_id, state }) => state === 'queued' && !open.has(event_id))
  if (idle) fail(`event ${idle.event_id} is next at ${endpoint.url}, and has no attempt`)
}

/** A merchant sees what blocks. */
function isShown({ endpoint, events, attempts, waiting, ready, held, merchant }: Ordered): void {
  const reads = Object.values(merchant.hooksRead!)
  const read = reads.find(({ endpoints }) => endpoints.some(({ shown }) => shown.id === endpoint.id))!
  const { shown } = read.endpoints.find((each) => each.shown.id === endpoint.id)!
  if (attempts.some(({ updated }) => updated >= read.at) || events.some(({ created }) => created >= read.at))
    return
  const isKeyed = endpoint.fifo_key === 'object'
  const open = [...waiting, ...ready].filter(({ previous_id }) => previous_id !== null)
  const wanted = open
    .toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
    .map(({ event_id, attempt_id, previous_id, due_at }) => {
      const chain = attempts.filter((each) => each.event_id === event_id)
      const event = events.find(({ id }) => id === event_id)!
      const own = held.find((each) => each.event_id === event_id)
      const behind = isKeyed
        ? held.filter(({ key, sequence }) => key === own?.key && sequence > own.sequence)
        : events.filter((each) => each.sequence > event.sequence && isWanted(each, endpoint))
      return {
        ...{ event_id, delivery_attempt_id: attempt_id, next_attempt_at: at(due_at) },
        reason: reasonOf(chain.find(({ id }) => id === previous_id)!),
        since: at(chain[0]!.attempted_at!),
        waiting_events: behind.length,
        key: isKeyed ? own?.key : undefined,
      }
    })
  mustEqual(shown.blocked, wanted[0] ?? null, `what blocks ${endpoint.url}`)
  mustEqual(shown.blocked_keys, isKeyed ? wanted : undefined, `what blocks keys of ${endpoint.url}`)
}
