import type { CardsHandlers, TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import { type Context, type PrepareContext, prepared } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { checkControls, patchControls } from '../programs/spending-controls.ts'
import { activateCard, cancelCard, changeCard, writeChange } from './changes.ts'
import { issueCard, replaceCard } from './issuing.ts'
import { type CardRow, listCards, lockCard, readCard } from './queries.ts'
import { freeze, requireLive, ship, unfreeze } from './states.ts'
import { placeOf, proposeCard } from './stored-number.ts'
import { showCard } from './view.ts'

type Schemas = components['schemas']

export const cardsHandlers = {
  createCard: prepared(
    (context, _input: { body: Schemas['CardCreate'] }) => proposeCard(context),
    async (context, { body }, proposed) => {
      const card = await issueCard(context, body, proposed)
      return { status: 201 as const, body: showCard(card, context.request.now) }
    },
  ),

  async listCards(context, { query }) {
    return answerList(context, query, listCards, (card) => showCard(card, context.request.now))
  },

  async getCard({ caller, db, request }, { path }) {
    const card = await readCard(db, caller.space, path.card_id)
    if (!card) throw notFound()
    return { status: 200, body: showCard(card, request.now) }
  },

  async updateCard(context, { path, body }) {
    const change = (card: CardRow) => patch(card, body, context.request.now)
    return { status: 200, body: await changeCard(context, path.card_id, change) }
  },

  async activateCard(context, { path }) {
    return { status: 200, body: await activateCard(context, path.card_id) }
  },

  async freezeCard(context, { path }) {
    const change = (card: CardRow) => freeze(card, context.request.now)
    return { status: 200, body: await changeCard(context, path.card_id, change) }
  },

  async unfreezeCard(context, { path }) {
    const change = (card: CardRow) => unfreeze(card, context.request.now)
    return { status: 200, body: await changeCard(context, path.card_id, change) }
  },

  async cancelCard(context, { path, body }) {
    return { status: 200, body: await cancelCard(context, path.card_id, body?.reason ?? 'user') }
  },

  replaceCard: prepared(
    (context, _input: { path: { card_id: string }; body: Schemas['CardReplace'] }) => proposeCard(context),
    async (context, { path, body }, proposed) => {
      const card = await replaceCard(context, path.card_id, body.reason, proposed)
      return { status: 201 as const, body: card }
    },
  ),

  getCardDetails: prepared(
    (context, { path }: { path: { card_id: string } }) => revealDetails(context, path.card_id),
    async ({ caller, db }, { path }, secrets) => {
      const card = await readCard(db, caller.space, path.card_id)
      if (!card || !secrets) throw notFound()
      const { exp_month, exp_year } = card
      return {
        status: 200 as const,
        body: { object: 'card_details' as const, card_id: card.id, ...secrets, exp_month, exp_year },
      }
    },
  ),

  async simulateShipping(context, { body }) {
    const { caller, db, request } = context
    const card = await lockCard(db, caller.space, body.card_id)
    if (!card) throw validationFailed([{ field: 'card_id', issue: 'does not identify an existing card' }])
    const shipped = ship(card, body.status, request.now)
    return {
      status: 200,
      body: writeChange(context, card, shipped, SHIPPING_EVENTS[body.status] ?? 'card.updated'),
    }
  },
} satisfies CardsHandlers<Context> & Pick<TestCardsHandlers<Context>, 'simulateShipping'>

async function revealDetails({ caller, db, vault }: PrepareContext, cardId: string) {
  const card = await readCard(db, caller.space, cardId)
  if (!card) throw notFound()
  if (card.type !== 'virtual')
    throw invalidState(
      'Card details are available only for virtual cards. The number of a physical card is printed on the card.',
    )
  return vault.reveal(placeOf(caller, card.id))
}

const SHIPPING_EVENTS: Readonly<Record<string, 'card.shipped' | 'card.delivered'>> = {
  shipped: 'card.shipped',
  delivered: 'card.delivered',
}

/** Applies a merge patch (RFC 7396). */
function patch(card: CardRow, given: Schemas['CardUpdate'], now: number): CardRow {
  requireLive(card, 'changed')
  const metadata = given.metadata === null ? {} : mergePatch(card.metadata, given.metadata ?? {})
  const changed = {
    ...card,
    spending_controls: patchControls(card.spending_controls, given.spending_controls),
    metadata: metadata as CardRow['metadata'],
    updated: now,
  }
  const faults = [...checkControls(given.spending_controls), ...checkMetadata(changed.metadata)]
  if (faults.length > 0) throw validationFailed(faults)
  return changed
}
