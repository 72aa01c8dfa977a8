import { arrangeFields, arrangePoster, type FieldGroup, type PassLayout } from '../layout.ts'
import { isVoid, type PassField, type PassKind, type PassOptions, type PassState } from '../pass-state.ts'
import { type FittedPass, fitPass, readTags } from './fit.ts'
import { posterOf } from './poster.ts'

/** The pass type and team for which passes are signed. */
export interface PassType {
  readonly passTypeIdentifier: string
  readonly teamIdentifier: string
}

/** The pass.json member that selects the style of a pass (Apple, "Pass"). */
export const STYLES = {
  loyalty: 'storeCard',
  gift_card: 'storeCard',
  coupon: 'coupon',
  event_ticket: 'eventTicket',
  boarding_pass: 'boardingPass',
  generic: 'generic',
} as const satisfies Record<PassKind, string>

const FORMATS = {
  qr: 'PKBarcodeFormatQR',
  pdf417: 'PKBarcodeFormatPDF417',
  aztec: 'PKBarcodeFormatAztec',
  code128: 'PKBarcodeFormatCode128',
} as const

/** Returns the pass.json of a pass (Apple, "Wallet Passes"). The same state produces the same text. */
export function passJson(state: PassState, passType: PassType): string {
  return JSON.stringify(passOf(state, passType).pass)
}

/** Returns the content of pass.json that Apple accepts, and what was removed. */
export function passOf(state: PassState, { passTypeIdentifier, teamIdentifier }: PassType): FittedPass {
  const { brand, expiresAt } = state
  const logoText = brand.logo_text ?? (brand.logo === undefined ? state.organization : undefined)
  const given = {
    formatVersion: 1,
    passTypeIdentifier,
    teamIdentifier,
    serialNumber: state.place.passId,
    organizationName: state.organization,
    description: state.name,
    ...(logoText !== undefined && { logoText }),
    backgroundColor: rgb(brand.background_color),
    foregroundColor: rgb(brand.foreground_color),
    labelColor: rgb(brand.label_color ?? brand.foreground_color),
    ...(expiresAt !== null && { expirationDate: writeDate(expiresAt) }),
    ...(isVoid(state) && { voided: true }),
    webServiceURL: state.webServiceUrl,
    authenticationToken: state.appleToken,
    ...(state.locations.length > 0 && { locations: state.locations.map(location) }),
    ...(state.rotation?.fallback !== 'no_code' && barcodes(state.barcode)),
    ...optional(state.options),
    ...nfcOf(state),
    [STYLES[state.kind]]: fieldGroups(state),
    ...posterMembers(state),
  }
  return fitPass(given, STYLES[state.kind])
}

/**
 * Returns the members that only some templates have. `relevantDate` is for devices before iOS 18, and in the list for
 * devices before iOS 26.
 */
function optional({
  relevant_dates: dates = [],
  sharing_prohibited: sharingProhibited,
  grouping_identifier: groupingIdentifier,
  associated_store_identifiers: associatedStoreIdentifiers,
  app_links: { apple_url: appLaunchURL } = {},
  semantics,
}: PassOptions = {}): object {
  const [first] = dates
  const relevantDates = dates.map(({ starts_at, ends_at }) =>
    ends_at === undefined
      ? { date: toSecond(starts_at), relevantDate: toSecond(starts_at) }
      : { startDate: toSecond(starts_at), endDate: toSecond(ends_at) },
  )
  return {
    ...(first && { relevantDate: toSecond(first.starts_at), relevantDates }),
    ...(sharingProhibited && { sharingProhibited }),
    ...(groupingIdentifier !== undefined && { groupingIdentifier }),
    ...(associatedStoreIdentifiers && { associatedStoreIdentifiers }),
    ...(appLaunchURL !== undefined && { appLaunchURL }),
    ...(semantics && { semantics: readTags(semantics) }),
  }
}

