/**
 * Statements for ordered endpoints that get the events of each key one at a time (`fifo_key: object`). Events are read from the tenant's
 * sequence into `webhook_held_events`. The first event of each key has an attempt, and the others wait until it was delivered or skipped.
 */
import { byPlace } from '../../../database/by-place.ts'
import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { HAS_RECOVERY, IS_MISSING, SEARCHED_AT_ONCE } from './fifo.ts'

/** Attempts of an endpoint in the queue above which no further events are read. */
export const QUEUED_AT_ONCE = 256

const ROOM: Statement = {
  name: 'webhook_ready_room',
  text: `SELECT CASE WHEN ${HAS_RECOVERY} THEN 0 ELSE ${QUEUED_AT_ONCE} - count(*) END::integer AS room
           FROM (SELECT FROM webhook_ready r WHERE r.tenant_id = $1 AND r.endpoint_id = $2 LIMIT ${QUEUED_AT_ONCE}) AS queued`,
}

/** Returns how many attempts may be queued for an endpoint: 0 while a recovery of it is open. */
export async function readRoom(db: Database, tenantId: string, endpointId: string): Promise<number> {
  return (await db.query<{ room: number }>(ROOM, [tenantId, endpointId])).rows[0]!.room
}

/**
 * Condition that the first event of a key, `h`, has no attempt that is queued, sent or scheduled. Written without EXISTS, for which
 * PostgreSQL may read all attempts of the tenant into a hash table, or compare each event with each attempt.
 *
 * @param tenant its tenant.
 * @param endpoint its endpoint.
 */
export const hasEnded = (tenant: string, endpoint: string) => `
                h.event_id <> ALL (ARRAY(SELECT r.event_id FROM webhook_ready r WHERE r.tenant_id = ${tenant} AND r.endpoint_id = ${endpoint}))
            AND (SELECT q.event_id FROM webhook_waiting q
                  WHERE q.tenant_id = ${tenant} AND q.endpoint_id = ${endpoint} AND q.event_id = h.event_id LIMIT 1) IS NULL`

const IS_DELIVERED = `(SELECT a.status FROM webhook_attempts a
                   WHERE a.tenant_id = $1 AND a.event_id = h.event_id AND a.endpoint_id = $2 AND a.status = 'succeeded'
                   LIMIT 1) IS NOT NULL`

// An event that retention has removed cannot be sent any more.
const FIND_ENDED: Statement = {
  name: 'webhook_held_events_find_ended',
  text: `SELECT h.key, h.event_id,
                h.state = 'skipped'
                OR (SELECT e.id FROM events e WHERE e.tenant_id = $1 AND e.id = h.event_id) IS NULL
                OR ${IS_DELIVERED} AS done
           FROM webhook_held_events h
          WHERE h.tenant_id = $1 AND h.endpoint_id = $2 AND h.state <> 'held' AND ${hasEnded('$1', '$2')}
          ORDER BY h.event_id LIMIT ${QUEUED_AT_ONCE}`,
}

/** The first event of a key, whose attempt has ended. If it is not done, its attempt was canceled or given up. */
export interface EndedHead {
  readonly key: string
  readonly event_id: string
  readonly done: boolean
}

/** Finds first events whose attempts have ended, at most `QUEUED_AT_ONCE`. */
export async function findEnded(
  db: Database,
  tenantId: string,
  endpointId: string,
): Promise<readonly EndedHead[]> {
  return (await db.query<EndedHead>(FIND_ENDED, [tenantId, endpointId])).rows
}

const REMOVE: Statement = {
  name: 'webhook_held_events_remove',
  text: `DELETE FROM webhook_held_events h
          WHERE h.tenant_id = $1 AND h.endpoint_id = $2 AND h.event_id = ANY ($3::text[]) AND h.state <> 'held'`,
}

/** Removes events that are done. */
export function removeHeld(
  db: Database,
  tenantId: string,
  endpointId: string,
  heads: readonly EndedHead[],
): void {
  pipelined(db.query(REMOVE, [tenantId, endpointId, heads.map(({ event_id }) => event_id)]))
}

// The key is the id of the one object in `data`, in canonical form. Without the alias, Citus does not find the column to return.
const HOLD: Statement = {
  name: 'webhook_held_events_hold',
  text: `INSERT INTO webhook_held_events AS h (tenant_id, endpoint_id, key, sequence, event_id, state)
         SELECT e.tenant_id, $2,
                coalesce((SELECT o.value ->> 'id' FROM json_each(coalesce(e.source, e.body::json) -> 'data') AS o LIMIT 1), ''),
                e.sequence, e.id, 'held'
           FROM events e JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = $2
          WHERE e.tenant_id = $1 AND e.sequence > $3 AND e.sequence <= $4 AND ${IS_MISSING}
         RETURNING h.key`,
}

