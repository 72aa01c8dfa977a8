import { Secret } from 'otpauth'
import { codeOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import { newId } from '../../platform/ids.ts'
import { hashPassword } from '../../platform/passwords.ts'
import { seal } from '../../platform/secrets.ts'
import { ControlError, change, isoTime, type Operator } from '../../tenants/admin/change.ts'
import { insertMember, type NewMember, requireTenant } from '../../tenants/admin/tenants.ts'
import { totpContext } from '../../tenants/factors/totp-context.ts'
import { randomBase62 } from '../../tenants/keys/keys.ts'

export const MEMBER_ROLES = ['owner', 'developer', 'viewer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** 24 letters of base62 are 143 bits. */
const PASSWORD_LENGTH = 24

/** RFC 4226, 4: 160 bits. */
const TOTP_BYTES = 20

const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/

/** @returns the address without blanks around it. @throws ControlError `invalid` for what is none. */
export function checkEmail(text: string): string {
  const email = text.trim()
  if (!EMAIL.test(email) || email.length > 254)
    throw new ControlError('invalid', `no e-mail address: ${email}`)
  return email
}

/** What a member signs in with; told once. */
export interface MemberCredentials {
  readonly password: string
  /** Base32, for an authenticator app. */
  readonly totp_secret: string
}

/** Makes what a member signs in with; nothing is stored yet. Takes a tenth of a second: the hash is meant to be slow. */
export async function makeCredentials(
  pepper: string,
  tenantId: string,
  memberId: string,
): Promise<{ stored: Pick<NewMember, 'passwordHash' | 'sealedTotp'>; credentials: MemberCredentials }> {
  const password = randomBase62(PASSWORD_LENGTH)
  const totp = new Secret({ size: TOTP_BYTES }).base32
  return {
    stored: {
      passwordHash: await hashPassword(password),
      sealedTotp: seal(pepper, totp, totpContext(tenantId, memberId)),
    },
    credentials: { password, totp_secret: totp },
  }
}

/** Makes a member who can sign in; nothing is stored yet. */
export async function makeMember(
  pepper: string,
  tenantId: string,
  input: { readonly email: string; readonly role: MemberRole },
  now: number,
): Promise<{ member: NewMember; credentials: MemberCredentials }> {
  const id = newId('mem', now)
  const { stored, credentials } = await makeCredentials(pepper, tenantId, id)
  return { member: { id, email: input.email, role: input.role, ...stored }, credentials }
}

export interface CreatedUser extends MemberCredentials {
  readonly id: string
  readonly tenant_id: string
  readonly email: string
  readonly role: MemberRole
  readonly created: string
}

/** Adds a person to a tenant. Throws `conflict` when the tenant has that address already. */
export async function createUser(
  operator: Operator,
  input: { readonly tenantId: string; readonly email: string; readonly role?: MemberRole },
): Promise<CreatedUser> {
  const { tenantId } = input
  const email = checkEmail(input.email)
  const role = input.role ?? 'developer'
  const now = operator.clock.service('live')
  const { member, credentials } = await makeMember(operator.pepper, tenantId, { email, role }, now)
  try {
    await change(operator, async (tx, note) => {
      await requireTenant(tx, tenantId)
      await insertMember(tx, tenantId, member, now)
      note({ tenantId, action: 'member.created', targetId: member.id })
    })
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    throw new ControlError('conflict', `the tenant has a member ${email} already`, { cause: error })
  }
  return { id: member.id, tenant_id: tenantId, email, role, created: isoTime(now), ...credentials }
}
