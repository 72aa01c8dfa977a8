/** What became of attempts, written by those who hold them under a lease. */
import type { Database, Statement } from '../../platform/database/database.ts'
import { toTimestamp } from '../../platform/database/types.ts'
import { type ForTenants, perTenants, type TenantOf } from './senders.ts'
import { writeUnwritten } from './successes.ts'

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
// An attempt that was made by hand before the schedule did goes back to it when it fails (`resumes`).
const completing = (of: TenantOf, writes: string, written: string) => `WITH outcome AS (
           SELECT * FROM json_to_recordset($1) AS o (
             tenant_id text, attempt_id text, token uuid, status text, response_status smallint, response_body text,
             error text, duration_ms integer, attempted_at timestamptz, next_id text, next_due timestamptz,
             generation integer)
         ), released AS (
           DELETE FROM webhook_ready r USING outcome o
            WHERE r.tenant_id = ${of('o')} AND r.attempt_id = o.attempt_id AND r.token = o.token
           RETURNING o.*, r.endpoint_id, r.event_id, r.attempt, r.trigger, r.previous_id, r.resume_at,
                     r.due_at, r.generation AS series
         ), judged AS MATERIALIZED (
           SELECT r.*, r.trigger = 'manual' AND r.status = 'succeeded' AS ends_series,
                  CASE WHEN e.id IS NOT NULL THEN coalesce(r.next_due, r.resume_at) END AS follows_at,
                  e.id IS NOT NULL AND r.next_due IS NULL AS resumes
             FROM released r
             LEFT JOIN webhook_endpoints e ON (r.next_due IS NOT NULL OR r.resume_at IS NOT NULL) AND r.status = 'failed'
              AND e.tenant_id = ${of('r')} AND e.id = r.endpoint_id AND e.status = 'enabled'
              AND e.generation = coalesce(r.generation, r.series)
         ), unneeded AS (
           DELETE FROM webhook_waiting w USING judged j
            WHERE j.ends_series AND w.tenant_id = ${of('j')} AND w.endpoint_id = j.endpoint_id
              AND w.event_id = j.event_id
           RETURNING w.tenant_id, w.attempt_id, w.previous_id, j.attempt_id AS succeeded_id
         ), ${writes} dropped AS (
           UPDATE webhook_attempts a SET status = 'canceled', updated = $2
             FROM unneeded u WHERE a.tenant_id = ${of('u')} AND a.id = u.attempt_id
         ), ended AS (
           UPDATE webhook_attempts a SET next_attempt_at = NULL
             FROM (SELECT tenant_id, previous_id FROM judged
                    WHERE status = 'canceled' OR resume_at IS NOT NULL AND NOT resumes
                   UNION ALL
                   SELECT tenant_id, previous_id FROM unneeded WHERE previous_id <> succeeded_id) AS p
            WHERE a.tenant_id = ${of('p')} AND a.id = p.previous_id
         )
         SELECT ${written} FROM judged`

/** What waits for its time after it: the attempt itself where it resumes, the next one otherwise. */
const WAITS = `CASE WHEN resumes THEN attempt_id ELSE next_id END AS next_id, endpoint_id, event_id,
                  CASE WHEN resumes THEN attempt ELSE attempt + 1 END AS attempt,
                  CASE WHEN resumes THEN previous_id ELSE attempt_id END AS previous_id,
                  coalesce(generation, series) AS generation, follows_at`

// A first attempt may not be written yet; what is in the queue says of it all that was planned.
const notedAndNext = (of: TenantOf) => `noted AS (
           INSERT INTO webhook_attempts AS a (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, response_status,
                                              response_body, error, duration_ms, scheduled_at, attempted_at,
                                              next_attempt_at, created, updated)
           SELECT ${of('j')}, attempt_id, endpoint_id, event_id, attempt, CASE WHEN resumes THEN 'pending' ELSE status END,
                  CASE WHEN resumes THEN 'schedule' ELSE trigger END, response_status, response_body, error, duration_ms,
                  CASE WHEN resumes THEN follows_at ELSE due_at END, attempted_at, follows_at, due_at, $2
             FROM judged j
           ON CONFLICT (tenant_id, id) DO UPDATE
              SET status = excluded.status, trigger = excluded.trigger, scheduled_at = excluded.scheduled_at,
                  response_status = excluded.response_status, response_body = excluded.response_body,
                  error = excluded.error, duration_ms = excluded.duration_ms, attempted_at = excluded.attempted_at,
                  updated = excluded.updated,
                  next_attempt_at = CASE WHEN excluded.status = 'pending'
                                           OR excluded.trigger = 'manual' AND excluded.status <> 'succeeded'
                                         THEN a.next_attempt_at ELSE excluded.next_attempt_at END
         ), made AS (
           INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at,
                                         created, updated)
           SELECT ${of('j')}, next_id, endpoint_id, event_id, attempt + 1, 'pending', 'schedule', follows_at, $2, $2
             FROM judged j WHERE follows_at IS NOT NULL AND NOT resumes
         ), waits AS (
           INSERT INTO webhook_waiting (tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation,
                                        due_at)
           SELECT ${of('j')}, ${WAITS} FROM judged j WHERE follows_at IS NOT NULL
         ),`

const COMPLETE: ForTenants<Statement> = perTenants('$3', ({ of }) => ({
  text: completing(of, notedAndNext(of), 'attempt_id'),
}))

