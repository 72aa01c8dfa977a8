import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import { isExpired } from './numbers.ts'
import type { CardRow } from './queries.ts'

type Schemas = components['schemas']

/**
 * Returns the API representation of a card.
 * @param now service time, which decides whether the card has expired.
 */
export function showCard(row: CardRow, now: number): Schemas['Card'] {
  return {
    id: row.id,
    object: 'card',
    cardholder_id: row.cardholder_id,
    card_program_id: row.card_program_id,
    type: row.type,
    status: row.status,
    frozen: row.frozen,
    last4: row.last4,
    exp_month: row.exp_month,
    exp_year: row.exp_year,
    cancellation_reason: row.cancellation_reason,
    replacement_for_id: row.replacement_for_id,
    replaced_by_id: row.replaced_by_id,
    shipping: row.shipping,
    wallets: { apple_pay: eligibilityOf(row, now), google_pay: eligibilityOf(row, now) },
    spending_controls: row.spending_controls,
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

/** Returns whether the card can be added to a device's wallet. */
export function eligibilityOf(card: CardRow, now: number): Schemas['WalletEligibility'] {
  const reason = ineligibleReason(card, now)
  return { eligible: reason === null, ineligible_reason: reason }
}

function ineligibleReason(card: CardRow, now: number): string | null {
  if (card.status !== 'active') return `card_${card.status}`
  if (isExpired(card, now)) return 'card_expired'
  return card.frozen ? 'card_frozen' : null
}
