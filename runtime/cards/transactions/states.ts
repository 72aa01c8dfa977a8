/**
 * What the steps of a card transaction require that a tenant, a simulator or the service itself takes. Pure functions. What
 * the card network sends always takes effect. Amounts are cents, times are service time.
 */
import { invalidState, validationFailed } from '../../api/errors/errors.ts'
import { MAX_AMOUNT } from '../../money/settlement-lines/bounds.ts'
import { MAX_STEPS, messagesOf, withMessage } from './messages.ts'
import type { CardTransactionRow, TransactionMessage } from './queries.ts'
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
export type OwnStep = Omit<TransactionMessage, 'id' | 'at' | 'created'>

/** Returns the message of a step of the service itself, which follows all messages that have arrived. */
export function ownMessage(row: CardTransactionRow, step: OwnStep, now: number): TransactionMessage {
  const messages = messagesOf(row)
  const at = messages.reduce((latest, message) => Math.max(latest, message.at), now)
  return { ...step, id: `${row.id}/${messages.length}`, at, created: now }
}

/** Throws `invalid_state` unless the history has room for one more step, the expiry. */
export function requireRoom(row: CardTransactionRow): CardTransactionRow {
  if (row.history.length < MAX_STEPS) return row
  throw invalidState(`The transaction has reached the maximum of ${MAX_STEPS} history entries.`)
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
  partial?: boolean,
): OwnStep {
  const asked = { kind, amount, ...(partial && { partial }) }
  return declined === undefined ? { ...asked, approved, expires } : { ...asked, declined }
}

/** What a transaction keeps of the use that begins it. */
interface BeginningUse {
  readonly sent?: Sent | undefined
  readonly partial?: boolean | undefined
}

/**
 * Returns a new transaction with its decision applied.
 * @param clockOffset how far the settlement clock is ahead, in milliseconds; the hold expires by that clock.
 */
export function begin(
  blank: CardTransactionRow,
  decision: Decision,
  clockOffset: number,
  { sent = { id: `${blank.id}/0`, at: blank.created }, partial = false }: BeginningUse = {},
): CardTransactionRow {
  const { requested, created, merchant } = blank
  const expires = created + clockOffset + holdFor(merchant.category_code)
  const message = askingMessage('authorization', requested, decision, expires, partial)
  return withMessage({ ...blank, rules: decision.rules }, { ...message, ...sent, created })
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

/** Returns the step if the authorization is open and holds the amount to release. Otherwise throws `invalid_state`. */
export function requireHeld(row: CardTransactionRow, step: OwnStep & { readonly amount: number }): OwnStep {
  requireOpen(row)
  if (step.amount > row.held) throw invalidState(`The amount is too large: only ${row.held} is held.`)
  return step
}

/** Returns the clearing of an amount; default: all that is held. Throws `invalid_state` for a declined authorization. */
export function requireClearable(
  row: CardTransactionRow,
  given: { readonly amount?: number; readonly final?: boolean },
): OwnStep {
  if (row.status === 'declined')
    throw invalidState(
      'A declined authorization cannot be cleared. To collect the amount anyway, simulate a force post.',
    )
  const amount = given.amount ?? row.held
  if (amount === 0)
    throw validationFailed([{ field: 'amount', issue: 'is required because nothing is held' }])
  return { ...given, kind: 'clearing', amount }
}

/** Returns the part of the cleared amount that the network gave back after disputes. @param open contested by open disputes. */
export const keptOf = ({ disputed }: CardTransactionRow, open: number): number => disputed - open

/**
 * Returns the refund of an amount; default: all of the cleared amount that neither the merchant nor the network has given
 * back. Throws `invalid_state` if less than the amount is left.
 * @param open the amount contested by open disputes, which a refund reduces.
 */
export function requireRefundable(row: CardTransactionRow, given: number | undefined, open: number): OwnStep {
  const left = row.cleared - row.refunded - keptOf(row, open)
  if (left === 0) throw invalidState('The whole cleared amount has already been given back.')
  const amount = given ?? left
  if (amount > left)
    throw invalidState(`The amount is too large: only ${left} of the cleared amount has not been given back.`)
  return { kind: 'refund', amount }
}
