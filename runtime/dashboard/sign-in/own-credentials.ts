/** What a member signs in with, changed by the member: the password, and codes for the day when the telephone is gone. */
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

/** The member who sends a form, and from where. */
export interface FormSender extends Whose {
  readonly ip: string
  /** Digest of the session that it is sent in, as sessions are kept. */
  readonly session: Buffer
}

/** Codes of one set. */
export const RECOVERY_CODES = 10

/** Digits, which every keyboard has: 40 bits, of which ten wrong ones in a quarter of an hour are looked at. */
const RECOVERY_DIGITS = 12

/**
 * Puts another password in the place of the member's, and ends the member's other sessions.
 *
 * @param session the one that stays, by its digest.
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

/** Makes a set of recovery codes; those before are good no longer. @returns the codes, shown once. */
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

/** Whether it is a recovery code of the member, which it is no longer. @param code without blanks. */
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

/** Said where `confirm` has not. */
export const NOT_CONFIRMED =
  'Not right, or the code was used before. After too many tries none is looked at for a while.'

/** What a member confirms a form with. */
export interface FormConfirmation {
  readonly code: string
  /** Absent: the code alone is enough. */
  readonly password?: string | undefined
  /** SHA-256 of the form: sent twice, it uses its code once. */
  readonly formHash: Buffer
}

/** Whether they are the member's. What is wrong counts as a wrong code, and after too many none is looked at. */
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
