/**
 * Statements of the worker. Each is for one tenant and reads a bounded number of events. They have no names, so that
 * PostgreSQL plans them for the current size of the tables.
 */
import type { Database, Statement } from '../../database/database.ts'
import { inSteps, sendSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import { matchesFilters } from '../delivery/queries/filtered.ts'
import type { RecoveryRow } from './queries.ts'

/** Events read in one visit: while they are counted, and while a batch of them is chosen. */
export const COUNTED_AT_ONCE = 10_000
export const SEARCHED_AT_ONCE = 2000

const FIND: Statement = {
  text: `SELECT v.tenant_id, v.id, v.endpoint_id FROM webhook_recoveries v
          WHERE v.status IN ('counting', 'running') AND v.next_at <= now() ORDER BY v.next_at LIMIT $1`,
}

export interface DueRecovery {
  readonly tenant_id: string
  readonly id: string
  readonly endpoint_id: string
}

/** Finds recoveries of all tenants that can take their next step, up to `limit`. */
export async function findDueRecoveries(db: Database, limit: number): Promise<readonly DueRecovery[]> {
  return (await db.query<DueRecovery>(FIND, [limit])).rows
}

// $1 tenant, $2 endpoint, $3 the position of the walk, $4 number of the last event, $5 and $6 the period, $7 types or null,
// $8 scope, $9 maximum number of events that are read. An event that was sent to the endpoint has attempts of it: the last one is made
// again. Otherwise the attempt gets the ID that planning would give it (plan.sql). An attempt in the queue is being sent anyway.
const WANTED = `(
    SELECT e.id, e.sequence, e.created, e.type, e.audience, e.audience_endpoint_id, e.body, e.source FROM events e
     WHERE e.tenant_id = $1 AND e.sequence > $3 AND e.sequence <= $4 ORDER BY e.sequence LIMIT $9) AS e
  CROSS JOIN (SELECT w.enabled_events, w.filters FROM webhook_endpoints w WHERE w.tenant_id = $1 AND w.id = $2) AS w
  CROSS JOIN LATERAL (
    SELECT count(*) AS made, coalesce(bool_or(a.status = 'succeeded'), false) AS delivered,
           coalesce((array_agg(a.id ORDER BY a.attempt DESC, a.id DESC))[1],
                    'wdla_' || substr(e.id, 5, 14) || substr(md5(e.id || $2), 1, 12)) AS attempt_id
      FROM webhook_attempts a WHERE a.tenant_id = $1 AND a.event_id = e.id AND a.endpoint_id = $2) AS tried
 WHERE e.created BETWEEN $5 AND $6 AND ($7::text[] IS NULL OR e.type = ANY ($7))
   AND CASE WHEN $8 = 'failed' THEN tried.made > 0 AND NOT tried.delivered
            WHEN e.audience = 'only' THEN e.audience_endpoint_id = $2
            WHEN e.audience = 'others' THEN e.audience_endpoint_id <> $2
            ELSE e.audience_endpoint_id IS DISTINCT FROM $2 AND ($7 IS NOT NULL OR w.enabled_events && ARRAY[e.type, '*']) AND ${matchesFilters('w', 'e')} END
   AND NOT EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = $1 AND r.attempt_id = tried.attempt_id)`

const COUNT: Statement = { text: `SELECT count(*) AS count FROM ${WANTED}` }

const CHOOSE: Statement = {
  text: `SELECT e.id, e.sequence, tried.attempt_id FROM ${WANTED} ORDER BY e.sequence LIMIT $10`,
}

const END: Statement = {
  text: `SELECT coalesce(max(n.sequence), $3) AS reached, count(*) < $4 AS ends
           FROM (SELECT e.sequence FROM events e WHERE e.tenant_id = $1 AND e.sequence > $2 AND e.sequence <= $3
                  ORDER BY e.sequence LIMIT $4) AS n`,
}

const wantedValues = (tenantId: string, row: RecoveryRow, limit: number) => [
  tenantId,
  row.endpoint_id,
  row.reached,
  row.last,
  toTimestamp(row.since),
  toTimestamp(row.until),
  row.types,
  row.scope,
  limit,
]

/** Counts the wanted events of the next page. */
export async function countPage(db: Database, tenantId: string, row: RecoveryRow): Promise<number> {
  const values = wantedValues(tenantId, row, COUNTED_AT_ONCE)
  return (await db.query<{ count: number }>(COUNT, values)).rows[0]!.count
}

/** Returns the end of the next page of `limit` events, and whether it is the last page. */
export async function endOfPage(
  db: Database,
  tenantId: string,
  { reached, last }: RecoveryRow,
  limit: number,
): Promise<{ readonly reached: number; readonly ends: boolean }> {
  const { rows } = await db.query<{ reached: number; ends: boolean }>(END, [tenantId, reached, last, limit])
  return rows[0]!
}

export interface ChosenEvent {
  readonly id: string
  readonly sequence: number
  /** The attempt that sends it. */
  readonly attempt_id: string
}

/** Chooses the next wanted events, in the order of the sequence: at most `limit`, of one page of `SEARCHED_AT_ONCE`. */
export async function chooseEvents(
  db: Database,
  tenantId: string,
  row: RecoveryRow,
  limit: number,
): Promise<readonly ChosenEvent[]> {
  const values = [...wantedValues(tenantId, row, SEARCHED_AT_ONCE), limit]
  return (await db.query<ChosenEvent>(CHOOSE, values)).rows
}

// $1 tenant, $2 endpoint, $3 attempts, $4 their events, $5 now (service time). Locks in the order of cancellation. An attempt that was
// scheduled for later is made now; if it fails, it returns to its schedule, as after a manual retry. `due_at` keeps the order.
const QUEUE = inSteps(
  undefined,
  `SELECT w.attempt_id FROM webhook_waiting w WHERE w.tenant_id = $1 AND w.attempt_id = ANY ($3) FOR UPDATE`,
  `INSERT INTO webhook_attempts AS a (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                      updated)
   SELECT e.tenant_id, n.id, $2, e.id, 1, 'pending', 'manual', $5::timestamptz + n.position * interval '1 ms', $5, $5
     FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS n (id, event_id, position)
     JOIN events e ON e.tenant_id = $1 AND e.id = n.event_id
   ON CONFLICT (tenant_id, id) DO UPDATE
      SET status = 'pending', trigger = 'manual', response_status = NULL, response_body = NULL, error = NULL,
          duration_ms = NULL, attempted_at = NULL, scheduled_at = excluded.scheduled_at, updated = excluded.updated`,
  `INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at, previous_id,
                              generation, resume_at)
   SELECT r.tenant_id, r.id, r.endpoint_id, r.event_id, r.attempt, 'manual', r.scheduled_at, w.previous_id, w.generation,
          w.due_at
     FROM webhook_attempts r
     LEFT JOIN webhook_waiting w ON w.tenant_id = $1 AND w.attempt_id = r.id
    WHERE r.tenant_id = $1 AND r.id = ANY ($3)
   ON CONFLICT (tenant_id, attempt_id) DO NOTHING`,
  'DELETE FROM webhook_waiting WHERE tenant_id = $1 AND attempt_id = ANY ($3)',
)

/** Puts the attempts of chosen events into the queue, where workers claim them like any others. @param now service time. */
export function queueEvents(
  tx: Database,
  tenantId: string,
  endpointId: string,
  chosen: readonly ChosenEvent[],
  now: number,
): Promise<unknown> {
  const [attempts, events] = [chosen.map(({ attempt_id }) => attempt_id), chosen.map(({ id }) => id)]
  return sendSteps(tx, QUEUE, [tenantId, endpointId, attempts, events, toTimestamp(now)])
}

const SETTLED: Statement = {
  text: `SELECT n.id, coalesce(a.status = 'succeeded', false) AS succeeded
           FROM unnest($2::text[]) AS n (id)
           LEFT JOIN webhook_attempts a ON a.tenant_id = $1 AND a.id = n.id
          WHERE NOT EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = $1 AND r.attempt_id = n.id)`,
}

/** Returns which of the attempts have ended. One that retention has removed did not succeed. */
export async function readSettled(
  db: Database,
  tenantId: string,
  attempts: readonly string[],
): Promise<readonly { readonly id: string; readonly succeeded: boolean }[]> {
  if (attempts.length === 0) return []
  return (await db.query<{ id: string; succeeded: boolean }>(SETTLED, [tenantId, attempts])).rows
}
