import type { Database, Statement } from '../../database/database.ts'
import { spaceOf } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { type Networks, parseNetworks } from '../../platform/networks.ts'
import type { Faults } from '../faults/faults.ts'
import type { Caller } from './caller.ts'
import { lowerScopes, plainScope, SCOPE_OF_ROLE } from './scopes.ts'

/** A tenant's columns that a credential needs, as in `tenantColumns`. */
interface TenantRow {
  readonly tenant_id: string
  readonly name: string
  readonly plan: Caller['tenant']['plan']
  readonly verified_at: number | null
  readonly tenant_created: number
  readonly sandbox_wipes: number
  /** Space of a named sandbox; null: the default sandbox, or live. */
  readonly space: string | null
  readonly version: string | null
  readonly lifts: readonly CredentialLift[]
  readonly faults: Faults | null
}

/**
 * @param environment SQL expression for the environment of the pin and the lifts.
 * @param space SQL expression for the space of a named sandbox; null: the default sandbox.
 */
const tenantColumns = (tenantId: string, environment: string, space: string) =>
  `t.name, t.plan, t.verified_at, t.created AS tenant_created, t.sandbox_wipes, ${space} AS space, p.version,
                (SELECT coalesce(json_agg(json_build_object('bucket', l.bucket, 'factor', l.factor,
                                'until', floor(extract(epoch FROM l.expires_at) * 1000))), '[]')
                   FROM control.limit_lifts l
                  WHERE l.tenant_id = ${tenantId} AND l.environment = ${environment}) AS lifts,
                (SELECT f.setting || jsonb_build_object('created', floor(extract(epoch FROM f.created) * 1000),
                                       'expires_at', floor(extract(epoch FROM f.expires_at) * 1000))
                   FROM (SELECT d.setting, d.created, d.expires_at FROM control.faults d
                          WHERE d.tenant_id = ${tenantId} AND ${environment} = 'sandbox' AND ${space} IS NULL
                         UNION ALL
                         SELECT n.setting, n.created, n.expires_at FROM control.sandbox_faults n
                          WHERE n.tenant_id = ${tenantId}
                            AND n.sandbox = substring(${space} FROM '^[^.]+[.][^.]+')) f) AS faults`

function ofTenant(row: TenantRow, environment: Environment) {
  return {
    tenant: { id: row.tenant_id, name: row.name, plan: row.plan, created: row.tenant_created },
    space: row.space ?? spaceOf(row.tenant_id, environment === 'sandbox' ? row.sandbox_wipes : 0),
    verified: row.verified_at !== null,
    environment,
    pin: row.version,
    lifts: row.lifts,
    ...(row.faults && { faults: row.faults }),
  }
}

/** Values for credentials that are not keys. */
const NO_KEY = { allowedIps: [], retiredAt: null, revokedAt: null }

interface KeyRow extends TenantRow {
  readonly id: string
  readonly environment: Environment
  readonly kind: 'secret' | 'publishable'
  readonly scope: 'read' | 'write' | 'admin' | null
  readonly role: KnownCredential['role']
  readonly allowed_ips: readonly string[]
  readonly retired_at: number | null
  readonly revoked_at: number | null
}

const READ_KEY: Statement = {
  name: 'keyring_read',
  text: `SELECT k.tenant_id, ${tenantColumns('k.tenant_id', 'k.environment', 'k.space')},
                k.id, k.environment, k.kind, k.scope, m.role, k.allowed_ips, k.retired_at, k.revoked_at
         FROM control.keys k
         JOIN control.tenants t ON t.id = k.tenant_id
         LEFT JOIN control.members m ON m.tenant_id = k.tenant_id AND m.id = k.member_id
         LEFT JOIN control.pins p ON p.tenant_id = k.tenant_id AND p.environment = k.environment
         WHERE k.digest = $1`,
}

export async function readCredential(
  control: Database,
  digest: Buffer,
): Promise<KnownCredential | undefined> {
  const { rows } = await control.query<KeyRow>(READ_KEY, [digest])
  const row = rows[0]
  if (!row) return undefined
  return {
    ...ofTenant(row, row.environment),
    actor: 'key',
    key: { id: row.id, kind: row.kind, scope: row.scope },
    role: row.role,
    allowedIps: parseNetworks(row.allowed_ips),
    retiredAt: row.retired_at,
    revokedAt: row.revoked_at,
  }
}

interface AccessTokenRow extends TenantRow {
  readonly id: string
  readonly environment: Environment
  readonly role: MemberRow['role']
  readonly scopes: readonly string[]
  readonly expires_at: number
}

