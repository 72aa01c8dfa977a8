/** Issues new cards, and checks that the cardholder and the card program allow it. */
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { type CardholderStanding, shareStanding } from '../cardholders/queries.ts'
import { type CardProgramRow, readCardProgram } from '../programs/queries.ts'
import { checkControls, readControls } from '../programs/spending-controls.ts'
import { checkAddress, readAddress } from '../tokens/identity.ts'
import { writeChange, writeEnd } from './changes.ts'
import { expiryOf } from './numbers.ts'
import { type CardRow, insertCard, lockCard, readCard } from './queries.ts'
import { replace, requireReplaceable } from './states.ts'
import { assignNumber, type ProposedCard } from './stored-number.ts'
import { showCard } from './view.ts'

type Schemas = components['schemas']

/**
 * Issues a card. Throws `validation_failed` with the invalid fields, and `invalid_state` if the cardholder is not active or
 * has an open alert.
 */
export async function issueCard(
  context: Context,
  order: Schemas['CardCreate'],
  proposed: ProposedCard,
): Promise<CardRow> {
  const { caller, db } = context
  const [cardholder, program] = await Promise.all([
    shareStanding(db, caller.space, order.cardholder_id),
    order.card_program_id && readCardProgram(db, caller.space, order.card_program_id),
  ])
  const faults = [
    ...(cardholder ? [] : [{ field: 'cardholder_id', issue: 'does not identify an existing cardholder' }]),
    ...checkProgram(order, program || undefined),
    ...checkShipping(order),
    ...checkControls(order.spending_controls),
  ]
  if (faults.length > 0) throw validationFailed(faults)
  requireActive(cardholder)
  const { spending_controls } = order
  return insertNew(context, proposed, {
    cardholder_id: order.cardholder_id,
    card_program_id: order.card_program_id ?? null,
    type: order.type,
    replacement_for_id: null,
    shipping: order.shipping ? startShipping(order.shipping) : null,
    spending_controls:
      spending_controls === undefined && program
        ? program.spending_controls
        : readControls(spending_controls ?? null),
    metadata: order.metadata ?? {},
  })
}

/**
 * Issues a replacement for a card. Throws 404, and `invalid_state` if the card is canceled or already replaced, or if the
 * cardholder is not active.
 */
export async function replaceCard(
  context: Context,
  id: string,
  reason: Schemas['CardReplacementReason'],
  proposed: ProposedCard,
): Promise<Schemas['Card']> {
  const { caller, db, request } = context
  const known = await readCard(db, caller.space, id)
  if (!known) throw notFound()
  // Lock order: the cardholder before the card.
  const [cardholder, card] = await Promise.all([
    shareStanding(db, caller.space, known.cardholder_id),
    lockCard(db, caller.space, id),
  ])
  if (!card) throw notFound()
  requireReplaceable(card)
  requireActive(cardholder)
  const { shipping } = card
  const successor = await insertNew(context, proposed, {
    ...card,
    replacement_for_id: card.id,
    shipping: shipping && { ...shipping, status: 'pending', tracking_number: null },
  })
  const replaced = replace(card, successor, reason, request.now)
  if (replaced.status === 'canceled') await writeEnd(context, card, replaced, successor.id)
  else writeChange(context, card, replaced, 'card.updated')
  return showCard(successor, request.now)
}

/** The fields of a new card that the caller chooses. */
type CardOrder = Pick<
  CardRow,
  | 'cardholder_id'
  | 'card_program_id'
  | 'type'
  | 'replacement_for_id'
  | 'shipping'
  | 'spending_controls'
  | 'metadata'
>

async function insertNew(context: Context, proposed: ProposedCard, order: CardOrder): Promise<CardRow> {
  const { caller, db, events, request } = context
  const { now } = request
  const card: CardRow = {
    ...order,
    id: proposed.id,
    status: order.type === 'virtual' ? 'active' : 'inactive',
    frozen: false,
    last4: await assignNumber(context, proposed),
    ...expiryOf(now),
    cancellation_reason: null,
    replaced_by_id: null,
    created: now,
    updated: now,
  }
  pipelined(insertCard(db, caller.space, card))
  emit(events, { type: 'card.created', data: { card: showCard(card, now) } })
  return card
}

function requireActive(cardholder: CardholderStanding | undefined): void {
  if (cardholder?.status !== 'active') {
    throw invalidState(
      `Cards can be issued only to active cardholders. The status of this cardholder is ${cardholder?.status}.`,
    )
  }
  if (cardholder.sanctions_status !== 'clear')
    throw invalidState(
      'The cardholder has an open sanctions alert. Resolve the alert before you issue a card.',
    )
}

function checkProgram(
  { card_program_id, type }: Schemas['CardCreate'],
  program: CardProgramRow | undefined,
): Detail[] {
  if (card_program_id === undefined) return []
  if (!program) return [{ field: 'card_program_id', issue: 'does not identify an existing card program' }]
  if (program.kind === 'both' || program.kind === type) return []
  return [{ field: 'type', issue: `does not match the card program, which issues ${program.kind} cards` }]
}

function checkShipping({ type, shipping }: Schemas['CardCreate']): Detail[] {
  if (type === 'virtual') return shipping ? [{ field: 'shipping', issue: 'is for physical cards only' }] : []
  if (!shipping) return [{ field: 'shipping', issue: 'is required for a physical card' }]
  return checkAddress('shipping.address', readAddress(shipping.address))
}

function startShipping({ address, service }: Schemas['CardShippingInput']): Schemas['CardShipping'] {
  return { address: readAddress(address), service, status: 'pending', tracking_number: null }
}
