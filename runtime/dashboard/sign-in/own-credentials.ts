/** Changes of a member's own password and recovery codes, and the check of authenticator codes. */
import { randomInt } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import { hashPassword, verifyPassword } from '../../platform/passwords.ts'
import { change, type Operator } from '../../tenants/admin/change.ts'
import { useCode } from '../../tenants/factors/factors.ts'
import { judge, type WrongCodes } from '../../tenants/factors/wrong-codes.ts'
import { digestKey } from '../../tenants/keys/keys.ts'
import {
  addRecoveryCodes,
  deleteOtherSessions,
  deleteRecoveryCode,
  deleteRecoveryCodes,
  findOwnCredentials,
  setPasswordHash,
} from './queries.ts'

export interface OwnParts {
  readonly operator: Operator
  readonly wrongCodes: WrongCodes
}

export interface Whose {
  readonly tenantId: string
  readonly memberId: string
}

/** The member who submits a form. */
export interface FormSender extends Whose {
  readonly ip: string
  /** Digest of the session, as stored in the database. */
  readonly session: Buffer
}

/** Number of recovery codes in a set. */
export const RECOVERY_CODES = 10

/** 12 digits are about 40 bits. At most 10 wrong codes are accepted in 15 minutes, so guessing is infeasible. */
const RECOVERY_DIGITS = 12

/**
 * Changes the member's password and ends the member's other sessions.
 *
 * @param session digest of the session that is kept.
 */
export async function changePassword(
  operator: Operator,
  { tenantId, memberId, session }: Pick<FormSender, 'tenantId' | 'memberId' | 'session'>,
  next: string,
): Promise<void> {
  const hash = await hashPassword(next)
  await change(operator, async (tx, note) => {
    await setPasswordHash(tx, tenantId, memberId, hash)
    await deleteOtherSessions(tx, tenantId, memberId, session)
    note({ tenantId, action: 'member.password_changed', targetId: memberId })
  })
}

/** Creates a set of recovery codes, which replaces the previous set. @returns the codes, which are shown only once. */
export async function makeRecoveryCodes(
  operator: Operator,
  { tenantId, memberId }: Whose,
): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, makeCode)
  const digests = codes.map((each) => digestKey(operator.pepper, each))
  await change(operator, async (tx, note) => {
    await deleteRecoveryCodes(tx, tenantId, memberId)
    await addRecoveryCodes(tx, tenantId, memberId, digests)
    note({ tenantId, action: 'member.recovery_codes_made', targetId: memberId })
  })
  return codes.map((each) => each.replace(/\d{4}(?=\d)/g, '$&-'))
}

const makeCode = () => Array.from({ length: RECOVERY_DIGITS }, () => randomInt(10)).join('')

/** Uses up a recovery code of the member. @returns false if the code is not valid. @param code without spaces. */
export async function useRecoveryCode(
  control: Database,
  pepper: string,
  { tenantId, memberId }: Whose,
  code: string,
): Promise<boolean> {
  const digits = code.replaceAll('-', '')
  if (!/^\d{12}$/.test(digits)) return false
  return deleteRecoveryCode(control, tenantId, memberId, digestKey(pepper, digits))
}

const WAIT = 'After 10 failed attempts, wait at least 15 minutes before you try again.'

/** Shown if `confirm` returns false for a code. */
export const NOT_CONFIRMED = `The code is incorrect or was already used. ${WAIT}`

/** Shown if `confirm` returns false for a code and a password. */
export const NOT_CONFIRMED_WITH_PASSWORD = `The password or code is incorrect, or the code was already used. ${WAIT}`

/** Shown if email, password, and code do not identify a member. */
export const WRONG_CREDENTIALS = `The email, password, or code is incorrect, or the code was already used. ${WAIT}`

/** The credentials with which a member confirms a form. */
export interface FormConfirmation {
  readonly code: string
  /** Absent if the form requires only a code. */
  readonly password?: string | undefined
  /** SHA-256 of the form. A form that is submitted twice uses its code once. Absent: a second submission is refused. */
  readonly formHash?: Buffer | undefined
}

/** Whether the credentials are correct. A failure counts as a wrong code; after too many, no code is accepted for a time. */
export async function confirm(
  { operator, wrongCodes }: OwnParts,
  { tenantId, memberId, ip, session }: FormSender,
  { code, password, formHash }: FormConfirmation,
): Promise<boolean> {
  const { control, pepper, clock } = operator
  const digits = code.replaceAll(/\s/g, '')
  const member = await findOwnCredentials(control, tenantId, memberId)
  const counted = await wrongCodes.admit(tenantId, { kind: 'session', memberId, digest: session })
  const isPassword =
    member !== undefined &&
    counted.isAdmitted &&
    (password === undefined || (await judge([counted], () => verifyPassword(password, member.password_hash))))
  const fits =
    isPassword && (await useCode(control, pepper, tenantId, member, digits, clock.machine(), formHash))
  if (fits) await counted.right()
  else await counted.wrong({ actorType: 'member', actorId: memberId, requestId: null, ip })
  return fits
}
