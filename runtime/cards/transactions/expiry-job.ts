/** Expires overdue authorizations: releases their holds and emits events. */

import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import { readClockOffset } from '../../money/settlement-lines/clock.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { type TransactionPlace, writeChange } from './changes.ts'
import { withMessage } from './messages.ts'
import {
  type CardTransactionRow,
  findHoldersAhead,
  findOverdueHolds,
  findOverdueHoldsOf,
  lockCardTransactions,
} from './queries.ts'
import { ownMessage } from './states.ts'

/** Maximum number of tenants with an advanced settlement clock that one run checks. */
const AHEAD = 10

/** Expires the holds whose expiry has passed on the settlement clock. */
export function holdExpiryWorker(parts: DueParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'hold_expiry',
    finds: [findOverdueHolds, findOverdueAhead],
    act: (place, found) =>
      expireOf(
        place,
        found.map(({ id }) => id),
      ),
  })
}

/** Returns overdue holds of tenants whose settlement clock is ahead of the service clock. */
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

async function expireOf(place: DuePlace, ids: readonly string[]): Promise<readonly Done[]> {
  const { db, space, now } = place
  const [rows, offset] = await Promise.all([lockCardTransactions(db, space, ids), readClockOffset(db, space)])
  // Another node may have expired the hold, or a clearing may have consumed it.
  const overdue = rows.filter(({ expires_at }) => expires_at !== null && expires_at <= now + offset)
  for (const row of overdue) await expire(place, row, now)
  return overdue.map(({ id }) => ({ id, action: 'card_transaction.expired' }))
}

/**
 * Releases the amount that a locked transaction holds, and emits the event.
 * @param now service time; the recorded expiry is never later, even if the settlement clock is ahead.
 */
export async function expire(place: TransactionPlace, row: CardTransactionRow, now: number): Promise<void> {
  const at = Math.min(now, Math.max(row.updated, row.expires_at!))
  const message = ownMessage(row, { kind: 'expiry' }, at)
  await writeChange(place, row, withMessage(row, message), 'card.transaction.expired')
}
