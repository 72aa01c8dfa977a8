/** Changes to locked cards: writes them and emits their events. */
import type { components } from '../../../generated/canonical/types.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { endTokens } from '../wallet-tokens/changes.ts'
import { type CardRow, lockCard, lockCardsOf, lockLine, updateCard } from './queries.ts'
import * as states from './states.ts'
import { showCard } from './view.ts'

type Schemas = components['schemas']

/** The parts of a request context that card changes use. */
export type CardContext = Pick<Context, 'caller' | 'db' | 'events' | 'request'>

/** Event types that report a change to a card. */
type ChangeEvent = 'card.updated' | 'card.shipped' | 'card.delivered' | 'card.canceled'

/**
 * Locks a card, applies `change`, and returns the changed card. Throws 404 if the card does not exist, and rethrows the
 * errors of `change`.
 */
export async function changeCard(
  context: CardContext,
  id: string,
  change: (card: CardRow) => CardRow,
): Promise<Schemas['Card']> {
  const card = await lockCard(context.db, context.caller.space, id)
  if (!card) throw notFound()
  return writeChange(context, card, change(card), 'card.updated')
}

/** Writes a locked card and emits the event. */
export function writeChange(
  { caller, db, events, request }: CardContext,
  before: CardRow,
  after: CardRow,
  type: ChangeEvent,
): Schemas['Card'] {
  const card = showCard(after, request.now)
  pipelined(updateCard(db, caller.space, after))
  if (type === 'card.updated') {
    emit(events, { type, data: { card }, before: { card: showCard(before, request.now) } })
  } else emit(events, { type, data: { card } })
  return card
}

/**
 * Writes a card that is now canceled and ends its wallet tokens.
 * @param successorId the card that takes over the tokens; undefined if none does.
 */
export async function writeEnd(
  context: CardContext,
  before: CardRow,
  after: CardRow,
  successorId: string | undefined,
): Promise<Schemas['Card']> {
  const shown = writeChange(context, before, after, 'card.canceled')
  await endTokens(context, before.id, successorId)
  return shown
}

/**
 * Cancels a card. If it has a replacement that is not canceled, the replacement takes over its wallet tokens. Throws 404 and
 * `invalid_state`.
 */
export async function cancelCard(
  context: CardContext,
  id: string,
  reason: Schemas['CardCancellationReason'],
): Promise<Schemas['Card']> {
  const { caller, db, request } = context
  const card = await lockCard(db, caller.space, id)
  if (!card) throw notFound()
  const canceled = states.cancel(card, reason, request.now)
  const successor = card.replaced_by_id && (await lockCard(db, caller.space, card.replaced_by_id))
  const isThere = successor && successor.status !== 'canceled'
  return writeEnd(context, card, canceled, isThere ? successor.id : undefined)
}

/** Activates a card and cancels the cards that it replaces. Throws 404 and `invalid_state`. */
export async function activateCard(context: CardContext, id: string): Promise<Schemas['Card']> {
  const { now } = context.request
  const line = await lockLine(context.db, context.caller.space, id)
  const card = line.pop()
  if (!card) throw notFound()
  const shown = writeChange(context, card, states.activate(card, now), 'card.updated')
  for (const before of line) {
    if (before.status === 'canceled') continue
    await writeEnd(context, before, states.cancel(before, 'user', now), card.id)
  }
  return shown
}

/** Cancels all cards of a cardholder that are not canceled yet. */
export async function cancelCardsOf(context: CardContext, cardholderId: string): Promise<void> {
  for (const card of await lockCardsOf(context.db, context.caller.space, cardholderId)) {
    await writeEnd(context, card, states.cancel(card, 'user', context.request.now), undefined)
  }
}
