/** What Google Wallet calls the resources that stand for templates and passes (Google Wallet, REST reference, v1). */
import type { PassKind } from '../pass-state.ts'

export interface GoogleKind {
  /** Resource of a template: the last part of its path. */
  readonly classes: string
  /** Resource of a pass. */
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

/** Identifier of a class or an object: the issuer's number, and what is ours. */
export function googleId(issuerId: string, id: string): string {
  return `${issuerId}.${id}`
}

/** The part that is ours; undefined for an identifier of another issuer. */
export function readGoogleId(issuerId: string, id: string): string | undefined {
  return id.startsWith(`${issuerId}.`) ? id.slice(issuerId.length + 1) : undefined
}
