/** Changes of cards that are locked: written, and told. */
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

/** What changing cards takes of a request. */
export type CardContext = Pick<Context, 'caller' | 'db' | 'events' | 'request'>

/** Events of cards that tell of a change. */
type ChangeEvent = 'card.updated' | 'card.shipped' | 'card.delivered' | 'card.canceled'

/** Changes one card and shows it. Throws 404, and what `change` throws, which gives the card as it shall be. */
export async function changeCard(
  context: CardContext,
  id: string,
  change: (card: CardRow) => CardRow,
): Promise<Schemas['Card']> {
  const card = await lockCard(context.db, context.caller.space, id)
  if (!card) throw notFound()
  return writeChange(context, card, change(card), 'card.updated')
}

/** Writes a card that is locked as it is now, and tells of it. */
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

/** Writes a card that is canceled now. @param successorId of the card that takes over what it has on devices. */
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

/** Cancels a card; one that is to replace it takes over at once what it has on devices. Throws 404 and `invalid_state`. */
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

/** Activates a card; those that it replaces, and that were used until now, end with that. Throws 404 and `invalid_state`. */
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

/** Cancels every card of a cardholder that is not canceled yet, in the transaction of the request. */
export async function cancelCardsOf(context: CardContext, cardholderId: string): Promise<void> {
  for (const card of await lockCardsOf(context.db, context.caller.space, cardholderId)) {
    await writeEnd(context, card, states.cancel(card, 'user', context.request.now), undefined)
  }
}
