/** What the acceptance of one message of the card network needs, and how it ends if it cannot take effect. */
import type { Environment } from '../../platform/environment.ts'
import type { AskingParts } from '../decisions/asking.ts'
import type { AuthorizationPlace } from '../decisions/concluding.ts'
import type { ExceptionReason } from './exceptions.ts'
import type { FoundCard, NetworkMessages } from './network.ts'

/** A transaction of the database in which a message takes effect. */
export interface NetworkPlace extends AuthorizationPlace {
  /** Machine time. */
  readonly machineNow: number
  /** Whether the database aborted an earlier attempt. */
  readonly isRetry: boolean
  /** Records an action in the audit log. */
  done(action: string, targetId: string): void
}

/** One message that the service takes as a fact, and the card that it is about. */
export interface FactExchange<Kind extends keyof NetworkMessages> extends FoundCard {
  readonly environment: Environment
  readonly message: NetworkMessages[Kind][0]
  /** Runs a transaction with its events and audit entries. Repeats it after a conflict, until the deadline. */
  transact<T>(work: (place: NetworkPlace) => Promise<T>): Promise<T>
}

/** One message, the card that it is about, and what accepting it may use. */
export interface NetworkExchange<Kind extends keyof NetworkMessages> extends FactExchange<Kind> {
  /** Whether the tenant's plan includes an authorization endpoint. */
  readonly asksTenant: boolean
  /** What it takes to ask the tenant's endpoint. */
  readonly asking: AskingParts
}

/** The message cannot take effect. It is recorded as an exception. */
export class MessageException extends Error {
  override name = 'MessageException'
  readonly reason: ExceptionReason
  readonly field: string | undefined

  constructor(reason: ExceptionReason, detail: string, field?: string) {
    super(detail)
    this.reason = reason
    this.field = field
  }
}

/** The deadline has passed, so nothing was committed. */
export class TooLate extends Error {
  override name = 'TooLate'
}

/** Throws `MessageException` unless the amount is in the currency of the cards. */
export function requireCurrency(currency: string): void {
  if (currency === 'usd') return
  throw new MessageException(
    'unsupported_currency',
    `The currency is ${currency}; cards are billed in usd.`,
    'currency',
  )
}
