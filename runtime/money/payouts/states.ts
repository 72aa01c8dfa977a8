/** What may become of a payout. Nothing here asks a database; refusals are thrown. Amounts are cents, times service time. */
import { invalidState } from '../../api/errors/errors.ts'
import type { TransferChange } from '../chain/transfers.ts'
import type { LedgerAccount } from '../ledger/accounts.ts'
import type { LedgerTransfer } from '../ledger/post.ts'
import type { PayoutRow } from './queries.ts'

type PayoutStatus = PayoutRow['status']

/** The account of the ledger that a payout's money is in. */
const PLACES: Readonly<Record<PayoutStatus, LedgerAccount>> = {
  pending: 'payout_in_transit',
  in_transit: 'payout_in_transit',
  paid: 'bank',
  failed: 'settlement_payable',
  canceled: 'settlement_payable',
  returned: 'settlement_payable',
}

/** What a change moves; @param before undefined for a new payout, whose money was payable. */
export function transferOf(before: PayoutRow | undefined, after: PayoutRow): LedgerTransfer | undefined {
  const from = before ? PLACES[before.status] : 'settlement_payable'
  const to = PLACES[after.status]
  return from === to ? undefined : { from, to, amount: after.amount }
}

/** The day of an instant, in UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const DAY_MS = 86_400_000

/** When a payout that is made now arrives: on a chain the same day, at a bank the next day that is no Saturday or Sunday. */
export function expectedDay(currency: PayoutRow['currency'], now: number): string {
  if (currency === 'usdc') return dayOf(now)
  let day = now + DAY_MS
  while ([0, 6].includes(new Date(day).getUTCDay())) day += DAY_MS
  return dayOf(day)
}

/** Stopped by the tenant before it was sent. @param isWithdrawn whether the chain has given its transfer back. */
export function cancel(row: PayoutRow, isWithdrawn: boolean, now: number): PayoutRow {
  if (row.status !== 'pending') {
    throw invalidState(`Only a payout that is pending can be canceled; this one is ${row.status}.`)
  }
  if (row.currency === 'usdc' && !isWithdrawn) throw invalidState('The payment is being signed already.')
  return { ...row, status: 'canceled', arrival_date: null, updated: now }
}

/** It did not arrive, and does not any more. */
export function fail(
  row: PayoutRow,
  failure_code: NonNullable<PayoutRow['failure_code']>,
  now: number,
): PayoutRow {
  if (!isUnderway(row)) {
    throw invalidState(`Only a payout that is on its way can fail; this one is ${row.status}.`)
  }
  return { ...row, status: 'failed', failure_code, arrival_date: null, updated: now }
}

/** It arrived and came back. */
export function giveBack(
  row: PayoutRow,
  failure_code: NonNullable<PayoutRow['failure_code']>,
  now: number,
): PayoutRow {
  if (row.status !== 'paid')
    throw invalidState(`Only a payout that was paid can come back; this one is ${row.status}.`)
  return { ...row, status: 'returned', failure_code, updated: now }
}

/** The payout as its transfer has it; undefined where it has ended otherwise, as simulators can have it. */
export function follow(row: PayoutRow, change: TransferChange, now: number): PayoutRow | undefined {
  if (!isUnderway(row) && row.status !== 'paid') return undefined
  if (change.state === 'failed') return fail(row, change.code, now)
  const { chain: chain_id, hash: transaction_hash } = change
  const confirmations = 'confirmations' in change ? change.confirmations : 0
  const sent = { ...row, chain_id, transaction_hash, confirmations, updated: now }
  if (change.state === 'paid') return { ...sent, status: 'paid', arrival_date: dayOf(now) }
  if (change.state === 'confirmed' && row.status === 'paid') return sent
  // Also one that was paid, where its block is no longer part of the chain.
  return { ...sent, status: 'in_transit', arrival_date: expectedDay(row.currency, now) }
}

/** Whether it may still arrive. */
export const isUnderway = ({ status }: PayoutRow): boolean => status === 'pending' || status === 'in_transit'
