/** The messages of a card use, in the order in which the network sends them. */
import type { NetworkMessages } from '../network/network.ts'
import type { CardUse } from './plays.ts'

/** A message with the operation that takes it. */
export type SimulatedMessage = {
  [Kind in keyof NetworkMessages]: { readonly kind: Kind; readonly message: NetworkMessages[Kind][0] }
}[keyof NetworkMessages]

/** Identifies a use, and says when it takes place. */
export interface UsePlace {
  /** The network's transaction identifier. */
  readonly transactionId: string
  readonly cardNumber: string
  /** Returns the time of the next message, ISO 8601. */
  next(): string
}

/**
 * Returns the messages of a use if the service approves every request. The message identifiers are the transaction
 * identifier and a number.
 */
export function messagesOf(use: CardUse, place: UsePlace): readonly SimulatedMessage[] {
  const { transactionId: transaction_id, cardNumber: card_number } = place
  const { merchant, entry_method, wallet } = use
  const made: SimulatedMessage[] = []
  const common = () => ({
    message_id: `${transaction_id}-${made.length + 1}`,
    sent_at: place.next(),
    card_number,
  })
  const about = () => ({ ...common(), transaction_id })
  const priced = (amount: number) => ({ ...about(), amount, currency: 'usd', merchant })
  const read = { entry_method, ...(wallet && { wallet }) }
  const changeToken = (status: NetworkMessages['changeToken'][0]['status']) => {
    const token = {
      token_reference: `${transaction_id}-token`,
      wallet: wallet ?? 'apple_pay',
      status,
    } as const
    made.push({ kind: 'changeToken', message: { ...common(), ...token } })
  }
  for (const status of use.token.slice(0, 2)) changeToken(status)
  if (!use.forced) {
    const { amount, partial_approval } = use
    const request = { ...priced(amount), ...read, ...(partial_approval && { partial_approval }) }
    made.push({ kind: 'authorize', message: request })
    if (use.completion !== undefined) {
      const { message_id: advised_message_id, sent_at } = request
      const advice = { ...priced(use.completion), ...read, sent_at, advised_message_id }
      made.push({ kind: 'advise', message: { ...advice, kind: 'authorization', approved: true } })
    }
  }
  for (const amount of use.increments) made.push({ kind: 'increment', message: { ...about(), amount } })
  for (const amount of use.reversals) made.push({ kind: 'reverse', message: { ...about(), amount } })
  use.clearings.forEach((amount, index) => {
    const final = index === use.clearings.length - 1
    made.push({ kind: 'clear', message: { ...priced(amount), ...read, final } })
  })
  for (const amount of use.refunds) made.push({ kind: 'refund', message: priced(amount) })
  for (const stage of use.chargeback) made.push({ kind: 'moveChargeback', message: { ...about(), stage } })
  for (const status of use.token.slice(2)) changeToken(status)
  return made
}

type Request = Extract<SimulatedMessage, { kind: 'authorize' | 'increment' }>

/** Returns the advice of what the network decided on a request by its stand-in rules. */
export function adviceOf(request: Request, approved: boolean): Extract<SimulatedMessage, { kind: 'advise' }> {
  const { message_id, transaction_id, sent_at, card_number, amount } = request.message
  const advice = {
    ...{ message_id: `${message_id}-advice`, advised_message_id: message_id },
    ...{ transaction_id, sent_at, card_number, amount, approved },
  }
  if (request.kind === 'increment') return { kind: 'advise', message: { ...advice, kind: 'increment' } }
  const { currency, merchant, entry_method, wallet } = request.message
  const read = { ...(entry_method && { entry_method }), ...(wallet && { wallet }) }
  return { kind: 'advise', message: { ...advice, kind: 'authorization', currency, merchant, ...read } }
}

/** Returns the reversal of a request whose answer the network did not get. */
export function reversalOf(
  { message }: Request,
  sent_at: string,
): Extract<SimulatedMessage, { kind: 'reverse' }> {
  const { message_id, transaction_id, card_number, amount } = message
  const reversal = { message_id: `${message_id}-reversal`, transaction_id, sent_at, card_number }
  return { kind: 'reverse', message: { ...reversal, ...(amount > 0 && { amount }) } }
}
