/** State transitions of bank payouts, as pure functions. */
import type { BankAnswer, BankPayment } from './bank-client.ts'
import type { BankTransferRow } from './bank-queries.ts'
import type { PayoutRow } from './queries.ts'
import { dayOf, fail, giveBack, isUnderway } from './states.ts'

/** The changes after a check of a transfer. */
export interface TransferVisit {
  readonly transfer: BankTransferRow
  /** Absent if the payout does not change. */
  readonly payout?: PayoutRow
}

/** `now` is machine time, for leases and checks. `service` is service time, for what the tenant sees. */
export interface LookTimes {
  readonly now: number
  readonly service: number
}

/** Longer than the timeout of a bank request. */
const LEASE_MS = 60_000

/** Pause between checks of a payment that is not settled yet. */
const SETTLING_MS = 10_000

/**
 * Receivers can return credits within two banking days (Nacha Operating Rules, return time frames). Returns are checked
 * every hour for a week.
 */
const RETURNS_MS = 7 * 86_400_000
const RETURN_PAUSE_MS = 3_600_000

/** Pause after the first failure. It doubles with each further failure, up to the longest pause. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000

const ended = (transfer: BankTransferRow): BankTransferRow => ({
  ...transfer,
  state: 'ended',
  due: null,
  token: null,
  held_up_since: null,
  decision: null,
})

/**
 * Leases a due transfer. If nothing was sent yet, the payout becomes `in_transit` and can no longer be canceled, or it fails
 * if it may not be paid.
 */
export function claim(
  transfer: BankTransferRow,
  payout: PayoutRow,
  { isPayable, token, now, service }: LookTimes & { readonly isPayable: boolean; readonly token: string },
): TransferVisit {
  const leased = { ...transfer, token, due: now + LEASE_MS }
  if (transfer.state !== 'queued') return { transfer: leased }
  if (isPayable) {
    return {
      transfer: { ...leased, state: 'sending' },
      payout: { ...payout, status: 'in_transit', updated: service },
    }
  }
  const gone = ended(transfer)
  return isUnderway(payout)
    ? { transfer: gone, payout: fail(payout, 'rejected', service) }
    : { transfer: gone }
}

/**
 * Carries out an operator's decision on a transfer without a usable bank answer. Returns undefined if there is no decision.
 */
export function decided(
  transfer: BankTransferRow,
  payout: PayoutRow,
  service: number,
): TransferVisit | undefined {
  if (transfer.decision === null) return undefined
  const gone = ended(transfer)
  if (!isUnderway(payout)) return { transfer: gone }
  const isPaid = transfer.decision === 'paid'
  return { transfer: gone, payout: isPaid ? arrive(payout, service) : fail(payout, 'rejected', service) }
}

/** Returns the contradiction between a bank answer and earlier answers, which an operator must resolve. */
function findContradiction(
  { bank_id, paid_at }: BankTransferRow,
  { id, status }: BankPayment,
): string | undefined {
  if (bank_id !== null && id !== bank_id)
    return `the bank was asked for payment ${bank_id} but returned payment ${id}`
  return paid_at !== null && status === 'pending'
    ? `the bank reported payment ${id} as settled, and now reports it as pending`
    : undefined
}

/** Returns the changes that follow from the bank's answer. */
export function visitAfter(
  transfer: BankTransferRow,
  payout: PayoutRow,
  answer: BankAnswer,
  { now, service }: LookTimes,
): TransferVisit {
  const contradiction = answer.outcome === 'payment' ? findContradiction(transfer, answer.payment) : undefined
  if (answer.outcome === 'later' || contradiction !== undefined) {
    const problem = contradiction ?? ('problem' in answer ? answer.problem : null)
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(transfer.failures, 20))
    return {
      transfer: {
        ...{ ...transfer, token: null, problem, failures: transfer.failures + 1, due: now + pause },
        held_up_since: transfer.held_up_since ?? now,
      },
    }
  }
  if (answer.outcome === 'refused') {
    return { transfer: ended(transfer), payout: fail(payout, answer.failure_code, service) }
  }
  const { id: bank_id, status, failure_code } = answer.payment
  const seen = { ...transfer, bank_id, token: null, failures: 0, problem: null, held_up_since: null }
  if (status === 'failed' && payout.status !== 'paid') {
    return { transfer: ended(seen), payout: fail(payout, failure_code, service) }
  }
  const arrived = payout.status === 'paid' ? undefined : arrive(payout, service)
  if (status === 'returned' || status === 'failed') {
    return { transfer: ended(seen), payout: giveBack(arrived ?? payout, failure_code, service) }
  }
  if (status === 'pending') return { transfer: { ...seen, state: 'sent', due: now + SETTLING_MS } }
  const paid_at = transfer.paid_at ?? now
  const isOver = now >= paid_at + RETURNS_MS
  const followed = isOver
    ? ended(seen)
    : { ...seen, state: 'paid' as const, paid_at, due: now + RETURN_PAUSE_MS }
  return arrived ? { transfer: followed, payout: arrived } : { transfer: followed }
}

const arrive = (payout: PayoutRow, service: number): PayoutRow => ({
  ...payout,
  status: 'paid',
  arrival_date: dayOf(service),
  updated: service,
})
