import type { PassPlace, RotatingParts } from './pass-tokens.ts'

/**
 * Everything that wallets show of a pass. Files, pages and Google objects are computed from this state and the signer
 * only. Times are milliseconds since the epoch.
 */
export interface PassState {
  readonly place: PassPlace
  readonly templateId: string
  readonly kind: PassKind
  /** The tenant's name. */
  readonly organization: string
  /** The template's name. */
  readonly name: string
  /** The current status; `expired` even if a worker has not recorded the expiry yet. */
  readonly status: PassStateStatus
  readonly brand: PassBrand
  /** Fields in template order; the pass's own values override those of the template. */
  readonly fields: readonly PassField[]
  /** Barcode with the message that scanners read. */
  readonly barcode: { readonly format: BarcodeFormat; readonly message: string }
  /** How the code changes with time; `barcode` has the fixed code. Absent if the code does not change. */
  readonly rotation?: PassRotation | undefined
  readonly locations: readonly PassLocation[]
  readonly options?: PassOptions
  readonly holder: { readonly name: string | null; readonly email: string | null }
  /** Messages to the holder, the newest first. */
  readonly messages?: readonly ShownMessage[]
  /** Whether the holder has turned messages off. */
  readonly isOptedOut?: boolean
  readonly expiresAt: number | null
  /**
   * Time of the last visible change, in whole seconds. It grows with each change, so two states of a pass never share
   * it.
   */
  readonly changed: number
  /** The holder page. Anyone who has this URL can add the pass to a wallet. */
  readonly pageUrl: string
  /** The token with which devices prove that they have the pass (Apple, "authenticationToken"). */
  readonly appleToken: string
  /** The URL at which devices register and ask for updates (Apple, "webServiceURL"). */
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

/** Colors are `#RRGGBB`, images are base64-encoded PNGs. */
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
  /** Shown when the value changes, with `%@` for the new value. Absent if it changes silently. */
  readonly change_message?: string
  /** Texts by language. A value that the pass sets itself has none. */
  readonly translations?: Readonly<Record<string, FieldTexts>>
}

export interface FieldTexts {
  readonly label?: string
  readonly value?: string
  readonly change_message?: string
}

/** How the barcode of a pass changes with time. */
export type PassRotation = NonNullable<PassOptions['rotating_barcode']> & RotatingParts

/** Images in one language. */
export type LocalImages = Pick<PassBrand, 'logo' | 'strip'>

/** Optional content of a template. Members that were not sent are absent. */
export interface PassOptions {
  /** Times at which a phone suggests the pass, as ISO 8601 texts. */
  readonly relevant_dates?: { readonly starts_at: string; readonly ends_at?: string }[]
  /** Whether Apple Wallet offers no button to share the pass. */
  readonly sharing_prohibited?: boolean
  /** Passes with the same identifier are shown together. */
  readonly grouping_identifier?: string
  /** Apps in the App Store that belong to the pass. */
  readonly associated_store_identifiers?: number[]
  readonly app_links?: {
    readonly apple_url?: string
    readonly android_url?: string
    readonly web_url?: string
  }
  /** Payload for NFC readers (Apple, "Value Added Services"). */
  readonly nfc?: {
    /** At most 64 bytes. If absent, readers get the text of the barcode. */
    readonly message?: string
    /** SPKI of a P-256 key in DER, with a compressed point, base64-encoded. */
    readonly encryption_public_key: string
    readonly requires_authentication?: boolean
  }
  /** Who may read the barcode's message over NFC (Google, "Smart Tap"). */
  readonly smart_tap?: {
    /** Issuer IDs of merchants at Google: digits. */
    readonly redemption_issuers: string[]
  }
  /** Settings of a code that changes with time. */
  readonly rotating_barcode?: {
    /** In seconds. */
    readonly period: number
    readonly digits: number
    /** What Apple Wallet shows, which has no such code. */
    readonly fallback: 'fixed_code' | 'no_code'
  }
  /** Images of the poster layout of Apple Wallet: base64-encoded PNGs. */
  readonly apple_poster?: { readonly artwork: string; readonly secondary_logo?: string }
  /** What Apple Wallet shows in the place of a message before the first one. */
  readonly message_introduction?: Pick<ShownMessage, 'header' | 'body'> &
    Partial<Pick<ShownMessage, 'translations'>>
  /** Whether Google Wallet notifies holders when it gets new values of the members for which it does so. */
  readonly notify_on_update?: boolean
  /** Semantic tags by Apple's names. */
  readonly semantics?: Readonly<Record<string, string>>
  /** Language of the texts that are not translations, as a BCP 47 tag. */
  readonly language?: string
  readonly translations?: Readonly<Record<string, { readonly name?: string; readonly logo_text?: string }>>
  /** Images by language, which replace those of the brand. */
  readonly images?: Readonly<Record<string, LocalImages>>
}

/** The members of `PassOptions`, which are members of a template in the API. */
export const OPTION_NAMES = [
  'language',
  'translations',
  'images',
  'relevant_dates',
  'sharing_prohibited',
  'grouping_identifier',
  'associated_store_identifiers',
  'app_links',
  'nfc',
  'smart_tap',
  'rotating_barcode',
  'apple_poster',
  'message_introduction',
  'notify_on_update',
  'semantics',
] as const satisfies readonly (keyof PassOptions)[]

/** A message to the holder. Times are milliseconds since the epoch. */
export interface ShownMessage {
  readonly id: string
  readonly header: string
  readonly body: string
  readonly translations: Readonly<Record<string, { readonly header?: string; readonly body?: string }>>
  readonly sentAt: number
  readonly endsAt: number | null
  /** Whether Google Wallet must still get it. */
  readonly isDueAtGoogle: boolean
}

/** Coordinates in degrees, altitude in meters. */
export interface PassLocation {
  readonly latitude: number
  readonly longitude: number
  readonly altitude?: number
  readonly relevant_text?: string
  /** The text by language. */
  readonly translations?: Readonly<Record<string, string>>
}

/** Returns whether wallets show the pass as void. */
export function isVoid({ status }: Pick<PassState, 'status'>): boolean {
  return status === 'redeemed' || status === 'revoked' || status === 'expired'
}
