import { Secret, TOTP } from 'otpauth'
import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { newId } from '../../platform/ids.ts'
import { NO_PASSWORD, verifyPassword } from '../../platform/passwords.ts'
import { unseal } from '../../platform/secrets.ts'
import type { AuditEntry } from '../audit/entry.ts'
import { appendAuditIn } from '../audit/queries.ts'
import type { Clock } from '../clock/clock.ts'
import { digestKey, randomBase62 } from '../keys/keys.ts'
import {
  type ChallengeRow,
  type Confirmer,
  completeChallenge,
  countFailure,
  type FactorSubject,
  findChallenge,
  makeChallenge,
  readConfirmers,
  useStep,
  useToken,
} from './factor-queries.ts'
import { totpContext } from './totp-context.ts'
import { createWrongCodes, judge, type PausedSender, type WrongCodes } from './wrong-codes.ts'

/** Second factors of requests (TOTP, RFC 6238: SHA-1, six digits, steps of 30 s), by machine time. */
export interface Factors {
  /** Checks the value that a request sent, which can be used only once. */
  accept(sent: string, subject: FactorSubject, origin: RequestOrigin): Promise<boolean>
  /** Creates a page on which a member can confirm the request. Resolves with the page's token. */
  challenge(subject: FactorSubject): Promise<string>
  /** Returns the challenge of a page; undefined if the token is unknown. */
  open(token: string): Promise<Challenge | undefined>
  /** Checks a member's confirmation, at most five times for each page. */
  complete(token: string, confirmation: Confirmation): Promise<ChallengeCompletion>
}

export interface RequestOrigin {
  readonly actorType: 'key' | 'token'
  readonly requestId: string
  readonly ip: string
}

export interface Challenge {
  readonly tenantName: string
  readonly environment: ChallengeRow['environment']
  readonly operation: string
  /** Last characters of the key; null if the request has a token of an app. */
  readonly keyHint: string | null
  /** `over`: expired, or too many attempts. */
  readonly state: 'open' | 'completed' | 'over'
}

export interface Confirmation {
  readonly email: string
  readonly password: string
  readonly code: string
  readonly ip: string
}

export type ChallengeCompletion =
  | { readonly outcome: 'completed'; readonly factor: string }
  | { readonly outcome: 'wrong' | 'over' }

export const CHALLENGE_MS = 10 * 60_000

/** Milliseconds for which a token is valid after its page was completed. */
const TOKEN_MS = 10 * 60_000

const MAX_FAILURES = 5

const MAX_OPEN = 20

const STEP_MS = 30_000

/** Codes of the previous and the next step are also accepted, because clocks of phones differ. */
const WINDOW = 1

const CODE = /^\d{6}$/
const TOKEN = /^fct_[0-9A-Za-z]{43}$/
const PAGE_TOKEN = /^[0-9A-Za-z]{43}$/

/** 43 characters of base62 have 256 bits of entropy. */
const TOKEN_LENGTH = 43

/** @param control the owner's pool. @param paused called when a pause begins because of too many wrong codes. */
export function createFactors(
  control: Pool,
  pepper: string,
  clock: Clock,
  paused: (sender: PausedSender) => void = () => {},
): Factors {
  const wrongCodes = createWrongCodes(control, clock, paused)
  const stateOf = (row: ChallengeRow): Challenge['state'] => {
    if (row.completed_at !== null) return 'completed'
    return row.expires_at <= clock.machine() || row.failures >= MAX_FAILURES ? 'over' : 'open'
  }
  const find = async (token: string): Promise<ChallengeRow | undefined> =>
    PAGE_TOKEN.test(token) ? findChallenge(control, digestKey(pepper, token)) : undefined

  return {
    async accept(sent, subject, { actorType, requestId, ip }) {
      const now = clock.machine()
      if (TOKEN.test(sent)) return useToken(control, digestKey(pepper, sent), subject, now)
      if (!CODE.test(sent)) return false
      const { tenantId, keyId } = subject
      const code = await wrongCodes.admit(tenantId, { kind: 'key', id: keyId })
      // The header does not name a member, so try the code for each member who may confirm.
      const confirmers = code.isAdmitted ? await readConfirmers(control, tenantId) : []
      for (const member of confirmers) {
        if (!(await useCode(control, pepper, tenantId, member, sent, now))) continue
        await code.right()
        return true
      }
      await code.wrong({ actorType, actorId: keyId, requestId, ip })
      return false
    },

    async challenge(subject) {
      const token = randomBase62(TOKEN_LENGTH)
      const now = clock.machine()
      await makeChallenge(control, digestKey(pepper, token), subject, now, now + CHALLENGE_MS, MAX_OPEN)
      return token
    },

    async open(token) {
      const row = await find(token)
      if (!row) return undefined
      const { tenant_name: tenantName, environment, operation, key_hint: keyHint } = row
      return { tenantName, environment, operation, keyHint, state: stateOf(row) }
    },

    async complete(token, confirmation) {
      const row = await find(token)
      const now = clock.machine()
      const digest = digestKey(pepper, token)
      if (!row || !(await countFailure(control, row.tenant_id, digest, MAX_FAILURES, now)))
        return { outcome: 'over' }
      const member = await findMember({ control, pepper, wrongCodes, now }, row, confirmation)
      if (!member) {
        await appendAuditIn(
          control,
          row.environment,
          row.tenant_id,
          challengeEntry(row, clock, 'failed', confirmation),
        )
        return { outcome: 'wrong' }
      }
      const factor = `fct_${randomBase62(TOKEN_LENGTH)}`
      const isFirst = await control.forTenant(row.tenant_id).transaction(async (tx) => {
        const fresh = digestKey(pepper, factor)
        if (!(await completeChallenge(tx, row.tenant_id, digest, fresh, now, now + TOKEN_MS))) return false
        const entry = challengeEntry(row, clock, 'succeeded', confirmation, member.id)
        await appendAuditIn(tx, row.environment, row.tenant_id, entry)
        return true
      })
      return isFirst ? { outcome: 'completed', factor } : { outcome: 'over' }
    },
  }
}

