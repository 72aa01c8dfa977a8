/** Authorizations that hold for too long: what is held is given back, and told. */
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
import { readClockOffset } from '../../settlement-lines/clock.ts'
import { type Place, writeChange } from './changes.ts'
import {
  type CardTransactionRow,
  findHoldersAhead,
  findOverdueHolds,
  findOverdueHoldsOf,
  lockCardTransactions,
} from './queries.ts'
import { giveUp } from './states.ts'

export interface HoldExpiryParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
}

/** Transactions written at a time. */
const BATCH = 100

/** Tenants whose clock is ahead looked at at a time. */
const AHEAD = 10

/** Expires the holds whose time has come by the settlement clock, each once however many nodes try. */
export async function expireHolds(parts: HoldExpiryParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (const find of [findOverdueHolds, findOverdueAhead]) {
      for (;;) {
        const now = parts.clock.service(environment)
        const overdue = await find(parts.database[environment], now, BATCH)
        for (const [space, holds] of Map.groupBy(overdue, ({ tenant_id }) => tenant_id)) {
          const ids = holds.map(({ id }) => id)
          const due = await expireOf(parts, environment, space, ids, now).catch((error: unknown) => {
            if (isSpaceWiped(error)) return false // the next look does not find them
            throw error
          })
          if (due) parts.wakeUpChannel.publish(environment, space)
        }
        if (overdue.length < BATCH) break
      }
    }
  }
}

/** Those of the first tenants whose settlement clock is ahead and who have some. */
const findOverdueAhead: typeof findOverdueHolds = async (db, now, limit) => {
  const holders = await findHoldersAhead(db, now, AHEAD)
  const found = await Promise.all(
    holders.map(async ({ tenant_id, offset_ms }) => {
      const ids = await findOverdueHoldsOf(db, tenant_id, now + offset_ms, Math.floor(limit / AHEAD))
      return ids.map((id) => ({ tenant_id, id }))
    }),
  )
  return found.flat()
}

/** Gives whether deliveries may be due. */
async function expireOf(
  { database }: HoldExpiryParts,
  environment: Environment,
  space: string,
  ids: readonly string[],
  now: number,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const [rows, offset] = await Promise.all([
      lockCardTransactions(db, space, ids),
      readClockOffset(db, space),
    ])
    const events = collectEvents({ tenantId: space, pin, now })
    // Another node, or a clearing, may have been quicker.
    const overdue = rows.filter(({ expires_at }) => expires_at !== null && expires_at <= now + offset)
    for (const row of overdue) await expire({ db, space, events }, row, now)
    if (overdue.length === 0) return false
    const due = events.write(db)
    for (const { id } of overdue) {
      enqueue(appendAudit(db, space, systemEntry(environment, 'card_transaction.expired', id, now)))
    }
    return due
  })
}

/**
 * Gives back what a transaction holds that is locked, and tells of it.
 *
 * @param now service time: of the expiry too, where the settlement clock is ahead.
 */
export async function expire(place: Place, row: CardTransactionRow, now: number): Promise<void> {
  const at = Math.min(now, Math.max(row.updated, row.expires_at!))
  await writeChange(place, row, giveUp(row, 'expiry', row.held, at), 'card.transaction.expired')
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startHoldExpiryJob(parts: HoldExpiryParts, log: Logger): PeriodicJob {
  return runPeriodically(() => expireHolds(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'holds could not be expired; the next look finds them'),
  })
}