const READ_TOKEN: Statement = {
  name: 'keyring_read_token',
  text: `SELECT g.tenant_id, ${tenantColumns('g.tenant_id', 'g.environment', 'NULL::text')},
                g.id, g.environment, m.role, a.scopes, a.expires_at
         FROM control.oauth_artefacts a
         JOIN control.oauth_grants g ON g.id = a.grant_id AND g.revoked_at IS NULL
         JOIN control.tenants t ON t.id = g.tenant_id
         JOIN control.members m ON m.tenant_id = g.tenant_id AND m.id = g.member_id
         LEFT JOIN control.pins p ON p.tenant_id = g.tenant_id AND p.environment = g.environment
         WHERE a.digest = $1 AND a.model = 'AccessToken'`,
}

/** Reads an access token. Returns undefined if its authorization was revoked. */
export async function readTokenCredential(
  control: Database,
  digest: Buffer,
): Promise<KnownCredential | undefined> {
  const { rows } = await control.query<AccessTokenRow>(READ_TOKEN, [digest])
  const row = rows[0]
  if (!row) return undefined
  const scopes = lowerScopes(row.scopes, [SCOPE_OF_ROLE[row.role]])
  return {
    ...ofTenant(row, row.environment),
    ...NO_KEY,
    actor: 'token',
    key: { id: row.id, kind: 'secret', scope: plainScope(scopes) },
    token: { scopes, expiresAt: row.expires_at },
    role: row.role,
  }
}

interface MemberRow extends TenantRow {
  readonly role: NonNullable<KnownCredential['role']>
}

const READ_MEMBER: Statement = {
  name: 'keyring_read_member',
  text: `SELECT m.tenant_id, ${tenantColumns('m.tenant_id', '$3', '$4::text')}, m.role
         FROM control.members m
         JOIN control.tenants t ON t.id = m.tenant_id
         LEFT JOIN control.pins p ON p.tenant_id = m.tenant_id AND p.environment = $3
         WHERE m.tenant_id = $1 AND m.id = $2`,
}

const SANDBOX_SPACE: Statement = {
  text: 'SELECT space FROM sandbox.sandboxes WHERE tenant_id = $1 AND id = $2',
}

async function findSandboxSpace(
  control: Database,
  tenantId: string,
  id: string,
): Promise<string | undefined> {
  return (await control.query<{ space: string }>(SANDBOX_SPACE, [tenantId, id])).rows[0]?.space
}

/** Reads a member as a credential; undefined if the member or the chosen sandbox does not exist. */
export async function readMember(
  control: Database,
  { tenantId, memberId, sandboxId }: MemberName,
  environment: Environment,
): Promise<KnownCredential | undefined> {
  const isNamed = environment === 'sandbox' && sandboxId !== undefined
  const space = isNamed ? await findSandboxSpace(control, tenantId, sandboxId) : undefined
  if (isNamed && space === undefined) return undefined
  const values = [tenantId, memberId, environment, space ?? null]
  const { rows } = await control.query<MemberRow>(READ_MEMBER, values)
  const row = rows[0]
  if (!row) return undefined
  return {
    ...ofTenant(row, environment),
    ...NO_KEY,
    actor: 'member',
    key: { id: memberId, kind: 'secret', scope: SCOPE_OF_ROLE[row.role] },
    role: row.role,
  }
}

/** A lift of one rate limit. `until` is machine time in milliseconds. */
export interface CredentialLift {
  readonly bucket: string
  readonly factor: number
  readonly until: number
}

/**
 * A key, an access token or a member, with everything that is needed to check a request. Times are in milliseconds
 * since the epoch.
 */
export interface KnownCredential {
  readonly tenant: Caller['tenant']
  readonly space: Caller['space']
  readonly verified: boolean
  readonly environment: Environment
  /** Actor type in the audit log. The actor's identifier is that of `key`. */
  readonly actor: 'key' | 'token' | 'member'
  /** For a token, the ID of its authorization. For a member, the member's ID and the scope of the role. */
  readonly key: Caller['key']
  /** Present for an OAuth access token. `expiresAt` is machine time. */
  readonly token?: { readonly scopes: readonly string[]; readonly expiresAt: number }
  /** Role of the member who owns the key or authorized the app; null if the key has no owner. */
  readonly role: 'owner' | 'developer' | 'viewer' | null
  /** Empty: every address is allowed. */
  readonly allowedIps: Networks
  readonly retiredAt: number | null
  readonly revokedAt: number | null
  /** Failures that the tenant simulates in the sandbox; they may have expired. */
  readonly faults?: Faults
  /** Version that the tenant is pinned to in the environment. */
  readonly pin: string | null
  readonly lifts: readonly CredentialLift[]
}

/** Identifies a member of a tenant, and the sandbox that the member works in. */
export interface MemberName {
  /** Named sandbox that takes the place of the default one; absent: the default sandbox. */
  readonly sandboxId?: string | undefined
  readonly tenantId: string
  readonly memberId: string
}
