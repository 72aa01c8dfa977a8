/** What may become of a transaction. Nothing here asks a database; refusals are thrown. Amounts are cents, times service time. */
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, validationFailed } from '../../api/errors/errors.ts'
import { MAX_AMOUNT } from '../../money/settlement-lines/bounds.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { CardTransactionRow, TransactionStep } from './queries.ts'
import type { Decision } from './rules.ts'

type StepType = components['schemas']['CardTransactionStepType']

const DAY_MS = 86_400_000

/** Codes beside 3000 to 3999, which are airlines, car rentals and lodging. */
const TRAVEL = new Set(['4112', '4411', '4511', '4722', '7011', '7012', '7033', '7512', '7513', '7519'])

/** How long an authorization holds its amount: 7 days; 31 for lodging and travel. */
export function holdFor(categoryCode: string): number {
  return (categoryCode.startsWith('3') || TRAVEL.has(categoryCode) ? 31 : 7) * DAY_MS
}

/** Financial institutions: over the counter, and machines. */
const CASH = new Set(['6010', '6011'])

export function typeOf(categoryCode: string): CardTransactionRow['type'] {
  return CASH.has(categoryCode) ? 'cash_withdrawal' : 'purchase'
}

/** As many as the interface shows; of what is asked for one less, so that a hold can always expire. */
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
    throw invalidState(`No more than ${MAX_STEPS} things can happen to a transaction.`)
  }
  return [...row.history, ...steps]
}

function requireShowable(...amounts: readonly number[]): void {
  if (amounts.some((amount) => amount > MAX_AMOUNT)) {
    throw validationFailed([{ field: 'amount', issue: `would take the transaction beyond ${MAX_AMOUNT}` }])
  }
}

/** With `held` less or more, and what follows from nothing being held after it. */
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

/** A new transaction, as its request was decided. @param clockOffset how far the settlement clock is ahead, by which it expires. */
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

/** A new transaction that was never asked for. */
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

/** More on an open authorization, as that was decided: declined, it stays what it was. */
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
  if (status !== 'authorized') throw invalidState(`Nothing is held any more: the transaction is ${status}.`)
}

/** Throws unless the authorization is open and holds something: one of 0 verifies the card and holds nothing. */
export function requireIncrementable(row: CardTransactionRow): void {
  requireOpen(row)
  if (row.held > 0) return
  throw invalidState(
    'The authorization of 0 verifies the card and cannot be incremented: authorize the amount on its own.',
  )
}

/** What is given up of an open authorization: by the merchant, by the tenant, or by time. */
export function giveUp(
  row: CardTransactionRow,
  how: 'reversal' | 'release' | 'expiry',
  amount: number,
  now: number,
): CardTransactionRow {
  requireOpen(row)
  if (amount > row.held) throw invalidState(`Only ${row.held} are held.`)
  // Time passes however much has happened.
  const history =
    how === 'expiry' ? [...row.history, step(how, amount, now)] : withSteps(row, step(how, amount, now))
  const ended = how === 'expiry' ? 'expired' : 'reversed'
  return withHeld({ ...row, reversed: row.reversed + amount, history }, row.held - amount, ended, now)
}

/**
 * A collection by the merchant, which always succeeds: of more than is held, and of what was given up, too. The last one gives
 * up the rest.
 */
export function clear(
  row: CardTransactionRow,
  given: { readonly amount?: number; readonly final?: boolean },
  now: number,
): CardTransactionRow {
  if (row.status === 'declined') throw invalidState('The authorization was declined: it can be force posted.')
  const amount = given.amount ?? row.held
  if (amount === 0) throw validationFailed([{ field: 'amount', issue: 'is needed where nothing is held' }])
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
 * What the merchant gives back: no more than it has, and than the network has not given back already.
 *
 * @param open what disputes contest that are open, and give way.
 */
export function refund(
  row: CardTransactionRow,
  given: number | undefined,
  open: number,
  now: number,
): CardTransactionRow {
  const left = row.cleared - row.refunded - (row.disputed - open)
  if (left === 0) throw invalidState('Nothing is left to be refunded.')
  const amount = given ?? left
  if (amount > left) throw invalidState(`Only ${left} of what was cleared have not been given back.`)
  return {
    ...row,
    refunded: row.refunded + amount,
    history: withSteps(row, step('refund', amount, now)),
    updated: now,
  }
}
