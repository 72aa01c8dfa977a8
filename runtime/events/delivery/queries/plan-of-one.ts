/** Writes what was planned for a single tenant whose row of `webhook_senders` the transaction holds. */

import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { toTimestamp } from '../../../database/types.ts'
import type { LeasedAttempt, VisitRequest } from './attempts.ts'

/** What a visit found, with one attempt that follows; the attempt's own is null where none does. */
export interface FoundAttempt extends LeasedAttempt {
  /** Events are left. */
  readonly more: boolean
  /** Up to which number events are planned then, and whether that is new. */
  readonly reached: number
  readonly moved: boolean
  /** In the tenant's bucket, and the partition served last. */
  readonly tokens: number
  readonly served: string
  /** Attempts are in the queue without a lease. */
  readonly idle: boolean
  /** Of the endpoint. */
  readonly status: 'enabled' | 'disabled'
  /** It is made at once. */
  readonly leased: boolean
}

// What is selected from the tenant's own row is known to be the tenant's: new rows go to the same shard.
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
 * Writes the attempts that are not made at once, puts those into the queue that are to be made, and records how far the
 * tenant's events are planned.
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
