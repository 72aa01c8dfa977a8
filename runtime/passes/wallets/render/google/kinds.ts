/** Google Wallet's resource names for templates and passes (Google Wallet, REST reference, v1). */
import type { PassKind } from '../pass-state.ts'

export interface GoogleKind {
  /** Resource type of a template: the last segment of its path. */
  readonly classes: string
  /** Resource type of a pass. */
  readonly objects: string
}

export const GOOGLE_KINDS: Readonly<Record<PassKind, GoogleKind>> = {
  loyalty: { classes: 'loyaltyClass', objects: 'loyaltyObject' },
  gift_card: { classes: 'giftCardClass', objects: 'giftCardObject' },
  coupon: { classes: 'offerClass', objects: 'offerObject' },
  event_ticket: { classes: 'eventTicketClass', objects: 'eventTicketObject' },
  boarding_pass: { classes: 'transitClass', objects: 'transitObject' },
  generic: { classes: 'genericClass', objects: 'genericObject' },
}

/** Returns the Google ID of a class or object: the issuer ID, a dot, and our ID. */
export function googleId(issuerId: string, id: string): string {
  return `${issuerId}.${id}`
}

/** Returns our ID within a Google ID; undefined if it belongs to a different issuer. */
export function readGoogleId(issuerId: string, id: string): string | undefined {
  return id.startsWith(`${issuerId}.`) ? id.slice(issuerId.length + 1) : undefined
}
