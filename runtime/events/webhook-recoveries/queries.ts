import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { newId } from '../../platform/ids.ts'

type Schemas = components['schemas']

/** A stored recovery. Instants are service time, in milliseconds since the epoch. */
export interface RecoveryRow {
  readonly id: string
  readonly endpoint_id: string
  readonly since: number
  readonly until: number
  /** Null: what the endpoint is subscribed to. */
  readonly types: readonly string[] | null
  readonly scope: Schemas['WebhookRecoveryScope']
  readonly rate: number
  readonly status: Schemas['WebhookRecoveryStatus']
  readonly total: number
  readonly sent: number
  readonly failed: number
  /** Number of the tenant's sequence before the first event, of the last event, and of the last event that was reached. */
  readonly before: number
  readonly last: number
  readonly reached: number
  /** Attempts that were queued and are not counted yet. */
  readonly queued: readonly string[]
  readonly created: number
  readonly updated: number
}

const COLUMNS = `v.id, v.endpoint_id, v.since, v.until, v.types, v.scope, v.rate, v.status, v.total, v.sent, v.failed,
  v.before, v.last, v.reached, v.queued, v.created, v.updated`

interface OfEndpoint {
  readonly endpoint_id: readonly [string]
}

export const listRecoveries = defineList<RecoveryRow, 'listWebhookRecoveries', OfEndpoint>({
  operation: 'listWebhookRecoveries',
  table: 'webhook_recoveries',
  alias: 'v',
  columns: COLUMNS,
  filters: { endpoint_id: 'v.endpoint_id', status: 'v.status' },
  indexes: [['endpoint_id', 'status']],
})

const READ: Statement = {
  name: 'webhook_recoveries_read',
  text: `SELECT ${COLUMNS} FROM webhook_recoveries v WHERE v.tenant_id = $1 AND v.endpoint_id = $2 AND v.id = $3`,
}

export async function readRecovery(
  db: Database,
  tenantId: string,
  endpointId: string,
  id: string,
): Promise<RecoveryRow | undefined> {
  return (await db.query<RecoveryRow>(READ, [tenantId, endpointId, id])).rows[0]
}

const LOCK: Statement = { name: 'webhook_recoveries_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Reads a recovery, and locks it until the transaction ends. */
export async function lockRecovery(
  db: Database,
  tenantId: string,
  endpointId: string,
  id: string,
): Promise<RecoveryRow | undefined> {
  return (await db.query<RecoveryRow>(LOCK, [tenantId, endpointId, id])).rows[0]
}

const OPEN: Statement = {
  name: 'webhook_recoveries_find_open',
  text: `SELECT v.id FROM webhook_recoveries v
          WHERE v.tenant_id = $1 AND v.endpoint_id = $2 AND v.status IN ('counting', 'running')`,
}

/** Finds the recovery of an endpoint that has not ended. */
export async function findOpenRecovery(
  db: Database,
  tenantId: string,
  endpointId: string,
): Promise<string | undefined> {
  return (await db.query<{ id: string }>(OPEN, [tenantId, endpointId])).rows[0]?.id
}

// The sequence follows the commits, and `created` the beginnings of the requests. So the outermost numbers are not always
// those of the first and the last event by time: some events around them are compared.
const AROUND = 5000
const RANGE: Statement = {
  name: 'webhook_recoveries_range',
  text: `SELECT (SELECT min(e.sequence) FROM (
                   SELECT n.sequence FROM events n WHERE n.tenant_id = $1 AND n.created >= $2
                    ORDER BY n.created, n.id LIMIT ${AROUND}) AS e) AS first,
                (SELECT max(e.sequence) FROM (
                   SELECT n.sequence FROM events n WHERE n.tenant_id = $1 AND n.created <= $3
                    ORDER BY n.created DESC, n.id DESC LIMIT ${AROUND}) AS e) AS last`,
}

/** Finds the numbers of the tenant's sequence that hold every event of a period. The range is empty if the period has no events. */
async function findRange(
  db: Database,
  tenantId: string,
  { since, until }: Pick<RecoveryRow, 'since' | 'until'>,
): Promise<Pick<RecoveryRow, 'before' | 'last'>> {
  const { rows } = await db.query<{ first: number | null; last: number | null }>(RANGE, [
    tenantId,
    toTimestamp(since),
    toTimestamp(until),
  ])
  const { first, last } = rows[0]!
  return first === null || last === null ? { before: 0, last: 0 } : { before: first - 1, last }
}

const INSERT: Statement = {
  name: 'webhook_recoveries_insert',
  text: `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, types, scope, rate, status, before, last,
                                         reached, next_at, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'counting', $9, $10, $9, now(), $11, $11)`,
}

/** What a recovery sends again, and how fast. */
type AskedRecovery = Pick<RecoveryRow, 'endpoint_id' | 'since' | 'until' | 'types' | 'scope' | 'rate'>

/**
 * Begins a recovery of the events that the period has now.
 *
 * @param now service time.
 */
export async function beginRecovery(
  db: Database,
  tenantId: string,
  asked: AskedRecovery,
  now: number,
): Promise<RecoveryRow> {
  const range = await findRange(db, tenantId, asked)
  const counts = { total: 0, sent: 0, failed: 0, reached: range.before, queued: [] }
  const id = newId('whr', now)
  const row = { id, ...asked, status: 'counting' as const, ...range, ...counts, created: now, updated: now }
  await db.query(INSERT, [
    tenantId,
    row.id,
    row.endpoint_id,
    toTimestamp(row.since),
    toTimestamp(row.until),
    row.types,
    row.scope,
    row.rate,
    row.before,
    row.last,
    toTimestamp(row.created),
  ])
  return row
}

// The pace is a batch a second. At most one batch may be late. A separate statement: the replicas of a distributed table must all get
// the same value, so the update depends on no clock.
const NEXT: Statement = {
  name: 'webhook_recoveries_next',
  text: `SELECT greatest(v.next_at, now() - interval '1 second') + interval '1 second' AS next_at
           FROM webhook_recoveries v WHERE v.tenant_id = $1 AND v.id = $2`,
}

/** Returns the earliest time of the batch after the one that is queued now, by the clock of the database. */
export async function readNextTime(db: Database, tenantId: string, id: string): Promise<number> {
  return (await db.query<{ next_at: number }>(NEXT, [tenantId, id])).rows[0]!.next_at
}

const UPDATE: Statement = {
  name: 'webhook_recoveries_update',
  text: `UPDATE webhook_recoveries
            SET status = $3, total = $4, sent = $5, failed = $6, reached = $7, queued = $8, updated = $9,
                next_at = coalesce($10, next_at)
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the progress of a recovery that is locked. @param nextAt the earliest time of the next batch, if it changes. */
export function updateRecovery(
  db: Database,
  tenantId: string,
  row: RecoveryRow,
  nextAt?: number,
): Promise<unknown> {
  return db.query(UPDATE, [
    tenantId,
    row.id,
    row.status,
    row.total,
    row.sent,
    row.failed,
    row.reached,
    row.queued,
    toTimestamp(row.updated),
    nextAt === undefined ? null : toTimestamp(nextAt),
  ])
}
