/** Destinations whose hold is over: they are screened once more and become active, and that is told. */
import type { Logger } from 'pino'
import { readPin } from '../../admin/pins.ts'
import { collectEvents, emit } from '../../events/emit.ts'
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
import { settlementTime } from './hold.ts'
import { findHeldDestinations, lockDestination, removeDefault, updateDestination } from './queries.ts'
import { isListed } from './screening.ts'
import { activate, deny } from './states.ts'
import { showDestination } from './view.ts'

export interface ActivationParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Destinations found at a time. */
const BATCH = 100

/** Ends the holds that are over by the clock of settlements, each once however many nodes try, one a transaction. */
export async function activateDestinations(parts: ActivationParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (;;) {
      const now = parts.clock.service(environment)
      const held = await findHeldDestinations(parts.database[environment], now, BATCH)
      for (const { tenant_id: space, id } of held) {
        const due = await activateOne(parts, environment, space, id, now).catch((error: unknown) => {
          if (isSpaceWiped(error)) return false // the next look does not find it
          throw error
        })
        if (due) parts.wakeUpChannel.publish(environment, space)
      }
      if (held.length < BATCH) break
    }
  }
}

/** Gives whether deliveries may be due. */
async function activateOne(
  { database, sanctions }: ActivationParts,
  environment: Environment,
  space: string,
  id: string,
  now: number,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const [row, time] = await Promise.all([lockDestination(db, space, id), settlementTime(db, space, now)])
    // Another node may have been quicker, or whoever disabled it.
    if (row?.status !== 'inactive' || row.active_at! > time) return false
    const isDenied = isListed(sanctions.list(), [row.holder_name])
    const after = isDenied ? deny(row, now) : activate(row, now)
    enqueue(updateDestination(db, space, after))
    if (isDenied) enqueue(removeDefault(db, space, id))
    const events = collectEvents({ tenantId: space, pin, now })
    const type = isDenied ? 'payout_destination.denied' : 'payout_destination.activated'
    emit(events, { type, data: { payout_destination: showDestination(after) } })
    const due = events.write(db)
    enqueue(appendAudit(db, space, systemEntry(environment, type, id, now)))
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
