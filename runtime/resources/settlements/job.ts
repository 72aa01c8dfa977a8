/** Settlements whose time has come, whether requests come or not. */
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
import { lockClock } from '../../settlement-lines/clock.ts'
import { findDueTenants, findDueTenantsAhead } from '../../settlement-lines/queries.ts'
import { type EndedHold, endHolds } from '../payout-destinations/activation.ts'
import { moveSettlements } from './moving.ts'

export interface SettlementParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Tenants looked for at a time. */
const BATCH = 100

/** Moves the settlements on whose time has come, each once however many nodes try, those of one tenant a transaction. */
export async function settleDue(parts: SettlementParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (const find of [findDueTenants, findDueTenantsAhead]) {
      for (;;) {
        const now = parts.clock.service(environment)
        const spaces = await find(parts.database[environment], now, BATCH)
        for (const space of new Set(spaces)) {
          const due = await settleOf(parts, environment, space, now).catch((error: unknown) => {
            if (isSpaceWiped(error)) return false // the next look does not find it
            throw error
          })
          if (due) parts.wakeUpChannel.publish(environment, space)
        }
        if (spaces.length < BATCH) break
      }
    }
  }
}

/** Gives whether deliveries may be due. */
async function settleOf(
  { database, sanctions }: SettlementParts,
  environment: Environment,
  space: string,
  now: number,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const events = collectEvents({ tenantId: space, pin, now })
    const place = { db, space, events }
    const until = now + (await lockClock(db, space))
    const ended: EndedHold[] = []
    const follow = async (at: number) => {
      ended.push(...(await endHolds({ ...place, eventsAt: () => events, sanctions }, now, at)))
    }
    const moved = [...(await moveSettlements(() => place, until, now, follow)).values()]
    if (moved.length === 0) return false // another node was quicker
    const due = await events.write(db)
    const done = [...moved.map(({ id, status }) => ({ id, action: `settlement.${status}` })), ...ended]
    for (const { id, action } of done)
      enqueue(appendAudit(db, space, systemEntry(environment, action, id, now)))
    return due
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startSettlementJob(parts: SettlementParts, log: Logger): PeriodicJob {
  return runPeriodically(() => settleDue(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'settlements could not be moved on; the next look finds them'),
  })
}
