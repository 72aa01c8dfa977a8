import { fieldIn, languageOf, languagesOf, type TextByLanguage, translationsOf } from '../languages.ts'
import type { BarcodeFormat, PassKind, PassRotation, PassState, PassStateStatus } from '../pass-state.ts'
import { SEPARATOR } from '../pass-tokens.ts'
import { googleId } from './kinds.ts'
import {
  type GoogleIssuer,
  type GoogleResource,
  imageOf,
  localized,
  localizedName,
  notifyPreference,
} from './resource.ts'

const BARCODES: Readonly<Record<BarcodeFormat, string>> = {
  qr: 'QR_CODE',
  pdf417: 'PDF_417',
  aztec: 'AZTEC',
  code128: 'CODE_128',
}

const STATES: Readonly<Record<PassStateStatus, string>> = {
  issued: 'ACTIVE',
  installed: 'ACTIVE',
  active: 'ACTIVE',
  redeemed: 'COMPLETED',
  revoked: 'INACTIVE',
  expired: 'EXPIRED',
}

/** Maximum number of text modules that Google shows. */
export const MAX_TEXTS = 10

/** Members that depend on the kind of object. */
const OWN: Readonly<Record<PassKind, (pass: PassState, issuer: GoogleIssuer) => object>> = {
  loyalty: ({ holder }) => ({ accountName: holder.name }),
  // The card number is shown as text, so it must not be a code that scans can accept.
  gift_card: ({ place, barcode, rotation }) => ({ cardNumber: rotation ? place.passId : barcode.message }),
  coupon: () => ({}),
  event_ticket: ({ holder }) => ({ ticketHolderName: holder.name }),
  boarding_pass: ({ holder }) => ({ tripType: 'ONE_WAY', passengerNames: holder.name }),
  generic: (pass, issuer) => {
    const picture = { ...pass, space: pass.place.space }
    return {
      cardTitle: localized(pass.organization),
      header: localizedName(pass),
      subheader: pass.holder.name === null ? null : localized(pass.holder.name),
      hexBackgroundColor: pass.brand.background_color,
      logo: imageOf(issuer, picture, 'logo'),
      heroImage: imageOf(issuer, picture, 'strip'),
    }
  },
}

/** Returns the object for a pass, in the class of its template. */
export function objectOf(pass: PassState, issuer: GoogleIssuer): GoogleResource {
  const { place, templateId, kind, status, barcode, rotation, fields, expiresAt, pageUrl, options } = pass
  const type = BARCODES[barcode.format]
  const groupingId = options?.grouping_identifier
  return {
    id: googleId(issuer.issuerId, place.passId),
    classId: googleId(issuer.issuerId, templateId),
    state: STATES[status],
    ...OWN[kind](pass, issuer),
    barcode: rotation ? null : { type, value: barcode.message },
    rotatingBarcode: rotation ? { type, ...rotating(rotation) } : null,
    smartTapRedemptionValue: options?.smart_tap ? barcode.message : null,
    // Google has no such member for generic objects.
    ...(kind !== 'generic' && { notifyPreference: notifyPreference(pass) }),
    textModulesData: fields.length === 0 ? null : textsOf(fields, languageOf(pass)),
    validTimeInterval: expiresAt === null ? null : { end: { date: new Date(expiresAt).toISOString() } },
    groupingInfo: groupingId === undefined ? null : { groupingId },
    appLinkData: appLinksOf(pass),
    linksModuleData: { uris: [{ id: 'page', uri: pageUrl, description: 'Pass' }] },
  }
}

/** Returns the members with which phones compute the code (Google Wallet, REST reference, v1, "RotatingBarcode"). */
function rotating({ prefix, secret, period, digits }: PassRotation): object {
  const key = secret.toString('hex').toUpperCase()
  return {
    valuePattern: `${prefix}${SEPARATOR}{totp_value_0}`,
    totpDetails: {
      algorithm: 'TOTP_SHA1',
      periodMillis: String(period * 1000),
      parameters: [{ key, valueLength: digits }],
    },
  }
}

/** Returns the links to an app and a website; null without any. */
function appLinksOf({ name, organization, options }: PassState): unknown {
  const { android_url, web_url } = options?.app_links ?? {}
  const link = (uri: string) => ({
    title: localized(name),
    description: localized(organization),
    appTarget: { targetUri: { uri } },
  })
  if (android_url === undefined && web_url === undefined) return null
  return {
    ...(android_url !== undefined && { androidAppLinkInfo: link(android_url) }),
    ...(web_url !== undefined && { webAppLinkInfo: link(web_url) }),
  }
}

/**
 * Returns text modules for the fields, in order. If there are more than ten fields, the last module combines the rest.
 */
function textsOf(fields: PassState['fields'], language: string): object[] {
  const single = fields.length > MAX_TEXTS ? fields.slice(0, MAX_TEXTS - 1) : fields
  const texts = single.map(({ key, label, value, translations }) => ({
    id: key,
    header: label,
    body: value,
    ...localizedText('localizedHeader', label, language, translationsOf(translations, 'label')),
    ...localizedText('localizedBody', value, language, translationsOf(translations, 'value')),
  }))
  const rest = fields.slice(single.length)
  if (rest.length === 0) return texts
  const combine = (each: PassState['fields']) =>
    each.map(({ label, value }) => `${label}: ${value}`).join('\n')
  const body = combine(rest)
  const translations = languagesOf(rest).map((other) => [
    other,
    combine(rest.map((each) => fieldIn(each, other))),
  ])
  const localizedBody = localizedText('localizedBody', body, language, Object.fromEntries(translations))
  return [...texts, { id: rest[0]!.key, body, ...localizedBody }]
}

/** Returns the member with a text in all languages, or no member without translations. */
function localizedText(member: string, text: string, language: string, translations: TextByLanguage): object {
  return Object.keys(translations).length > 0 ? { [member]: localized(text, language, translations) } : {}
}
