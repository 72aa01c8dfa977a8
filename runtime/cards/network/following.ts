/** Messages that the service takes as facts: advices, reversals, clearings and refunds. */
import type { components } from '../../../generated/network/2026-12-01/types.ts'
import { readClockOffset } from '../../money/settlement-lines/clock.ts'
import { lockCard } from '../cards/queries.ts'
import { newCardTransaction, type Use } from '../transactions/authorizing.ts'
import { hasMessage } from '../transactions/messages.ts'
import type { CardTransactionRow, TransactionMessage } from '../transactions/queries.ts'
import { holdFor } from '../transactions/states.ts'
import { applyMessage, beginWith, takeWaiting } from './apply.ts'
import { readNetworkMerchant, sentOf } from './deciding.ts'
import { type FactExchange, MessageException, type NetworkPlace, requireCurrency } from './exchange.ts'
import { type KnownUse, keepWaiting, readKnownUse } from './known-uses.ts'

type Schemas = components['schemas']
type Acknowledgement = Schemas['Acknowledgement']

/** The kinds of messages that follow an authorization. */
type Following = 'advise' | 'reverse' | 'clear' | 'refund'

/** How a message takes effect. */
interface FollowingMessage {
  readonly message: TransactionMessage
  /** The card use, if the message can begin a transaction. */
  readonly use?: Use
}

/**
 * Applies a message to the transaction that it is about. If the transaction is unknown, the message begins it or waits for
 * the message that does.
 */
async function follow<Kind extends Following>(
  exchange: FactExchange<Kind>,
  read: (place: NetworkPlace, use: KnownUse) => Promise<FollowingMessage> | FollowingMessage,
): Promise<Acknowledgement> {
  const { cardId } = exchange
  const { transaction_id: networkId, message_id } = exchange.message
  const outcome = await exchange.transact(async (place) => {
    const { db, space } = place
    const [card, known] = await Promise.all([
      lockCard(db, space, cardId),
      readKnownUse(db, space, networkId, cardId),
    ])
    if (!card) throw new MessageException('unknown_card', 'The card does not exist.', 'card_number')
    const { row: before } = known
    if (before && hasMessage(before, message_id)) return outcomeOf(before)
    const { message, use } = await read(place, known)
    if (!before && !use) {
      await keepWaiting(db, space, networkId, cardId, message)
      return 'waiting'
    }
    const after = before
      ? await applyMessage(place, before, message)
      : await beginWith(place, newCardTransaction(card, use!, place.now), message)
    place.done(`card_transaction.${ACTIONS[message.kind]}`, after.id)
    return outcomeOf(await takeWaiting(place, after, known))
  })
  return { message_id, outcome }
}

const ACTIONS = {
  authorization: 'advised',
  increment: 'advised',
  reversal: 'reversed',
  release: 'released',
  expiry: 'expired',
  clearing: 'cleared',
  refund: 'refunded',
} as const

/** A refund takes effect as far as clearings have arrived; the rest waits for them. */
function outcomeOf(row: CardTransactionRow): 'applied' | 'waiting' {
  const given = row.messages!.reduce(
    (sum, { kind, amount = 0 }) => (kind === 'refund' ? sum + amount : sum),
    0,
  )
  return given > row.refunded ? 'waiting' : 'applied'
}

function useOf(
  { transaction_id: networkId, merchant, amount, ...message }: Schemas['ClearingMessage'],
  sent = sentOf(message),
): Use {
  return {
    requested: amount,
    merchant: readNetworkMerchant(merchant),
    entry_method: message.entry_method ?? null,
    wallet: message.wallet ?? null,
    sent: { networkId, ...sent },
  }
}

/** Takes a decision of the network, which replaces any decision of the service on the same message. */
export function advise(exchange: FactExchange<'advise'>): Promise<Acknowledgement> {
  const { message: advice } = exchange
  const { kind, approved, amount, currency = 'usd', merchant, advised_message_id: advises } = advice
  requireCurrency(currency)
  if (kind === 'authorization' && !merchant)
    throw new MessageException(
      'invalid_message',
      'An advice of an authorization names the merchant.',
      'merchant',
    )
  return follow(exchange, async ({ db, space, now }, { row }) => {
    const category = row?.merchant.category_code ?? merchant?.category_code ?? ''
    const expires = now + (await readClockOffset(db, space)) + holdFor(category)
    const message: TransactionMessage = {
      ...sentOf(advice),
      kind,
      advises,
      created: now,
      amount,
      ...(approved ? { approved: amount, expires } : { declined: 'processing_error' }),
    }
    return kind === 'authorization' && merchant
      ? { message, use: useOf({ ...advice, currency, merchant }) }
      : { message }
  })
}

export function reverse(exchange: FactExchange<'reverse'>): Promise<Acknowledgement> {
  const { message } = exchange
  const { amount } = message
  return follow(exchange, ({ now }) => ({
    message: { ...sentOf(message), kind: 'reversal', created: now, ...(amount !== undefined && { amount }) },
  }))
}

export function clear(exchange: FactExchange<'clear'>): Promise<Acknowledgement> {
  const { message } = exchange
  const { amount, final } = message
  requireCurrency(message.currency)
  return follow(exchange, ({ now }) => ({
    message: {
      ...sentOf(message),
      kind: 'clearing',
      created: now,
      amount,
      ...(final !== undefined && { final }),
    },
    use: useOf(message),
  }))
}

export function refund(exchange: FactExchange<'refund'>): Promise<Acknowledgement> {
  const { message } = exchange
  requireCurrency(message.currency)
  return follow(exchange, ({ now }) => ({
    message: { ...sentOf(message), kind: 'refund', created: now, amount: message.amount },
  }))
}
