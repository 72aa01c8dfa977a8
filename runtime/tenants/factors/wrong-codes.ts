import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { ActorType } from '../audit/entry.ts'
import { appendAuditIn } from '../audit/queries.ts'
import type { Clock } from '../clock/clock.ts'
import { admitCode, beginPause, forgetWrongCodes, takeBackCode } from './wrong-code-queries.ts'

/** Who showed a code, for the audit log. */
export interface CodeOrigin {
  readonly actorType: ActorType
  readonly actorId: string | null
  readonly requestId: string | null
  readonly ip: string
}

/** Who shows codes. Each is counted apart: a leaked key or a stolen session pauses itself, and keeps no one from signing in. */
export type CodeSender =
  | { readonly kind: 'member'; readonly id: string }
  /** A key, or an application's authorization: over the API, and on the pages that it opens. */
  | { readonly kind: 'key'; readonly id: string }
  /** @param memberId whose session it is. @param digest as sessions are kept. */
  | { readonly kind: 'session'; readonly memberId: string; readonly digest: Buffer }

/** A code that is counted as wrong until `right` or `takeBack`; one of the three functions follows. */
export interface CountedCode {
  /** False: the sender is paused, and the code must not be looked at. */
  readonly isAdmitted: boolean
  right(): Promise<void>
  /** It was not a try at this sender's code. */
  takeBack(): Promise<void>
  wrong(origin: CodeOrigin): Promise<void>
}

/**
 * Wrong codes of each sender. After too many the sender's codes are not looked at for a while, right ones neither. Counted
 * in the database: on all nodes together, and across restarts.
 */
export interface WrongCodes {
  admit(tenantId: string, sender: CodeSender): Promise<CountedCode>
}

export interface PausedSender {
  readonly tenantId: string
  readonly kind: CodeSender['kind']
  /** Of the key or of the member, whose session it may be. */
  readonly id: string
  /** Machine time, milliseconds since the epoch. */
  readonly until: number
}

/** Codes that may be wrong in this time: three in a million are right at any moment. */
const MAX_WRONG = 10
const WINDOW_MS = 15 * 60_000

const FIRST_PAUSE_MS = 15 * 60_000

/** No pause is longer; after as long without one, the next is a first again. */
export const MAX_PAUSE_MS = 24 * 3_600_000

/** @param control the owner's pool. @param paused is told, after the commit, of each pause that begins. */
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

/** Awaits a verification of a password. If it cannot be done, the codes are taken back: the member made no mistake. */
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

/** In the logs of both environments, since codes belong to the whole account. They travel with the COMMIT, which fails with them. */
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
