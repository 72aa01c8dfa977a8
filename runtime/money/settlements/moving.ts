/** Settlements that move on, with the money that follows. */

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

/** A place whose events are told as of a time by the settlement clock. */
export type PlaceAt = (at: number) => SettlementPlace

/** What else goes by the settlement clock and decides what a settlement does: called up to each time at which one moves. */
export type ClockFollower = (until: number) => Promise<unknown>

/** Moves in one transaction: each is a few statements, however many lines a settlement has. */
const MAX_MOVES = 100

/**
 * Moves a tenant's settlements on, one after the other as their times come, and gives each as it is then. The tenant's clock is
 * locked.
 *
 * @param until by the settlement clock. @param now service time. @param list that destinations are held against.
 */
export async function moveSettlements(
  placeAt: PlaceAt,
  until: number,
  now: number,
  list: DestinationList,
  follow: ClockFollower,
): Promise<ReadonlyMap<string, SettlementWithLines>> {
  const { db, space } = placeAt(until)
  const moved = new Map<string, SettlementWithLines>()
  for (let count = 0; count < MAX_MOVES; count += 1) {
    const row = await lockNextSettlement(db, space)
    if (!row || row.due > until) break
    await follow(row.due)
    moved.set(row.id, await move(placeAt(row.due), row, list, now))
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
  // The settlement is told of before its payout.
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
 * Books what a settlement comes to: interchange, fees and credits of disputes make what is payable; what is missing to nothing is
 * taken from what cards can spend. Clearings and refunds were booked when they came.
 */
async function book(
  { db, space }: SettlementPlace,
  { id, interchange_amount, fees_amount, net_amount }: SettlementRow,
  now: number,
): Promise<void> {
  // Before the other accounts, as payouts do.
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
