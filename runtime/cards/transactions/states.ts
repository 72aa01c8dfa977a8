/**
 * State transitions of card transactions, as pure functions that throw if a transition is not allowed. Amounts are cents,
 * times are service time.
 */
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, validationFailed } from '../../api/errors/errors.ts'
import { MAX_AMOUNT } from '../../money/settlement-lines/bounds.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { CardTransactionRow, TransactionStep } from './queries.ts'
import type { Decision } from './rules.ts'

type StepType = components['schemas']['CardTransactionStepType']

const DAY_MS = 86_400_000

/** Travel category codes other than 3000 to 3999, which are airlines, car rentals and lodging. */
const TRAVEL = new Set(['4112', '4411', '4511', '4722', '7011', '7012', '7033', '7512', '7513', '7519'])

/**
 * Returns how long an authorization holds its amount, in milliseconds: 31 days for lodging and travel, 7 days for other
 * categories.
 */
export function holdFor(categoryCode: string): number {
  return (categoryCode.startsWith('3') || TRAVEL.has(categoryCode) ? 31 : 7) * DAY_MS
}

/** Financial institutions: manual cash disbursements and ATMs. */
const CASH = new Set(['6010', '6011'])

export function typeOf(categoryCode: string): CardTransactionRow['type'] {
  return CASH.has(categoryCode) ? 'cash_withdrawal' : 'purchase'
}

/**
 * Maximum number of history entries, as in the API documents. Requests can use all but one, so that a hold can always
 * expire.
 */
const MAX_STEPS = 1000

const step = (type: StepType, amount: number, now: number): TransactionStep => ({
  type,
  amount,
  created: writeInstant(now),
})

function withSteps(
  row: CardTransactionRow,
  ...steps: readonly TransactionStep[]
): readonly TransactionStep[] {
  if (row.history.length + steps.length >= MAX_STEPS) {
    throw invalidState(`The transaction has reached the maximum of ${MAX_STEPS} history entries.`)
  }
  return [...row.history, ...steps]
}

function requireShowable(...amounts: readonly number[]): void {
  if (amounts.some((amount) => amount > MAX_AMOUNT)) {
    throw validationFailed([
      { field: 'amount', issue: `would take the transaction total above the maximum of ${MAX_AMOUNT}` },
    ])
  }
}

/** Sets the held amount. If it is 0, also ends the hold and sets the final status. */
function withHeld(
  row: CardTransactionRow,
  held: number,
  ended: 'reversed' | 'expired' | 'cleared',
  now: number,
): CardTransactionRow {
  if (held > 0) return { ...row, held, hold_id: `${row.id}/${row.history.length}`, updated: now }
  const status = row.cleared > 0 ? 'cleared' : ended
  return { ...row, held: 0, hold_id: null, expires_at: null, status, updated: now }
}

/**
 * Returns a new transaction with its decision applied.
 * @param clockOffset how far the settlement clock is ahead, in milliseconds; the hold expires by that clock.
 */
export function begin(
  row: CardTransactionRow,
  { declined, rules, amount = row.requested }: Decision,
  clockOffset = 0,
): CardTransactionRow {
  const { requested, created: now, merchant } = row
  if (declined !== undefined) {
    return {
      ...row,
      rules,
      status: 'declined',
      decline_code: declined,
      history: [step('decline', requested, now)],
    }
  }
  return {
    ...row,
    rules,
    status: 'authorized',
    authorized: amount,
    held: amount,
    hold_id: amount > 0 ? `${row.id}/1` : null,
    expires_at: now + clockOffset + holdFor(merchant.category_code),
    history: [step('authorization', amount, now)],
  }
}

/** Returns a new transaction that clears without an authorization. */
export function forcePost(row: CardTransactionRow): CardTransactionRow {
  const { requested: amount, created: now } = row
  return {
    ...row,
    status: 'cleared',
    cleared: amount,
    cleared_at: now,
    history: [step('force_post', amount, now)],
  }
}

