/** The one way in for card use: the messages of a card network. */
import type { components } from '../../../generated/network/2026-12-01/types.ts'
import type { Environment } from '../../platform/environment.ts'

type Schemas = components['schemas']

/** Messages by operation of the network document, and their answers. */
export interface NetworkMessages {
  authorize: [Schemas['AuthorizationMessage'], Schemas['Decision']]
  increment: [Schemas['IncrementMessage'], Schemas['Decision']]
  inquireBalance: [Schemas['BalanceInquiryMessage'], Schemas['Decision']]
  advise: [Schemas['AdviceMessage'], Schemas['Acknowledgement']]
  reverse: [Schemas['ReversalMessage'], Schemas['Acknowledgement']]
  clear: [Schemas['ClearingMessage'], Schemas['Acknowledgement']]
  refund: [Schemas['RefundMessage'], Schemas['Acknowledgement']]
  moveChargeback: [Schemas['ChargebackMessage'], Schemas['Acknowledgement']]
  changeToken: [Schemas['TokenMessage'], Schemas['Acknowledgement']]
  echo: [Schemas['EchoMessage'], Schemas['Acknowledgement']]
}

/** Kinds that the service answers with a decision; it acknowledges the others. */
const DECIDED: ReadonlySet<keyof NetworkMessages> = new Set(['authorize', 'increment', 'inquireBalance'])

export const isDecided = (kind: keyof NetworkMessages): boolean => DECIDED.has(kind)

/** Returns the answer of a service that cannot accept the message in time. */
export const unavailableAnswer = <Kind extends keyof NetworkMessages>(
  kind: Kind,
  message_id: string,
): NetworkMessages[Kind][1] =>
  isDecided(kind) ? { message_id, decision: 'unavailable' } : { message_id, outcome: 'unavailable' }

/** Takes messages that are valid by the network document. */
export interface Network {
  /**
   * Takes one message and returns the answer. Never rejects because of the database: while it is away or too slow, the
   * answer is `unavailable`. A repeated message gets the same answer.
   * @param deadline when the answer must be ready, on the clock of `performance.now()`. Nothing is committed after it.
   */
  exchange<Kind extends keyof NetworkMessages>(
    environment: Environment,
    kind: Kind,
    message: NetworkMessages[Kind][0],
    deadline: number,
  ): Promise<NetworkMessages[Kind][1]>
}

/** The card that a number belongs to. */
export interface FoundCard {
  /** `tenant_id` of the tenant's rows. */
  readonly space: string
  readonly cardId: string
}

/** Finds cards by their numbers, without opening a sealed number. */
export interface CardDirectory {
  find(environment: Environment, cardNumber: string): Promise<FoundCard | undefined>
}
