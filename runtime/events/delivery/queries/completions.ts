/** Records how attempts ended, for the worker that holds their leases. */
import type { Database, Statement } from '../../../database/database.ts'
import { pipelined } from '../../../database/pipelined.ts'
import { readSqlFile } from '../../../database/sql-file.ts'
import { toTimestamp } from '../../../database/types.ts'
import { type AttemptCompletion, writeUnwritten } from './successes.ts'
import { type ForTenants, forOneTenant } from './visits.ts'

const TEXT = readSqlFile(import.meta.dirname, 'complete.sql')

const OF_ONE = forOneTenant(TEXT, '$3')

const COMPLETE: ForTenants = { many: { text: TEXT }, one: { text: OF_ONE } }

const partOf = (from: string, to: string) => OF_ONE.slice(OF_ONE.indexOf(from), OF_ONE.indexOf(to))

// The statement for Citus, which sends it to one shard as a single task. Citus could not do that if it also inserted
// rows, so separate statements before and after it insert them.
const COMPLETE_ON_SHARD: Statement = {
  text: `${partOf('WITH outcome AS (', ', written AS (')}, written AS (
  UPDATE webhook_attempts a
     SET status = CASE WHEN x.resumes THEN 'pending' ELSE x.status END,
         trigger = CASE WHEN x.resumes THEN 'schedule' ELSE a.trigger END,
         scheduled_at = CASE WHEN x.resumes THEN x.follows_at ELSE a.scheduled_at END,
         response_status = x.response_status, response_body = x.response_body,
         error = x.error, duration_ms = x.duration_ms, attempted_at = x.attempted_at, updated = $2,
         next_attempt_at = CASE WHEN x.trigger = 'manual' AND NOT x.ends_series THEN a.next_attempt_at
                                ELSE x.follows_at END
    FROM result x WHERE a.tenant_id = $3 AND a.id = x.attempt_id
)${partOf(', dropped AS (', 'SELECT attempt_id FROM result')}SELECT attempt_id, resumes, CASE WHEN resumes THEN attempt_id ELSE next_id END AS next_id, endpoint_id, event_id,
       CASE WHEN resumes THEN attempt ELSE attempt + 1 END AS attempt,
       CASE WHEN resumes THEN previous_id ELSE attempt_id END AS previous_id,
       coalesce(generation, series) AS generation, follows_at
  FROM result`,
}

/** An attempt that ended, and the attempt that follows it; no attempt follows if `follows_at` is null. */
interface Ended {
  readonly attempt_id: string
  /** Whether the attempt itself waits again, instead of a new attempt. */
  readonly resumes: boolean
  readonly next_id: string | null
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly previous_id: string
  readonly generation: number
  readonly follows_at: number | null
}

// Both statements join webhook_attempts by key, so that Citus knows the tenant of the new rows.
const MAKE_NEXT: Statement = {
  text: `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                       updated)
         SELECT a.tenant_id, n.next_id, n.endpoint_id, n.event_id, n.attempt, 'pending', 'schedule', n.follows_at, $3, $3
           FROM json_to_recordset($2) AS n (attempt_id text, next_id text, endpoint_id text, event_id text, attempt smallint,
                follows_at timestamptz)
           JOIN webhook_attempts a ON a.tenant_id = $1 AND a.id = n.attempt_id`,
}

const WAIT_FOR_NEXT: Statement = {
  text: `INSERT INTO webhook_waiting (tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation, due_at)
         SELECT a.tenant_id, n.next_id, n.endpoint_id, n.event_id, n.attempt, n.previous_id, n.generation, n.follows_at
           FROM json_to_recordset($2) AS n (attempt_id text, next_id text, endpoint_id text, event_id text, attempt smallint,
                previous_id text, generation integer, follows_at timestamptz)
           JOIN webhook_attempts a ON a.tenant_id = $1 AND a.id = n.attempt_id`,
}

/**
 * Records how attempts ended, and schedules what follows, in one statement. Skips attempts that are no longer leased
 * under their token. Returns the ids of the attempts that were written. `db` must plan with indexes (`byIndex`).
 *
 * @param now service time, milliseconds since the epoch.
 */
export async function completeAttempts(
  db: Database,
  completions: readonly AttemptCompletion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const tenantId = onlyTenant(completions)
  const values = completionValues(completions, now)
  const { rows: written } = await (tenantId === undefined
    ? db.query<{ attempt_id: string }>(COMPLETE.many, values)
    : db.query<{ attempt_id: string }>(COMPLETE.one, [...values, tenantId]))
  return new Set(written.map(({ attempt_id }) => attempt_id))
}

