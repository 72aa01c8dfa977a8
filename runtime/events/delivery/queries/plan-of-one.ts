/**
 * Writes the planned attempts of a single tenant. The transaction must hold the tenant's row of `webhook_senders`.
 */

import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { toTimestamp } from '../../../database/types.ts'
import type { LeasedAttempt, VisitRequest } from './attempts.ts'

/** One planned attempt, with facts about the visit. Its `attempt_id` is null if the visit planned none. */
export interface FoundAttempt extends LeasedAttempt {
  /** Whether unplanned events remain. */
  readonly more: boolean
  /** Whether the tenant has ordered endpoints. */
  readonly ordered: boolean
  /** Number of the last event that is planned, and whether this visit increased it. */
  readonly reached: number
  readonly moved: boolean
  /** Tokens in the tenant's bucket, and the endpoint of the partition served last. */
  readonly tokens: number
  readonly served: string
  /** Whether the queue has attempts without a lease. */
  readonly idle: boolean
  readonly status: 'enabled' | 'disabled'
  /** Whether the attempt is made immediately. */
  readonly leased: boolean
}

// Both statements select from the tenant's row of webhook_senders, so that Citus sends the new rows to the tenant's
// shard.
const MAKE: Statement = {
  name: 'webhook_attempts_plan',
  text: `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                       updated)
         SELECT w.tenant_id, n.id, n.endpoint_id, n.event_id, 1, n.status, 'schedule', n.created, n.created, n.created
           FROM webhook_senders w, json_to_recordset($2) AS n (id text, endpoint_id text, event_id text, status text,
                                                               created timestamptz)
          WHERE w.tenant_id = $1`,
}

const QUEUE: Statement = {
  name: 'webhook_ready_plan',
  text: `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at, lease_until, token)
         SELECT w.tenant_id, n.id, n.endpoint_id, n.event_id, 1, 'schedule', n.created,
                CASE WHEN n.leased THEN $3::timestamptz ELSE '-infinity' END, CASE WHEN n.leased THEN $4::uuid END
           FROM webhook_senders w, json_to_recordset($2) AS n (id text, endpoint_id text, event_id text, created timestamptz,
                                                               leased boolean)
          WHERE w.tenant_id = $1`,
}

const SPEND: Statement = {
  name: 'webhook_senders_plan',
  text: `UPDATE webhook_senders
            SET planned = $2, tokens = $3, endpoint_id = $4, refilled_at = greatest(refilled_at, $5), turn = turn + 1
          WHERE tenant_id = $1`,
}

/**
 * Writes attempts that are not made immediately, queues the pending ones, and records how far the tenant's events are
 * planned.
 */
export function writePlanned(
  tx: Database,
  { now, leaseUntil, token }: VisitRequest,
  { tenant_id, reached, tokens, served }: FoundAttempt,
  planned: readonly FoundAttempt[],
): void {
  const rows = planned.map(({ attempt_id, endpoint_id, event_id, status, emitted_at, leased }) => ({
    id: attempt_id,
    endpoint_id,
    event_id,
    status: status === 'enabled' ? 'pending' : 'canceled',
    created: toTimestamp(emitted_at),
    leased,
  }))
  const written = rows.filter((row) => !row.leased)
  const queued = rows.filter(({ status }) => status === 'pending')
  const leased = planned.filter((each) => each.leased)
  if (written.length > 0) pipelined(tx.query(MAKE, [tenant_id, JSON.stringify(written)]))
  if (queued.length > 0)
    pipelined(tx.query(QUEUE, [tenant_id, JSON.stringify(queued), toTimestamp(leaseUntil), token]))
  const last = leased.at(-1)?.endpoint_id ?? served
  pipelined(tx.query(SPEND, [tenant_id, reached, tokens - leased.length, last, toTimestamp(now)]))
}
