/** Members of a tenant. At least one owner who can sign in always remains. */

import type { Database, Statement } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import {
  ControlError,
  change,
  isoTime,
  type Operator,
  type OperatorNote,
} from '../../tenants/admin/change.ts'
import { revokeGrantRow } from '../oauth/queries.ts'
import { withdrawInvitationsOf } from './invitations.ts'
import { type MemberCredentials, type MemberRole, makeCredentials } from './users.ts'

const LIST: Statement = {
  text: `SELECT m.id, m.email, m.role, m.created, m.totp_secret IS NOT NULL AS can_sign_in,
                (SELECT max(s.seen_at) FROM control.sessions s
                 WHERE s.tenant_id = $1 AND s.member_id = m.id) AS seen_at
         FROM control.members m WHERE m.tenant_id = $1 ORDER BY m.created, m.id`,
}

// Locks owners in a fixed order. If two owners demote each other at the same time, the second one sees the first
// change.
const LOCK_OWNERS: Statement = {
  text: `SELECT id FROM control.members WHERE tenant_id = $1 AND role = 'owner' AND totp_secret IS NOT NULL
         ORDER BY id FOR UPDATE`,
}

const LOCK: Statement = {
  text: `SELECT role, totp_secret IS NOT NULL AS can_sign_in FROM control.members
         WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
}

const SET_ROLE: Statement = {
  text: 'UPDATE control.members SET role = $3 WHERE tenant_id = $1 AND id = $2',
}

const GRANTS: Statement = {
  text: `SELECT id, environment FROM control.oauth_grants
         WHERE tenant_id = $1 AND member_id = $2 AND revoked_at IS NULL`,
}

const HAND_OVER_KEYS: Statement = {
  text: 'UPDATE control.keys SET member_id = $3 WHERE tenant_id = $1 AND member_id = $2',
}

/** Deletes sessions and all credentials other than password and TOTP secret. */
const SIGN_IN_DELETIONS: readonly Statement[] = [
  { text: 'DELETE FROM control.sessions WHERE tenant_id = $1 AND member_id = $2' },
  { text: 'DELETE FROM control.recovery_codes WHERE tenant_id = $1 AND member_id = $2' },
  { text: 'DELETE FROM control.passkeys WHERE tenant_id = $1 AND member_id = $2' },
  { text: 'DELETE FROM control.totp_uses WHERE tenant_id = $1 AND member_id = $2' },
  { text: 'DELETE FROM control.wrong_codes WHERE tenant_id = $1 AND member_id = $2' },
]

const DELETE_VIEWS: Statement = {
  text: 'DELETE FROM control.saved_views WHERE tenant_id = $1 AND member_id = $2',
}

const DELETE: Statement = { text: 'DELETE FROM control.members WHERE tenant_id = $1 AND id = $2' }

const FIND: Statement = {
  text: `SELECT m.tenant_id, m.id, m.email, m.role, m.created, m.totp_secret IS NOT NULL AS can_sign_in,
                (SELECT max(s.seen_at) FROM control.sessions s
                 WHERE s.tenant_id = m.tenant_id AND s.member_id = m.id) AS seen_at
         FROM control.members m WHERE m.id = $1`,
}

const LOCK_BY_ID: Statement = {
  text: `SELECT tenant_id, email, totp_secret IS NOT NULL AS can_sign_in FROM control.members
         WHERE id = $1 FOR UPDATE`,
}

const SET_CREDENTIALS: Statement = {
  text: 'UPDATE control.members SET password_hash = $3, totp_secret = $4 WHERE tenant_id = $1 AND id = $2',
}

interface MemberListRow {
  readonly id: string
  readonly email: string
  readonly role: MemberRole
  readonly created: number
  readonly can_sign_in: boolean
  readonly seen_at: number | null
}

export interface ListedMember extends Omit<MemberListRow, 'created' | 'seen_at'> {
  readonly created: string
  /** Time of last activity, to the minute; null if the member has no session. */
  readonly seen_at: string | null
}

/** Lists the members of a tenant, oldest first. */
export async function listMembers({ control }: Operator, tenantId: string): Promise<readonly ListedMember[]> {
  const { rows } = await control.query<MemberListRow>(LIST, [tenantId])
  return rows.map((row) => ({ ...row, created: isoTime(row.created), seen_at: isoTime(row.seen_at) }))
}

/** Returns one member. @throws ControlError `not_found`. */
export async function showMember(
  { control }: Operator,
  id: string,
): Promise<ListedMember & { readonly tenant_id: string }> {
  const { rows } = await control.query<MemberListRow & { readonly tenant_id: string }>(FIND, [id])
  if (!rows[0]) throw noMember(id)
  return { ...rows[0], created: isoTime(rows[0].created), seen_at: isoTime(rows[0].seen_at) }
}

const noMember = (id: string) =>
  new ControlError(
    'not_found',
    `there is no user ${id}: expected an identifier that starts with mem_, as shown by admin user list`,
  )

type Locked = { readonly tenant_id: string; readonly email: string; readonly can_sign_in: boolean }

async function lockById(tx: Database, id: string): Promise<Locked> {
  const { rows } = await tx.query<Locked>(LOCK_BY_ID, [id])
  if (!rows[0]) throw noMember(id)
  return rows[0]
}

async function endSignIns(tx: Database, tenantId: string, id: string): Promise<void> {
  for (const deletion of SIGN_IN_DELETIONS) await tx.query(deletion, [tenantId, id])
}

/** Revokes the apps that the member allowed and the member's invitations. */
async function endAuthority(
  operator: Operator,
  tx: Database,
  note: (note: OperatorNote) => void,
  tenantId: string,
  id: string,
): Promise<void> {
  await withdrawInvitationsOf(tx, tenantId, id)
  const grants = await tx.query<{ id: string; environment: Environment }>(GRANTS, [tenantId, id])
  for (const grant of grants.rows) {
    await revokeGrantRow(tx, tenantId, grant.id, operator.clock.service(grant.environment))
    note({ tenantId, environment: grant.environment, action: 'connected_app.revoked', targetId: grant.id })
  }
}

/**
 * Disables a member's credentials. Passwords, codes and passkeys stop working, sessions end immediately, and
 * connected apps and invitations of the member are revoked. API keys keep working. `resetUser` gives access again.
 * Has no effect if the member is already disabled.
 *
 * @throws ControlError `not_found`.
 */
export async function disableUser(
  operator: Operator,
  id: string,
): Promise<{ readonly id: string; readonly tenant_id: string; readonly can_sign_in: false }> {
  return change(operator, async (tx, note) => {
    const { tenant_id: tenantId, can_sign_in: canSignIn } = await lockById(tx, id)
    if (canSignIn) {
      await tx.query(SET_CREDENTIALS, [tenantId, id, null, null])
      await endSignIns(tx, tenantId, id)
      await endAuthority(operator, tx, note, tenantId, id)
      note({ tenantId, action: 'member.disabled', targetId: id })
    }
    return { id, tenant_id: tenantId, can_sign_in: false }
  })
}

/**
 * Gives a member a new password and a new TOTP secret, which are shown once. The old ones, passkeys and recovery
 * codes stop working, and sessions end immediately.
 *
 * @throws ControlError `not_found`.
 */
export async function resetUser(
  operator: Operator,
  id: string,
): Promise<{ readonly id: string; readonly tenant_id: string; readonly email: string } & MemberCredentials> {
  return change(operator, async (tx, note) => {
    const { tenant_id: tenantId, email } = await lockById(tx, id)
    const { stored, credentials } = await makeCredentials(operator.pepper, tenantId, id)
    await tx.query(SET_CREDENTIALS, [tenantId, id, stored.passwordHash, stored.sealedTotp])
    await endSignIns(tx, tenantId, id)
    note({ tenantId, action: 'member.reset', targetId: id })
    return { id, tenant_id: tenantId, email, ...credentials }
  })
}

/**
 * Locks a member to change it. @param role the new role; undefined to remove the member. @throws ControlError
 * `not_found`; `conflict` if no owner would remain.
 */
async function lockMember(
  tx: Database,
  tenantId: string,
  id: string,
  role?: MemberRole,
): Promise<MemberRole> {
  const owners = await tx.query<{ id: string }>(LOCK_OWNERS, [tenantId])
  const { rows } = await tx.query<Pick<MemberListRow, 'role' | 'can_sign_in'>>(LOCK, [tenantId, id])
  if (!rows[0]?.can_sign_in) throw new ControlError('not_found', `there is no member ${id} who can sign in`)
  if (role !== 'owner' && owners.rows.length === 1 && owners.rows[0]?.id === id) {
    throw new ControlError(
      'conflict',
      'an account must have at least one owner: make a different member an owner first',
    )
  }
  return rows[0].role
}

/**
 * Changes a member's role, from the next request on. If the member is no longer an owner, the member's invitations
 * are revoked.
 *
 * @throws ControlError `not_found`; `conflict` for the last owner.
 */
export function changeRole(
  operator: Operator,
  tenantId: string,
  id: string,
  role: MemberRole,
): Promise<void> {
  return change(operator, async (tx, note) => {
    const before = await lockMember(tx, tenantId, id, role)
    if (before === role) return
    await tx.query(SET_ROLE, [tenantId, id, role])
    if (before === 'owner') await withdrawInvitationsOf(tx, tenantId, id)
    note({ tenantId, action: 'member.role_changed', targetId: id })
  })
}

/**
 * Removes a member, with the member's sessions, invitations and connected apps, on every node immediately. The
 * member's API keys keep working and get a new owner.
 *
 * @param heir the member who gets the keys.
 * @throws ControlError `not_found`; `conflict` for the last owner, and if `id` and `heir` are the same member.
 */
export function removeMember(operator: Operator, tenantId: string, id: string, heir: string): Promise<void> {
  if (id === heir) throw new ControlError('conflict', 'you cannot remove yourself: ask a different owner')
  return change(operator, async (tx, note) => {
    await lockMember(tx, tenantId, id)
    await endAuthority(operator, tx, note, tenantId, id)
    await tx.query(HAND_OVER_KEYS, [tenantId, id, heir])
    await endSignIns(tx, tenantId, id)
    await tx.query(DELETE_VIEWS, [tenantId, id])
    await tx.query(DELETE, [tenantId, id])
    note({ tenantId, action: 'member.removed', targetId: id })
  })
}
