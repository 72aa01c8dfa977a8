/** Who somebody is that says an e-mail address, a password and a code. */

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
  /** Where they come from. */
  readonly ip: string
}

export interface CredentialParts {
  readonly control: Database
  readonly pepper: string
  readonly clock: Clock
  /** Counts what is wrong, over every way to show a code. */
  readonly wrongCodes: WrongCodes
}

/** Who the credentials are of; or who was named, in vain. */
export type Recognition =
  | {
      readonly right: true
      readonly member: CandidateRow
      /** With one of the member's recovery codes, which is used now. */
      readonly recovered: boolean
    }
  | { readonly right: false; readonly named: readonly CandidateRow[] }

/** An address may be known to several tenants, with passwords of their own. More than that, and the newest are not tried. */
const MAX_CANDIDATES = 10

const MAX_EMAIL = 254
const MAX_PASSWORD = 1000

/**
 * The member whom e-mail, password and code all fit. A try at a member counts as a wrong code until it is right, and takes
 * as long for nobody's address and for a paused member: who is a member stays unsaid.
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
    // Nobody guessed at the others: it was the password of this one.
    for (const other of tries) if (other.member !== member) await other.counted.takeBack()
    // If the queue is full, the hash is renewed at a later sign-in: the code has been used.
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
