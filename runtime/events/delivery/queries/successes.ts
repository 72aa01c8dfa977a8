/** What most attempts come to: they are sent once, and answered. */

import type { Database, RowResult, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { inSteps, sendSteps } from '../../../database/steps.ts'
import { toTimestamp } from '../../../database/types.ts'

/** Attempts under the token of who sends them. */
type SentAttempt = Pick<AttemptCompletion, 'tenantId' | 'attemptId' | 'token'>

// In all of them $1 is the tenant, or one for each attempt, $2 attempts, $3 the tokens of their leases; of those that succeeded $4
// to $7 are status and body of the answer, milliseconds that it took and when it was sent, $8 is now, service time. As arrays,
// which the server reads in a fraction of the time that JSON takes. The forms for one tenant go to one shard of Citus each.

// Before anything is written of them, as in one statement: who cancels does the same. One descent of webhook_ready_pkey for each.
const HOLD: Statement = {
  text: `SELECT r.attempt_id FROM webhook_ready r JOIN unnest($2::text[], $3::uuid[]) AS g (attempt_id, token)
             ON r.attempt_id = g.attempt_id AND r.token = g.token
          WHERE r.tenant_id = $1 FOR UPDATE OF r`,
}

const SUCCEED_OF_ONE = inSteps(
  undefined,
  HOLD.text,
  `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, response_status,
                                 response_body, duration_ms, scheduled_at, attempted_at, created, updated)
   SELECT r.tenant_id, r.attempt_id, r.endpoint_id, r.event_id, r.attempt, 'succeeded', 'schedule', g.response_status,
          g.response_body, g.duration_ms, r.due_at, to_timestamp(g.attempted_at / 1000), r.due_at, $8
     FROM webhook_ready r
     JOIN unnest($2::text[], $3::uuid[], $4::smallint[], $5::text[], $6::integer[], $7::float8[])
            AS g (attempt_id, token, response_status, response_body, duration_ms, attempted_at)
       ON r.attempt_id = g.attempt_id AND r.token = g.token
    WHERE r.tenant_id = $1
   ON CONFLICT (tenant_id, id) DO UPDATE
      SET status = excluded.status, response_status = excluded.response_status,
          response_body = excluded.response_body, error = NULL, duration_ms = excluded.duration_ms,
          attempted_at = excluded.attempted_at, next_attempt_at = NULL, updated = excluded.updated`,
  `DELETE FROM webhook_ready r USING unnest($2::text[], $3::uuid[]) AS g (attempt_id, token)
    WHERE r.tenant_id = $1 AND r.attempt_id = g.attempt_id AND r.token = g.token
   RETURNING r.attempt_id`,
)

// One descent of webhook_ready_pkey for each attempt: the range of one value has an order, which only the key has, so that the
// plan is the same beside a million others in the queue. Deleted by their places (a Tid Scan), as in a claim: for that there is
// one plan too, whatever the queue was when it was made. Then one descent of the key of webhook_attempts for each.
const SUCCEED: Statement = {
  name: 'webhook_attempts_succeed',
  text: `WITH held AS MATERIALIZED (
           SELECT g.*, q.*
             FROM unnest($1::text[], $2::text[], $3::uuid[], $4::smallint[], $5::text[], $6::integer[], $7::float8[])
                    AS g (tenant_id, attempt_id, token, response_status, response_body, duration_ms, attempted_at)
            CROSS JOIN LATERAL (SELECT r.ctid AS place, r.endpoint_id, r.event_id, r.attempt, r.due_at
                                  FROM webhook_ready r
                                 WHERE r.tenant_id = g.tenant_id AND r.attempt_id >= g.attempt_id
                                   AND r.attempt_id <= g.attempt_id AND r.token = g.token
                                 ORDER BY r.attempt_id LIMIT 1 FOR UPDATE) AS q
         ), released AS (
           DELETE FROM webhook_ready WHERE ctid = ANY (ARRAY(SELECT place FROM held))
         ), written AS (
           INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, response_status,
                                         response_body, duration_ms, scheduled_at, attempted_at, created, updated)
           SELECT h.tenant_id, attempt_id, endpoint_id, event_id, attempt, 'succeeded', 'schedule', response_status,
                  response_body, duration_ms, due_at, to_timestamp(attempted_at / 1000), due_at, $8
             FROM held h
           ON CONFLICT (tenant_id, id) DO UPDATE
              SET status = excluded.status, response_status = excluded.response_status,
                  response_body = excluded.response_body, error = NULL, duration_ms = excluded.duration_ms,
                  attempted_at = excluded.attempted_at, next_attempt_at = NULL, updated = excluded.updated
         )
         SELECT attempt_id FROM held`,
}

const SHOW_OF_ONE = inSteps(
  undefined,
  `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                 updated)
   SELECT r.tenant_id, r.attempt_id, r.endpoint_id, r.event_id, r.attempt, 'pending', 'schedule', r.due_at, r.due_at, r.due_at
     FROM webhook_ready r JOIN unnest($2::text[], $3::uuid[]) AS g (attempt_id, token)
       ON r.attempt_id = g.attempt_id AND r.token = g.token
    WHERE r.tenant_id = $1
   ON CONFLICT (tenant_id, id) DO NOTHING`,
)

// By the same descents as above.
const SHOW: Statement = {
  name: 'webhook_attempts_show',
  text: `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                       updated)
         SELECT g.tenant_id, g.attempt_id, q.endpoint_id, q.event_id, q.attempt, 'pending', 'schedule', q.due_at, q.due_at,
                q.due_at
           FROM unnest($1::text[], $2::text[], $3::uuid[]) AS g (tenant_id, attempt_id, token)
          CROSS JOIN LATERAL (SELECT r.endpoint_id, r.event_id, r.attempt, r.due_at
                                FROM webhook_ready r
                               WHERE r.tenant_id = g.tenant_id AND r.attempt_id >= g.attempt_id
                                 AND r.attempt_id <= g.attempt_id AND r.token = g.token
                               ORDER BY r.attempt_id LIMIT 1) AS q
         ON CONFLICT (tenant_id, id) DO NOTHING`,
}

const attemptsOf = (sent: readonly SentAttempt[]) => [
  sent.map(({ attemptId }) => attemptId),
  sent.map(({ token }) => token),
]

const tenantsOf = (sent: readonly SentAttempt[]) => sent.map(({ tenantId }) => tenantId)

const resultsOf = (completions: readonly AttemptCompletion[], now: number) => [
  ...attemptsOf(completions),
  completions.map(({ responseStatus }) => responseStatus),
  completions.map(({ responseBody }) => responseBody),
  completions.map(({ durationMs }) => durationMs),
  completions.map(({ attemptedAt }) => attemptedAt),
  toTimestamp(now),
]

const writtenOf = ({ rows }: RowResult<{ attempt_id: string }>): ReadonlySet<string> =>
  new Set(rows.map(({ attempt_id }) => attempt_id))

/**
 * Writes that attempts of the schedule succeeded, whether or not anything was written of them before, and that nothing
 * follows; those that are no longer held under their token stay as they are. Gives the ids of those that were written.
 *
 * @param now service time, milliseconds since the epoch.
 */
export async function succeedAttempts(
  db: Database,
  completions: readonly AttemptCompletion[],
  now: number,
): Promise<ReadonlySet<string>> {
  return writtenOf(await db.query(SUCCEED, [tenantsOf(completions), ...resultsOf(completions, now)]))
}

/** The same for attempts of one tenant, in a transaction. */
export async function succeedOfOne(
  tx: Database,
  completions: readonly AttemptCompletion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const values = [completions[0]!.tenantId, ...resultsOf(completions, now)]
  return writtenOf(await sendSteps(tx, SUCCEED_OF_ONE, values))
}

/**
 * Writes attempts of the schedule that are being sent, where nothing was written of them before: those who ask see that they
 * are pending.
 */
export function showAttempts(db: Database, sent: readonly SentAttempt[]): Promise<unknown> {
  return db.query(SHOW, [tenantsOf(sent), ...attemptsOf(sent)])
}

/** The same for attempts of one tenant. */
export function showOfOne(db: Database, sent: readonly SentAttempt[]): Promise<unknown> {
  return sendSteps(db, SHOW_OF_ONE, [sent[0]!.tenantId, ...attemptsOf(sent)])
}

/**
 * The same before something else is written of them in the transaction, which holds what the queue has of them from here on.
 */
export function writeUnwritten(tx: Database, sent: readonly SentAttempt[]): void {
  pipelined(tx.query(HOLD, [sent[0]!.tenantId, ...attemptsOf(sent)]))
  pipelined(showOfOne(tx, sent))
}

/** The end of one attempt. Instants in milliseconds since the epoch, service time. */
export interface AttemptCompletion {
  readonly tenantId: string
  readonly attemptId: string
  /** Of the claim: when another has claimed the attempt since, nothing is written. */
  readonly token: string
  readonly status: 'succeeded' | 'failed' | 'canceled'
  readonly responseStatus?: number
  readonly responseBody?: string
  readonly error?: string
  readonly durationMs?: number
  readonly attemptedAt?: number
  /** The attempt that follows, unless the endpoint was disabled, or disabled and enabled again, since `generation`. */
  readonly next?: { readonly id: string; readonly dueAt: number; readonly generation: number }
}
