/** Messages that the service decides: authorizations, increments and balance inquiries. */
import { hash } from 'node:crypto'
import type { components } from '../../../generated/network/2026-12-01/types.ts'
import { isCountry } from '../../platform/countries.ts'
import { type Asking, pose } from '../decisions/asking.ts'
import { type AskedDecision, authorize as authorizeByRules, conclude } from '../decisions/concluding.ts'
import type { AskedUse } from '../decisions/queries.ts'
import { type FactsQuestion, lockFacts } from '../transactions/authorizing.ts'
import { messagesOf } from '../transactions/messages.ts'
import type { CardTransactionRow, TransactionMessage } from '../transactions/queries.ts'
import { decide } from '../transactions/rules.ts'
import { requireTotals } from '../transactions/states.ts'
import { applyIncrement, takeWaiting } from './apply.ts'
import { mismatchOf } from './checks.ts'
import { MessageException, type NetworkExchange, type NetworkPlace } from './exchange.ts'
import { type KnownUse, readKnownUse } from './known-uses.ts'

type Schemas = components['schemas']
type Decision = Schemas['Decision']

/** Returns the merchant of a message as transactions store it. */
export function readNetworkMerchant(merchant: Schemas['NetworkMerchant']): CardTransactionRow['merchant'] {
  const { name, category_code, network_id = null, city = null, country } = merchant
  const known = country !== undefined && isCountry(country) ? country : null
  return { name, category_code, network_id, city, country: known } as CardTransactionRow['merchant']
}

/** Returns the identity and the network time of a message. */
export const sentOf = ({
  message_id,
  sent_at,
}: {
  readonly message_id: string
  readonly sent_at: string
}) => ({
  id: message_id,
  at: Date.parse(sent_at),
})

function readUse(message: Schemas['AuthorizationMessage'], cardId: string): AskedUse {
  const { amount, currency, merchant, entry_method = null, wallet = null, checks, partial_approval } = message
  const mismatch = mismatchOf(checks)
  return {
    card_id: cardId,
    requested: amount,
    currency,
    merchant: readNetworkMerchant(merchant),
    entry_method,
    wallet,
    sent: { networkId: message.transaction_id, ...sentOf(message) },
    ...(checks && { checks }),
    ...(mismatch && { mismatch }),
    ...(partial_approval && { partial: true }),
  }
}

/** Returns the decision that the transaction keeps of a message; an advice replaces it. */
function decisionIn(row: CardTransactionRow, messageId: string): Decision | undefined {
  const messages = messagesOf(row)
  const kept =
    messages.find(({ advises }) => advises === messageId) ?? messages.find(({ id }) => id === messageId)
  return kept && showDecided(row, messageId, kept)
}

/** The approval code follows from the message, so a repetition gets the same. */
const approvalCode = (row: CardTransactionRow, messageId: string): string =>
  BigInt(`0x${hash('sha256', `${row.id}/${messageId}`).slice(0, 12)}`)
    .toString(36)
    .toUpperCase()
    .padStart(6, '0')
    .slice(-6)

function showDecided(row: CardTransactionRow, messageId: string, kept: TransactionMessage): Decision {
  const { approved, declined = 'processing_error' } = kept
  const answer = { message_id: messageId }
  if (approved === undefined) return { ...answer, decision: 'declined', decline_reason: declined }
  return { ...answer, decision: 'approved', amount: approved, approval_code: approvalCode(row, messageId) }
}

const unavailable = ({ message_id }: { readonly message_id: string }): Decision => ({
  message_id,
  decision: 'unavailable',
})

