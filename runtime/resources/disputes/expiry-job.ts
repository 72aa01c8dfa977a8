/** Disputes that were not submitted in time: they end, and that is told. */
import type { Logger } from 'pino'
import { readPin } from '../../admin/pins.ts'
import { collectEvents } from '../../events/emit.ts'
import type { WakeUpChannel } from '../../events/wake-ups.ts'
import { systemEntry } from '../../platform/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../platform/audit/queries.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { enqueue } from '../../platform/database/enqueue.ts'
import type { Pool } from '../../platform/database/pool/pool.ts'
import { readSpace } from '../../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { writeChange } from './changes.ts'
import { findOverdueDisputes, lockDispute } from './queries.ts'
import { close } from './states.ts'

export interface DisputeExpiryParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
}

/** Disputes found at a time. */
const BATCH = 100

/** Ends the disputes whose deadline has come by the service clock, each once however many nodes try, one a transaction. */
export async function expireDisputes(parts: DisputeExpiryParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (;;) {
      const now = parts.clock.service(environment)
      const overdue = await findOverdueDisputes(parts.database[environment], now, BATCH)
      for (const { tenant_id: space, id } of overdue) {
        const due = await expire(parts, environment, space, id, now).catch((error: unknown) => {
          if (isSpaceWiped(error)) return false // the next look does not find it
          throw error
        })
        if (due) parts.wakeUpChannel.publish(environment, space)
      }
      if (overdue.length < BATCH) break
    }
  }
}

/** Gives whether deliveries may be due. */
async function expire(
  { database }: DisputeExpiryParts,
  environment: Environment,
  space: string,
  id: string,
  now: number,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const locked = await lockDispute(db, space, id)
    // Another node, or whoever submitted or withdrew it, may have been quicker.
    if (locked?.dispute.status !== 'unsubmitted' || locked.dispute.submission_deadline > now) return false
    const { dispute } = locked
    const events = collectEvents({ tenantId: space, pin, now })
    await writeChange(
      { db, space, events },
      dispute,
      close(dispute, 'expired', Math.max(dispute.updated, dispute.submission_deadline)),
    )
    const due = events.write(db)
    enqueue(appendAudit(db, space, systemEntry(environment, 'dispute.expired', id, now)))
    return due
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startDisputeExpiryJob(parts: DisputeExpiryParts, log: Logger): PeriodicJob {
  return runPeriodically(() => expireDisputes(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'disputes could not be ended; the next look finds them'),
  })
}