/**
 * Returns the time step of a code near `now`; undefined if the code is wrong.
 *
 * @param secret Base32.
 * @param now machine time, milliseconds since the epoch.
 */
export function stepOfCode(secret: string, code: string, now: number): number | undefined {
  if (!CODE.test(code)) return undefined
  const delta = TOTP.validate({
    token: code,
    secret: Secret.fromBase32(secret),
    timestamp: now,
    window: WINDOW,
  })
  return delta === null ? undefined : Math.floor(now / STEP_MS) + delta
}

function stepOf(
  pepper: string,
  tenantId: string,
  member: Pick<Confirmer, 'id' | 'totp_secret'>,
  code: string,
  now: number,
) {
  return stepOfCode(unseal(pepper, member.totp_secret, totpContext(tenantId, member.id)), code, now)
}

/**
 * Returns whether it is a code of the member that was not used before. @param code six digits. @param formHash see
 * `useStep`.
 */
export async function useCode(
  control: Database,
  pepper: string,
  tenantId: string,
  member: Pick<Confirmer, 'id' | 'totp_secret'>,
  code: string,
  now: number,
  formHash?: Buffer,
): Promise<boolean> {
  if (!CODE.test(code)) return false
  const step = stepOf(pepper, tenantId, member, code, now)
  return step !== undefined && useStep(control, tenantId, member.id, step, formHash)
}

interface Confirming {
  readonly control: Database
  readonly pepper: string
  readonly wrongCodes: WrongCodes
  readonly now: number
}

/**
 * Finds the member whose email address, password and code all match. A wrong password counts as a wrong code of the
 * key that opened the page. Takes the same time for an unknown address and for a paused key, so the time does not
 * reveal who is a member.
 */
async function findMember(
  { control, pepper, wrongCodes, now }: Confirming,
  { tenant_id: tenantId, key_id: id }: Pick<ChallengeRow, 'tenant_id' | 'key_id'>,
  { email, password, code, ip }: Confirmation,
): Promise<Confirmer | undefined> {
  const wanted = email.trim().toLowerCase()
  const confirmers = await readConfirmers(control, tenantId)
  const named = confirmers.find((each) => each.email.toLowerCase() === wanted)
  const counted = await wrongCodes.admit(tenantId, { kind: 'key', id })
  const member = counted.isAdmitted ? named : undefined
  const hash = member?.password_hash ?? NO_PASSWORD
  const fits = await judge([counted], () => verifyPassword(password, hash))
  const digits = code.replaceAll(/\s/g, '')
  if (member && fits && (await useCode(control, pepper, tenantId, member, digits, now))) {
    await counted.right()
    return member
  }
  await counted.wrong({ actorType: 'member', actorId: null, requestId: null, ip })
  return undefined
}

function challengeEntry(
  row: ChallengeRow,
  clock: Clock,
  outcome: AuditEntry['outcome'],
  { ip }: Confirmation,
  memberId: string | null = null,
): AuditEntry {
  const created = clock.service(row.environment)
  return {
    id: newId('aud', created),
    environment: row.environment,
    actorType: 'member',
    actorId: memberId,
    action: 'factor.completed',
    targetId: row.key_id,
    outcome,
    requestId: null,
    ip,
    version: null,
    created,
  }
}
