/** Payouts that the chain or the bank knows and a restored database does not. */
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import { emit } from '../../events/emit/emit.ts'
import { post } from '../ledger/post.ts'
import { insertBankTransfer } from './bank-queries.ts'
import { lockPayable, type PayoutPlace } from './changes.ts'
import { insertPayout, type PayoutRow } from './queries.ts'
import { dayOf, transferOf } from './states.ts'
import { showPayout } from './view.ts'

/** A payment that was found, and the destination that it went to. */
export interface FoundPayment {
  /** Identifier for the payout. */
  readonly id: string
  /** Cents. */
  readonly amount: number
  readonly destination_id: string
  /** Where the payment is. A payment at the bank is followed until it has settled. */
  readonly at: { readonly chain: string; readonly hash: string } | { readonly bank_id: string }
}

/**
 * Writes the payout of a found payment, and takes its amount from the payable balance, which can become negative.
 * @param now service time.
 */
export async function recordFoundPayout(
  place: PayoutPlace,
  { id, amount, destination_id, at }: FoundPayment,
  now: number,
): Promise<PayoutRow> {
  const { db, space, events } = place
  await lockPayable(place)
  const isBank = 'bank_id' in at
  const row: PayoutRow = {
    ...{
      id,
      amount,
      destination_id,
      settlement_id: null,
      metadata: {},
      failure_code: null,
      confirmations: 0,
    },
    currency: isBank ? 'usd' : 'usdc',
    status: isBank ? 'in_transit' : 'paid',
    chain_id: isBank ? null : at.chain,
    transaction_hash: isBank ? null : at.hash,
    ...{ arrival_date: dayOf(now), postings: 1, created: now, updated: now },
  }
  pipelined(insertPayout(db, space, row))
  pipelined(post(db, space, `${id}/1`, { transfer: transferOf(undefined, row) }, now))
  if (isBank) {
    pipelined(insertBankTransfer(db, space, id))
    pipelined(db.query(SENT, [space, id, at.bank_id, toTimestamp(0)]))
  }
  const data = { payout: showPayout(row) }
  emit(events, { type: 'payout.created', data })
  if (!isBank) emit(events, { type: 'payout.paid', data })
  return row
}

const SENT = {
  text: `UPDATE bank_transfers SET state = 'sent', bank_id = $3, due = $4 WHERE tenant_id = $1 AND id = $2`,
}