/** Applies a decided increment to an open authorization. A declined increment leaves the authorized amount unchanged. */
export function increment(
  row: CardTransactionRow,
  amount: number,
  { declined, rules }: Decision,
  now: number,
): CardTransactionRow {
  const asked = { ...row, rules, requested: row.requested + amount, updated: now }
  requireShowable(asked.requested)
  if (declined !== undefined) return { ...asked, history: withSteps(row, step('decline', amount, now)) }
  const history = withSteps(row, step('increment', amount, now))
  return withHeld(
    { ...asked, authorized: row.authorized + amount, history },
    row.held + amount,
    'reversed',
    now,
  )
}

function requireOpen({ status }: CardTransactionRow): void {
  if (status !== 'authorized')
    throw invalidState(`The transaction no longer holds an amount: its status is ${status}.`)
}

/**
 * Throws `invalid_state` unless the authorization is open and holds an amount. An authorization of 0 only verifies the card.
 */
export function requireIncrementable(row: CardTransactionRow): void {
  requireOpen(row)
  if (row.held > 0) return
  throw invalidState(
    'An authorization of 0 only verifies the card and cannot be incremented. Create a new authorization for the amount.',
  )
}

/**
 * Releases part of an open authorization: for the merchant (`reversal`), for the tenant (`release`), or because it has
 * expired.
 */
export function giveUp(
  row: CardTransactionRow,
  how: 'reversal' | 'release' | 'expiry',
  amount: number,
  now: number,
): CardTransactionRow {
  requireOpen(row)
  if (amount > row.held) throw invalidState(`The amount is too large: only ${row.held} is held.`)
  // An expiry is allowed even if the history is full.
  const history =
    how === 'expiry' ? [...row.history, step(how, amount, now)] : withSteps(row, step(how, amount, now))
  const ended = how === 'expiry' ? 'expired' : 'reversed'
  return withHeld({ ...row, reversed: row.reversed + amount, history }, row.held - amount, ended, now)
}

/**
 * Collects an amount for the merchant. Always succeeds for an approved authorization, even above the held amount or after a
 * reversal. The final clearing releases the rest of the hold.
 */
export function clear(
  row: CardTransactionRow,
  given: { readonly amount?: number; readonly final?: boolean },
  now: number,
): CardTransactionRow {
  if (row.status === 'declined')
    throw invalidState(
      'A declined authorization cannot be cleared. To collect the amount anyway, simulate a force post.',
    )
  const amount = given.amount ?? row.held
  if (amount === 0)
    throw validationFailed([{ field: 'amount', issue: 'is required because nothing is held' }])
  const rest = Math.max(0, row.held - amount)
  const kept = (given.final ?? rest === 0) ? 0 : rest
  const cleared = row.cleared + amount
  requireShowable(cleared)
  const givenUp = rest - kept
  const history = withSteps(
    row,
    step('clearing', amount, now),
    ...(givenUp > 0 ? [step('reversal', givenUp, now)] : []),
  )
  return withHeld(
    { ...row, cleared, cleared_at: now, reversed: row.reversed + givenUp, history },
    kept,
    'cleared',
    now,
  )
}

/**
 * Refunds part of the cleared amount, at most what neither the merchant nor the network has given back.
 * @param open the amount contested by open disputes, which a refund reduces.
 */
export function refund(
  row: CardTransactionRow,
  given: number | undefined,
  open: number,
  now: number,
): CardTransactionRow {
  const left = row.cleared - row.refunded - (row.disputed - open)
  if (left === 0) throw invalidState('The whole cleared amount has already been given back.')
  const amount = given ?? left
  if (amount > left)
    throw invalidState(`The amount is too large: only ${left} of the cleared amount has not been given back.`)
  return {
    ...row,
    refunded: row.refunded + amount,
    history: withSteps(row, step('refund', amount, now)),
    updated: now,
  }
}
