import type { Statement } from './database.ts'
import type { Pool } from './pool.ts'
import { toTimestamp } from './types.ts'
import { byIndex } from './webhook_ready.ts'

const PROMOTE: Statement = {
  name: 'webhook_waiting_promote',
  text: `WITH due AS MATERIALIZED (
           SELECT w.ctid AS place FROM webhook_waiting w WHERE w.due_at <= $1
            ORDER BY w.due_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ), moved AS (
           DELETE FROM webhook_waiting WHERE ctid = ANY (ARRAY(SELECT place FROM due))
           RETURNING tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation, due_at
         )
         INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, previous_id,
                                    generation, due_at)
         SELECT tenant_id, attempt_id, endpoint_id, event_id, attempt, 'schedule', previous_id, generation, due_at
           FROM moved
         ON CONFLICT (tenant_id, attempt_id) DO NOTHING`,
}

/**
 * Puts attempts whose time has come into the queue, of all tenants, the longest due first; says how many.
 *
 * @param now service time, milliseconds since the epoch.
 */
export async function promoteAttempts(pool: Pool, now: number, limit: number): Promise<number> {
  const { count } = await byIndex(pool).query(PROMOTE, [toTimestamp(now), limit])
  return count
}
