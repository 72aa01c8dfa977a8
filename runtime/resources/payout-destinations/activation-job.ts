/** Destinations whose hold is over become active without anybody asking. */
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
import type { Sanctions } from '../../sanctions/list-in-use.ts'
import { readClockOffset } from '../../settlement-lines/clock.ts'
import { endHolds } from './activation.ts'
import { findHolders, findHoldersAhead } from './queries.ts'

export interface ActivationParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Destinations, or tenants whose clock is ahead, found at a time. */
const BATCH = 100

/** Ends the holds that are over by the clock of settlements, each once however many nodes try. */
export async function activateDestinations(parts: ActivationParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (const find of [findHolders, findHoldersAhead]) {
      for (;;) {
        const now = parts.clock.service(environment)
        const found = await find(parts.database[environment], now, BATCH)
        for (const space of new Set(found)) {
          const due = await activateOf(parts, environment, space, now).catch((error: unknown) => {
            if (isSpaceWiped(error)) return false // the next look does not find it
            throw error
          })
          if (due) parts.wakeUpChannel.publish(environment, space)
        }
        if (found.length < BATCH) break
      }
    }
  }
}

/** Gives whether deliveries may be due. */
async function activateOf(
  { database, sanctions }: ActivationParts,
  environment: Environment,
  space: string,
  now: number,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const events = collectEvents({ tenantId: space, pin, now })
    const time = now + (await readClockOffset(db, space))
    const ended = await endHolds({ db, space, eventsAt: () => events, sanctions }, now, time)
    if (ended.length === 0) return false // another node, or whoever disabled them, was quicker
    const due = events.write(db)
    for (const { id, action } of ended)
      enqueue(appendAudit(db, space, systemEntry(environment, action, id, now)))
    return due
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startActivationJob(parts: ActivationParts, log: Logger): PeriodicJob {
  return runPeriodically(() => activateDestinations(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'destinations could not be activated; the next look finds them'),
  })
}
