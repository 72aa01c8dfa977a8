/**
 * Statements for ordered endpoints (`delivery: fifo`) that get one event at a time. The tenant's events are their queue: an endpoint has
 * one attempt at a time, and gets the next one when that has succeeded. So nothing has to be reordered, and an endpoint that is down
 * holds up no rows.
 */
import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { matchesFilters } from './filtered.ts'

/** Events read in one step of an endpoint. The next one is mostly among the first. */
export const SEARCHED_AT_ONCE = 500
export const SEARCHED_FIRST = 10

/** An ordered endpoint, with the number up to which every event was delivered, skipped or read into `webhook_held_events`. */
export interface OrderedEndpoint {
  readonly id: string
  readonly settled: number
  readonly fifo_key: 'endpoint' | 'object'
}

// SKIP LOCKED: a request may be changing the endpoint, or a different worker may be planning for it.
const LOCK_ORDERED: Statement = {
  name: 'webhook_endpoints_lock_ordered',
  text: `SELECT w.id, coalesce(w.settled, w.since, 0) AS settled, w.fifo_key FROM webhook_endpoints w
          WHERE w.tenant_id = $1 AND w.delivery = 'fifo' AND w.status = 'enabled'
          ORDER BY w.id FOR NO KEY UPDATE SKIP LOCKED`,
}

/** Locks the ordered endpoints of a tenant that can get events, until the transaction ends. */
export async function lockOrdered(db: Database, tenantId: string): Promise<readonly OrderedEndpoint[]> {
  return (await db.query<OrderedEndpoint>(LOCK_ORDERED, [tenantId])).rows
}

/**
 * Condition that the endpoint `w`, which is $2, gets the event `e` and has not got it. `CASE e.audience WHEN` is shorter, but
 * Citus compares with NULL instead in a statement that writes.
 */
export const IS_MISSING = `
  CASE WHEN e.audience = 'only' THEN e.audience_endpoint_id = $2
       WHEN e.audience = 'others' THEN e.audience_endpoint_id <> $2
       ELSE e.audience IS NOT NULL AND e.audience_endpoint_id IS DISTINCT FROM $2
            AND w.enabled_events && ARRAY[e.type, '*'] AND ${matchesFilters('w', 'e')} END
  AND NOT EXISTS (SELECT FROM webhook_attempts a
                   WHERE a.tenant_id = $1 AND a.event_id = e.id AND a.endpoint_id = $2 AND a.status = 'succeeded')`

/** Whether a recovery of the endpoint is open. It goes first: it sends earlier events. */
export const HAS_RECOVERY = `EXISTS (SELECT FROM webhook_recoveries v WHERE v.tenant_id = $1 AND v.endpoint_id = $2
                               AND v.status IN ('counting', 'running'))`

// A separate statement, so that it sees what was committed before the lock was taken.
const FIND_NEXT: Statement = {
  name: 'webhook_events_find_next',
  text: `WITH page AS MATERIALIZED (
           SELECT e.id, e.sequence, e.type, e.audience, e.audience_endpoint_id, e.body, e.source FROM events e
            WHERE e.tenant_id = $1 AND e.sequence > $3 ORDER BY e.sequence LIMIT $4
         )
         SELECT coalesce(max(page.sequence), $3) AS reached, count(*) = $4 AS more,
                (SELECT to_json(next) FROM (
                   SELECT e.id, e.sequence FROM page e JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = $2
                    WHERE ${IS_MISSING}
                    ORDER BY e.sequence LIMIT 1) AS next) AS next
           FROM page
         HAVING NOT EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = $1 AND r.endpoint_id = $2)
            AND NOT EXISTS (SELECT FROM webhook_waiting q WHERE q.tenant_id = $1 AND q.endpoint_id = $2)
            AND NOT ${HAS_RECOVERY}`,
}

interface NextPage {
  /** Number of the last event that was read. */
  readonly reached: number
  readonly more: boolean
  /** An event of the tenant's sequence. */
  readonly next: { readonly id: string; readonly sequence: number } | null
}

/**
 * Finds the first event after `settled` that the endpoint gets and that was not delivered. Undefined while an attempt of the endpoint
 * is queued, sent or scheduled, or a recovery of it is open.
 *
 * @param limit maximum number of events that are read.
 */
export async function findNextEvent(
  db: Database,
  tenantId: string,
  endpointId: string,
  settled: number,
  limit = SEARCHED_AT_ONCE,
): Promise<NextPage | undefined> {
  return (await db.query<NextPage>(FIND_NEXT, [tenantId, endpointId, settled, limit])).rows[0]
}

const SETTLE: Statement = {
  name: 'webhook_endpoints_settle',
  text: 'UPDATE webhook_endpoints SET settled = $3 WHERE tenant_id = $1 AND id = $2',
}

/** Writes `settled` of an endpoint, which must be locked. */
export function settleUpTo(
  db: Database,
  tenantId: string,
  endpointId: string,
  sequence: number,
): Promise<unknown> {
  return db.query(SETTLE, [tenantId, endpointId, sequence])
}

const ATTEMPT_ID = `'wdla_' || substr(e.id, 5, 14) || substr(md5(e.id || $2::text), 1, 12)`

// An event that was given up, because its endpoint was disabled, has the attempt already.
const QUEUE_FIRST: readonly Statement[] = [
  {
    name: 'webhook_attempts_queue_first',
    text: `INSERT INTO webhook_attempts AS a (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                              updated)
           SELECT e.tenant_id, ${ATTEMPT_ID}, $2, e.id, 1, 'pending', 'schedule', e.created, e.created, e.created
             FROM events e WHERE e.tenant_id = $1 AND e.id = ANY ($3::text[])
           ON CONFLICT (tenant_id, id) DO UPDATE
              SET status = 'pending', trigger = 'schedule', response_status = NULL, response_body = NULL, error = NULL,
                  duration_ms = NULL, attempted_at = NULL, next_attempt_at = NULL`,
  },
  {
    name: 'webhook_ready_queue_first',
    text: `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at)
           SELECT e.tenant_id, ${ATTEMPT_ID}, $2, e.id, 1, 'schedule', e.created
             FROM events e WHERE e.tenant_id = $1 AND e.id = ANY ($3::text[])`,
  },
]

/** Queues the first attempts of events for an ordered endpoint. */
export function queueFirst(
  tx: Database,
  tenantId: string,
  endpointId: string,
  events: readonly string[],
): void {
  for (const statement of QUEUE_FIRST) pipelined(tx.query(statement, [tenantId, endpointId, events]))
}