/** Does the same as `completeAttempts` for a single tenant, with statements that Citus sends to one shard each. */
export async function completeOfOne(
  tx: Database,
  completions: readonly AttemptCompletion[],
  now: number,
): Promise<ReadonlySet<string>> {
  const { tenantId } = completions[0]!
  writeUnwritten(tx, completions)
  const { rows } = await tx.query<Ended>(COMPLETE_ON_SHARD, [...completionValues(completions, now), tenantId])
  const waiting = rows.flatMap((row) =>
    row.follows_at === null ? [] : { ...row, follows_at: toTimestamp(row.follows_at) },
  )
  const made = waiting.filter(({ resumes }) => !resumes)
  if (made.length > 0) pipelined(tx.query(MAKE_NEXT, [tenantId, JSON.stringify(made), toTimestamp(now)]))
  if (waiting.length > 0) pipelined(tx.query(WAIT_FOR_NEXT, [tenantId, JSON.stringify(waiting)]))
  return new Set(rows.map(({ attempt_id }) => attempt_id))
}

function completionValues(completions: readonly AttemptCompletion[], now: number): unknown[] {
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

const RELEASE: Statement = {
  name: 'webhook_ready_release',
  text: `UPDATE webhook_ready SET lease_until = '-infinity', token = NULL
          WHERE tenant_id = $1 AND attempt_id = $2 AND token = $3`,
}

/** Ends the lease of an attempt that was not sent, so that it can be claimed again. */
export function releaseAttempt(
  db: Database,
  tenantId: string,
  attemptId: string,
  token: string,
): Promise<unknown> {
  return db.query(RELEASE, [tenantId, attemptId, token])
}

/** Whether an endpoint responded recently. */
export interface EndpointResult {
  readonly tenantId: string
  readonly endpointId: string
  /** Whether it responded. A response resets the count of timeouts. */
  readonly answered: boolean
  /** Number of attempts that timed out. */
  readonly timeouts: number
}

/** Number of timeouts in a row after which a partition does not become narrower. */
export const MAX_TIMEOUTS = 6

// SKIP LOCKED: if a request is changing the endpoint, the next attempt reports the same result. The 6 is
// MAX_TIMEOUTS.
const RECORD_RESULTS_TEXT = `WITH result AS (
           SELECT * FROM json_to_recordset($1) AS r (tenant_id text, endpoint_id text, answered boolean, timeouts integer)
         ), held AS MATERIALIZED (
           SELECT e.tenant_id, e.id, CASE WHEN r.answered THEN 0 ELSE least(6, e.timeouts + r.timeouts) END AS timeouts
             FROM result r JOIN webhook_endpoints e ON e.tenant_id = r.tenant_id AND e.id = r.endpoint_id
            ORDER BY e.tenant_id, e.id
              FOR NO KEY UPDATE OF e SKIP LOCKED
         )
         UPDATE webhook_endpoints e SET timeouts = h.timeouts
           FROM held h WHERE e.tenant_id = h.tenant_id AND e.id = h.id AND e.timeouts <> h.timeouts`

const RECORD_RESULTS: ForTenants = {
  many: { name: 'webhook_endpoints_react', text: RECORD_RESULTS_TEXT },
  one: { name: 'webhook_endpoints_react_of_one', text: forOneTenant(RECORD_RESULTS_TEXT, '$2') },
}

/** Narrows the partitions of endpoints that time out, and widens those of endpoints that respond again. */
export function recordEndpointResults(
  db: Database,
  endpointResults: readonly EndpointResult[],
): Promise<unknown> {
  const rows = endpointResults.map(({ tenantId, endpointId, answered, timeouts }) => ({
    tenant_id: tenantId,
    endpoint_id: endpointId,
    answered,
    timeouts,
  }))
  const tenantId = onlyTenant(endpointResults)
  return tenantId === undefined
    ? db.query(RECORD_RESULTS.many, [JSON.stringify(rows)])
    : db.query(RECORD_RESULTS.one, [JSON.stringify(rows), tenantId])
}

/**
 * Returns the tenant of all items, for statements with a constant tenant; undefined if there are several tenants.
 */
function onlyTenant(all: readonly { readonly tenantId: string }[]): string | undefined {
  const [first] = all
  return all.every(({ tenantId }) => tenantId === first?.tenantId) ? first?.tenantId : undefined
}
