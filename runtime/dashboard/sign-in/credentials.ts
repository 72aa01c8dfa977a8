/** Identifies a member by email address, password, and code. */

import type { Database } from '../../database/database.ts'
import {
  canHash,
  hashPassword,
  isHashedAsToday,
  NO_PASSWORD,
  verifyPassword,
} from '../../platform/passwords.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { useCode } from '../../tenants/factors/factors.ts'
import { judge, type WrongCodes } from '../../tenants/factors/wrong-codes.ts'
import { useRecoveryCode } from './own-credentials.ts'
import { type CandidateRow, findCandidates, renewHash } from './queries.ts'

export interface SignInCredentials {
  readonly email: string
  readonly password: string
  readonly code: string
  /** IP address of the client. */
  readonly ip: string
}

export interface CredentialParts {
  readonly control: Database
  readonly pepper: string
  readonly clock: Clock
  /** Counts wrong codes across all ways to submit one. */
  readonly wrongCodes: WrongCodes
}

/** The identified member, or the members with the given email address if the credentials are wrong. */
export type Recognition =
  | {
      readonly right: true
      readonly member: CandidateRow
      /** Whether a recovery code was used. It cannot be used again. */
      readonly recovered: boolean
    }
  | { readonly right: false; readonly named: readonly CandidateRow[] }

/** Several tenants can have a member with the same email address. Only the 10 oldest are checked. */
const MAX_CANDIDATES = 10

const MAX_EMAIL = 254
const MAX_PASSWORD = 1000

/**
 * Returns the member for whom email, password, and code are all correct. Each attempt counts as a wrong code until it succeeds. An
 * unknown address and a paused member take the same time, so that response times do not reveal which addresses have members.
 */
export async function recognize(
  parts: CredentialParts,
  credentials: SignInCredentials,
): Promise<Recognition> {
  const { control, pepper, clock, wrongCodes } = parts
  const email = credentials.email.trim().toLowerCase()
  const password = credentials.password.slice(0, MAX_PASSWORD)
  const code = credentials.code.replaceAll(/\s/g, '')
  const candidates = email.length > MAX_EMAIL ? [] : await findCandidates(control, email, MAX_CANDIDATES)
  if (candidates.length === 0) await verifyPassword(password, NO_PASSWORD)
  const tries = []
  for (const member of candidates) {
    const counted = await wrongCodes.admit(member.tenant_id, { kind: 'member', id: member.id })
    const { isAdmitted } = counted
    const hash = isAdmitted ? member.password_hash : NO_PASSWORD
    const all = [...tries.map((each) => each.counted), counted]
    const fits = await judge(all, () => verifyPassword(password, hash))
    const own = { tenantId: member.tenant_id, memberId: member.id }
    const isCode =
      isAdmitted && fits && (await useCode(control, pepper, member.tenant_id, member, code, clock.machine()))
    const recovered = isAdmitted && fits && !isCode && (await useRecoveryCode(control, pepper, own, code))
    tries.push({ member, counted })
    if (!isCode && !recovered) continue
    await counted.right()
    // The attempts at the other members were not guesses, so they do not count.
    for (const other of tries) if (other.member !== member) await other.counted.takeBack()
    // The code is already used, so sign-in must not fail here. If the hashing queue is full, a later sign-in renews the hash.
    if (!isHashedAsToday(member.password_hash) && canHash())
      await renewHash(control, member, await hashPassword(password))
    return { right: true, member, recovered }
  }
  for (const { counted } of tries) {
    await counted.wrong({ actorType: 'member', actorId: null, requestId: null, ip: credentials.ip })
  }
  return {
    right: false,
    named: tries.filter(({ counted }) => counted.isAdmitted).map(({ member }) => member),
  }
}
