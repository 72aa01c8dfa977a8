/** Finds tenants with due work, and moves attempts into the queue when they become due. */
import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { byIndex, useIndexes } from '../../../database/pool/by-index.ts'
import type { Pool } from '../../../database/pool/pool.ts'
import { toTimestamp } from '../../../database/types.ts'
import { hasEnded } from './fifo-by-key.ts'

const PROMOTE: Statement = {
  name: 'webhook_waiting_promote',
  text: `WITH due AS MATERIALIZED (
           SELECT w.ctid AS place FROM webhook_waiting w WHERE w.due_at <= $1
            ORDER BY w.due_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ), moved AS (
           DELETE FROM webhook_waiting WHERE ctid = ANY (ARRAY(SELECT place FROM due))
           RETURNING tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation, due_at
         ), ready AS (
           INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, previous_id,
                                      generation, due_at)
           SELECT tenant_id, attempt_id, endpoint_id, event_id, attempt, 'schedule', previous_id, generation, due_at
             FROM moved
           ON CONFLICT (tenant_id, attempt_id) DO NOTHING
         )
         SELECT tenant_id FROM moved`,
}

const LOCK_DUE: Statement = {
  name: 'webhook_waiting_lock_due',
  text: `SELECT w.attempt_id FROM webhook_waiting w WHERE w.tenant_id = $1 AND w.due_at <= $2
          ORDER BY w.due_at LIMIT $3 FOR UPDATE SKIP LOCKED`,
}

const QUEUE_DUE: Statement = {
  name: 'webhook_waiting_queue',
  text: `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, previous_id, generation,
                                    due_at)
         SELECT w.tenant_id, w.attempt_id, w.endpoint_id, w.event_id, w.attempt, 'schedule', w.previous_id, w.generation,
                w.due_at
           FROM webhook_waiting w WHERE w.tenant_id = $1 AND w.attempt_id = ANY ($2)
         ON CONFLICT (tenant_id, attempt_id) DO NOTHING`,
}

const REMOVE_DUE: Statement = {
  name: 'webhook_waiting_remove',
  text: 'DELETE FROM webhook_waiting WHERE tenant_id = $1 AND attempt_id = ANY ($2)',
}

/**
 * Moves attempts that are due into the queue, the longest overdue first. Returns the tenant of each attempt.
 *
 * @param now service time, milliseconds since the epoch.
 * @param tenantId default: all tenants.
 */
export async function promoteAttempts(
  pool: Pool,
  now: number,
  limit: number,
  tenantId?: string,
): Promise<readonly string[]> {
  if (tenantId !== undefined) return promoteOne(pool, now, limit, tenantId)
  const { rows } = await byIndex(pool).query<{ tenant_id: string }>(PROMOTE, [toTimestamp(now), limit])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Moves the due attempts of one tenant, with statements that Citus sends to one shard each. */
function promoteOne(pool: Pool, now: number, limit: number, tenantId: string): Promise<readonly string[]> {
  return pool.transaction(async (tx) => {
    useIndexes(tx)
    const { rows } = await tx.query<{ attempt_id: string }>(LOCK_DUE, [tenantId, toTimestamp(now), limit])
    const due = rows.map(({ attempt_id }) => attempt_id)
    if (due.length > 0) {
      pipelined(tx.query(QUEUE_DUE, [tenantId, due]))
      pipelined(tx.query(REMOVE_DUE, [tenantId, due]))
    }
    return due.map(() => tenantId)
  })
}

// Reads without locks, so that a distributed database can query all shards in parallel.
const FIND_WAITING: Statement = {
  name: 'webhook_waiting_find',
  text: 'SELECT w.tenant_id FROM webhook_waiting w WHERE w.due_at <= $1 GROUP BY w.tenant_id LIMIT $2',
}

/** Returns tenants that have attempts waiting whose due time has passed. */
export async function findWaiting(db: Database, now: number, limit: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(FIND_WAITING, [toTimestamp(now), limit])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Whether an ordered endpoint, `w`, can get an event: its next one, or one of a key. */
const HAS_NEXT = `CASE w.fifo_key
      WHEN 'endpoint' THEN coalesce(w.settled, w.since, 0) < h.sequence
       AND NOT EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = w.tenant_id AND r.endpoint_id = w.id)
       AND NOT EXISTS (SELECT FROM webhook_waiting v WHERE v.tenant_id = w.tenant_id AND v.endpoint_id = w.id)
      ELSE coalesce(w.settled, w.since, 0) < h.sequence
        OR EXISTS (SELECT FROM webhook_held_events h WHERE h.tenant_id = w.tenant_id AND h.endpoint_id = w.id
                      AND h.state <> 'held' AND ${hasEnded('w.tenant_id', 'w.id')}) END
     AND NOT EXISTS (SELECT FROM webhook_recoveries v
                      WHERE v.tenant_id = w.tenant_id AND v.endpoint_id = w.id AND v.status IN ('counting', 'running'))`

/** Whether a block of an ordered endpoint, `w`, was not announced, because a process died. */
const HAS_NEW_BLOCK = `EXISTS (SELECT FROM webhook_waiting v WHERE v.tenant_id = w.tenant_id AND v.endpoint_id = w.id
     AND NOT EXISTS (SELECT FROM webhook_blocks b
                      WHERE b.tenant_id = w.tenant_id AND b.endpoint_id = w.id AND b.event_id = v.event_id))`

// Reads without locks, as above. Two index descents for each tenant that has ever had an endpoint, independent of its
// attempts, and a few for each of its ordered endpoints and for each key with an attempt.
const FIND_DUE: Statement = {
  name: 'webhook_senders_find',
  text: `SELECT s.tenant_id, coalesce(greatest(h.sequence - s.planned, f.idle, 0), 0) AS unplanned, coalesce(q.queued, false) AS queued
           FROM webhook_senders s
           LEFT JOIN event_heads h ON h.tenant_id = s.tenant_id
           LEFT JOIN LATERAL (SELECT true AS queued FROM webhook_ready r
                               WHERE r.tenant_id = s.tenant_id AND r.lease_until < $1
                               ORDER BY r.endpoint_id, r.lease_until LIMIT 1) AS q ON true
           LEFT JOIN LATERAL (SELECT 1 AS idle FROM webhook_endpoints w
                               WHERE w.tenant_id = s.tenant_id AND w.delivery = 'fifo' AND w.status = 'enabled'
                                 AND (${HAS_NEXT} OR ${HAS_NEW_BLOCK})
                               LIMIT 1) AS f ON true
          WHERE h.sequence > s.planned OR q.queued OR f.idle = 1`,
}

/**
 * Work for a tenant: the approximate number of unplanned events, and whether the queue has attempts without a lease.
 */
export interface DueTenant {
  readonly tenant_id: string
  readonly unplanned: number
  readonly queued: boolean
}

/**
 * Finds tenants with work. It reads rows that are written in the same transactions as the work itself, so it also
 * finds work whose wake-up was lost or whose process died.
 *
 * @param machine machine time in milliseconds since the epoch, by which leases are checked.
 */
export async function findDue(pool: Pool, machine: number): Promise<readonly DueTenant[]> {
  return (await byIndex(pool).query<DueTenant>(FIND_DUE, [toTimestamp(machine)])).rows
}
