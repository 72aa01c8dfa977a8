/**
 * OAuth statements on the control schema. Codes and tokens have no tenant: their digest or authorization ID
 * identifies them.
 */
import type { Database, Statement } from '../../database/database.ts'
import { DatabaseUnavailable } from '../../database/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import type { SCOPE_OF_ROLE } from '../../tenants/keys/scopes.ts'

export interface OauthClientRow {
  readonly id: string
  readonly environment: Environment
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly scopes: readonly string[]
  /** Null for a public client. */
  readonly secret_digest: Buffer | null
}

const FIND_CLIENT: Statement = {
  text: `SELECT id, environment, name, redirect_uris, scopes, secret_digest
         FROM control.oauth_clients WHERE id = $1`,
}

export async function findClient(db: Database, id: string): Promise<OauthClientRow | undefined> {
  return (await db.query<OauthClientRow>(FIND_CLIENT, [id])).rows[0]
}

export interface GrantRow {
  readonly tenant_id: string
  readonly id: string
  readonly member_id: string
  readonly client_id: string
  readonly environment: Environment
  readonly scopes: readonly string[]
  readonly created: number
}

/** A grant with the member's current role, which may be lower than at the time of consent. */
export interface FoundGrant extends GrantRow {
  readonly role: keyof typeof SCOPE_OF_ROLE
}

const FIND_GRANT: Statement = {
  text: `SELECT g.tenant_id, g.id, g.member_id, g.client_id, g.environment, g.scopes, g.created, m.role
         FROM control.oauth_grants g
         JOIN control.members m ON m.tenant_id = g.tenant_id AND m.id = g.member_id
         WHERE g.id = $1 AND g.revoked_at IS NULL`,
}

/** Finds a grant. Returns undefined if it does not exist or was revoked. */
export async function findGrant(db: Database, id: string): Promise<FoundGrant | undefined> {
  return (await db.query<FoundGrant>(FIND_GRANT, [id])).rows[0]
}

const INSERT_GRANT: Statement = {
  text: `INSERT INTO control.oauth_grants (tenant_id, id, member_id, client_id, environment, scopes, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

export function insertGrant(db: Database, grant: GrantRow): Promise<unknown> {
  const { tenant_id, id, member_id, client_id, environment, scopes, created } = grant
  return db.query(INSERT_GRANT, [
    tenant_id,
    id,
    member_id,
    client_id,
    environment,
    scopes,
    toTimestamp(created),
  ])
}

const REVOKE_GRANT: Statement = {
  text: `UPDATE control.oauth_grants SET revoked_at = $3
         WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`,
}

const DELETE_OF_GRANT: Statement = { text: 'DELETE FROM control.oauth_artefacts WHERE grant_id = $1' }

/**
 * Revokes an authorization and deletes its codes and tokens. Returns false if it was already revoked. @param now
 * service time.
 */
export async function revokeGrantRow(
  db: Database,
  tenantId: string,
  id: string,
  now: number,
): Promise<boolean> {
  const { count } = await db.query(REVOKE_GRANT, [tenantId, id, toTimestamp(now)])
  await db.query(DELETE_OF_GRANT, [id])
  return count === 1
}

export interface Artefact {
  readonly digest: Buffer
  readonly model: string
  readonly grantId: string | null
  readonly scopes: readonly string[]
  readonly sealed: Buffer
  /** Machine time, milliseconds since the epoch. */
  readonly expiresAt: number
}

const SAVE: Statement = {
  text: `INSERT INTO control.oauth_artefacts (digest, model, grant_id, scopes, sealed, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (digest) DO UPDATE SET sealed = excluded.sealed, expires_at = excluded.expires_at`,
}

export function saveArtefact(db: Database, artefact: Artefact): Promise<unknown> {
  const { digest, model, grantId, scopes, sealed, expiresAt } = artefact
  return db.query(SAVE, [digest, model, grantId, scopes, sealed, toTimestamp(expiresAt)])
}

const FIND: Statement = {
  text: `SELECT a.sealed, a.consumed_at, a.expires_at,
                EXISTS (SELECT FROM control.oauth_grants g JOIN control.tenant_moves m ON m.tenant_id = g.tenant_id
                         WHERE g.id = a.grant_id AND m.state IN ('fenced', 'moved', 'arriving')) AS is_moving
           FROM control.oauth_artefacts a WHERE a.digest = $1 AND a.model = $2`,
}

export interface StoredArtefact {
  readonly sealed: Buffer
  readonly consumed_at: number | null
  readonly expires_at: number
}

/** Returns a code or token. @throws DatabaseUnavailable while its tenant moves: a token that is used here would work nowhere. */
export async function findArtefact(
  db: Database,
  digest: Buffer,
  model: string,
): Promise<StoredArtefact | undefined> {
  const { rows } = await db.query<StoredArtefact & { readonly is_moving: boolean }>(FIND, [digest, model])
  if (rows[0]?.is_moving)
    throw new DatabaseUnavailable('the account moves to or from a different installation')
  return rows[0]
}

const CONSUME: Statement = {
  text: `UPDATE control.oauth_artefacts SET consumed_at = $2 WHERE digest = $1 AND consumed_at IS NULL
         RETURNING grant_id`,
}

/** Marks an artifact as used. Of several concurrent calls, only one returns true. @param now machine time. */
export async function consumeArtefact(db: Database, digest: Buffer, now: number): Promise<boolean> {
  return (await db.query(CONSUME, [digest, toTimestamp(now)])).rows.length === 1
}

const DELETE: Statement = {
  text: 'DELETE FROM control.oauth_artefacts WHERE digest = $1 AND model = $2',
}

export function deleteArtefact(db: Database, digest: Buffer, model: string): Promise<unknown> {
  return db.query(DELETE, [digest, model])
}

const SWEEP_ARTEFACTS: Statement = { text: 'DELETE FROM control.oauth_artefacts WHERE expires_at <= $1' }

const SWEEP_GRANTS: Statement = {
  text: `DELETE FROM control.oauth_grants g
         WHERE g.created <= $1 AND NOT EXISTS (SELECT FROM control.oauth_artefacts a WHERE a.grant_id = g.id)`,
}

/**
 * Deletes expired artifacts of all tenants, and then authorizations that have no artifacts left.
 *
 * @param expiredBy machine time, milliseconds since the epoch.
 * @param grantedBy service time. Newer authorizations stay, because their code may not be issued yet.
 */
export async function sweepOauth(db: Database, expiredBy: number, grantedBy: number): Promise<void> {
  await db.query(SWEEP_ARTEFACTS, [toTimestamp(expiredBy)])
  await db.query(SWEEP_GRANTS, [toTimestamp(grantedBy)])
}
