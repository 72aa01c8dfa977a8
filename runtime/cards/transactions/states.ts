/**
 * What a step of a card transaction requires, and the transaction after it. Pure functions that throw if the step is not
 * allowed. The card network's own messages are always applied: `withMessage` in messages.ts. Amounts are cents, times are
 * service time.
 */
import { invalidState, validationFailed } from '../../api/errors/errors.ts'
import { MAX_AMOUNT } from '../../money/settlement-lines/bounds.ts'
import { MAX_STEPS, messagesOf, type TransactionMessage, withMessage } from './messages.ts'
import type { CardTransactionRow } from './queries.ts'
import type { Decision } from './rules.ts'

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

/** A message that the service sends itself, for a simulator, the tenant or an expired hold. */
type OwnStep = Omit<TransactionMessage, 'id' | 'at' | 'created'>

/**
 * Returns the transaction after a step of the service itself, which follows all messages that have arrived.
 * @param kept see `withMessage`.
 */
export function take(
  row: CardTransactionRow,
  step: OwnStep,
  now: number,
  kept = row.disputed,
): CardTransactionRow {
  const messages = messagesOf(row)
  const at = messages.reduce((latest, message) => Math.max(latest, message.at), now)
  return withMessage(row, { ...step, id: `${row.id}/${messages.length}`, at, created: now }, kept)
}

/** Throws unless the transaction after a step can be shown: its totals, and room for one more step, the expiry. */
function requireShowable(row: CardTransactionRow): CardTransactionRow {
  if (row.history.length >= MAX_STEPS)
    throw invalidState(`The transaction has reached the maximum of ${MAX_STEPS} history entries.`)
  requireTotals(row)
  return row
}

/** Throws `validation_failed` if a total of the transaction exceeds the maximum amount. */
export function requireTotals({ requested, cleared }: CardTransactionRow): void {
  if (Math.max(requested, cleared) <= MAX_AMOUNT) return
  throw validationFailed([
    { field: 'amount', issue: `would take the transaction total above the maximum of ${MAX_AMOUNT}` },
  ])
}

/** What identifies a message of the network. */
export type Sent = Pick<TransactionMessage, 'id' | 'at'>

/** Returns the message of an authorization or an increment with its decision. @param expires see `TransactionMessage`. */
export function askingMessage(
  kind: 'authorization' | 'increment',
  amount: number,
  { declined, amount: approved = amount }: Decision,
  expires: number,
): OwnStep {
  return declined === undefined ? { kind, amount, approved, expires } : { kind, amount, declined }
}

/**
 * Returns a new transaction with its decision applied.
 * @param clockOffset how far the settlement clock is ahead, in milliseconds; the hold expires by that clock.
 */
export function begin(
  row: CardTransactionRow,
  decision: Decision,
  clockOffset = 0,
  sent: Sent = { id: `${row.id}/0`, at: row.created },
): CardTransactionRow {
  const { requested, created, merchant, rules: _, ...rest } = row
  const expires = created + clockOffset + holdFor(merchant.category_code)
  const message = askingMessage('authorization', requested, decision, expires)
  const { rules } = decision
  return withMessage({ ...rest, requested, created, merchant, rules }, { ...message, ...sent, created })
}

/** Returns a new transaction that clears without an authorization. */
export function forcePost(row: CardTransactionRow): CardTransactionRow {
  return take(row, { kind: 'clearing', amount: row.requested, final: true }, row.created)
}

/** Applies a decided increment to an open authorization. A declined increment leaves the authorized amount unchanged. */
export function increment(
  row: CardTransactionRow,
  amount: number,
  decision: Decision,
  now: number,
): CardTransactionRow {
  const message = askingMessage('increment', amount, decision, now)
  return requireShowable(take({ ...row, rules: decision.rules }, message, now))
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
  kind: 'reversal' | 'release' | 'expiry',
  amount: number,
  now: number,
): CardTransactionRow {
  requireOpen(row)
  if (amount > row.held) throw invalidState(`The amount is too large: only ${row.held} is held.`)
  const after = take(row, { kind, amount }, now)
  return kind === 'expiry' ? after : requireShowable(after)
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
  return requireShowable(take(row, { ...given, kind: 'clearing', amount }, now))
}

/** Returns the part of the cleared amount that the network gave back after disputes. @param open contested by open disputes. */
export const keptOf = ({ disputed }: CardTransactionRow, open: number): number => disputed - open

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
  const kept = keptOf(row, open)
  const left = row.cleared - row.refunded - kept
  if (left === 0) throw invalidState('The whole cleared amount has already been given back.')
  const amount = given ?? left
  if (amount > left)
    throw invalidState(`The amount is too large: only ${left} of the cleared amount has not been given back.`)
  return requireShowable(take(row, { kind: 'refund', amount }, now, kept))
}
