import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { ActorType } from '../audit/entry.ts'
import { appendAuditIn } from '../audit/queries.ts'
import type { Clock } from '../clock/clock.ts'
import { admitCode, beginPause, forgetWrongCodes, takeBackCode } from './wrong-code-queries.ts'

/** Who sent a code, for the audit log. */
export interface CodeOrigin {
  readonly actorType: ActorType
  readonly actorId: string | null
  readonly requestId: string | null
  readonly ip: string
}

/**
 * The sender of a code. Each sender is counted separately, so a leaked key or stolen session cannot lock a member
 * out.
 */
export type CodeSender =
  | { readonly kind: 'member'; readonly id: string }
  /** A key or an app's authorization, in API requests and on the pages that they open. */
  | { readonly kind: 'key'; readonly id: string }
  /** A member's session. @param digest as stored in the sessions table. */
  | { readonly kind: 'session'; readonly memberId: string; readonly digest: Buffer }

/** A code that counts as wrong. The caller must call exactly one of `right`, `takeBack` and `wrong`. */
export interface CountedCode {
  /** False if the sender is paused; the code must then not be checked. */
  readonly isAdmitted: boolean
  right(): Promise<void>
  /** Removes the code from the count, because it was not an attempt at this sender's code. */
  takeBack(): Promise<void>
  wrong(origin: CodeOrigin): Promise<void>
}

/**
 * Counts wrong codes by sender. After too many, all codes of the sender are refused for a while, including correct
 * ones. Counts are in the database, so they apply to all nodes and survive restarts.
 */
export interface WrongCodes {
  admit(tenantId: string, sender: CodeSender): Promise<CountedCode>
}

export interface PausedSender {
  readonly tenantId: string
  readonly kind: CodeSender['kind']
  /** Identifier of the key or authorization, or of the member, including for sessions. */
  readonly id: string
  /** Machine time, milliseconds since the epoch. */
  readonly until: number
}

/** Wrong codes allowed within the window. At any moment, three in a million codes are correct. */
const MAX_WRONG = 10
const WINDOW_MS = 15 * 60_000

const FIRST_PAUSE_MS = 15 * 60_000

/** Longest pause. After this time without a pause, the next pause is a first one again. */
export const MAX_PAUSE_MS = 24 * 3_600_000

/** @param control the owner's pool. @param paused called after the commit that starts a pause. */
export function createWrongCodes(
  control: Pool,
  clock: Clock,
  paused: (sender: PausedSender) => void,
): WrongCodes {
  return {
    async admit(tenantId, sender) {
      const now = clock.machine()
      const name = nameOf(sender)
      const isAdmitted = await admitCode(control, tenantId, name, {
        now,
        since: now - WINDOW_MS,
        max: MAX_WRONG,
      })
      return {
        isAdmitted,
        right: async () => void (await forgetWrongCodes(control, tenantId, name)),
        takeBack: async () => {
          if (isAdmitted) await takeBackCode(control, tenantId, name)
        },
        async wrong(origin) {
          if (!isAdmitted) return
          const id = sender.kind === 'session' ? sender.memberId : sender.id
          const until = await control.transaction(async (tx) => {
            const limits = { now, max: MAX_WRONG, firstMs: FIRST_PAUSE_MS, longestMs: MAX_PAUSE_MS }
            const end = await beginPause(tx, tenantId, name, limits)
            if (end !== undefined) enqueueEntries(tx, clock, tenantId, id, origin)
            return end
          })
          if (until !== undefined) paused({ tenantId, kind: sender.kind, id, until })
        },
      }
    },
  }
}

/**
 * Verifies a password. If the verification itself fails, the codes do not count, because the member made no mistake.
 */
export async function judge(codes: readonly CountedCode[], verify: () => Promise<boolean>): Promise<boolean> {
  try {
    return await verify()
  } catch (error) {
    for (const code of codes) await code.takeBack()
    throw error
  }
}

const nameOf = (sender: CodeSender) =>
  sender.kind === 'session' ? `session ${sender.digest.toString('hex')}` : sender.id

/**
 * Writes to the logs of both environments, because codes belong to the account. The statements are pipelined with the
 * COMMIT.
 */
function enqueueEntries(
  tx: Parameters<typeof appendAuditIn>[0],
  clock: Clock,
  tenantId: string,
  targetId: string,
  { actorType, actorId, requestId, ip }: CodeOrigin,
): void {
  for (const environment of ENVIRONMENTS) {
    const created = clock.service(environment)
    const entry = {
      id: newId('aud', created),
      environment: null,
      actorType,
      actorId,
      action: 'factor.paused',
      targetId,
      outcome: 'succeeded',
      requestId,
      ip,
      version: null,
      created,
    } as const
    pipelined(appendAuditIn(tx, environment, tenantId, entry))
  }
}
