/**
 * State transitions of disputes, as pure functions that throw if a transition is not allowed. Amounts are cents, times are
 * service time.
 */
import { invalidState } from '../../api/errors/errors.ts'
import type { LedgerTransfer } from '../../money/ledger/post.ts'
import type { CardTransactionRow } from '../transactions/queries.ts'
import type { DisputeRow } from './queries.ts'

type DisputeStatus = DisputeRow['status']

/** Statuses of disputes that are not decided yet, in the order in which a refund reduces them. */
export const OPEN = ['unsubmitted', 'submitted', 'under_review'] as const satisfies readonly DisputeStatus[]

/** How long after the last clearing a dispute can be submitted, in milliseconds. */
export const SUBMISSION_MS = 60 * 86_400_000

/** Statuses whose disputes count against the cleared amount. */
const COUNTING: ReadonlySet<DisputeStatus> = new Set(['unsubmitted', 'submitted', 'under_review', 'won'])

/** Returns the part of the cleared amount that a dispute contests. */
export const contested = ({ status, amount }: Pick<DisputeRow, 'status' | 'amount'>): number =>
  COUNTING.has(status) ? amount : 0

/**
 * Returns the amount to dispute: the given amount, or everything that can be disputed. Throws `invalid_state` if nothing is
 * left to dispute, or less than the given amount.
 * @param own the amount that this dispute already contests.
 */
export function amountOf(
  { cleared, refunded, disputed }: CardTransactionRow,
  given: number | undefined,
  own = 0,
): number {
  const left = cleared - refunded - disputed + own
  if (left <= 0) throw invalidState('The whole cleared amount is already refunded or disputed.')
  const amount = given ?? left
  if (amount > left)
    throw invalidState(
      `The amount is too large: only ${left} of the cleared amount is neither refunded nor disputed.`,
    )
  return amount
}

/** Throws `invalid_state` if the submission deadline has passed. */
export function requireInTime(deadline: number, now: number): void {
  if (now >= deadline)
    throw invalidState(
      'The submission deadline has passed. Disputes must be submitted within 60 days after the transaction clears.',
    )
}

export function requireUnsubmitted({ status }: DisputeRow): void {
  if (status !== 'unsubmitted')
    throw invalidState(`The status of the dispute is ${status}, so only its metadata can be changed.`)
}

export function submit(row: DisputeRow, now: number): DisputeRow {
  requireStatus(row, 'submitted', ['unsubmitted'])
  requireInTime(row.submission_deadline, now)
  return { ...row, status: 'submitted', provisional_credit: row.amount, submitted_at: now, updated: now }
}

export function review(row: DisputeRow, now: number): DisputeRow {
  requireStatus(row, 'under_review', ['submitted'])
  return { ...row, status: 'under_review', updated: now }
}

const FROM: Readonly<Record<'won' | 'lost' | 'withdrawn' | 'expired', readonly DisputeStatus[]>> = {
  won: ['submitted', 'under_review'],
  lost: ['submitted', 'under_review'],
  withdrawn: ['unsubmitted', 'submitted'],
  expired: ['unsubmitted'],
}

/** Ends a dispute for good and removes its provisional credit. */
export function close(row: DisputeRow, status: keyof typeof FROM, now: number): DisputeRow {
  requireStatus(row, status, FROM[status])
  return { ...row, status, provisional_credit: 0, closed_at: now, updated: now }
}

/**
 * Reduces an open dispute by a refunded amount. If nothing is left, the dispute ends: as `lost` under review, otherwise as
 * `withdrawn`.
 */
export function giveWay(row: DisputeRow, by: number, now: number): DisputeRow {
  const amount = row.amount - by
  if (amount <= 0) return close(row, row.status === 'under_review' ? 'lost' : 'withdrawn', now)
  return { ...row, amount, provisional_credit: row.provisional_credit === 0 ? 0 : amount, updated: now }
}

function requireStatus({ status }: DisputeRow, wanted: DisputeStatus, from: readonly DisputeStatus[]): void {
  if (!from.includes(status))
    throw invalidState(`The dispute status cannot change from ${status} to ${wanted}.`)
}

/**
 * Returns the ledger transfer that a change causes. The provisional credit is the amount that the network is expected to
 * give back. Settlements pay it out, so it is not part of `program_funds`. If the dispute is won, the network pays the
 * credit. If it is lost or withdrawn, or a refund reduces it, the credit is taken back.
 */
export function transferOf(before: DisputeRow, after: DisputeRow): LedgerTransfer | undefined {
  const more = after.provisional_credit - before.provisional_credit
  if (more === 0) return undefined
  if (more > 0) return { from: 'dispute_receivable', to: 'provisional_credit', amount: more }
  const from = after.status === 'won' ? 'network_clearing' : 'provisional_credit'
  return { from, to: 'dispute_receivable', amount: -more }
}
