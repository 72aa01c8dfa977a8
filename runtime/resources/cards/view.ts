import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import { isExpired } from './numbers.ts'
import type { CardRow } from './queries.ts'

type Schemas = components['schemas']

/** A card as the interface shows it. @param now service time, by which it expires. */
export function showCard(row: CardRow, now: number): Schemas['Card'] {
  const { created, updated, ...rest } = row
  return {
    ...rest,
    object: 'card',
    wallets: { apple_pay: eligibilityOf(row, now), google_pay: eligibilityOf(row, now) },
    created: writeInstant(created),
    updated: writeInstant(updated),
  }
}

/** Whether a phone's wallet may take the card. */
export function eligibilityOf(card: CardRow, now: number): Schemas['WalletEligibility'] {
  const reason = ineligibleReason(card, now)
  return { eligible: reason === null, ineligible_reason: reason }
}

function ineligibleReason(card: CardRow, now: number): string | null {
  if (card.status !== 'active') return `card_${card.status}`
  if (isExpired(card, now)) return 'card_expired'
  return card.frozen ? 'card_frozen' : null
}
