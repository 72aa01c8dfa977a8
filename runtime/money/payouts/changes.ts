/** Payouts written with all that follows from them: the ledger, events. */
import { insufficientBalance, notFound } from '../../api/errors/errors.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { enqueueTransfer } from '../chain/transfers.ts'
import type { DestinationRow } from '../destinations/queries.ts'
import { lockAccount } from '../ledger/accounts.ts'
import { post } from '../ledger/post.ts'
import { insertBankTransfer } from './bank-queries.ts'
import { insertPayout, lockPayout, type PayoutRow, updatePayout } from './queries.ts'
import { expectedDay, transferOf } from './states.ts'
import { showPayout } from './view.ts'

/** Where a payout is written. */
export interface PayoutPlace {
  readonly db: Database
  readonly space: string
  readonly events: EventSink
}

/** What is paid, and why. */
export type PayoutOrder = Pick<PayoutRow, 'amount' | 'settlement_id' | 'metadata'>

/** What a destination is paid in. */
export const currencyOf = ({ type }: Pick<DestinationRow, 'type'>): PayoutRow['currency'] =>
  type === 'usdc_address' ? 'usdc' : 'usd'

/**
 * Draws a payout on what is payable and writes it. Throws `insufficient_balance`.
 *
 * @param destination locked, and active. @param now service time.
 */
export async function openPayout(
  place: PayoutPlace,
  order: PayoutOrder,
  destination: DestinationRow,
  now: number,
): Promise<PayoutRow> {
  const { db, space, events } = place
  const { balance } = await lockPayable(place)
  if (balance < order.amount) {
    throw insufficientBalance(`Only ${Math.max(0, balance)} cents are payable: ask for that much or less.`)
  }
  const currency = currencyOf(destination)
  const row: PayoutRow = {
    ...order,
    id: newId('po', now),
    currency,
    destination_id: destination.id,
    status: 'pending',
    failure_code: null,
    chain_id: null,
    transaction_hash: null,
    confirmations: 0,
    arrival_date: expectedDay(currency, now),
    postings: 1,
    created: now,
    updated: now,
  }
  pipelined(insertPayout(db, space, row))
  pipelined(post(db, space, `${row.id}/1`, { transfer: transferOf(undefined, row) }, now))
  handIn(place, row, destination, now)
  emit(events, { type: 'payout.created', data: { payout: showPayout(row) } })
  return row
}

/** To those who pay it: a chain or a bank. */
function handIn(
  { db, space }: PayoutPlace,
  { id, amount }: PayoutRow,
  { address }: DestinationRow,
  now: number,
): void {
  if (address === null) pipelined(insertBankTransfer(db, space, id))
  else enqueueTransfer(db, space, { id, to: address, amountCents: amount }, now)
}

/** Locked before other accounts by everybody who moves what payouts are made of, so that nobody waits in a circle. */
const lockPayable = ({ db, space }: PayoutPlace) => lockAccount(db, space, 'settlement_payable')

/** Writes a payout as it is now; it is locked. */
export async function writeChange(
  place: PayoutPlace,
  before: PayoutRow,
  changed: PayoutRow,
): Promise<PayoutRow> {
  const { db, space, events } = place
  const transfer = transferOf(before, changed)
  const after = { ...changed, postings: before.postings + (transfer ? 1 : 0) }
  pipelined(updatePayout(db, space, after))
  if (transfer) {
    if (transfer.from !== 'bank' && transfer.to !== 'bank') await lockPayable(place)
    pipelined(post(db, space, `${after.id}/${after.postings}`, { transfer }, after.updated))
  }
  const data = { payout: showPayout(after) }
  const { status } = after
  if (status === before.status || status === 'pending' || status === 'in_transit') {
    emit(events, { type: 'payout.updated', data, before: { payout: showPayout(before) } })
  } else emit(events, { type: `payout.${status}`, data })
  return after
}

/**
 * Changes one payout, and gives it.
 *
 * @param missing is thrown where there is none; default: 404.
 */
export async function changePayout(
  place: PayoutPlace,
  id: string,
  change: (row: PayoutRow) => PayoutRow,
  missing: () => Error = notFound,
): Promise<PayoutRow> {
  const before = await lockPayout(place.db, place.space, id)
  if (!before) throw missing()
  return writeChange(place, before, change(before))
}
