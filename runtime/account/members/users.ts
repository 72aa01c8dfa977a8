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

/** 24 characters of base62 have 143 bits of entropy. */
const PASSWORD_LENGTH = 24

/** 160 bits, as RFC 4226 section 4 recommends. */
const TOTP_BYTES = 20

const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/

/**
 * @returns the address without surrounding whitespace. @throws ControlError `invalid` if it is not an email address.
 */
export function checkEmail(text: string): string {
  const email = text.trim()
  if (!EMAIL.test(email) || email.length > 254)
    throw new ControlError('invalid', `the email address is not valid: ${email}`)
  return email
}

/** Credentials of a member, which are shown once. */
export interface MemberCredentials {
  readonly password: string
  /** Secret for an authenticator app, in Base32. */
  readonly totp_secret: string
}

/** Generates credentials without storing them. Takes 0.1 s, because the password hash is slow on purpose. */
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

/** Generates a member with credentials, without storing them. */
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

/**
 * Adds a member to a tenant. @throws ControlError `conflict` if the tenant already has a member with that address.
 */
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
    throw new ControlError('conflict', `the tenant already has a member ${email}`, { cause: error })
  }
  return { id: member.id, tenant_id: tenantId, email, role, created: isoTime(now), ...credentials }
}
