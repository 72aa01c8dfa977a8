import type { Database } from '../../database/database.ts'
import { inSteps, sendSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'

// $1 tenant, $2 endpoint, $3 now (service time), $4 machine time. Attempts under a valid lease are being sent and are
// left alone. Step 1 locks the others, step 2 writes those that exist only in the queue, and step 3 cancels them.
// Ordering by lease selects webhook_ready_by_lane, and the array of keys selects webhook_ready_pkey, even if the
// planner believes that the tables are small.
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
 * Cancels the pending attempts of an endpoint that is being disabled, except attempts that are being sent and manual
 * retries. Must run in the transaction that disables the endpoint.
 *
 * @param now service time, milliseconds since the epoch.
 * @param machine machine time in milliseconds since the epoch, by which leases are checked.
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
