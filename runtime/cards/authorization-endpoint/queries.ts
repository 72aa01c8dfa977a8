import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { RetiredSecret } from '../../events/outbound/signing.ts'

export type DefaultAction = components['schemas']['AuthorizationDefaultAction']

/** What a tenant sets of its endpoint. */
export interface EndpointSetting {
  readonly url: string
  readonly timeout_ms: number
  readonly default_action: DefaultAction
}

/** The endpoint as it is stored, its secrets sealed. Instants in milliseconds since the epoch. */
export interface AuthorizationEndpointRow extends EndpointSetting {
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly created: number
  readonly updated: number
}

const COLUMNS = 'e.url, e.timeout_ms, e.default_action, e.secret, e.retired_secrets, e.created, e.updated'

// Whoever comes second finds the secret of the first.
const SET: Statement = {
  name: 'authorization_endpoints_set',
  text: `INSERT INTO authorization_endpoints AS e (tenant_id, url, timeout_ms, default_action, secret, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (tenant_id) DO UPDATE
            SET url = excluded.url, timeout_ms = excluded.timeout_ms, default_action = excluded.default_action,
                updated = excluded.updated
         RETURNING ${COLUMNS}`,
}

/** Sets where a tenant is asked. The secret that is given counts for an endpoint that there was none before. */
export async function setEndpoint(
  db: Database,
  tenantId: string,
  { url, timeout_ms, default_action }: EndpointSetting,
  secret: Buffer,
  now: number,
): Promise<AuthorizationEndpointRow> {
  const values = [tenantId, url, timeout_ms, default_action, secret, toTimestamp(now)]
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

/** Reads the endpoint and keeps others from changing it until the transaction ends. */
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

/** Writes the secrets of an endpoint that `lockEndpoint` holds. */
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

/** False when there is none. */
export async function deleteEndpoint(db: Database, tenantId: string): Promise<boolean> {
  return (await db.query(DELETE, [tenantId])).count === 1
}
