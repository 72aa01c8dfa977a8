import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { isId, newId } from '../../platform/ids.ts'
import type { Caller } from '../keys/caller.ts'
import { ControlError, change, isoTime, type Operator } from './change.ts'

export const PLANS = ['trial', 'standard', 'enterprise'] as const
export type Plan = Caller['tenant']['plan'] & (typeof PLANS)[number]

const INSERT_TENANT: Statement = {
  text: 'INSERT INTO control.tenants (id, name, plan, verified_at, created) VALUES ($1, $2, $3, $4, $5)',
}

const INSERT_PIN: Statement = {
  text: 'INSERT INTO control.pins (tenant_id, environment, version, pinned_at) VALUES ($1, $2, $3, $4)',
}

const INSERT_MEMBER: Statement = {
  text: `INSERT INTO control.members (tenant_id, id, email, role, password_hash, totp_secret, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

const FIND_TENANT: Statement = {
  text: 'SELECT id, name, plan, verified_at, created FROM control.tenants WHERE id = $1',
}

const VERIFY_TENANT: Statement = {
  text: `UPDATE control.tenants SET verified_at = coalesce(verified_at, $2) WHERE id = $1
         RETURNING id, name, plan, verified_at, created`,
}

/** A member to insert. A member without credentials can own keys but cannot sign in. */
export interface NewMember {
  readonly id: string
  readonly email: string
  readonly role: 'owner' | 'developer' | 'viewer'
  readonly passwordHash: string | null
  readonly sealedTotp: Buffer | null
}

export interface NewTenant {
  readonly name: string
  readonly plan: Plan
  readonly verified: boolean
  /** Version to which both environments are pinned. */
  readonly version: string
}

interface TenantRow {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly verified_at: number | null
  readonly created: number
}

export interface TenantSummary {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly verified_at: string | null
  readonly created: string
}

function summary(row: TenantRow): TenantSummary {
  return { ...row, verified_at: isoTime(row.verified_at), created: isoTime(row.created) }
}

export async function insertMember(
  tx: Database,
  tenantId: string,
  member: NewMember,
  now: number,
): Promise<void> {
  const { id, email, role, passwordHash, sealedTotp } = member
  await tx.query(INSERT_MEMBER, [tenantId, id, email, role, passwordHash, sealedTotp, toTimestamp(now)])
}

/** Inserts a tenant with its first owner and its pins. */
export async function insertTenant(
  tx: Database,
  id: string,
  tenant: NewTenant,
  owner: NewMember,
  now: number,
): Promise<void> {
  const at = toTimestamp(now)
  await Promise.all([
    tx.query(INSERT_TENANT, [id, tenant.name, tenant.plan, tenant.verified ? at : null, at]),
    insertMember(tx, id, owner, now),
    ...ENVIRONMENTS.map((environment) => tx.query(INSERT_PIN, [id, environment, tenant.version, at])),
  ])
}

/**
 * Creates a tenant, pinned to the current version in both environments. Its first owner owns the keys that the
 * operator creates, and cannot sign in. Use `createUser` to add members who can.
 */
export async function createTenant(
  operator: Operator,
  input: { readonly name: string; readonly plan?: Plan },
  currentVersion: string,
): Promise<
  TenantSummary & { readonly owner_id: string; readonly pins: Readonly<Record<Environment, string>> }
> {
  const name = input.name.trim()
  if (name === '' || name.length > 200)
    throw new ControlError('invalid', 'the name must have 1 to 200 characters')
  const now = operator.clock.service('live')
  const id = newId('ten', now)
  const owner: NewMember = {
    id: newId('mem', now),
    email: `owner@${id}.invalid`,
    role: 'owner',
    passwordHash: null,
    sealedTotp: null,
  }
  const tenant = { name, plan: input.plan ?? 'trial', verified: false, version: currentVersion }
  await change(operator, async (tx, note) => {
    await insertTenant(tx, id, tenant, owner, now)
    note({ tenantId: id, action: 'tenant.created', targetId: id })
  })
  return {
    ...summary({ id, name, plan: tenant.plan, verified_at: null, created: now }),
    owner_id: owner.id,
    pins: { sandbox: currentVersion, live: currentVersion },
  }
}

const LIST_TENANTS: Statement = {
  text: `SELECT id, name, plan, verified_at, created FROM control.tenants
         WHERE id > $1 ORDER BY id LIMIT $2`,
}

/**
 * Returns a page of tenants in order of creation.
 *
 * @param input `after` is the last identifier of the previous page.
 * @returns `has_more`: whether more tenants follow.
 */
export async function listTenants(
  { control }: Pick<Operator, 'control'>,
  { limit, after = '' }: { readonly limit: number; readonly after?: string | undefined },
): Promise<{ readonly data: readonly TenantSummary[]; readonly has_more: boolean }> {
  const { rows } = await control.query<TenantRow>(LIST_TENANTS, [after, limit + 1])
  return { data: rows.slice(0, limit).map(summary), has_more: rows.length > limit }
}

export function noTenant(id: string): ControlError {
  const hint = isId('ten', id) ? '' : ': expected an identifier that starts with ten_'
  return new ControlError('not_found', `there is no tenant ${id}${hint}`)
}

/** Returns a tenant. @throws ControlError `not_found`. */
export async function requireTenant(db: Database, id: string): Promise<TenantSummary> {
  const { rows } = await db.query<TenantRow>(FIND_TENANT, [id])
  if (!rows[0]) throw noTenant(id)
  return summary(rows[0])
}

/**
 * Marks a business as verified, so that it may write cards and settlements in live. Has no effect if it already is.
 */
export async function verifyTenant(operator: Operator, id: string): Promise<TenantSummary> {
  const at = toTimestamp(operator.clock.service('live'))
  return change(operator, async (tx, note) => {
    const { rows } = await tx.query<TenantRow>(VERIFY_TENANT, [id, at])
    if (!rows[0]) throw noTenant(id)
    note({ tenantId: id, action: 'tenant.verified', targetId: id })
    return summary(rows[0])
  })
}
