/** Moves settlements to their next status, and posts the money. */

import { pipelined } from '../../database/pipelined.ts'
import type { NewEvent } from '../../events/emit/queries.ts'
import type { DestinationList } from '../destinations/screening.ts'
import { lockAccount } from '../ledger/accounts.ts'
import { type LedgerTransfer, post } from '../ledger/post.ts'
import { payOutSettlement } from '../payouts/settled.ts'
import { closeSettlement, type SettlementPlace, writeMove } from '../settlement-lines/lines.ts'
import {
  lockNextSettlement,
  type SettlementRow,
  type SettlementWithLines,
} from '../settlement-lines/queries.ts'
import { nextOf } from './states.ts'

/** Returns a context whose events are dated at a time on the settlement clock. */
export type PlaceAt = (at: number) => SettlementPlace

/** Other work that depends on the settlement clock and influences settlements. Called before each move, up to its time. */
export type ClockFollower = (until: number) => Promise<unknown>

/** Maximum number of moves in one transaction. A move takes a few statements, regardless of the number of lines. */
const MAX_MOVES = 100

/**
 * Moves a tenant's due settlements in the order of their times. Returns the settlement after each move. The caller has
 * locked the tenant's clock.
 * @param until time on the settlement clock.
 * @param now service time.
 * @param list sanctions list for destinations.
 */
export async function moveSettlements(
  placeAt: PlaceAt,
  until: number,
  now: number,
  list: DestinationList,
  follow: ClockFollower,
): Promise<readonly SettlementWithLines[]> {
  const { db, space } = placeAt(until)
  const moved: SettlementWithLines[] = []
  for (let count = 0; count < MAX_MOVES; count += 1) {
    const row = await lockNextSettlement(db, space)
    if (!row || row.due > until) break
    await follow(row.due)
    moved.push(await move(placeAt(row.due), row, list, now))
  }
  return moved
}

async function move(
  place: SettlementPlace,
  row: SettlementRow & { readonly due: number },
  list: DestinationList,
  now: number,
): Promise<SettlementWithLines> {
  if (row.status === 'open') return closeSettlement(place, row)
  const next = { ...row, ...nextOf(row)!, updated: Math.max(row.updated, row.due) }
  if (next.status !== 'settled') return writeMove(place, next)
  await book(place, row, now)
  const { id: settlementId, net_amount: amount } = row
  // Delay the payout's events, so that the settlement's event comes first.
  const told: NewEvent[] = []
  const later = {
    ...place,
    events: {
      emit: (event: NewEvent) => {
        told.push(event)
        return undefined
      },
    },
  }
  const payout_id =
    amount > 0 ? await payOutSettlement(later, { settlementId, amount, currency: 'usd' }, list, now) : null
  const settled = await writeMove(place, { ...next, payout_id })
  for (const event of told) place.events.emit(event)
  return settled
}

/**
 * Posts a settlement: interchange, fees and dispute credits become payable. A negative net amount is taken from the money
 * that cards can spend. Clearings and refunds were posted when they occurred.
 */
async function book(
  { db, space }: SettlementPlace,
  { id, interchange_amount, fees_amount, net_amount }: SettlementRow,
  now: number,
): Promise<void> {
  // Lock order: this account first, as for payouts.
  await lockAccount(db, space, 'settlement_payable')
  const transfer = (cause: string, amount: number, other: LedgerTransfer['from']) => {
    if (amount === 0) return
    const [from, to] =
      amount > 0 ? ([other, 'settlement_payable'] as const) : (['settlement_payable', other] as const)
    pipelined(post(db, space, `${id}/${cause}`, { transfer: { from, to, amount: Math.abs(amount) } }, now))
  }
  transfer('interchange', interchange_amount, 'interchange_revenue')
  transfer('network_fees', -fees_amount, 'network_fees')
  transfer('disputes', net_amount - interchange_amount + fees_amount, 'provisional_credit')
  if (net_amount < 0) transfer('shortfall', -net_amount, 'program_funds')
}
