/** Invitations to join a tenant. An invitation is a link with a secret that can be used once. */
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import { newId } from '../../platform/ids.ts'
import { hashPassword } from '../../platform/passwords.ts'
import { deriveSecret, seal } from '../../platform/secrets.ts'
import { ControlError, change, isoTime, type Operator } from '../../tenants/admin/change.ts'
import { insertMember } from '../../tenants/admin/tenants.ts'
import { useStep } from '../../tenants/factors/factor-queries.ts'
import { totpContext } from '../../tenants/factors/totp-context.ts'
import { digestKey } from '../../tenants/keys/keys.ts'
import { checkEmail, type MemberRole } from './users.ts'

/** Milliseconds that a link is valid. */
export const INVITATION_MS = 72 * 3_600_000

const MAX_OPEN = 100

const LINK = /^(ten_[0-9a-z]{26})\.([0-9a-f]{64})$/

const COUNT: Statement = {
  text: `SELECT count(*)::integer AS open,
                EXISTS (SELECT FROM control.members WHERE tenant_id = $1 AND lower(email) = lower($2)) AS is_member
         FROM control.invitations WHERE tenant_id = $1 AND lower(email) <> lower($2) AND expires_at > $3`,
}

const INSERT: Statement = {
  text: `INSERT INTO control.invitations (tenant_id, id, digest, email, role, member_id, created, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (tenant_id, lower(email)) DO UPDATE SET
           id = excluded.id, digest = excluded.digest, email = excluded.email, role = excluded.role,
           member_id = excluded.member_id, created = excluded.created, expires_at = excluded.expires_at`,
}

const LIST: Statement = {
  text: `SELECT id, email, role, created, expires_at FROM control.invitations
         WHERE tenant_id = $1 AND expires_at > $2 ORDER BY created, id`,
}

const FIND: Statement = {
  text: `SELECT i.id, i.email, i.role, t.name AS tenant_name FROM control.invitations i
         JOIN control.tenants t ON t.id = i.tenant_id
         WHERE i.tenant_id = $1 AND i.digest = $2 AND i.expires_at > $3`,
}

const USE: Statement = {
  text: `DELETE FROM control.invitations WHERE tenant_id = $1 AND digest = $2 AND expires_at > $3
         RETURNING email, role`,
}

const WITHDRAW: Statement = { text: 'DELETE FROM control.invitations WHERE tenant_id = $1 AND id = $2' }

const WITHDRAW_OF: Statement = {
  text: 'DELETE FROM control.invitations WHERE tenant_id = $1 AND member_id = $2',
}

const SWEEP: Statement = { text: 'DELETE FROM control.invitations WHERE expires_at <= $1' }

interface InvitationRow {
  readonly id: string
  readonly email: string
  readonly role: MemberRole
  readonly created: number
  readonly expires_at: number
}

export interface Invitation extends Omit<InvitationRow, 'created' | 'expires_at'> {
  readonly created: string
  readonly expires_at: string
}

export interface InvitationInput {
  readonly tenantId: string
  readonly email: string
  readonly role: MemberRole
  /** The member who sends the invitation. */
  readonly memberId: string
  /** Token of the form. If a form is submitted twice, both submissions make the same link. */
  readonly once: string
}

/**
 * Invites a person. Replaces an earlier invitation to the same address.
 *
 * @returns the part of the link after `/invitations/`, which is shown once.
 * @throws ControlError `invalid` if the address is not an email address; `conflict` if it belongs to a member, or if
 * too many invitations are open.
 */
export async function invite(operator: Operator, input: InvitationInput): Promise<string> {
  const { tenantId, role, memberId } = input
  const email = checkEmail(input.email)
  const { pepper, clock } = operator
  const secret = secretOf(pepper, input, email)
  const now = clock.machine()
  const id = newId('inv', now)
  await change(operator, async (tx, note) => {
    const { rows } = await tx.query<{ open: number; is_member: boolean }>(COUNT, [
      tenantId,
      email,
      toTimestamp(now),
    ])
    if (rows[0]?.is_member)
      throw new ControlError('conflict', `the address ${email} already belongs to a member`)
    if ((rows[0]?.open ?? 0) >= MAX_OPEN) {
      throw new ControlError(
        'conflict',
        `the account has ${MAX_OPEN} open invitations, which is the maximum: withdraw one first`,
      )
    }
    const times = [toTimestamp(now), toTimestamp(now + INVITATION_MS)]
    await tx.query(INSERT, [tenantId, id, digestKey(pepper, secret), email, role, memberId, ...times])
    note({ tenantId, action: 'invitation.created', targetId: id })
  })
  return `${tenantId}.${secret}`
}

