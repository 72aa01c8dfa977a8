/** What may become of a dispute. Nothing here asks a database; refusals are thrown. Amounts are cents, times service time. */
import { invalidState } from '../../api/errors/errors.ts'
import type { LedgerTransfer } from '../../money/ledger/post.ts'
import type { CardTransactionRow } from '../transactions/queries.ts'
import type { DisputeRow } from './queries.ts'

type DisputeStatus = DisputeRow['status']

/** Those that are still to be decided, in the order in which they give way to a refund. */
export const OPEN = ['unsubmitted', 'submitted', 'under_review'] as const satisfies readonly DisputeStatus[]

/** From the last clearing on. */
export const SUBMISSION_MS = 60 * 86_400_000

/** Those that count against what was cleared. */
const COUNTING: ReadonlySet<DisputeStatus> = new Set(['unsubmitted', 'submitted', 'under_review', 'won'])

/** What a dispute takes of what its transaction has cleared. */
export const contested = ({ status, amount }: Pick<DisputeRow, 'status' | 'amount'>): number =>
  COUNTING.has(status) ? amount : 0

/**
 * How much is contested: what was asked for, or all that can be. Throws where nothing is left of what was cleared, or less than
 * was asked for.
 *
 * @param own what the same dispute contests already.
 */
export function amountOf(
  { cleared, refunded, disputed }: CardTransactionRow,
  given: number | undefined,
  own = 0,
): number {
  const left = cleared - refunded - disputed + own
  if (left <= 0) throw invalidState('Nothing that was cleared is left to be disputed.')
  const amount = given ?? left
  if (amount > left) throw invalidState(`Only ${left} of what was cleared are neither refunded nor disputed.`)
  return amount
}

/** Throws where the time to submit it is over. */
export function requireInTime(deadline: number, now: number): void {
  if (now >= deadline) throw invalidState('The time to submit a dispute is over: 60 days after the clearing.')
}

export function requireUnsubmitted({ status }: DisputeRow): void {
  if (status !== 'unsubmitted')
    throw invalidState(`The dispute is ${status}: only its metadata can be changed.`)
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

/** The end of a dispute, for good: nothing is provisional any more. */
export function close(row: DisputeRow, status: keyof typeof FROM, now: number): DisputeRow {
  requireStatus(row, status, FROM[status])
  return { ...row, status, provisional_credit: 0, closed_at: now, updated: now }
}

/** An open dispute after a refund of part of it: its amount is smaller, or it ends. A dispute under review can only be lost. */
export function giveWay(row: DisputeRow, by: number, now: number): DisputeRow {
  const amount = row.amount - by
  if (amount <= 0) return close(row, row.status === 'under_review' ? 'lost' : 'withdrawn', now)
  return { ...row, amount, provisional_credit: row.provisional_credit === 0 ? 0 : amount, updated: now }
}

function requireStatus({ status }: DisputeRow, wanted: DisputeStatus, from: readonly DisputeStatus[]): void {
  if (!from.includes(status)) throw invalidState(`A dispute that is ${status} cannot become ${wanted}.`)
}

/**
 * What a change moves. The credit is what the network is expected to give back; settlements pay it out, so it is not in
 * `program_funds`. Won, the network gives it; lost or withdrawn, it is taken back, and so is what a
 * refund leaves no dispute about.
 */
export function transferOf(before: DisputeRow, after: DisputeRow): LedgerTransfer | undefined {
  const more = after.provisional_credit - before.provisional_credit
  if (more === 0) return undefined
  if (more > 0) return { from: 'dispute_receivable', to: 'provisional_credit', amount: more }
  const from = after.status === 'won' ? 'network_clearing' : 'provisional_credit'
  return { from, to: 'dispute_receivable', amount: -more }
}
