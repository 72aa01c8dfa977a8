/** Statements for the most common end of an attempt: the first request succeeds. */

import type { Database, RowResult, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { inSteps, sendSteps } from '../../../database/steps.ts'
import { toTimestamp } from '../../../database/types.ts'

/** An attempt, and the token of the worker that sends it. */
type SentAttempt = Pick<AttemptCompletion, 'tenantId' | 'attemptId' | 'token'>

// Parameters of all statements: $1 the tenant, or one tenant for each attempt; $2 attempts; $3 tokens of their
// leases. For attempts that succeeded: $4 status and $5 body of the response, $6 duration in milliseconds, $7 when it
// was sent, $8 now (service time). They are arrays, because PostgreSQL reads those in a fraction of the time that
// JSON takes. Citus sends each statement for one tenant to one shard.

// Locks the queue rows before the attempts are written, as SUCCEED and cancellation do. One descent of
// webhook_ready_pkey for each.
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

// For each attempt, one descent of webhook_ready_pkey and one of the key of webhook_attempts. A range of one value
// has an order that only the key has, so the plan is the same if the queue holds a million other attempts. Rows are
// deleted by ctid (a Tid Scan, as in claim.sql), which also has only one plan, however large the queue was when
// PostgreSQL planned the statement.
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

// Uses the same index descents as SUCCEED.
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
 * Records that scheduled attempts succeeded, whether or not they were written before. No attempt follows. Skips
 * attempts that are no longer leased under their token. Returns the ids of the attempts that were written.
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

/** Does the same as `succeedAttempts` for attempts of one tenant, in a transaction. */
export async function succeedOfOne(
  tx: Database,
  completions: readonly AttemptCompletion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const values = [completions[0]!.tenantId, ...resultsOf(completions, now)]
  return writtenOf(await sendSteps(tx, SUCCEED_OF_ONE, values))
}

/**
 * Writes scheduled attempts in progress as pending, if they are not written yet, so that API callers can see them.
 */
export function showAttempts(db: Database, sent: readonly SentAttempt[]): Promise<unknown> {
  return db.query(SHOW, [tenantsOf(sent), ...attemptsOf(sent)])
}

/** Does the same as `showAttempts` for attempts of one tenant. */
export function showOfOne(db: Database, sent: readonly SentAttempt[]): Promise<unknown> {
  return sendSteps(db, SHOW_OF_ONE, [sent[0]!.tenantId, ...attemptsOf(sent)])
}

/**
 * Locks the queue rows of attempts of one tenant, and writes the attempts as pending if they are not written yet.
 */
export function writeUnwritten(tx: Database, sent: readonly SentAttempt[]): void {
  pipelined(tx.query(HOLD, [sent[0]!.tenantId, ...attemptsOf(sent)]))
  pipelined(showOfOne(tx, sent))
}

/** The end of one attempt. Instants are service time, in milliseconds since the epoch. */
export interface AttemptCompletion {
  readonly tenantId: string
  readonly attemptId: string
  /** Token of the lease. If a different worker has claimed the attempt since, nothing is written. */
  readonly token: string
  readonly status: 'succeeded' | 'failed' | 'canceled'
  readonly responseStatus?: number
  readonly responseBody?: string
  readonly error?: string
  readonly durationMs?: number
  readonly attemptedAt?: number
  /** The next attempt. It is dropped if the endpoint is disabled, or has a different generation. */
  readonly next?: { readonly id: string; readonly dueAt: number; readonly generation: number }
}
