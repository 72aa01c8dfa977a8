import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { RetiredSecret } from '../../events/outbound/signing.ts'

export type DefaultAction = components['schemas']['AuthorizationDefaultAction']

/** The settings of an authorization endpoint that a tenant chooses. */
export interface EndpointSetting {
  readonly url: string
  readonly timeout_ms: number
  readonly default_action: DefaultAction
  /** The most cents that `approve` approves; null if there is no maximum. */
  readonly default_max_amount: number | null
}

/** An authorization endpoint as stored, with sealed secrets. Times are milliseconds since the epoch. */
export interface AuthorizationEndpointRow extends EndpointSetting {
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly created: number
  readonly updated: number
}

const COLUMNS =
  'e.url, e.timeout_ms, e.default_action, e.default_max_amount, e.secret, e.retired_secrets, e.created, e.updated'

// On conflict, the stored secret stays: the second of two concurrent requests gets the secret that the first one stored.
const SET: Statement = {
  name: 'authorization_endpoints_set',
  text: `INSERT INTO authorization_endpoints AS e (tenant_id, url, timeout_ms, default_action, secret, created, updated, default_max_amount)
         VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
         ON CONFLICT (tenant_id) DO UPDATE
            SET url = excluded.url, timeout_ms = excluded.timeout_ms, default_action = excluded.default_action,
                updated = excluded.updated,
                default_max_amount = CASE WHEN $8::boolean THEN e.default_max_amount ELSE excluded.default_max_amount END
         RETURNING ${COLUMNS}`,
}

/** What a request sets. A stored maximum stays if `default_max_amount` is absent, which older versions do not have. */
export type GivenSetting = Omit<EndpointSetting, 'default_max_amount'> &
  Partial<Pick<EndpointSetting, 'default_max_amount'>>

/** Creates or updates the tenant's authorization endpoint. `secret` is stored only if the tenant had no endpoint. */
export async function setEndpoint(
  db: Database,
  tenantId: string,
  { url, timeout_ms, default_action, default_max_amount: most }: GivenSetting,
  secret: Buffer,
  now: number,
): Promise<AuthorizationEndpointRow> {
  const values = [
    tenantId,
    url,
    timeout_ms,
    default_action,
    secret,
    toTimestamp(now),
    most ?? null,
    most === undefined,
  ]
  return (await db.query<AuthorizationEndpointRow>(SET, values)).rows[0]!
}

const READ: Statement = {
  name: 'authorization_endpoints_read',
  text: `SELECT ${COLUMNS} FROM authorization_endpoints e WHERE e.tenant_id = $1`,
}

export async function readEndpoint(
  db: Database,
  tenantId: string,
): Promise<AuthorizationEndpointRow | undefined> {
  return (await db.query<AuthorizationEndpointRow>(READ, [tenantId])).rows[0]
}

const LOCK: Statement = { name: 'authorization_endpoints_lock', text: `${READ.text} FOR NO KEY UPDATE` }

/** Returns the endpoint and locks it until the transaction ends. */
export async function lockEndpoint(
  db: Database,
  tenantId: string,
): Promise<AuthorizationEndpointRow | undefined> {
  return (await db.query<AuthorizationEndpointRow>(LOCK, [tenantId])).rows[0]
}

const ROTATE: Statement = {
  name: 'authorization_endpoints_rotate',
  text: `UPDATE authorization_endpoints SET secret = $2, retired_secrets = $3, updated = $4 WHERE tenant_id = $1`,
}

/** Writes the secrets of an endpoint that the caller has locked with `lockEndpoint`. */
export function rotateSecret(
  db: Database,
  tenantId: string,
  { secret, retired_secrets, updated }: AuthorizationEndpointRow,
): Promise<unknown> {
  return db.query(ROTATE, [tenantId, secret, JSON.stringify(retired_secrets), toTimestamp(updated)])
}

const DELETE: Statement = {
  name: 'authorization_endpoints_delete',
  text: 'DELETE FROM authorization_endpoints WHERE tenant_id = $1',
}

/** Deletes the tenant's endpoint. Returns false if there was none. */
export async function deleteEndpoint(db: Database, tenantId: string): Promise<boolean> {
  return (await db.query(DELETE, [tenantId])).count === 1
}
