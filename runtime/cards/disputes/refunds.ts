/** Refunds a disputed transaction. Open disputes shrink or end, so that no amount is given back twice. */
import { type TransactionPlace, writeChange as writeTransaction } from '../transactions/changes.ts'
import type { CardTransactionRow } from '../transactions/queries.ts'
import { writeChange } from './changes.ts'
import type { DisputeRow } from './queries.ts'
import { giveWay, OPEN } from './states.ts'

/** Returns the amount that disputes contest. */
export const contestedBy = (disputes: readonly DisputeRow[]): number =>
  disputes.reduce((sum, { amount }) => sum + amount, 0)

/**
 * Writes a refund of a locked transaction and returns the transaction. If the undisputed amount is too small, open disputes
 * shrink or end: unsubmitted ones first, and the newest first within one status.
 * @param disputes the open ones, locked, oldest first.
 */
export async function writeRefund(
  place: TransactionPlace,
  before: CardTransactionRow,
  refunded: CardTransactionRow,
  disputes: readonly DisputeRow[],
): Promise<CardTransactionRow> {
  const excess = Math.max(0, refunded.refunded + before.disputed - before.cleared)
  const after = { ...refunded, disputed: before.disputed - excess }
  let over = excess
  const inTurn = OPEN.flatMap((status) => disputes.filter((each) => each.status === status).toReversed())
  for (const dispute of inTurn) {
    if (over === 0) break
    const by = Math.min(over, dispute.amount)
    await writeChange(place, dispute, giveWay(dispute, by, refunded.updated))
    over -= by
  }
  await writeTransaction(place, before, after, 'card.transaction.refunded')
  return after
}
