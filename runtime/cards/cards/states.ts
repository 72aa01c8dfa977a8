/** What may become of a card. Nothing here asks a database; each throws `invalid_state`. Times are service time. */
import { randomInt } from 'node:crypto'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState } from '../../api/errors/errors.ts'
import { isExpired } from './numbers.ts'
import type { CardRow } from './queries.ts'

type Schemas = components['schemas']
type ShippingStatus = Schemas['ShippingStatus']

export function activate(card: CardRow, now: number): CardRow {
  if (card.status !== 'inactive')
    throw invalidState(`Only inactive cards can be activated; this one is ${card.status}.`)
  if (isExpired(card, now)) throw invalidState('The card has expired.')
  return { ...card, status: 'active', updated: now }
}

export function freeze(card: CardRow, now: number): CardRow {
  requireLive(card, 'frozen')
  if (card.frozen) throw invalidState('The card is frozen already.')
  return { ...card, frozen: true, updated: now }
}

export function unfreeze(card: CardRow, now: number): CardRow {
  requireLive(card, 'unfrozen')
  if (!card.frozen) throw invalidState('The card is not frozen.')
  return { ...card, frozen: false, updated: now }
}

/** Canceling is final. What has not left yet is not sent. */
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

/** The card with the one that is issued in its place; it is used on until that is activated, unless somebody else may have it. */
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

/** A card has one successor at most, and none once it is canceled. */
export function requireReplaceable(card: CardRow): void {
  requireLive(card, 'replaced')
  if (card.replaced_by_id !== null) throw invalidState('The card is replaced already.')
}

export function requireLive({ status }: CardRow, verb: string): void {
  if (status === 'canceled') throw invalidState(`A canceled card cannot be ${verb}.`)
}

/** Where a parcel can go from where it is. */
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
  if (!shipping) throw invalidState('A virtual card is not shipped.')
  if (!NEXT[shipping.status].includes(status)) {
    throw invalidState(`A card whose shipping is ${shipping.status} cannot become ${status}.`)
  }
  const tracking_number = status === 'shipped' ? `TEST${randomInt(10 ** 12)}` : shipping.tracking_number
  return { ...card, shipping: { ...shipping, status, tracking_number }, updated: now }
}
