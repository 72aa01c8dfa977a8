import ipaddr from 'ipaddr.js'
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { digestKey, type KeyKind, makeKey } from '../keys/keys.ts'
import { ControlError, change, isoTime, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

export const SCOPES = ['read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Milliseconds that a key still works after it is marked pending revocation. */
export const RETIREMENT_MS = 24 * 60 * 60 * 1000

const INSERT_KEY: Statement = {
  text: `INSERT INTO control.keys
           (tenant_id, id, environment, kind, scope, member_id, digest, hint, allowed_ips, replaces_id, created, space)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
}

const FIRST_OWNER: Statement = {
  text: `SELECT id FROM control.members WHERE tenant_id = $1 AND role = 'owner' ORDER BY created, id LIMIT 1`,
}

const LOCATE_KEY: Statement = { text: 'SELECT tenant_id FROM control.keys WHERE id = $1' }

const LOCK_KEY: Statement = {
  text: `SELECT tenant_id, id, environment, kind, scope, member_id, allowed_ips, retired_at, revoked_at, space
         FROM control.keys WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
}

export const RETIRE_KEY: Statement = {
  text: 'UPDATE control.keys SET retired_at = coalesce(retired_at, $3) WHERE tenant_id = $1 AND id = $2',
}

const REVOKE_KEY: Statement = {
  text: `UPDATE control.keys SET revoked_at = coalesce(revoked_at, $3) WHERE tenant_id = $1 AND id = $2`,
}

interface KeyRow {
  readonly tenant_id: string
  readonly id: string
  readonly environment: Environment
  readonly kind: KeyKind
  readonly scope: Scope | null
  readonly member_id: string | null
  readonly allowed_ips: readonly string[]
  readonly retired_at: number | null
  readonly revoked_at: number | null
  readonly space: string | null
}

/** A new key, with its secret, which is shown only once. */
export interface CreatedKey {
  readonly id: string
  readonly tenant_id: string
  readonly environment: Environment
  readonly kind: KeyKind
  readonly scope: Scope | null
  readonly allowed_ips: readonly string[]
  readonly member_id: string | null
  readonly replaces_id: string | null
  readonly created: string
  readonly secret: string
}

export interface NewKey {
  readonly tenantId: string
  readonly environment: Environment
  readonly kind: KeyKind
  /** Null for publishable keys. */
  readonly scope: Scope | null
  readonly memberId: string | null
  readonly allowedIps: readonly string[]
  readonly replacesId: string | null
  /** Space of a named sandbox; absent or null: the default sandbox, or live. */
  readonly space?: string | null
  /** Absent: generated. */
  readonly id?: string | undefined
}

export async function insertKey(tx: Database, pepper: string, key: NewKey, now: number): Promise<CreatedKey> {
  const id = key.id ?? newId('key', now)
  const secret = makeKey(key.kind, key.environment)
  await tx.query(INSERT_KEY, [
    key.tenantId,
    id,
    key.environment,
    key.kind,
    key.scope,
    key.memberId,
    digestKey(pepper, secret),
    secret.slice(-4),
    key.allowedIps,
    key.replacesId,
    toTimestamp(now),
    key.space ?? null,
  ])
  return {
    id,
    tenant_id: key.tenantId,
    environment: key.environment,
    kind: key.kind,
    scope: key.scope,
    allowed_ips: key.allowedIps,
    member_id: key.memberId,
    replaces_id: key.replacesId,
    created: isoTime(now),
    secret,
  }
}

/**
 * Normalizes addresses and networks. An IPv4 address in IPv6 form becomes IPv4. @throws ControlError `invalid` with
 * the invalid ones.
 */
export function readNetworks(texts: readonly string[]): readonly string[] {
  const bad = texts.filter((text) => !isNetwork(text))
  if (bad.length > 0) {
    throw new ControlError(
      'invalid',
      `not an IP address or network: ${bad.join(', ')}; expected a form such as 10.0.0.0/8 or 2001:db8::1`,
    )
  }
  return [...new Set(texts.map((text) => (text.includes('/') ? text : ipaddr.process(text).toString())))]
}

/** Rejects `127.1`, `10/8` and `0x7f.1`, which ipaddr.js accepts and which are most likely mistakes. */
function isNetwork(text: string): boolean {
  if (text.includes('%')) return false // an IPv6 zone has a meaning on one machine only
  if (text.includes('/')) return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
}

export interface KeyInput {
  readonly tenantId: string
  readonly environment: Environment
  readonly kind?: KeyKind
  readonly scope?: Scope
  readonly allowIps?: readonly string[]
  /** Owner of the key. Default: the tenant's first owner. */
  readonly memberId?: string
  /** Identifier of the key, unique to the request. A repeated request then creates no second key. */
  readonly id?: string
}

/** Creates a key. @throws ControlError `conflict` if a key with the given identifier already exists. */
export async function createKey(operator: Operator, input: KeyInput): Promise<CreatedKey> {
  const kind = input.kind ?? 'secret'
  if (kind === 'publishable' && input.scope !== undefined) {
    throw new ControlError('invalid', 'a publishable key has no scope, because its permissions are fixed')
  }
  const allowedIps = readNetworks(input.allowIps ?? [])
  const now = operator.clock.service(input.environment)
  const making = change(operator, async (tx, note) => {
    const [tenant, owners] = await Promise.all([
      requireTenant(tx, input.tenantId),
      tx.query<{ id: string }>(FIRST_OWNER, [input.tenantId]),
    ])
    const key: NewKey = {
      tenantId: tenant.id,
      environment: input.environment,
      kind,
      scope: kind === 'publishable' ? null : (input.scope ?? 'write'),
      memberId: input.memberId ?? owners.rows[0]?.id ?? null,
      allowedIps,
      replacesId: null,
      id: input.id,
    }
    const created = await insertKey(tx, operator.pepper, key, now)
    note({ tenantId: tenant.id, action: 'key.created', targetId: created.id })
    return created
  })
  return making.catch((error: unknown) => {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    throw new ControlError(
      'conflict',
      `the key ${input.id} already exists; its secret was shown when it was created`,
      {
        cause: error,
      },
    )
  })
}

/** Locks a key's row until the end of the transaction. @throws ControlError `not_found`. */
async function lockKey(tx: Database, id: string): Promise<KeyRow> {
  const located = await tx.query<{ tenant_id: string }>(LOCATE_KEY, [id])
  const tenantId = located.rows[0]?.tenant_id
  const found = tenantId === undefined ? undefined : await tx.query<KeyRow>(LOCK_KEY, [tenantId, id])
  const key = found?.rows[0]
  if (!key)
    throw new ControlError(
      'not_found',
      `there is no key ${id}: expected an identifier that starts with key_, not the secret`,
    )
  return key
}

function refuseDead(key: KeyRow, now: number): void {
  const dead = key.revoked_at !== null || (key.retired_at !== null && key.retired_at + RETIREMENT_MS <= now)
  if (dead) throw new ControlError('conflict', `the key ${key.id} is revoked: create a new key`)
}

/**
 * Creates a successor with the same rights, and marks the key as pending revocation. A key can have only one
 * successor.
 */
export async function rotateKey(
  operator: Operator,
  id: string,
): Promise<CreatedKey & { readonly retired_at: string; readonly works_until: string }> {
  try {
    return await change(operator, async (tx, note) => {
      const key = await lockKey(tx, id)
      const now = operator.clock.service(key.environment)
      refuseDead(key, now)
      const retiredAt = key.retired_at ?? now
      const successor: NewKey = {
        tenantId: key.tenant_id,
        environment: key.environment,
        kind: key.kind,
        scope: key.scope,
        memberId: key.member_id,
        allowedIps: key.allowed_ips,
        replacesId: key.id,
        space: key.space,
      }
      const created = await insertKey(tx, operator.pepper, successor, now)
      await tx.query(RETIRE_KEY, [key.tenant_id, key.id, toTimestamp(now)])
      note({ tenantId: key.tenant_id, action: 'key.rotated', targetId: key.id })
      return { ...created, retired_at: isoTime(retiredAt), works_until: isoTime(retiredAt + RETIREMENT_MS) }
    })
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    throw new ControlError('conflict', `the key ${id} was already rotated: rotate its successor`, {
      cause: error,
    })
  }
}

/** Marks a key as pending revocation: it works for 24 more hours. Has no effect if the key is already marked. */
export async function retireKey(
  operator: Operator,
  id: string,
): Promise<{ readonly id: string; readonly retired_at: string; readonly works_until: string }> {
  return change(operator, async (tx, note) => {
    const key = await lockKey(tx, id)
    const now = operator.clock.service(key.environment)
    refuseDead(key, now)
    await tx.query(RETIRE_KEY, [key.tenant_id, key.id, toTimestamp(now)])
    if (key.retired_at === null) note({ tenantId: key.tenant_id, action: 'key.retired', targetId: id })
    const retiredAt = key.retired_at ?? now
    return { id, retired_at: isoTime(retiredAt), works_until: isoTime(retiredAt + RETIREMENT_MS) }
  })
}

/** Revokes a key immediately. Has no effect if the key is already revoked. */
export async function revokeKey(
  operator: Operator,
  id: string,
): Promise<{ readonly id: string; readonly revoked_at: string }> {
  return change(operator, async (tx, note) => {
    const key = await lockKey(tx, id)
    const now = operator.clock.service(key.environment)
    await tx.query(REVOKE_KEY, [key.tenant_id, key.id, toTimestamp(now)])
    if (key.revoked_at === null) note({ tenantId: key.tenant_id, action: 'key.revoked', targetId: id })
    return { id, revoked_at: isoTime(key.revoked_at ?? now) }
  })
}
