/** Writes disputes with their consequences: the disputed amount of the transaction, ledger postings, and events. */
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newEntries, post } from '../../money/ledger/post.ts'
import { requireBounds } from '../../money/settlement-lines/bounds.ts'
import { writeLines } from '../../money/settlement-lines/lines.ts'
import { readOpenSettlement } from '../../money/settlement-lines/queries.ts'
import { refuseBeyond } from '../transactions/bounds.ts'
import type { TransactionPlace } from '../transactions/changes.ts'
import { addDisputed, type DisputeRow, type LockedDispute, lockDispute, updateDispute } from './queries.ts'
import { contested, transferOf } from './states.ts'
import { showDispute } from './view.ts'

/** Writes a changed dispute. The caller has locked the dispute and its transaction. */
export async function writeChange(
  place: TransactionPlace,
  before: DisputeRow,
  after: DisputeRow,
): Promise<void> {
  const { db, space, events } = place
  pipelined(updateDispute(db, space, after))
  const more = contested(after) - contested(before)
  if (more !== 0) pipelined(addDisputed(db, space, after.card_transaction_id, more))
  const transfer = transferOf(before, after)
  // A dispute that a refund reduces keeps its status, so its amount makes the posting's cause unique: it decreases each
  // time.
  const cause = after.status === before.status ? `${after.status}/${after.amount}` : after.status
  await refuseBeyond(move(place, after, cause, transfer))
  const data = { dispute: showDispute(after) }
  if (after.status === 'submitted' && before.status === 'unsubmitted') {
    emit(events, { type: 'dispute.submitted', data })
    emit(events, { type: 'dispute.funds_reinstated', data })
  } else if (after.closed_at !== null && before.closed_at === null) {
    emit(events, { type: 'dispute.closed', data })
    if (transfer && after.status !== 'won') emit(events, { type: 'dispute.funds_rescinded', data })
  } else {
    emit(events, { type: 'dispute.updated', data, before: { dispute: showDispute(before) } })
    if (transfer) emit(events, { type: 'dispute.funds_rescinded', data })
  }
}

/** Posts the ledger transfer of a dispute and writes its settlement line. */
async function move(
  place: TransactionPlace,
  after: DisputeRow,
  cause: string,
  transfer: ReturnType<typeof transferOf>,
): Promise<void> {
  const { db, space } = place
  const entries = newEntries(after.updated)
  if (transfer && after.status !== 'won') {
    const { amount } = transfer
    const line =
      transfer.to === 'provisional_credit'
        ? ({ type: 'dispute', amount, ledger_entry_id: entries.to } as const)
        : ({ type: 'dispute_reversal', amount: -amount, ledger_entry_id: entries.from } as const)
    await writeLines(place, [{ ...line, source_id: after.id }], after.updated, place.open)
  }
  const posting = { transfer: transfer && { ...transfer, entries } }
  const posted = post(db, space, `${after.id}/${cause}`, posting, after.updated)
  if (transfer?.to === 'provisional_credit') await requireBounds(posted, 'up')
}

/**
 * Locks a dispute, applies `change`, writes the result, and returns it.
 * @param missing creates the error to throw if the dispute does not exist; default: 404.
 */
export async function changeDispute(
  { caller, db, events }: Pick<Context, 'caller' | 'db' | 'events'>,
  id: string,
  change: (locked: LockedDispute) => DisputeRow,
  missing: () => Error = notFound,
): Promise<DisputeRow> {
  const locked = await lockDispute(db, caller.space, id)
  if (!locked) throw missing()
  const after = change(locked)
  const isMoved = after.provisional_credit !== locked.dispute.provisional_credit
  const open = isMoved ? await readOpenSettlement(db, caller.space) : undefined
  await writeChange({ db, space: caller.space, events, open }, locked.dispute, after)
  return after
}
