import type { Database } from '../../database/database.ts'
import { inSteps, sendSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'

// $1 tenant, $2 endpoint, $3 now, service time, $4 machine time. An attempt under a lease is being sent and is left alone. The first
// step locks the others, the second writes those that are only in the queue so far, and the third cancels them. The order by lease
// leads to webhook_ready_by_lane, the array of keys to webhook_ready_pkey, even if the planner takes the tables for small ones.
const CANCEL = inSteps(
  'webhook_attempts_cancel',
  `SELECT attempt_id FROM webhook_ready
      WHERE tenant_id = $1 AND endpoint_id = $2 AND trigger = 'schedule' AND lease_until < $4
      ORDER BY lease_until, due_at, attempt_id FOR UPDATE`,
  `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at,
                                   created, updated)
     SELECT tenant_id, attempt_id, endpoint_id, event_id, attempt, 'pending', 'schedule', due_at, due_at, due_at
       FROM webhook_ready
      WHERE tenant_id = $1 AND endpoint_id = $2 AND trigger = 'schedule' AND lease_until < $4
     ON CONFLICT (tenant_id, id) DO NOTHING`,
  `WITH unclaimed AS (
       SELECT attempt_id FROM webhook_ready
        WHERE tenant_id = $1 AND endpoint_id = $2 AND trigger = 'schedule' AND lease_until < $4
        ORDER BY lease_until, due_at, attempt_id FOR UPDATE
     ), ready AS (
       DELETE FROM webhook_ready r
        WHERE r.tenant_id = $1 AND r.attempt_id = ANY (ARRAY(SELECT attempt_id FROM unclaimed))
       RETURNING r.attempt_id, r.event_id, r.attempt, r.due_at, r.previous_id
     ), waiting AS (
       DELETE FROM webhook_waiting WHERE tenant_id = $1 AND endpoint_id = $2
       RETURNING attempt_id, event_id, attempt, due_at, previous_id
     ), gone AS (
       SELECT * FROM ready UNION ALL SELECT * FROM waiting
     ), ended AS (
       UPDATE webhook_attempts a SET next_attempt_at = NULL
         FROM gone WHERE a.tenant_id = $1 AND a.id = gone.previous_id
     )
     UPDATE webhook_attempts a SET status = 'canceled', updated = $3
       FROM gone WHERE a.tenant_id = $1 AND a.id = gone.attempt_id`,
)

/**
 * Cancels what is pending at an endpoint that is being disabled, but for what is being sent or was asked for by hand. The caller
 * owns the transaction.
 *
 * @param now service time. @param machine machine time, by which leases are checked.
 */
export function cancelAttempts(
  db: Database,
  tenantId: string,
  endpointId: string,
  now: number,
  machine: number,
): Promise<unknown> {
  return sendSteps(db, CANCEL, [tenantId, endpointId, toTimestamp(now), toTimestamp(machine)])
}
