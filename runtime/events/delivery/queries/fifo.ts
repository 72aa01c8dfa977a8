/**
 * Plans the attempts of ordered endpoints (`delivery: fifo`). The tenant's events are their queue: an endpoint has one attempt at a
 * time, and gets the next one when that has succeeded. So nothing has to be reordered, and an endpoint that is down holds up no rows.
 */
import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import type { Pool } from '../../../database/pool/pool.ts'
import { toTimestamp } from '../../../database/types.ts'
import { matchesFilters } from './filtered.ts'

/** Events read in one step of an endpoint. */
const SEARCHED_AT_ONCE = 500

// SKIP LOCKED: a request may be changing the endpoint, or a different worker may be planning for it.
const LOCK_IDLE: Statement = {
  text: `SELECT w.id, coalesce(w.settled, w.since, 0) AS settled FROM webhook_endpoints w
          WHERE w.tenant_id = $1 AND w.delivery = 'fifo' AND w.status = 'enabled'
          ORDER BY w.id FOR NO KEY UPDATE SKIP LOCKED`,
}

// A separate statement, so that it sees what was committed before the lock was taken. An open recovery goes first: it sends earlier
// events.
const FIND_NEXT: Statement = {
  text: `WITH page AS MATERIALIZED (
           SELECT e.id, e.sequence, e.created, e.type, e.audience, e.audience_endpoint_id, e.body, e.source FROM events e
            WHERE e.tenant_id = $1 AND e.sequence > $3 ORDER BY e.sequence LIMIT ${SEARCHED_AT_ONCE}
         )
         SELECT coalesce(max(page.sequence), $3) AS reached, count(*) = ${SEARCHED_AT_ONCE} AS more,
                (SELECT to_json(next) FROM (
                   SELECT e.id, e.sequence, extract(epoch FROM e.created) * 1000 AS created FROM page e
                     JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = $2
                    WHERE CASE e.audience WHEN 'only' THEN e.audience_endpoint_id = $2
                                          WHEN 'others' THEN e.audience_endpoint_id <> $2
                                          ELSE e.audience IS NOT NULL AND w.enabled_events && ARRAY[e.type, '*']
                                               AND ${matchesFilters('w', 'e')} END
                      AND NOT EXISTS (SELECT FROM webhook_attempts a
                                       WHERE a.tenant_id = $1 AND a.event_id = e.id AND a.endpoint_id = $2
                                         AND a.status = 'succeeded')
                    ORDER BY e.sequence LIMIT 1) AS next) AS next
           FROM page
         HAVING NOT EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = $1 AND r.endpoint_id = $2)
            AND NOT EXISTS (SELECT FROM webhook_waiting q WHERE q.tenant_id = $1 AND q.endpoint_id = $2)
            AND NOT EXISTS (SELECT FROM webhook_recoveries v WHERE v.tenant_id = $1 AND v.endpoint_id = $2
                               AND v.status IN ('counting', 'running'))`,
}

/** An event of the tenant's sequence. `created` is in milliseconds since the epoch. */
interface NextEvent {
  readonly id: string
  readonly sequence: number
  readonly created: number
}

interface NextPage {
  /** Number of the last event that was read. */
  readonly reached: number
  readonly more: boolean
  readonly next: NextEvent | null
}

/**
 * Finds the first event after `settled` that the endpoint gets and that was not delivered. Undefined while an attempt of the endpoint
 * is queued, sent or scheduled, or a recovery of it is open.
 */
export async function findNextEvent(
  db: Database,
  tenantId: string,
  endpointId: string,
  settled: number,
): Promise<NextPage | undefined> {
  return (await db.query<NextPage>(FIND_NEXT, [tenantId, endpointId, settled])).rows[0]
}

const SETTLE: Statement = {
  text: 'UPDATE webhook_endpoints SET settled = $3 WHERE tenant_id = $1 AND id = $2',
}

/** Writes up to which number every event was delivered or skipped. The endpoint must be locked. */
export function settleUpTo(
  db: Database,
  tenantId: string,
  endpointId: string,
  sequence: number,
): Promise<unknown> {
  return db.query(SETTLE, [tenantId, endpointId, sequence])
}

// An event that was given up, because its endpoint was disabled, has the attempt already.
const PLAN_NEXT: readonly Statement[] = [
  {
    text: `INSERT INTO webhook_attempts AS a (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                              updated)
           VALUES ($1, 'wdla_' || substr($3::text, 5, 14) || substr(md5($3 || $2::text), 1, 12), $2, $3, 1, 'pending', 'schedule', $4, $4, $4)
           ON CONFLICT (tenant_id, id) DO UPDATE
              SET status = 'pending', trigger = 'schedule', response_status = NULL, response_body = NULL, error = NULL,
                  duration_ms = NULL, attempted_at = NULL, next_attempt_at = NULL`,
  },
  {
    text: `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at)
           VALUES ($1, 'wdla_' || substr($3::text, 5, 14) || substr(md5($3 || $2::text), 1, 12), $2, $3, 1, 'schedule', $4)`,
  },
]

/** Queues the next event of each ordered endpoint of the tenant that can get it. Returns whether it queued any. */
export function planOrdered(pool: Pool, tenantId: string): Promise<boolean> {
  return pool.forTenant(tenantId).transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string; settled: number }>(LOCK_IDLE, [tenantId])
    let hasQueued = false
    for (const endpoint of rows) hasQueued = (await planNext(tx, tenantId, endpoint)) || hasQueued
    return hasQueued
  })
}

async function planNext(
  tx: Database,
  tenantId: string,
  { id, settled }: { readonly id: string; readonly settled: number },
): Promise<boolean> {
  for (let after = settled; ; ) {
    const page = await findNextEvent(tx, tenantId, id, after)
    if (!page) return false
    const { next, reached, more } = page
    after = next ? next.sequence - 1 : reached
    if (!next && more) continue
    if (after > settled) pipelined(settleUpTo(tx, tenantId, id, after))
    if (!next) return false
    const values = [tenantId, id, next.id, toTimestamp(next.created)]
    for (const statement of PLAN_NEXT) pipelined(tx.query(statement, values))
    return true
  }
}
