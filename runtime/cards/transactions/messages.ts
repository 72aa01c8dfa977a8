/**
 * A card transaction is a fold over the messages of the card network. The messages are kept in the order of arrival and
 * applied in the order in which the network sent them, so a message that arrives late or out of order leads to the same
 * state as one that arrives in order. Pure. Amounts are cents.
 */
import { writeInstant } from '../../platform/instants.ts'
import type { CardTransactionRow, TransactionMessage, TransactionStep } from './queries.ts'

/** Maximum number of history entries, as in the API documents. */
export const MAX_STEPS = 1000

/** The columns that the messages determine. */
export type Folded = Pick<
  CardTransactionRow,
  | 'status'
  | 'requested'
  | 'authorized'
  | 'held'
  | 'cleared'
  | 'refunded'
  | 'reversed'
  | 'decline_code'
  | 'expires_at'
  | 'cleared_at'
  | 'history'
>

/** A transaction before its first message. */
export const NOTHING: Folded = {
  status: 'declined',
  requested: 0,
  authorized: 0,
  held: 0,
  cleared: 0,
  refunded: 0,
  reversed: 0,
  decline_code: null,
  expires_at: null,
  cleared_at: null,
  history: [],
}

/**
 * Applies messages in the order in which the network sent them; messages of one instant in the order of arrival. An advice
 * replaces the message that it is about. Of several advices about one message, the one with the greatest ID counts.
 * @param kept cleared cents that refunds cannot give back, because disputes contest them or have given them back.
 */
export function foldMessages(messages: readonly TransactionMessage[], kept: number): Folded {
  const sent = inNetworkOrder(messages).filter(isCountedIn(messages))
  const refundable = refundableIn(sent, kept)
  const folded = sent.reduce((state, message) => apply(state, message, refundable), NOTHING)
  return { ...folded, history: folded.history.slice(-MAX_STEPS) }
}

const inNetworkOrder = (messages: readonly TransactionMessage[]) => messages.toSorted((a, b) => a.at - b.at)

/** Returns whether a message counts: no advice is about it, and it is no advice that another one replaces. */
function isCountedIn(messages: readonly TransactionMessage[]): (message: TransactionMessage) => boolean {
  const advices = new Map<string, string>()
  for (const { id, advises } of messages) {
    if (advises !== undefined && id > (advices.get(advises) ?? '')) advices.set(advises, id)
  }
  return ({ id, advises }) => !advices.has(id) && (advises === undefined || advices.get(advises) === id)
}

const refundableIn = (sent: readonly TransactionMessage[], kept: number) =>
  sent.reduce((sum, { kind, amount = 0 }) => (kind === 'clearing' ? sum + amount : sum), 0) - kept

/** A message with its effect. `waiting`: clearings have not covered all of a refund. */
export interface ExplainedMessage {
  readonly message: TransactionMessage
  readonly effect: 'applied' | 'waiting' | 'superseded' | 'none'
}

/** Returns all messages in the order in which the network sent them. @param kept see `foldMessages`. */
export function explainMessages(
  messages: readonly TransactionMessage[],
  kept: number,
): readonly ExplainedMessage[] {
  const isCounted = isCountedIn(messages)
  const sent = inNetworkOrder(messages)
  const refundable = refundableIn(sent.filter(isCounted), kept)
  let state = NOTHING
  return sent.map((message) => {
    if (!isCounted(message)) return { message, effect: 'superseded' }
    const before = state
    state = apply(before, message, refundable)
    const isWaiting = message.kind === 'refund' && state.refunded - before.refunded < message.amount!
    return { message, effect: isWaiting ? 'waiting' : state === before ? 'none' : 'applied' }
  })
}

function apply(state: Folded, message: TransactionMessage, refundable: number): Folded {
  switch (message.kind) {
    case 'authorization':
    case 'increment':
      return ask(state, message)
    case 'clearing':
      return collect(state, message)
    case 'refund': {
      const amount = Math.min(message.amount!, refundable - state.refunded)
      if (amount <= 0) return state
      return {
        ...state,
        refunded: state.refunded + amount,
        history: withStep(state, 'refund', amount, message),
      }
    }
    case 'reversal':
    case 'release':
    case 'expiry':
      return giveUp(state, message)
  }
}

function withStep(
  { history }: Folded,
  type: TransactionStep['type'],
  amount: number,
  { created }: TransactionMessage,
): readonly TransactionStep[] {
  return [...history, { type, amount, created: writeInstant(created) }]
}

const isOpen = ({ status }: Folded) => status === 'authorized'

