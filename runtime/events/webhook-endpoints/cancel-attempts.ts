import type { Database, Statement } from '../../database/database.ts'
import { inSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'

// $1 tenant, $2 endpoint, $3 now, service time, $4 machine time. What is leased is being sent: that ends as it ends. The endpoint's
// attempts by webhook_ready_by_lane, whose order they are asked for in, and webhook_waiting_by_endpoint, the rest by keys, which
// are given as an array: whatever the planner takes the tables' sizes for, it reads no other rows. A first attempt whose
// sender was lost may not be written yet.
const CANCEL: Statement = {
  name: 'webhook_attempts_cancel',
  text: `WITH unclaimed AS (
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
         INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at,
                                       created, updated)
         SELECT $1, attempt_id, $2, event_id, attempt, 'canceled', 'schedule', due_at, due_at, $3 FROM gone
         ON CONFLICT (tenant_id, id) DO UPDATE SET status = excluded.status, updated = excluded.updated`,
  steps: inSteps(
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
  ),
}

/**
 * Cancels what is pending at an endpoint that is being disabled, but for what is being sent or was asked for by hand.
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
  return db.query(CANCEL, [tenantId, endpointId, toTimestamp(now), toTimestamp(machine)])
}
