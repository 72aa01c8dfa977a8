import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { inSteps, sendSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import type { RetiredSecret } from '../outbound/signing.ts'

/** A condition on a property: a path such as `data.pass.template_id`, and the values that match. */
export interface EventFilterRow {
  readonly property: string
  readonly equals: (string | number | boolean | null)[]
}

/** A stored endpoint with sealed secrets. Instants are in milliseconds since the epoch. */
export interface EndpointRow {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly enabled_events: readonly string[]
  readonly status: components['schemas']['WebhookEndpointStatus']
  readonly disabled_reason: 'retry_exhausted' | 'manual' | null
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly signature: 'service' | 'standard_webhooks'
  readonly delivery: 'unordered' | 'fifo'
  /** What is in order at an endpoint with `delivery: fifo`. */
  readonly fifo_key: 'endpoint' | 'object'
  readonly retry_schedule: 'standard' | 'extended'
  /** Conditions on properties of events, all of which must match; null if there are none. */
  readonly filters: readonly EventFilterRow[] | null
  readonly metadata: Readonly<Record<string, string>>
  readonly generation: number
  readonly timeouts: number
  readonly created: number
  readonly updated: number
}

const COLUMNS = `w.id, w.url, w.description, w.enabled_events, w.status, w.disabled_reason, w.secret, w.retired_secrets,
  w.signature, w.delivery, w.fifo_key, w.retry_schedule, w.filters, w.metadata, w.generation, w.timeouts, w.created, w.updated`

const HEAD = 'coalesce((SELECT h.sequence FROM event_heads h WHERE h.tenant_id = $1), 0)'

// Citus does not allow a subquery in this INSERT, so `planned` starts with a number that no sequence has.
const UNPLANNED = '-1'
const OPEN_SENDER = `INSERT INTO webhook_senders AS w (tenant_id, tokens, refilled_at, planned) VALUES ($1, 0, 'epoch', ${UNPLANNED})
         ON CONFLICT (tenant_id)`
const PLANNED_SO_FAR = `UPDATE webhook_senders SET planned = ${HEAD} WHERE tenant_id = $1 AND planned = ${UNPLANNED}`

// Like every change of the row, this increments `turn`, so that a visit that started earlier skips the tenant: its
// ctid of the row is outdated.
const LOCK_SENDER = inSteps(
  'webhook_senders_lock',
  `${OPEN_SENDER} DO UPDATE SET turn = w.turn + 1`,
  PLANNED_SO_FAR,
)

const COUNT: Statement = {
  name: 'webhook_endpoints_count',
  text: 'SELECT count(*) AS count FROM webhook_endpoints w WHERE w.tenant_id = $1',
}

export async function countEndpoints(db: Database, tenantId: string): Promise<number> {
  return (await db.query<{ count: number }>(COUNT, [tenantId])).rows[0]!.count
}

/**
 * Counts the tenant's endpoints, and prevents concurrent inserts until the transaction ends. The count is a separate
 * statement, so that it sees what was committed while the lock statement waited.
 */
export async function lockEndpointCount(db: Database, tenantId: string): Promise<number> {
  const [, count] = await Promise.all([sendSteps(db, LOCK_SENDER, [tenantId]), countEndpoints(db, tenantId)])
  return count
}

const COLUMNS_INSERTED = `tenant_id, id, url, description, enabled_events, status, disabled_reason, secret,
                                        retired_secrets, metadata, created, updated, signature, delivery, retry_schedule, filters, fifo_key`

const INSERT = inSteps(
  'webhook_endpoints_insert',
  `${OPEN_SENDER} DO NOTHING`,
  PLANNED_SO_FAR,
  `INSERT INTO webhook_endpoints (${COLUMNS_INSERTED}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
  `UPDATE webhook_endpoints SET since = ${HEAD} WHERE tenant_id = $1 AND id = $2`,
)

/**
 * Writes a new endpoint, which gets the events emitted from now on. The first endpoint of a tenant also creates the
 * tenant's bucket, which is full. Must run in a transaction.
 */
export function insertEndpoint(db: Database, tenantId: string, row: EndpointRow): Promise<unknown> {
  const { id, url, description, enabled_events, status, disabled_reason, secret, metadata } = row
  return sendSteps(db, INSERT, [
    tenantId,
    id,
    url,
    description,
    enabled_events,
    status,
    disabled_reason,
    secret,
    JSON.stringify(row.retired_secrets),
    JSON.stringify(metadata),
    toTimestamp(row.created),
    toTimestamp(row.updated),
    row.signature,
    row.delivery,
    row.retry_schedule,
    row.filters && JSON.stringify(row.filters),
    row.fifo_key,
  ])
}

const READ: Statement = {
  name: 'webhook_endpoints_read',
  text: `SELECT ${COLUMNS} FROM webhook_endpoints w WHERE w.tenant_id = $1 AND w.id = $2`,
}

export async function readEndpoint(
  db: Database,
  tenantId: string,
  id: string,
): Promise<EndpointRow | undefined> {
  return (await db.query<EndpointRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'webhook_endpoints_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Reads an endpoint, and locks it until the transaction ends. */
export async function lockEndpoint(
  db: Database,
  tenantId: string,
  id: string,
): Promise<EndpointRow | undefined> {
  return (await db.query<EndpointRow>(LOCK, [tenantId, id])).rows[0]
}

const UPDATE: Statement = {
  name: 'webhook_endpoints_update',
  text: `UPDATE webhook_endpoints
         SET url = $3, description = $4, enabled_events = $5, status = $6, disabled_reason = $7, secret = $8,
             retired_secrets = $9, metadata = $10, generation = $11, timeouts = $12, updated = $13,
             signature = $14, retry_schedule = $15, filters = $16
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of an endpoint that `lockEndpoint` holds. */
export function updateEndpoint(db: Database, tenantId: string, row: EndpointRow): Promise<unknown> {
  return db.query(UPDATE, [
    tenantId,
    row.id,
    row.url,
    row.description,
    row.enabled_events,
    row.status,
    row.disabled_reason,
    row.secret,
    JSON.stringify(row.retired_secrets),
    JSON.stringify(row.metadata),
    row.generation,
    row.timeouts,
    toTimestamp(row.updated),
    row.signature,
    row.retry_schedule,
    row.filters && JSON.stringify(row.filters),
  ])
}

// An attempt that is being sent continues. Recorded attempts stay until retention removes them, but the API does not
// show them.
const DELETE: Statement = {
  name: 'webhook_endpoints_delete',
  text: `WITH waiting AS (DELETE FROM webhook_waiting WHERE tenant_id = $1 AND endpoint_id = $2),
              ready AS (DELETE FROM webhook_ready WHERE tenant_id = $1 AND endpoint_id = $2),
              held AS (DELETE FROM webhook_held_events WHERE tenant_id = $1 AND endpoint_id = $2),
              blocks AS (DELETE FROM webhook_blocks WHERE tenant_id = $1 AND endpoint_id = $2)
         DELETE FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2`,
}

/** Deletes an endpoint and its pending attempts. Returns false if the endpoint does not exist. */
export async function deleteEndpoint(db: Database, tenantId: string, id: string): Promise<boolean> {
  return (await db.query(DELETE, [tenantId, id])).count === 1
}

export const listEndpoints = defineList<EndpointRow, 'listWebhookEndpoints'>({
  operation: 'listWebhookEndpoints',
  table: 'webhook_endpoints',
  alias: 'w',
  columns: COLUMNS,
  filters: { status: 'w.status' },
  indexes: [['status']],
})