/** The key of a question is a UUID, so that a repeated message finds the question that it has asked. */
function requestKeyOf(message: Schemas['AuthorizationMessage']): string {
  const digits = hash('sha256', `${message.transaction_id}/${message.message_id}`)
  return digits.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const UNKNOWN: KnownUse = { row: undefined, waiting: [] }

/** Locks the card, and reads the facts of an authorization and the transaction, if it is known already. */
async function lockUse(
  { db, space, now, isRetry }: NetworkPlace,
  cardId: string,
  funds: 'locked' | 'read',
  question: FactsQuestion & { readonly networkId: string },
) {
  const { networkId } = question
  const facts = await lockFacts(db, space, cardId, now, isRetry ? 'locked' : funds, question)
  if (!facts) throw new MessageException('unknown_card', 'The card does not exist.', 'card_number')
  const known = facts.isKnown ? await readKnownUse(db, space, networkId, cardId) : UNKNOWN
  return { facts, known }
}

/** Decides an authorization by the rules and, if the tenant has an endpoint, by its answer. */
export async function authorize(exchange: NetworkExchange<'authorize'>): Promise<Decision> {
  const { message, cardId, asksTenant, transact, asking } = exchange
  const { transaction_id: networkId, message_id: messageId } = message
  const use = readUse(message, cardId)
  const requestKey = requestKeyOf(message)
  const about = { networkId, merchant: use.merchant }
  const finish = async (
    place: NetworkPlace,
    { facts, known }: Awaited<ReturnType<typeof lockUse>>,
    asked?: AskedDecision,
  ): Promise<Decision> => {
    const repeated = known.row && decisionIn(known.row, messageId)
    if (repeated) return repeated
    const begun = asked
      ? await conclude(place, asked, facts, known.row)
      : await authorizeByRules(place, use, facts, known.row)
    requireTotals(begun)
    place.done(`card_transaction.${begun.status === 'declined' ? 'declined' : 'authorized'}`, begun.id)
    const decision = decisionIn(begun, messageId)!
    await takeWaiting(place, begun, known)
    return decision
  }
  const first = await transact(async (place): Promise<Decision | Asking> => {
    const locked = await lockUse(place, cardId, 'read', {
      ...about,
      requestKey: asksTenant ? requestKey : undefined,
    })
    const { facts, known } = locked
    const isRepeated = known.row && decisionIn(known.row, messageId)
    const ask = facts.isAsked && !isRepeated ? await pose({ ...place, requestKey }, use, facts) : undefined
    return ask ?? finish(place, locked)
  })
  if (typeof first !== 'function') return first
  const asked = await first(asking)
  return transact(async (place) => finish(place, await lockUse(place, cardId, 'read', about), asked))
}

/** Decides an increment of an open authorization by the rules. */
export function increment({ message, cardId, transact }: NetworkExchange<'increment'>): Promise<Decision> {
  const { transaction_id: networkId, message_id: messageId, amount } = message
  return transact(async (place) => {
    const { facts, known } = await lockUse(place, cardId, 'locked', { networkId, merchant: null })
    const before = known.row
    // The authorization has not arrived: the network decides, and its advice brings both sides together.
    if (!before) return unavailable(message)
    const repeated = decisionIn(before, messageId)
    if (repeated) return repeated
    const after = await applyIncrement(place, before, facts, amount, sentOf(message))
    place.done('card_transaction.incremented', after.id)
    return decisionIn(after, messageId)!
  })
}

/** Returns what the card can spend, or why it cannot be used. */
export function inquireBalance({
  message,
  cardId,
  transact,
}: NetworkExchange<'inquireBalance'>): Promise<Decision> {
  return transact(async ({ db, space, now }) => {
    const facts = await lockFacts(db, space, cardId, now, 'read', { merchant: null })
    if (!facts) throw new MessageException('unknown_card', 'The card does not exist.', 'card_number')
    const use = {
      amount: 0,
      currency: 'usd',
      categoryCode: '6011',
      country: null,
      authorized: 0,
      wallet: null,
      use: null,
    }
    const { declined } = decide(use, facts)
    const answer = { message_id: message.message_id }
    return declined === undefined
      ? { ...answer, decision: 'approved', available: Math.max(0, facts.available) }
      : { ...answer, decision: 'declined', decline_reason: declined }
  })
}