/** Returns the payload for readers: that of the template, or the text of the barcode. */
function nfcOf({ options, barcode }: PassState): object {
  if (!options?.nfc) return {}
  const { message, encryption_public_key, requires_authentication } = options.nfc
  return {
    nfc: {
      message: message ?? barcode.message,
      encryptionPublicKey: encryption_public_key,
      ...(requires_authentication && { requiresAuthentication: true }),
    },
  }
}

/** Text that is not a date stays as it is: the preview of an incomplete form has such texts. */
function toSecond(instant: string): string {
  const ms = Date.parse(instant)
  return Number.isNaN(ms) ? instant : writeDate(ms)
}

/** Converts `#RRGGBB` to `rgb(r, g, b)`, the only form that Apple reads. */
function rgb(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return `rgb(${red}, ${green}, ${blue})`
}

/** Formats a W3C date with a precision of one second: wallets cannot read fractions. */
function writeDate(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

function location({ latitude, longitude, altitude, relevant_text }: PassState['locations'][number]): object {
  return {
    latitude,
    longitude,
    ...(altitude !== undefined && { altitude }),
    ...(relevant_text !== undefined && { relevantText: relevant_text }),
  }
}

/**
 * Returns the barcode members. `barcode` is the fallback for devices before iOS 9 and for devices that do not support
 * Code 128; for Code 128 it is a PDF417 code with the same message.
 */
function barcodes({ format, message }: PassState['barcode']): object {
  const messageEncoding = isLatin1(message) ? 'iso-8859-1' : 'utf-8'
  const barcode = { format: FORMATS[format], message, messageEncoding }
  const legacy = format === 'code128' ? { ...barcode, format: FORMATS.pdf417 } : barcode
  return { barcodes: [barcode], barcode: legacy }
}

function isLatin1(text: string): boolean {
  return Buffer.from(text, 'latin1').toString('latin1') === text
}

const GROUPS = [
  'header',
  'primary',
  'secondary',
  'auxiliary',
  'back',
] as const satisfies readonly FieldGroup[]

function fieldGroups(state: PassState): object {
  return {
    ...groupsOf(state, arrangeFields(state.kind, state.fields), GROUPS),
    ...(state.kind === 'boarding_pass' && { transitType: 'PKTransitTypeGeneric' }),
  }
}

const POSTER_GROUPS = ['header', 'primary', 'footer', 'back'] as const

/** Returns the members that select a poster. The classic style stays for phones that show no poster. */
function posterMembers(state: PassState): object {
  const style = posterOf(state)
  if (style === 'posterEventTicket') return { preferredStyleSchemes: [style, STYLES[state.kind]] }
  return style ? { [style]: groupsOf(state, arrangePoster(state.fields), POSTER_GROUPS) } : {}
}

function groupsOf(state: PassState, front: PassLayout, groups: readonly FieldGroup[]): object {
  const layout = { ...front, back: [...messageFields(state), ...front.back] }
  return Object.fromEntries(groups.map((group) => [`${group}Fields`, fieldsOf(layout, group)]))
}

/**
 * Returns the field that shows the newest message, or the introduction. No field of a template can have its key. The text
 * of a message is the notification. The introduction has none, so it is silent when it replaces a message that ended.
 */
function messageFields({ messages: [message] = [], options }: PassState): PassField[] {
  const key = 'newest-message'
  const introduction = options?.message_introduction
  if (message) return [{ key, label: message.header, value: message.body, change_message: '%@' }]
  return introduction ? [{ key, label: introduction.header, value: introduction.body }] : []
}

/**
 * Returns the fields of an area. On the back, Apple's data detectors are off, so that addresses and numbers in a value
 * do not become links.
 */
function fieldsOf(layout: PassLayout, group: FieldGroup): object[] {
  const asText = group === 'back' ? { dataDetectorTypes: [] } : {}
  return layout[group].map(({ key, label, value, change_message: changeMessage }) => ({
    key,
    label,
    value,
    ...(changeMessage !== undefined && { changeMessage }),
    ...asText,
  }))
}