const NOTED = `noted AS (
           UPDATE webhook_attempts a
              SET status = CASE WHEN j.resumes THEN 'pending' ELSE j.status END,
                  trigger = CASE WHEN j.resumes THEN 'schedule' ELSE a.trigger END,
                  scheduled_at = CASE WHEN j.resumes THEN j.follows_at ELSE a.scheduled_at END,
                  response_status = j.response_status, response_body = j.response_body,
                  error = j.error, duration_ms = j.duration_ms, attempted_at = j.attempted_at, updated = $2,
                  next_attempt_at = CASE WHEN j.trigger = 'manual' AND NOT j.ends_series THEN a.next_attempt_at
                                         ELSE j.follows_at END
             FROM judged j WHERE a.tenant_id = $3 AND a.id = j.attempt_id
         ),`

// New rows beside changes would not go to one shard: they are written by statements of their own, before it and after.
const COMPLETE_ONLY: Statement = { text: completing(() => '$3', NOTED, `attempt_id, resumes, ${WAITS}`) }

/** An attempt that ended, and what waits after it: nothing where `follows_at` is null. */
interface Ended {
  readonly attempt_id: string
  /** It waits itself; no other attempt is made. */
  readonly resumes: boolean
  readonly next_id: string | null
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly previous_id: string
  readonly generation: number
  readonly follows_at: number | null
}

const NEXT = `json_to_recordset($2) AS n (attempt_id text, next_id text, endpoint_id text, event_id text, attempt smallint,
                previous_id text, generation integer, follows_at timestamptz)
         JOIN webhook_attempts a ON a.tenant_id = $1 AND a.id = n.attempt_id`

const MAKE_NEXT: Statement = {
  text: `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                       updated)
         SELECT a.tenant_id, n.next_id, n.endpoint_id, n.event_id, n.attempt, 'pending', 'schedule', n.follows_at, $3, $3
           FROM ${NEXT}`,
}

const WAIT_FOR_NEXT: Statement = {
  text: `INSERT INTO webhook_waiting (tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation, due_at)
         SELECT a.tenant_id, n.next_id, n.endpoint_id, n.event_id, n.attempt, n.previous_id, n.generation, n.follows_at
           FROM ${NEXT}`,
}

/**
 * Writes how attempts ended and what follows on them, all or none; those that are no longer held under their token stay as
 * they are. Gives the ids of those that were written. Wants plans that use indexes (`byIndex`).
 *
 * @param now service time.
 */
export async function completeAttempts(
  db: Database,
  completions: readonly Completion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const tenantId = onlyTenant(completions)
  const values = completionValues(completions, now)
  const { rows: written } = await (tenantId === undefined
    ? db.query<{ attempt_id: string }>(COMPLETE.many, values)
    : db.query<{ attempt_id: string }>(COMPLETE.one, [...values, tenantId]))
  return new Set(written.map(({ attempt_id }) => attempt_id))
}

/**
 * The same for a single tenant in a transaction, by statements of which each is for one shard where tables are distributed.
 */
export async function completeOfOne(
  tx: Database,
  completions: readonly Completion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const tenantId = onlyTenant(completions)!
  writeUnwritten(tx, completions)
  const { rows } = await tx.query<Ended>(COMPLETE_ONLY, [...completionValues(completions, now), tenantId])
  const waiting = rows.flatMap((row) =>
    row.follows_at === null ? [] : { ...row, follows_at: toTimestamp(row.follows_at) },
  )
  const made = waiting.filter(({ resumes }) => !resumes)
  if (made.length > 0) tx.query(MAKE_NEXT, [tenantId, JSON.stringify(made), toTimestamp(now)])
  if (waiting.length > 0) tx.query(WAIT_FOR_NEXT, [tenantId, JSON.stringify(waiting)])
  return new Set(rows.map(({ attempt_id }) => attempt_id))
}

function completionValues(completions: readonly Completion[], now: number): unknown[] {
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
  return [JSON.stringify(rows), toTimestamp(now)]
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
const REACT: ForTenants<Statement> = perTenants('$2', ({ name, of }) => ({
  name: `webhook_endpoints_react${name}`,
  text: `WITH reaction AS (
           SELECT * FROM json_to_recordset($1) AS r (tenant_id text, endpoint_id text, answered boolean, timeouts integer)
         ), held AS MATERIALIZED (
           SELECT e.tenant_id, e.id, CASE WHEN r.answered THEN 0 ELSE least(${MOST_TIMEOUTS}, e.timeouts + r.timeouts) END AS timeouts
             FROM reaction r JOIN webhook_endpoints e ON e.tenant_id = ${of('r')} AND e.id = r.endpoint_id
            ORDER BY e.tenant_id, e.id
              FOR NO KEY UPDATE OF e SKIP LOCKED
         )
         UPDATE webhook_endpoints e SET timeouts = h.timeouts
           FROM held h WHERE e.tenant_id = ${of('h')} AND e.id = h.id AND e.timeouts <> h.timeouts`,
}))

/** Narrows the lanes of endpoints that do not answer in time, and opens those that do again. */
export function noteReactions(db: Database, reactions: readonly Reaction[]): Promise<unknown> {
  const rows = reactions.map(({ tenantId, endpointId, answered, timeouts }) => ({
    tenant_id: tenantId,
    endpoint_id: endpointId,
    answered,
    timeouts,
  }))
  const tenantId = onlyTenant(reactions)
  return tenantId === undefined
    ? db.query(REACT.many, [JSON.stringify(rows)])
    : db.query(REACT.one, [JSON.stringify(rows), tenantId])
}

/** The tenant of all of them: then every table is asked for one tenant's rows. */
function onlyTenant(all: readonly { readonly tenantId: string }[]): string | undefined {
  const [first] = all
  return all.every(({ tenantId }) => tenantId === first?.tenantId) ? first?.tenantId : undefined
}
