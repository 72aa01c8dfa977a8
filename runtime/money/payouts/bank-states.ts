/** What becomes of a payout that a bank makes. Nothing here asks a database or the bank. */
import type { BankAnswer, BankPayment } from './bank-client.ts'
import type { BankTransferRow } from './bank-queries.ts'
import type { PayoutRow } from './queries.ts'
import { dayOf, fail, giveBack, isUnderway } from './states.ts'

/** What a look at a transfer changes. */
export interface TransferVisit {
  readonly transfer: BankTransferRow
  /** Absent: it stays what it is. */
  readonly payout?: PayoutRow
}

/** Machine time, for leases and looks, and service time, for what the tenant sees. */
export interface LookTimes {
  readonly now: number
  readonly service: number
}

/** Longer than the bank is waited for. */
const LEASE_MS = 60_000

/** Between looks at what is not settled yet. */
const SETTLING_MS = 10_000

/** Receivers send credits back within two banking days (Nacha Operating Rules, return time frames): looked for a week long, by the hour. */
const RETURNS_MS = 7 * 86_400_000
const RETURN_PAUSE_MS = 3_600_000

/** After the first failure, doubled with each one more up to the longest. */
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

/** Leases a transfer that is due; one that nothing was sent of leaves the tenant's reach with that, or ends. */
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

/** What an operator has decided, for a transfer whose bank gives no usable answer. Undefined: nothing. */
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

/** What in an answer contradicts what the bank has said before: an operator has to find out which is true. */
function findContradiction(
  { bank_id, paid_at }: BankTransferRow,
  { id, status }: BankPayment,
): string | undefined {
  if (bank_id !== null && id !== bank_id)
    return `the bank was asked for payment ${bank_id} and has answered with ${id}`
  return paid_at !== null && status === 'pending'
    ? `the bank has said that payment ${id} is settled, and now says that it is pending`
    : undefined
}

/** What follows from the bank's answer. */
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
