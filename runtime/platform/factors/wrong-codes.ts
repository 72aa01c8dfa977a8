import type { ActorType } from '../audit/entry.ts'
import { appendAuditIn } from '../audit/queries.ts'
import type { Clock } from '../clock/clock.ts'
import { enqueue } from '../database/enqueue.ts'
import type { Pool } from '../database/pool/pool.ts'
import { ENVIRONMENTS } from '../environment.ts'
import { newId } from '../ids.ts'
import { admitCode, beginPauses, forgetWrongCodes, type Pause } from './wrong-code-queries.ts'

/** Who showed a code, for the audit log. */
export interface CodeOrigin {
  readonly actorType: ActorType
  readonly actorId: string | null
  readonly requestId: string | null
  readonly ip: string
}

/** A code that may be checked against the secrets of some members. One of `right` and `wrong` follows. */
export interface AdmittedCode {
  readonly members: ReadonlySet<string>
  /** It was this member's. */
  right(memberId: string): Promise<void>
  /** It was nobody's. */
  wrong(origin: CodeOrigin): Promise<void>
}

/**
 * Wrong codes of each member of a tenant, over every way to show one. After too many the member's codes are not looked at
 * for a while, right ones neither. Counted in the database: on all nodes together, and across restarts.
 */
export interface WrongCodes {
  admit(tenantId: string, memberIds: readonly string[]): Promise<AdmittedCode>
}

export interface PausedMember {
  readonly tenantId: string
  readonly memberId: string
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
  paused: (member: PausedMember) => void,
): WrongCodes {
  return {
    async admit(tenantId, memberIds) {
      const now = clock.machine()
      const members =
        memberIds.length === 0
          ? new Set<string>()
          : await admitCode(control, tenantId, memberIds, { now, since: now - WINDOW_MS, max: MAX_WRONG })
      const admitted = [...members]
      return {
        members,
        async right(memberId) {
          await forgetWrongCodes(control, tenantId, admitted, memberId)
        },
        async wrong(origin) {
          if (admitted.length === 0) return
          const pauses = await control.transaction(async (tx) => {
            const limits = { now, max: MAX_WRONG, firstMs: FIRST_PAUSE_MS, longestMs: MAX_PAUSE_MS }
            const begun = await beginPauses(tx, tenantId, admitted, limits)
            for (const pause of begun) enqueueEntries(tx, clock, tenantId, pause, origin)
            return begun
          })
          for (const { member_id: memberId, paused_until: until } of pauses)
            paused({ tenantId, memberId, until })
        },
      }
    },
  }
}

/** In the logs of both environments, since a member belongs to the whole account. They travel with the COMMIT, which fails with them. */
function enqueueEntries(
  tx: Parameters<typeof appendAuditIn>[0],
  clock: Clock,
  tenantId: string,
  pause: Pause,
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
      targetId: pause.member_id,
      outcome: 'succeeded',
      requestId,
      ip,
      version: null,
      created,
    } as const
    enqueue(appendAuditIn(tx, environment, tenantId, entry))
  }
}
