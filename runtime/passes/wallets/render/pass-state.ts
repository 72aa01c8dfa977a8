import type { PassPlace } from './pass-tokens.ts'

/**
 * All that a wallet is shown of a pass: files, pages and objects at Google follow from it and from who signs, and from nothing
 * else. Times in milliseconds since the epoch.
 */
export interface PassState {
  readonly place: PassPlace
  readonly templateId: string
  readonly kind: PassKind
  /** The tenant's name. */
  readonly organization: string
  /** The template's name. */
  readonly name: string
  /** As of now: an expired pass is, whether or not it has been written down. */
  readonly status: PassStateStatus
  readonly brand: PassBrand
  /** The pass's own values over the template's, in the template's order. */
  readonly fields: readonly PassField[]
  /** With the message that a scanner reads. */
  readonly barcode: { readonly format: BarcodeFormat; readonly message: string }
  readonly locations: readonly PassLocation[]
  readonly holder: { readonly name: string | null; readonly email: string | null }
  readonly expiresAt: number | null
  /** Whole seconds. Grows with each change of what is shown, so that two states of a pass never have the same one. */
  readonly changed: number
  /** Its page, where everybody who has the address can add it to a wallet. */
  readonly pageUrl: string
  /** What devices prove with that they have the pass (Apple, "authenticationToken"). */
  readonly appleToken: string
  /** Where devices register and ask for what is new (Apple, "webServiceURL"). */
  readonly webServiceUrl: string
}

export const PASS_KINDS = [
  'loyalty',
  'gift_card',
  'coupon',
  'event_ticket',
  'boarding_pass',
  'generic',
] as const

export type PassKind = (typeof PASS_KINDS)[number]

export type PassStateStatus = 'issued' | 'installed' | 'active' | 'redeemed' | 'revoked' | 'expired'

export type BarcodeFormat = 'qr' | 'pdf417' | 'aztec' | 'code128'

/** Colours as `#RRGGBB`, images as base64 of a PNG. */
export interface PassBrand {
  readonly background_color: string
  readonly foreground_color: string
  readonly label_color?: string
  readonly logo_text?: string
  readonly icon?: string
  readonly logo?: string
  readonly strip?: string
}

export interface PassField {
  readonly key: string
  readonly label: string
  readonly value: string
}

/** Degrees, and metres above the sea. */
export interface PassLocation {
  readonly latitude: number
  readonly longitude: number
  readonly altitude?: number
  readonly relevant_text?: string
}

/** Whether the pass is worth nothing any more: wallets show it as void. */
export function isVoid({ status }: Pick<PassState, 'status'>): boolean {
  return status === 'redeemed' || status === 'revoked' || status === 'expired'
}
