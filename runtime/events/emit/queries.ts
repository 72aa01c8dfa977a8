import type { Database, Statement } from '../../database/database.ts'
import {
  BoundValues,
  type CreatedRange,
  combine,
  type IndexWalk,
  type Records,
  type RequestedPage,
  readPage,
} from '../../database/page.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import { readSqlFile } from '../../database/sql-file.ts'
import { inSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import type { AuditEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, entryValues } from '../../tenants/audit/queries.ts'

const PLANNED_FOR = 'SELECT EXISTS (SELECT FROM webhook_senders w WHERE w.tenant_id = $1) AS planned_for'

const APPEND_EVENTS: Statement = {
  name: 'events_append',
  text: `WITH head AS (
           INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, $2)
           ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + excluded.sequence
           RETURNING sequence
         ), given AS (
           SELECT * FROM json_to_recordset($3) AS n (position bigint, id text, type text, version text, body text,
                                                     source json, created timestamptz, audience text, endpoint_id text,
                                                     trace text, pass_move text)
         ), kept AS (
           INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience,
                               audience_endpoint_id, trace, pass_move)
           SELECT $1, n.id, head.sequence - $2 + n.position, n.type, n.version, n.body, n.source, n.created, n.audience,
                  n.endpoint_id, n.trace, n.pass_move
             FROM given n, head
         )
         ${PLANNED_FOR}`,
  steps: inSteps(
    'events_append',
    `INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + excluded.sequence`,
    `INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience, audience_endpoint_id,
                          trace, pass_move)
     SELECT h.tenant_id, n.id, h.sequence - $2 + n.position, n.type, n.version, n.body, n.source, n.created, n.audience,
            n.endpoint_id, n.trace, n.pass_move
       FROM event_heads h, json_to_recordset($3) AS n (position bigint, id text, type text, version text, body text,
            source json, created timestamptz, audience text, endpoint_id text, trace text, pass_move text)
      WHERE h.tenant_id = $1`,
    PLANNED_FOR,
  ),
}

/**
 * Appends events to the tenant's sequence. Workers plan the delivery attempts later, so the cost does not depend on
 * the number of endpoints. Call this near the end of the transaction, because the end of the sequence stays locked
 * until the commit. Returns whether there may be attempts to plan.
 */
export async function appendEvents(
  db: Database,
  tenantId: string,
  rendered: readonly RenderedEvent[],
): Promise<boolean> {
  if (rendered.length === 0) return false
  const rows = rendered.map(({ recipients, created, passMove = '', ...event }, index) => ({
    ...event,
    position: index + 1,
    created: toTimestamp(created),
    pass_move: passMove,
    ...audienceOf(recipients),
  }))
  const values = [tenantId, rows.length, JSON.stringify(rows)]
  return (await db.query<{ planned_for: boolean }>(APPEND_EVENTS, values)).rows[0]!.planned_for
}

const EVENT_WITH_ENTRY: Statement = {
  name: 'event_with_entry',
  text: readSqlFile(import.meta.dirname, 'event-with-entry.sql'),
}

/** The event's parameters of the statements that write one event together with what else a change writes. */
export function eventValues({
  id,
  type,
  version,
  body,
  source,
  created,
  recipients,
  trace,
  passMove = '',
}: RenderedEvent): unknown[] {
  const { audience, endpoint_id } = audienceOf(recipients)
  const of = [audience, endpoint_id ?? null]
  return [id, type, version, body, source ?? null, toTimestamp(created), ...of, trace ?? null, passMove]
}

/**
 * Appends events and audit entries: the end of a transaction without a request. Returns whether there may be attempts to
 * plan.
 * @param isDistributed whether a statement must write to one table only.
 */
export async function appendEventsAndEntries(
  db: Database,
  space: string,
  rendered: readonly RenderedEvent[],
  entries: readonly AuditEntry[],
  isDistributed: boolean,
): Promise<boolean> {
  const [event, entry] = [rendered[0], entries[0]]
  const isOneOfEach = rendered.length === 1 && entries.length === 1
  if (event && entry && isOneOfEach && !isDistributed && readSpace(space).tenantId === space) {
    const values = [...entryValues(space, entry), ...eventValues(event)]
    return (await db.query<{ planned_for: boolean }>(EVENT_WITH_ENTRY, values)).rows[0]!.planned_for
  }
  const planned = appendEvents(db, space, rendered)
  for (const each of entries) pipelined(appendAudit(db, space, each))
  return planned
}

function audienceOf(recipients: RenderedEvent['recipients']): {
  readonly audience: string
  readonly endpoint_id?: string
} {
  if (!recipients) return { audience: 'subscribed' }
  if ('only' in recipients) return { audience: 'only', endpoint_id: recipients.only }
  if ('subscribersBut' in recipients)
    return { audience: 'subscribed', endpoint_id: recipients.subscribersBut }
  return { audience: 'others', endpoint_id: recipients.everyBut }
}

/** A rendered event. `created` is in milliseconds since the epoch. */
export interface EventRow {
  readonly id: string
  readonly type: string
  readonly body: string
  readonly created: number
}

const LISTED = { table: 'events', alias: 'e', columns: 'e.id, e.type, e.body, e.created' }

export interface EventFilter {
  readonly created: CreatedRange
  /** An event matches if it has any of these types. */
  readonly types: readonly string[]
  /**
   * Whether `types` covers nearly all events. If so, one index scan with a filter replaces one scan for each type.
   */
  readonly areMost: boolean
}

export async function listEvents(
  db: Database,
  tenantId: string,
  { created, types, areMost }: EventFilter,
  page: RequestedPage,
): Promise<Records<EventRow>> {
  const bindings = new BoundValues(tenantId)
  const walk: IndexWalk = areMost
    ? { columns: [], keys: [[]], where: `e.type = ANY (${bindings.bind(types)})` }
    : { columns: ['type'], keys: combine(types) }
  return readPage<EventRow>(db, LISTED, bindings, [walk], created, page)
}

const READ: Statement = {
  name: 'events_read',
  text: 'SELECT e.id, e.type, e.body, e.created, e.sequence FROM events e WHERE e.tenant_id = $1 AND e.id = $2',
}

export async function readEvent(
  db: Database,
  tenantId: string,
  id: string,
): Promise<(EventRow & { readonly sequence: number }) | undefined> {
  const { rows } = await db.query<EventRow & { readonly sequence: number }>(READ, [tenantId, id])
  return rows[0]
}

export interface StoredEvent extends EventRow {
  readonly version: string
  /** The event in canonical form; null if `body` is in canonical form. */
  readonly source: { readonly data: Members; readonly before?: Members } | null
}

type Members = Readonly<Record<string, unknown>>

const READ_STORED: Statement = {
  name: 'events_read_stored',
  text: `SELECT e.id, e.type, e.body, e.created, e.version, e.source FROM events e
         WHERE e.tenant_id = $1 AND e.id = $2`,
}

export async function readStoredEvent(
  db: Database,
  tenantId: string,
  id: string,
): Promise<StoredEvent | undefined> {
  return (await db.query<StoredEvent>(READ_STORED, [tenantId, id])).rows[0]
}

const READ_LAST: Statement = {
  text: `SELECT e.id, e.type, e.body, e.created, e.version, e.source,
                EXISTS (SELECT FROM webhook_attempts a WHERE a.tenant_id = $1 AND a.event_id = e.id) AS delivered
           FROM events e WHERE e.tenant_id = $1 ORDER BY e.sequence DESC LIMIT $2`,
}

/** Reads the newest events, and whether each has a delivery attempt at any endpoint. */
export async function readLastEvents(
  db: Database,
  tenantId: string,
  limit: number,
): Promise<readonly (StoredEvent & { readonly delivered: boolean })[]> {
  return (await db.query<StoredEvent & { delivered: boolean }>(READ_LAST, [tenantId, limit])).rows
}

const READ_HEAD: Statement = {
  name: 'events_head',
  text: `SELECT h.sequence,
                (SELECT e.id FROM events e WHERE e.tenant_id = $1 AND e.sequence >= h.sequence
                  ORDER BY e.sequence LIMIT 1) AS id
         FROM event_heads h WHERE h.tenant_id = $1`,
}

/** A position in a tenant's sequence of events. */
export interface EventPlace {
  readonly sequence: number
  /** Identifier of the event with that number; `BEFORE_EVENTS` if no such event is stored. */
  readonly id: string
}

/** The position before all stored events. It sorts before the identifier of any event. */
export const BEFORE_EVENTS = 'evt_00000000000000000000000000'

/** Reads the position of the newest event of the tenant. */
export async function readEventHead(db: Database, tenantId: string): Promise<EventPlace> {
  const { rows } = await db.query<{ sequence: number; id: string | null }>(READ_HEAD, [tenantId])
  return { sequence: rows[0]?.sequence ?? 0, id: rows[0]?.id ?? BEFORE_EVENTS }
}

const READ_AFTER: Statement = {
  name: 'events_after',
  text: `SELECT sequence, id, type, body FROM events WHERE tenant_id = $1 AND sequence > $2
         ORDER BY sequence LIMIT $3`,
}

export interface SequencedEvent {
  readonly sequence: number
  readonly id: string
  readonly type: string
  readonly body: string
}

/** Reads events whose number is greater than `after`, in commit order. */
export async function readEventsAfter(
  db: Database,
  tenantId: string,
  after: number,
  limit: number,
): Promise<readonly SequencedEvent[]> {
  return (await db.query<SequencedEvent>(READ_AFTER, [tenantId, after, limit])).rows
}

export interface RenderedEvent extends EmittedEvent {
  /** The event in canonical form; absent if `body` is in canonical form. */
  readonly source?: { readonly data: unknown; readonly before?: unknown }
  /** Service time, milliseconds since the epoch. */
  readonly created: number
  readonly recipients?: NewEvent['recipients']
  /** The trace in which it was emitted, as `contextToStore` returns it. */
  readonly trace?: string
  readonly passMove?: NewEvent['passMove']
}

/** An event to be written, in canonical form. */
export interface NewEvent {
  readonly type: string
  /** The changed object, under the name of its object type. */
  readonly data: Readonly<Record<string, unknown>>
  /** The object before the change; only for change events. */
  readonly before?: Readonly<Record<string, unknown>>
  /** The change of the pass counts (`passMove` in passes/passes/moves.ts). Default: none. */
  readonly passMove?: string
  /** Endpoints that get the event. Default: the endpoints that are subscribed to its type. */
  readonly recipients?:
    | { readonly only: string }
    | { readonly everyBut: string }
    | { readonly subscribersBut: string }
}

/** An event in the version that the tenant is pinned to, as it will be sent. */
export interface EmittedEvent {
  readonly id: string
  readonly type: string
  readonly version: string
  readonly body: string
}
