/** Writes payouts with their consequences: ledger postings and events. */
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

/** The context in which a payout is written. */
export interface PayoutPlace {
  readonly db: Database
  readonly space: string
  readonly events: EventSink
}

/** The amount and origin of a payout. */
export type PayoutOrder = Pick<PayoutRow, 'amount' | 'settlement_id' | 'metadata'>

/** Returns the currency that a destination is paid in. */
export const currencyOf = ({ type }: Pick<DestinationRow, 'type'>): PayoutRow['currency'] =>
  type === 'usdc_address' ? 'usdc' : 'usd'

/**
 * Creates a payout from the payable balance. Throws `insufficient_balance`.
 * @param destination a locked, active destination.
 * @param now service time.
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
    throw insufficientBalance(
      `The payable balance is only ${Math.max(0, balance)} cents. Request at most that amount.`,
    )
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

/** Queues the payment for the chain or the bank. */
function handIn(
  { db, space }: PayoutPlace,
  { id, amount }: PayoutRow,
  { address }: DestinationRow,
  now: number,
): void {
  if (address === null) pipelined(insertBankTransfer(db, space, id))
  else enqueueTransfer(db, space, { id, to: address, amountCents: amount }, now)
}

/** Any transaction that moves payout funds locks this account before other accounts, to avoid deadlocks. */
export const lockPayable = ({ db, space }: PayoutPlace) => lockAccount(db, space, 'settlement_payable')

/** Writes a changed payout. The caller has locked it. */
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
 * Locks a payout, applies `change`, writes the result, and returns it.
 * @param missing creates the error to throw if the payout does not exist; default: 404.
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