const END: Statement = {
  name: 'webhook_events_page_end',
  text: `SELECT coalesce(max(page.sequence), $2) AS reached, count(*) = ${SEARCHED_AT_ONCE} AS more
           FROM (SELECT e.sequence FROM events e WHERE e.tenant_id = $1 AND e.sequence > $2
                  ORDER BY e.sequence LIMIT ${SEARCHED_AT_ONCE}) AS page`,
}

/** Reads the events after `settled` that the endpoint gets, up to `SEARCHED_AT_ONCE` of the sequence. */
export async function holdPage(
  db: Database,
  tenantId: string,
  endpointId: string,
  settled: number,
): Promise<{ readonly keys: readonly string[]; readonly reached: number; readonly more: boolean }> {
  const { rows: ends } = await db.query<{ reached: number; more: boolean }>(END, [tenantId, settled])
  const { reached, more } = ends[0]!
  if (reached === settled) return { keys: [], reached, more }
  const { rows } = await db.query<{ key: string }>(HOLD, [tenantId, endpointId, settled, reached])
  return { keys: rows.map(({ key }) => key), reached, more }
}

const ADVANCE = byPlace(
  'webhook_held_events_advance',
  `UPDATE webhook_held_events h SET state = 'queued'
    WHERE h.tenant_id = $1 AND h.ctid = ANY (ARRAY(
            SELECT first.ctid FROM unnest($3::text[]) AS k (key)
             CROSS JOIN LATERAL (SELECT n.ctid, n.state FROM webhook_held_events n
                                  WHERE n.tenant_id = $1 AND n.endpoint_id = $2 AND n.key = k.key
                                  ORDER BY n.sequence LIMIT 1) AS first
             WHERE first.state = 'held'))
   RETURNING h.event_id, ${IS_DELIVERED} AS delivered`,
)

/** Makes the first event of each key the one that is sent. Returns those that were not; a recovery may have delivered some. */
export async function advanceKeys(
  db: Database,
  tenantId: string,
  endpointId: string,
  keys: readonly string[],
): Promise<readonly { readonly event_id: string; readonly delivered: boolean }[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<{ event_id: string; delivered: boolean }>(ADVANCE, [
    tenantId,
    endpointId,
    keys,
  ])
  return rows
}

// The lock keeps workers from queuing the attempt. An attempt that is in the queue may be being sent.
const SKIP: readonly Statement[] = [
  {
    text: `SELECT q.attempt_id FROM webhook_waiting q
            WHERE q.tenant_id = $1 AND q.endpoint_id = $2 AND q.event_id = $3 FOR UPDATE`,
  },
  {
    text: `UPDATE webhook_held_events h SET state = 'skipped'
            WHERE h.tenant_id = $1 AND h.endpoint_id = $2 AND h.event_id = $3 AND h.state = 'queued'
              AND NOT EXISTS (SELECT FROM webhook_ready r
                               WHERE r.tenant_id = $1 AND r.endpoint_id = $2 AND r.event_id = $3)`,
  },
  {
    text: `UPDATE webhook_attempts a SET status = 'canceled', updated = $4
            FROM webhook_waiting q
           WHERE q.tenant_id = $1 AND q.endpoint_id = $2 AND q.event_id = $3 AND a.tenant_id = $1 AND a.id = q.attempt_id`,
  },
  {
    text: `UPDATE webhook_attempts a SET next_attempt_at = NULL
            FROM webhook_waiting q
           WHERE q.tenant_id = $1 AND q.endpoint_id = $2 AND q.event_id = $3 AND a.tenant_id = $1 AND a.id = q.previous_id`,
  },
  { text: 'DELETE FROM webhook_waiting WHERE tenant_id = $1 AND endpoint_id = $2 AND event_id = $3' },
]

/**
 * Gives up the first event of a key and cancels its scheduled attempt. The endpoint must be locked. Returns false if the event is not the
 * first of its key, or is in the queue.
 *
 * @param now service time as a timestamp.
 */
export async function skipHeld(
  tx: Database,
  tenantId: string,
  endpointId: string,
  eventId: string,
  now: string,
): Promise<boolean> {
  const values = [tenantId, endpointId, eventId]
  const [lock, skip, cancel, end, remove] = SKIP as [Statement, Statement, Statement, Statement, Statement]
  pipelined(tx.query(lock, values))
  if ((await tx.query(skip, values)).count === 0) return false
  pipelined(tx.query(cancel, [...values, now]))
  pipelined(tx.query(end, values))
  pipelined(tx.query(remove, values))
  return true
}
