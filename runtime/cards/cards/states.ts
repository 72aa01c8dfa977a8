/**
 * State transitions of cards, as pure functions. Each throws `invalid_state` if the transition is not allowed. Times are
 * service time.
 */
import { randomInt } from 'node:crypto'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState } from '../../api/errors/errors.ts'
import { isExpired } from './numbers.ts'
import type { CardRow } from './queries.ts'

type Schemas = components['schemas']
type ShippingStatus = Schemas['ShippingStatus']

export function activate(card: CardRow, now: number): CardRow {
  if (card.status !== 'inactive')
    throw invalidState(`Only inactive cards can be activated. The status of this card is ${card.status}.`)
  if (isExpired(card, now)) throw invalidState('The card has expired.')
  return { ...card, status: 'active', updated: now }
}

export function freeze(card: CardRow, now: number): CardRow {
  requireLive(card, 'frozen')
  if (card.frozen) throw invalidState('The card is already frozen.')
  return { ...card, frozen: true, updated: now }
}

export function unfreeze(card: CardRow, now: number): CardRow {
  requireLive(card, 'unfrozen')
  if (!card.frozen) throw invalidState('The card is not frozen.')
  return { ...card, frozen: false, updated: now }
}

/** Cancels a card for good. A shipment that is still pending is canceled too. */
export function cancel(card: CardRow, reason: Schemas['CardCancellationReason'], now: number): CardRow {
  requireLive(card, 'canceled')
  const { shipping } = card
  return {
    ...card,
    status: 'canceled',
    cancellation_reason: reason,
    shipping: shipping?.status === 'pending' ? { ...shipping, status: 'canceled' } : shipping,
    updated: now,
  }
}

/**
 * Links a card to its replacement. The card stays usable until the replacement is active; a lost or stolen card is canceled
 * immediately.
 */
export function replace(
  card: CardRow,
  successor: CardRow,
  reason: Schemas['CardReplacementReason'],
  now: number,
): CardRow {
  const replaced = { ...card, replaced_by_id: successor.id, updated: now }
  if (reason === 'lost' || reason === 'stolen') return cancel(replaced, reason, now)
  return successor.status === 'active' ? cancel(replaced, 'user', now) : replaced
}

/** Throws `invalid_state` if the card is canceled or already has a replacement. */
export function requireReplaceable(card: CardRow): void {
  requireLive(card, 'replaced')
  if (card.replaced_by_id !== null) throw invalidState('The card already has a replacement.')
}

export function requireLive({ status }: CardRow, verb: string): void {
  if (status === 'canceled') throw invalidState(`The card is canceled and cannot be ${verb}.`)
}

/** Allowed transitions of the shipping status. */
const NEXT: Readonly<Record<ShippingStatus, readonly ShippingStatus[]>> = {
  pending: ['shipped', 'failed', 'canceled'],
  shipped: ['delivered', 'returned', 'failed'],
  delivered: [],
  returned: [],
  failed: [],
  canceled: [],
}

export function ship(card: CardRow, status: ShippingStatus, now: number): CardRow {
  const { shipping } = card
  if (!shipping) throw invalidState('Virtual cards have no shipping status to change.')
  if (!NEXT[shipping.status].includes(status)) {
    throw invalidState(`The shipping status cannot change from ${shipping.status} to ${status}.`)
  }
  const tracking_number = status === 'shipped' ? `TEST${randomInt(10 ** 12)}` : shipping.tracking_number
  return { ...card, shipping: { ...shipping, status, tracking_number }, updated: now }
}