function ask(state: Folded, message: TransactionMessage): Folded {
  const { kind, amount: asked = 0, approved, declined = 'processing_error', expires = null } = message
  const requested = state.requested + asked
  if (approved === undefined) {
    const history = withStep(state, 'decline', asked, message)
    return { ...state, requested, decline_code: state.status === 'declined' ? declined : null, history }
  }
  return {
    ...state,
    requested,
    status: 'authorized',
    decline_code: null,
    authorized: state.authorized + approved,
    held: state.held + approved,
    expires_at: state.expires_at ?? expires,
    history: withStep(state, kind as 'increment', approved, message),
  }
}

/** Ends the hold if no amount is left in it. */
function withHeld(state: Folded, held: number, ended: 'reversed' | 'expired' | 'cleared'): Folded {
  if (held > 0) return { ...state, held }
  return { ...state, held: 0, expires_at: null, status: state.cleared > 0 ? 'cleared' : ended }
}

function giveUp(state: Folded, message: TransactionMessage): Folded {
  if (!isOpen(state)) return state
  const { kind } = message
  const amount = Math.min(message.amount ?? state.held, state.held)
  const history = withStep(state, kind as 'reversal', amount, message)
  const released = { ...state, reversed: state.reversed + amount, history }
  return withHeld(released, state.held - amount, kind === 'expiry' ? 'expired' : 'reversed')
}

function collect(state: Folded, message: TransactionMessage): Folded {
  const amount = message.amount!
  const rest = Math.max(0, state.held - amount)
  const kept = (message.final ?? rest === 0) ? 0 : rest
  const givenUp = rest - kept
  const isKnown = state.history.some(({ type }) => type === 'authorization' || type === 'force_post')
  const history = withStep(state, isKnown ? 'clearing' : 'force_post', amount, message)
  const collected: Folded = {
    ...state,
    decline_code: null,
    requested: state.history.length === 0 ? amount : state.requested,
    cleared: state.cleared + amount,
    cleared_at: Math.max(state.cleared_at ?? 0, message.created),
    reversed: state.reversed + givenUp,
    history: givenUp > 0 ? withStep({ ...state, history }, 'reversal', givenUp, message) : history,
  }
  return withHeld(collected, kept, 'cleared')
}

/** The columns that tell the messages of a transaction. */
export type MessageColumns = Pick<
  CardTransactionRow,
  'id' | 'messages' | 'history' | 'requested' | 'disputed' | 'decline_code' | 'expires_at'
>

/** Returns the messages of a transaction, also of a row that an earlier version of the service wrote or changed. */
export function messagesOf(row: MessageColumns): readonly TransactionMessage[] {
  const known = row.messages ?? []
  const told = foldMessages(known, row.disputed).history.length
  const steps = row.history.slice(told).map((step, index) => readStep(row, step, told + index))
  const [first, ...others] = steps
  if (told > 0 || first?.kind !== 'authorization') return [...known, ...steps]
  // The history has the approved part of the authorization, and the row the sum of the requested amounts.
  const increments = others.filter(({ kind }) => kind === 'increment')
  const amount = increments.reduce((rest, increment) => rest - (increment.amount ?? 0), row.requested)
  return [{ ...first, amount }, ...others]
}

function readStep(
  row: MessageColumns,
  { type, amount, created }: TransactionStep,
  index: number,
): TransactionMessage {
  const at = Date.parse(created)
  const base = { id: `${row.id}/${index}`, at, created: at, amount }
  const isFirst = index === 0
  switch (type) {
    case 'authorization':
      return {
        ...base,
        kind: 'authorization',
        approved: amount,
        ...(row.expires_at !== null && { expires: row.expires_at }),
      }
    case 'increment':
      return { ...base, kind: 'increment', approved: amount }
    case 'decline':
      return {
        ...base,
        kind: isFirst ? 'authorization' : 'increment',
        ...(row.decline_code && { declined: row.decline_code }),
      }
    case 'clearing':
    case 'force_post':
      return { ...base, kind: 'clearing', final: type === 'force_post' }
    case 'reversal':
    case 'release':
    case 'expiry':
    case 'refund':
      return { ...base, kind: type }
  }
}

/** Whether the transaction has taken a message with this ID. */
export const hasMessage = (row: CardTransactionRow, id: string): boolean =>
  row.messages?.some((message) => message.id === id) ?? false

/**
 * Returns the transaction with one more message. Its hold is a new one if the held amount changes.
 * @param kept see `foldMessages`; less than `row.disputed` if open disputes give way to a refund.
 */
export function withMessage(
  row: CardTransactionRow,
  message: TransactionMessage,
  kept = row.disputed,
): CardTransactionRow {
  const messages = [...messagesOf(row), message]
  const folded = foldMessages(messages, kept)
  const { held } = folded
  const hold_id = held === 0 ? null : held === row.held ? row.hold_id : `${row.id}/${messages.length}`
  return { ...row, ...folded, hold_id, messages, updated: Math.max(row.updated, message.created) }
}
