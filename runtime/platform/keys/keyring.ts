import { hash } from 'node:crypto'
import type { Database, Statement } from '../database/database.ts'
import { spaceOf } from '../database/space.ts'
import type { Environment } from '../environment.ts'
import { type Networks, parseNetworks } from '../networks.ts'
import type { Caller } from './caller.ts'
import { digestKey, parseKey } from './keys.ts'

/** A lift of one rate bucket; `until` is machine time. */
export interface CredentialLift {
  readonly bucket: string
  readonly factor: number
  readonly until: number
}

/** A person of a tenant. */
export interface MemberName {
  readonly tenantId: string
  readonly memberId: string
}

/**
 * What a node knows of a key, or of a member who acts without one: everything that checking a request takes. Times in
 * milliseconds since the epoch.
 */
export interface Credential {
  readonly tenant: Caller['tenant']
  readonly space: Caller['space']
  readonly verified: boolean
  readonly environment: Environment
  /** Whose act it is in the audit log, under the identifier of `key`. */
  readonly actor: 'key' | 'member'
  /** A member who acts without a key has the scope of the role. */
  readonly key: Caller['key']
  /** Of the member whom the key belongs to; null when it has none. */
  readonly role: 'owner' | 'developer' | 'viewer' | null
  /** Empty: from anywhere. */
  readonly allowedIps: Networks
  readonly retiredAt: number | null
  readonly revokedAt: number | null
  /** Version that the tenant is pinned to in the key's environment. */
  readonly pin: string | null
  readonly lifts: readonly CredentialLift[]
}

export interface Keyring {
  /**
   * The credential of a key's text; undefined when it is malformed or unknown. At once when the node knows it, with one
   * query otherwise; a wrong checksum costs none. Rejects with `DatabaseUnavailable`.
   */
  find(text: string): Credential | undefined | Promise<Credential | undefined>
  /** The credential of a member, as it is stored now; undefined when there is no such member. Costs a query each time. */
  findMember(member: MemberName, environment: Environment): Promise<Credential | undefined>
  /** Forgets everything: what is stored has changed. */
  forget(): void
}

/** How long an unknown key stays known as such. */
const UNKNOWN_FOR_MS = 2000

/** How long an entry is used at most: a change is found so where its notification got lost. */
const KNOWN_FOR_MS = 60_000

/** Beyond this the cache starts anew rather than grow. */
const MAX_ENTRIES = 50_000

interface Entry {
  readonly credential: Credential | undefined
  readonly until: number
}

/**
 * Keys as this node knows them, by a digest of their text, so that no key stands in its memory.
 *
 * @param monotonic milliseconds that never run backwards.
 */
export function createKeyring(
  control: Database,
  pepper: string,
  monotonic: () => number = () => performance.now(),
): Keyring {
  let entries = new Map<string, Entry>()
  let loading = new Map<string, Promise<Credential | undefined>>()

  const load = async (index: string, text: string): Promise<Credential | undefined> => {
    const cache = entries
    const credential = await readCredential(control, digestKey(pepper, text))
    // `forget` came in between: what was read may be older than that.
    if (cache !== entries) return credential
    if (entries.size >= MAX_ENTRIES) entries = new Map()
    const age = credential ? KNOWN_FOR_MS : UNKNOWN_FOR_MS
    entries.set(index, { credential, until: monotonic() + age })
    return credential
  }

  return {
    find(text) {
      const index = hash('sha256', text, 'base64url')
      const entry = entries.get(index)
      if (entry && entry.until > monotonic()) return entry.credential
      if (!parseKey(text)) return undefined
      let pending = loading.get(index)
      if (!pending) {
        const own = loading
        pending = load(index, text).finally(() => own.delete(index))
        loading.set(index, pending)
      }
      return pending
    },
    findMember: (member, environment) => readMember(control, member, environment),
    forget() {
      entries = new Map()
      loading = new Map()
    },
  }
}

/** What a credential takes of its tenant, under the names of `TENANT`. */
interface TenantRow {
  readonly tenant_id: string
  readonly name: string
  readonly plan: Caller['tenant']['plan']
  readonly verified_at: number | null
  readonly tenant_created: number
  readonly sandbox_wipes: number
  readonly version: string | null
  readonly lifts: readonly CredentialLift[]
}

interface CredentialRow extends TenantRow {
  readonly id: string
  readonly environment: Environment
  readonly kind: 'secret' | 'publishable'
  readonly scope: 'read' | 'write' | 'admin' | null
  readonly role: Credential['role']
  readonly allowed_ips: readonly string[]
  readonly retired_at: number | null
  readonly revoked_at: number | null
}

/** @param environment of the pin and the lifts, in SQL. */
const tenantColumns = (tenantId: string, environment: string) =>
  `t.name, t.plan, t.verified_at, t.created AS tenant_created, t.sandbox_wipes, p.version,
                (SELECT coalesce(json_agg(json_build_object('bucket', l.bucket, 'factor', l.factor,
                                'until', floor(extract(epoch FROM l.expires_at) * 1000))), '[]')
                   FROM control.limit_lifts l
                  WHERE l.tenant_id = ${tenantId} AND l.environment = ${environment}) AS lifts`

const READ: Statement = {
  name: 'keyring_read',
  text: `SELECT k.tenant_id, ${tenantColumns('k.tenant_id', 'k.environment')},
                k.id, k.environment, k.kind, k.scope, m.role, k.allowed_ips, k.retired_at, k.revoked_at
         FROM control.keys k
         JOIN control.tenants t ON t.id = k.tenant_id
         LEFT JOIN control.members m ON m.tenant_id = k.tenant_id AND m.id = k.member_id
         LEFT JOIN control.pins p ON p.tenant_id = k.tenant_id AND p.environment = k.environment
         WHERE k.digest = $1`,
}

async function readCredential(control: Database, digest: Buffer): Promise<Credential | undefined> {
  const { rows } = await control.query<CredentialRow>(READ, [digest])
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

interface MemberRow extends TenantRow {
  readonly role: keyof typeof SCOPE_OF_ROLE
}

const READ_MEMBER: Statement = {
  name: 'keyring_read_member',
  text: `SELECT m.tenant_id, ${tenantColumns('m.tenant_id', '$3')}, m.role
         FROM control.members m
         JOIN control.tenants t ON t.id = m.tenant_id
         LEFT JOIN control.pins p ON p.tenant_id = m.tenant_id AND p.environment = $3
         WHERE m.tenant_id = $1 AND m.id = $2`,
}

/** What members may do without a key. */
export const SCOPE_OF_ROLE = { viewer: 'read', developer: 'write', owner: 'admin' } as const

async function readMember(
  control: Database,
  { tenantId, memberId }: MemberName,
  environment: Environment,
): Promise<Credential | undefined> {
  const { rows } = await control.query<MemberRow>(READ_MEMBER, [tenantId, memberId, environment])
  const row = rows[0]
  if (!row) return undefined
  return {
    ...ofTenant(row, environment),
    actor: 'member',
    key: { id: memberId, kind: 'secret', scope: SCOPE_OF_ROLE[row.role] },
    role: row.role,
    allowedIps: [],
    retiredAt: null,
    revokedAt: null,
  }
}

function ofTenant(row: TenantRow, environment: Environment) {
  return {
    tenant: { id: row.tenant_id, name: row.name, plan: row.plan, created: row.tenant_created },
    space: spaceOf(row.tenant_id, environment === 'sandbox' ? row.sandbox_wipes : 0),
    verified: row.verified_at !== null,
    environment,
    pin: row.version,
    lifts: row.lifts,
  }
}
