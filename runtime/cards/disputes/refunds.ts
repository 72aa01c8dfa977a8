/** Refunds a disputed transaction. Open disputes shrink or end, so that no amount is given back twice. */
import type { Context } from '../../api/handler.ts'
import { readOpenSettlement } from '../../money/settlement-lines/queries.ts'
import { writeChange as writeTransaction } from '../transactions/changes.ts'
import { type CardTransactionRow, lockCardTransaction } from '../transactions/queries.ts'
import { missingTransaction } from '../transactions/simulators.ts'
import { refund } from '../transactions/states.ts'
import { writeChange } from './changes.ts'
import { lockDisputesOf } from './queries.ts'
import { giveWay, OPEN } from './states.ts'

/**
 * Refunds a transaction and returns it. If the undisputed amount is too small, open disputes shrink or end: unsubmitted ones
 * first, and the newest first within one status.
 * @param given cents; absent: everything not yet refunded.
 */
export async function refundTransaction(
  { db, caller: { space }, events, rates, request: { now } }: Context,
  id: string,
  given: number | undefined,
): Promise<CardTransactionRow> {
  const [before, open, disputes] = await Promise.all([
    lockCardTransaction(db, space, id),
    readOpenSettlement(db, space),
    lockDisputesOf(db, space, id, OPEN),
  ])
  if (!before) throw missingTransaction()
  const disputed = disputes.reduce((sum, { amount }) => sum + amount, 0)
  const refunded = refund(before, given, disputed, now)
  const place = { db, space, events, rates, open }
  const excess = Math.max(0, refunded.refunded + before.disputed - before.cleared)
  const after = { ...refunded, disputed: before.disputed - excess }
  let over = excess
  const inTurn = OPEN.flatMap((status) => disputes.filter((each) => each.status === status).toReversed())
  for (const dispute of inTurn) {
    if (over === 0) break
    const by = Math.min(over, dispute.amount)
    await writeChange(place, dispute, giveWay(dispute, by, now))
    over -= by
  }
  await writeTransaction(place, before, after, 'card.transaction.refunded')
  return after
}
