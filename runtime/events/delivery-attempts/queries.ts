import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { inSteps, sendSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'

/** One attempt to deliver an event to an endpoint. Instants are service time, in milliseconds since the epoch. */
export interface AttemptRow {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly status: components['schemas']['WebhookDeliveryAttemptStatus']
  readonly trigger: 'schedule' | 'manual'
  readonly response_status: number | null
  readonly response_body: string | null
  readonly error: string | null
  readonly duration_ms: number | null
  readonly scheduled_at: number
  readonly attempted_at: number | null
  readonly next_attempt_at: number | null
  readonly created: number
  readonly updated: number
}

const COLUMNS = `a.id, a.endpoint_id, a.event_id, a.attempt, a.status, a.trigger, a.response_status, a.response_body,
  a.error, a.duration_ms, a.scheduled_at, a.attempted_at, a.next_attempt_at, a.created, a.updated`

/** How the delivery of the event ended with this attempt; null if it did not. $1 is the tenant, as in every list. */
const OUTCOME = `CASE WHEN a.status = 'succeeded' THEN 'delivered'
  WHEN a.status IN ('failed', 'canceled') AND a.next_attempt_at IS NULL
   AND NOT EXISTS (SELECT FROM webhook_attempts n
                    WHERE n.tenant_id = $1 AND n.event_id = a.event_id AND n.endpoint_id = a.endpoint_id
                      AND (n.attempt > a.attempt OR n.status = 'succeeded')) THEN 'given_up' END`

interface ToEndpoint {
  readonly endpoint_id: readonly [string]
}

export const listAttempts = defineList<AttemptRow, 'listDeliveryAttempts', ToEndpoint>({
  operation: 'listDeliveryAttempts',
  table: 'webhook_attempts',
  alias: 'a',
  columns: COLUMNS,
  filters: { endpoint_id: 'a.endpoint_id', status: 'a.status', event_id: 'a.event_id', outcome: OUTCOME },
  // An endpoint has few attempts of one event, so a filter on their status needs no index.
  indexes: [
    ['endpoint_id', 'status'],
    ['event_id', 'endpoint_id'],
  ],
})

const READ: Statement = {
  name: 'webhook_attempts_read',
  text: `SELECT ${COLUMNS} FROM webhook_attempts a WHERE a.tenant_id = $1 AND a.id = $2 AND a.endpoint_id = $3`,
}

export async function readAttempt(
  db: Database,
  tenantId: string,
  endpointId: string,
  id: string,
): Promise<AttemptRow | undefined> {
  return (await db.query<AttemptRow>(READ, [tenantId, id, endpointId])).rows[0]
}

const FIND_ENDPOINT: Statement = {
  text: 'SELECT endpoint_id FROM webhook_attempts WHERE tenant_id = $1 AND id = $2',
}

/** Finds the endpoint of an attempt by the attempt's identifier only. */
export async function findEndpointOf(
  db: Database,
  tenantId: string,
  id: string,
): Promise<string | undefined> {
  return (await db.query<Pick<AttemptRow, 'endpoint_id'>>(FIND_ENDPOINT, [tenantId, id])).rows[0]?.endpoint_id
}

const LOCK: Statement = { name: 'webhook_attempts_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Reads an attempt, and locks it until the transaction ends. */
export async function lockAttempt(
  db: Database,
  tenantId: string,
  endpointId: string,
  id: string,
): Promise<AttemptRow | undefined> {
  return (await db.query<AttemptRow>(LOCK, [tenantId, id, endpointId])).rows[0]
}

const LOCK_WAITING: Statement = {
  name: 'webhook_waiting_lock',
  text: 'SELECT w.attempt_id FROM webhook_waiting w WHERE w.tenant_id = $1 AND w.attempt_id = $2 FOR UPDATE',
}

/**
 * Returns whether the attempt is waiting for its due time, and keeps workers from queuing it until the transaction
 * ends. Call this before `lockAttempt`, because cancellation locks in this order.
 */
export async function lockWaiting(db: Database, tenantId: string, id: string): Promise<boolean> {
  return (await db.query(LOCK_WAITING, [tenantId, id])).rows.length > 0
}

// $1 tenant, $2 attempt, $3 now (service time). Each table is accessed by its key.
const RETRY = inSteps(
  'webhook_attempts_retry',
  `UPDATE webhook_attempts a
        SET status = 'pending', trigger = 'manual', response_status = NULL, response_body = NULL, error = NULL,
            duration_ms = NULL, attempted_at = NULL, scheduled_at = $3, updated = $3
      WHERE a.tenant_id = $1 AND a.id = $2`,
  `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at,
                                previous_id, generation, resume_at)
     SELECT r.tenant_id, r.id, r.endpoint_id, r.event_id, r.attempt, 'manual', r.scheduled_at,
            w.previous_id, w.generation, w.due_at
       FROM webhook_attempts r
       LEFT JOIN webhook_waiting w ON w.tenant_id = $1 AND w.attempt_id = r.id
      WHERE r.tenant_id = $1 AND r.id = $2`,
  'DELETE FROM webhook_waiting WHERE tenant_id = $1 AND attempt_id = $2',
  `SELECT ${COLUMNS} FROM webhook_attempts a WHERE a.tenant_id = $1 AND a.id = $2`,
)

/**
 * Resets an attempt that `lockAttempt` holds, and queues it to be sent now (service time). If it was waiting for its
 * due time (`lockWaiting`) and the manual attempt fails, it waits for that time again.
 */
export async function retryAttempt(
  db: Database,
  tenantId: string,
  id: string,
  now: number,
): Promise<AttemptRow> {
  const { rows } = await sendSteps<AttemptRow>(db, RETRY, [tenantId, id, toTimestamp(now)])
  return rows[0]!
}

/** Counts of recent attempts made within one hour. */
export interface AttemptHour {
  /** Start of the hour, milliseconds since the epoch. */
  readonly hour: number
  readonly succeeded: number
  readonly failed: number
}

const BY_HOUR: Statement = {
  text: `SELECT date_trunc('hour', a.attempted_at) AS hour,
                count(*) FILTER (WHERE a.status = 'succeeded')::integer AS succeeded,
                count(*) FILTER (WHERE a.status = 'failed')::integer AS failed
           FROM (SELECT attempted_at, status FROM webhook_attempts
                  WHERE tenant_id = $1 ORDER BY id DESC LIMIT $3) AS a
          WHERE a.attempted_at >= $2 GROUP BY 1 ORDER BY 1`,
}

/** Counts the newest attempts since an instant, by hour. @param most maximum number of attempts that are read. */
export async function countAttemptsByHour(
  db: Database,
  tenantId: string,
  since: number,
  most: number,
): Promise<readonly AttemptHour[]> {
  return (await db.query<AttemptHour>(BY_HOUR, [tenantId, toTimestamp(since), most])).rows
}

/** How an endpoint answered in an hour or a day, or in all that was read. Durations are in milliseconds. */
export interface AttemptPeriod {
  /** Start of the period, milliseconds since the epoch. Null for all that was read. */
  readonly start: number | null
  readonly unit: 'hour' | 'day'
  readonly succeeded: number
  readonly failed: number
  /** Null if no attempt reached the endpoint. */
  readonly p50: number | null
  readonly p95: number | null
}

const newestIn = (status: string) =>
  `(SELECT attempted_at, status, duration_ms FROM webhook_attempts
     WHERE tenant_id = $1 AND endpoint_id = $2 AND status = '${status}' AND created >= $3
     ORDER BY created DESC LIMIT $4)`

// Hours if the attempts are of at most two days, and days otherwise.
const HEALTH: Statement = {
  text: `WITH recent AS (
           SELECT * FROM (${newestIn('succeeded')} UNION ALL ${newestIn('failed')}) AS a
            WHERE attempted_at IS NOT NULL ORDER BY attempted_at DESC LIMIT $4
         ), scale AS (
           SELECT CASE WHEN max(attempted_at) - min(attempted_at) <= interval '2 days' THEN 'hour' ELSE 'day' END AS unit
             FROM recent
         )
         SELECT date_trunc(unit, attempted_at, 'UTC') AS start, unit,
                count(*) FILTER (WHERE status = 'succeeded')::integer AS succeeded,
                count(*) FILTER (WHERE status = 'failed')::integer AS failed,
                percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS p50,
                percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95
           FROM recent, scale GROUP BY GROUPING SETS ((date_trunc(unit, attempted_at, 'UTC'), unit), (unit))
          ORDER BY start`,
}

/**
 * Reads how an endpoint answered since an instant: one row for each hour or day with attempts, and then one for all of them.
 * Empty without attempts. @param most maximum number of attempts that are read, the newest.
 */
export async function readAttemptHealth(
  db: Database,
  tenantId: string,
  endpointId: string,
  since: number,
  most: number,
): Promise<readonly AttemptPeriod[]> {
  return (await db.query<AttemptPeriod>(HEALTH, [tenantId, endpointId, toTimestamp(since), most])).rows
}