/**
 * Returns the link that the same form already made, if it is still valid. @throws ControlError `invalid` for a wrong
 * email address.
 */
export async function findInvited(operator: Operator, input: InvitationInput): Promise<string | undefined> {
  if (input.once === '') return undefined
  const link = `${input.tenantId}.${secretOf(operator.pepper, input, checkEmail(input.email))}`
  return (await openInvitation(operator, link)) && link
}

const secretOf = (pepper: string, { tenantId, memberId, role, once }: InvitationInput, email: string) =>
  deriveSecret(pepper, `invitation ${tenantId} ${memberId} ${email} ${role} ${once}`)

/** Lists invitations that can still be used, oldest first. */
export async function listInvitations(
  { control, clock }: Operator,
  tenantId: string,
): Promise<readonly Invitation[]> {
  const { rows } = await control.query<InvitationRow>(LIST, [tenantId, toTimestamp(clock.machine())])
  return rows.map((row) => ({
    ...row,
    created: isoTime(row.created),
    expires_at: isoTime(row.expires_at),
  }))
}

/** Withdraws an invitation. @throws ControlError `not_found` if it does not exist or has ended. */
export function withdrawInvitation(operator: Operator, tenantId: string, id: string): Promise<void> {
  return change(operator, async (tx, note) => {
    const { count } = await tx.query(WITHDRAW, [tenantId, id])
    if (count === 0) throw new ControlError('not_found', `there is no open invitation ${id}`)
    note({ tenantId, action: 'invitation.withdrawn', targetId: id })
  })
}

/** Withdraws all invitations of a member who may no longer invite. Runs in the caller's transaction. */
export function withdrawInvitationsOf(tx: Database, tenantId: string, memberId: string): Promise<unknown> {
  return tx.query(WITHDRAW_OF, [tenantId, memberId])
}

export interface OpenInvitation {
  readonly tenantId: string
  readonly digest: Buffer
  readonly id: string
  readonly email: string
  readonly role: MemberRole
  readonly tenant_name: string
}

/** @param link result of `invite`. @returns undefined if the invitation is used, withdrawn, expired or unknown. */
export async function openInvitation(
  { control, clock, pepper }: Operator,
  link: string,
): Promise<OpenInvitation | undefined> {
  const [, tenantId, secret] = LINK.exec(link) ?? []
  if (tenantId === undefined) return undefined
  const digest = digestKey(pepper, secret!)
  const values = [tenantId, digest, toTimestamp(clock.machine())]
  const { rows } = await control.query<Omit<OpenInvitation, 'tenantId' | 'digest'>>(FIND, values)
  return rows[0] && { ...rows[0], tenantId, digest }
}

/**
 * Creates the member with the given password and TOTP secret (Base32), and uses up the invitation.
 *
 * @param given `step` is the time step of the entered code, which cannot be used again.
 * @returns the member's ID; undefined if the invitation was used by a concurrent request.
 * @throws ControlError `conflict` if the address belongs to a member by now.
 */
export async function acceptInvitation(
  operator: Operator,
  { tenantId, digest }: OpenInvitation,
  given: { readonly password: string; readonly totp: string; readonly step: number; readonly ip: string },
): Promise<string | undefined> {
  const { pepper, clock } = operator
  const now = clock.service('live')
  const id = newId('mem', now)
  const passwordHash = await hashPassword(given.password)
  const sealedTotp = seal(pepper, given.totp, totpContext(tenantId, id))
  try {
    return await change({ ...operator, member: { id, ip: given.ip } }, async (tx, note) => {
      const values = [tenantId, digest, toTimestamp(clock.machine())]
      const { rows } = await tx.query<{ email: string; role: MemberRole }>(USE, values)
      if (!rows[0]) return undefined
      await insertMember(tx, tenantId, { id, ...rows[0], passwordHash, sealedTotp }, now)
      await useStep(tx, tenantId, id, given.step)
      note({ tenantId, action: 'member.joined', targetId: id })
      return id
    })
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    throw new ControlError('conflict', 'the address already belongs to a member', { cause: error })
  }
}

/** Deletes expired invitations of all tenants. @param by machine time in milliseconds since the epoch. */
export function sweepInvitations(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}
