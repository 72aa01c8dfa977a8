/** Invitations to join a tenant: a link with a secret, which makes one member once. */
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

/** How long a link is good. */
export const INVITATION_MS = 72 * 3_600_000

/** Open ones of a tenant. */
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
  /** Who invites. */
  readonly memberId: string
  /** The same for two sendings of one form: they make one link. */
  readonly once: string
}

/**
 * Invites a person. An earlier invitation of the same address is void.
 *
 * @returns what stands behind `/invitations/` in the link: told this once.
 * @throws ControlError `invalid` for what is no address; `conflict` for a member's, and when too many are open.
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
    if (rows[0]?.is_member) throw new ControlError('conflict', `${email} is a member already`)
    if ((rows[0]?.open ?? 0) >= MAX_OPEN) {
      throw new ControlError('conflict', `${MAX_OPEN} invitations are open: withdraw one first`)
    }
    const times = [toTimestamp(now), toTimestamp(now + INVITATION_MS)]
    await tx.query(INSERT, [tenantId, id, digestKey(pepper, secret), email, role, memberId, ...times])
    note({ tenantId, action: 'invitation.created', targetId: id })
  })
  return `${tenantId}.${secret}`
}

/** The link that the same form has made before, while it is good. @throws ControlError `invalid` for no e-mail address. */
export async function findInvited(operator: Operator, input: InvitationInput): Promise<string | undefined> {
  if (input.once === '') return undefined
  const link = `${input.tenantId}.${secretOf(operator.pepper, input, checkEmail(input.email))}`
  return (await openInvitation(operator, link)) && link
}

const secretOf = (pepper: string, { tenantId, memberId, role, once }: InvitationInput, email: string) =>
  deriveSecret(pepper, `invitation ${tenantId} ${memberId} ${email} ${role} ${once}`)

/** Those that can still be used, oldest first. */
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

/** Makes the link void. @throws ControlError `not_found` when there is none, or none any more. */
export function withdrawInvitation(operator: Operator, tenantId: string, id: string): Promise<void> {
  return change(operator, async (tx, note) => {
    const { count } = await tx.query(WITHDRAW, [tenantId, id])
    if (count === 0) throw new ControlError('not_found', `no invitation ${id}`)
    note({ tenantId, action: 'invitation.withdrawn', targetId: id })
  })
}

/** Inside the caller's transaction: what a member has invited is void when the member may not any more. */
export function withdrawInvitationsOf(tx: Database, tenantId: string, memberId: string): Promise<unknown> {
  return tx.query(WITHDRAW_OF, [tenantId, memberId])
}

/** What a link invites to. */
export interface OpenInvitation {
  readonly tenantId: string
  readonly digest: Buffer
  readonly id: string
  readonly email: string
  readonly role: MemberRole
  readonly tenant_name: string
}

/** @param link what `invite` gave. @returns undefined when it is used, withdrawn, over, or never was. */
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
 * Makes the member, with the password and the TOTP secret (base32) that are the person's from now on, and uses the link up.
 *
 * @param given the step of the code that was shown, which is good for nothing else.
 * @returns the member's id; undefined when the link was used meanwhile.
 * @throws ControlError `conflict` when the address has become a member's.
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
    throw new ControlError('conflict', 'the address is a member already', { cause: error })
  }
}

/** Deletes what has run out, of all tenants. @param by machine time in milliseconds. */
export function sweepInvitations(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}
