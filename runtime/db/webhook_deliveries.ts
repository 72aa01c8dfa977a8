/** What became of attempts, written by those who hold them under a lease. */
import type { Database, Statement } from './database.ts'
import { toTimestamp } from './types.ts'

/** The end of one attempt. Instants in milliseconds since the epoch, service time. */
export interface Completion {
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

// Without a name: planned each time, for the size that the tables have then. Attempts and queue are found by their keys.
const COMPLETE: Statement = {
  text: `WITH outcome AS (
           SELECT * FROM json_to_recordset($1) AS o (
             tenant_id text, attempt_id text, token uuid, status text, response_status smallint, response_body text,
             error text, duration_ms integer, attempted_at timestamptz, next_id text, next_due timestamptz,
             generation integer)
         ), released AS (
           DELETE FROM webhook_ready r USING outcome o
            WHERE r.tenant_id = o.tenant_id AND r.attempt_id = o.attempt_id AND r.token = o.token
           RETURNING o.*, r.endpoint_id, r.event_id, r.attempt, r.trigger, r.previous_id
         ), judged AS MATERIALIZED (
           SELECT r.*, CASE WHEN e.id IS NOT NULL THEN r.next_due END AS follows_at
             FROM released r
             LEFT JOIN webhook_endpoints e ON r.next_id IS NOT NULL AND e.tenant_id = r.tenant_id
              AND e.id = r.endpoint_id AND e.status = 'enabled' AND e.generation = r.generation
         ), noted AS (
           UPDATE webhook_attempts a
              SET status = j.status, response_status = j.response_status, response_body = j.response_body,
                  error = j.error, duration_ms = j.duration_ms, attempted_at = j.attempted_at, updated = $2,
                  next_attempt_at = CASE j.trigger WHEN 'manual' THEN a.next_attempt_at ELSE j.follows_at END
             FROM judged j WHERE a.tenant_id = j.tenant_id AND a.id = j.attempt_id
         ), made AS (
           INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at,
                                         created, updated)
           SELECT tenant_id, next_id, endpoint_id, event_id, attempt + 1, 'pending', 'schedule', follows_at, $2, $2
             FROM judged WHERE follows_at IS NOT NULL
         ), waits AS (
           INSERT INTO webhook_waiting (tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation,
                                        due_at)
           SELECT tenant_id, next_id, endpoint_id, event_id, attempt + 1, attempt_id, generation, follows_at
             FROM judged WHERE follows_at IS NOT NULL
         ), ended AS (
           UPDATE webhook_attempts a SET next_attempt_at = NULL
             FROM judged j WHERE j.status = 'canceled' AND a.tenant_id = j.tenant_id AND a.id = j.previous_id
         )
         SELECT attempt_id FROM judged`,
}

/**
 * Writes how attempts ended and what follows on them, all or none; those that are no longer held under their token stay as
 * they are. Gives the ids of those that were written.
 *
 * @param now service time.
 */
export async function completeAttempts(
  db: Database,
  completions: readonly Completion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = completions.map((each) => ({
    tenant_id: each.tenantId,
    attempt_id: each.attemptId,
    token: each.token,
    status: each.status,
    response_status: each.responseStatus,
    response_body: each.responseBody,
    error: each.error,
    duration_ms: each.durationMs,
    attempted_at: each.attemptedAt === undefined ? undefined : toTimestamp(each.attemptedAt),
    next_id: each.next?.id,
    next_due: each.next && toTimestamp(each.next.dueAt),
    generation: each.next?.generation,
  }))
  const { rows: written } = await db.query<{ attempt_id: string }>(COMPLETE, [
    JSON.stringify(rows),
    toTimestamp(now),
  ])
  return new Set(written.map(({ attempt_id }) => attempt_id))
}

/** How an endpoint was to be reached lately. */
export interface Reaction {
  readonly tenantId: string
  readonly endpointId: string
  /** It answered after all. */
  readonly answered: boolean
  /** Attempts that ran out of time. */
  readonly timeouts: number
}

/** Beyond so many in a row a lane gets no narrower. */
export const MOST_TIMEOUTS = 6

// An endpoint that somebody is changing is passed over: the next attempt tells the same.
const REACT: Statement = {
  text: `WITH reaction AS (
           SELECT * FROM json_to_recordset($1) AS r (tenant_id text, endpoint_id text, answered boolean, timeouts integer)
         ), held AS MATERIALIZED (
           SELECT e.tenant_id, e.id, CASE WHEN r.answered THEN 0 ELSE least(${MOST_TIMEOUTS}, e.timeouts + r.timeouts) END AS timeouts
             FROM reaction r JOIN webhook_endpoints e ON e.tenant_id = r.tenant_id AND e.id = r.endpoint_id
            ORDER BY e.tenant_id, e.id
              FOR NO KEY UPDATE OF e SKIP LOCKED
         )
         UPDATE webhook_endpoints e SET timeouts = h.timeouts
           FROM held h WHERE e.tenant_id = h.tenant_id AND e.id = h.id AND e.timeouts <> h.timeouts`,
}

/** Narrows the lanes of endpoints that do not answer in time, and opens those that do again. */
export function noteReactions(db: Database, reactions: readonly Reaction[]): Promise<unknown> {
  const rows = reactions.map(({ tenantId, endpointId, answered, timeouts }) => ({
    tenant_id: tenantId,
    endpoint_id: endpointId,
    answered,
    timeouts,
  }))
  return db.query(REACT, [JSON.stringify(rows)])
}
