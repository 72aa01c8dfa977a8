/**
 * State transitions of payouts, as pure functions that throw if a transition is not allowed. Amounts are cents, times are
 * service time.
 */
import { invalidState } from '../../api/errors/errors.ts'
import type { TransferChange } from '../chain/transfers.ts'
import type { LedgerAccount } from '../ledger/accounts.ts'
import type { LedgerTransfer } from '../ledger/post.ts'
import type { PayoutRow } from './queries.ts'

type PayoutStatus = PayoutRow['status']

/** The ledger account that holds a payout's money, by status. */
const PLACES: Readonly<Record<PayoutStatus, LedgerAccount>> = {
  pending: 'payout_in_transit',
  in_transit: 'payout_in_transit',
  paid: 'bank',
  failed: 'settlement_payable',
  canceled: 'settlement_payable',
  returned: 'settlement_payable',
}

/**
 * Returns the ledger transfer that a change causes.
 * @param before undefined for a new payout.
 */
export function transferOf(before: PayoutRow | undefined, after: PayoutRow): LedgerTransfer | undefined {
  const from = before ? PLACES[before.status] : 'settlement_payable'
  const to = PLACES[after.status]
  return from === to ? undefined : { from, to, amount: after.amount }
}

/** Returns the UTC date of an instant. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const DAY_MS = 86_400_000

/**
 * Returns the expected arrival date of a payout: the same day on a chain; at a bank the next day that is not a Saturday or
 * Sunday.
 */
export function expectedDay(currency: PayoutRow['currency'], now: number): string {
  if (currency === 'usdc') return dayOf(now)
  let day = now + DAY_MS
  while ([0, 6].includes(new Date(day).getUTCDay())) day += DAY_MS
  return dayOf(day)
}

/**
 * Cancels a payout that was not sent yet.
 * @param isWithdrawn whether its chain transfer was withdrawn.
 */
export function cancel(row: PayoutRow, isWithdrawn: boolean, now: number): PayoutRow {
  if (row.status !== 'pending') {
    throw invalidState(`Only pending payouts can be canceled. The status of this payout is ${row.status}.`)
  }
  if (row.currency === 'usdc' && !isWithdrawn)
    throw invalidState('The payout can no longer be canceled because its payment is being signed.')
  return { ...row, status: 'canceled', arrival_date: null, updated: now }
}

/** Marks a payout as failed: it did not arrive and will not arrive. */
export function fail(
  row: PayoutRow,
  failure_code: NonNullable<PayoutRow['failure_code']>,
  now: number,
): PayoutRow {
  if (!isUnderway(row)) {
    throw invalidState(
      `Only payouts that are pending or in transit can fail. The status of this payout is ${row.status}.`,
    )
  }
  return { ...row, status: 'failed', failure_code, arrival_date: null, updated: now }
}

/** Marks a paid payout as returned. */
export function giveBack(
  row: PayoutRow,
  failure_code: NonNullable<PayoutRow['failure_code']>,
  now: number,
): PayoutRow {
  if (row.status !== 'paid')
    throw invalidState(`Only paid payouts can be returned. The status of this payout is ${row.status}.`)
  return { ...row, status: 'returned', failure_code, updated: now }
}

/** Applies a change of the payout's transfer. Returns undefined if the payout has already ended, which simulators can cause. */
export function follow(row: PayoutRow, change: TransferChange, now: number): PayoutRow | undefined {
  if (!isUnderway(row)) return undefined
  if (change.state === 'failed') return fail(row, change.code, now)
  const { chain: chain_id, hash: transaction_hash } = change
  const confirmations = 'confirmations' in change ? change.confirmations : 0
  const sent = { ...row, chain_id, transaction_hash, confirmations, updated: now }
  if (change.state === 'paid') return { ...sent, status: 'paid', arrival_date: dayOf(now) }
  return { ...sent, status: 'in_transit', arrival_date: expectedDay(row.currency, now) }
}

/** Returns whether the payout can still arrive. */
export const isUnderway = ({ status }: PayoutRow): boolean => status === 'pending' || status === 'in_transit'
