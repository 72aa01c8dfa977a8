/** What one of the wallets cannot show of a template. */

import { WITH_STRIP } from '../wallets/render/apple/images.ts'
import { passOf } from '../wallets/render/apple/pass-json.ts'
import { missingTags, posterOf } from '../wallets/render/apple/poster.ts'
import { MAX_TEXTS } from '../wallets/render/google/object.ts'
import { stringsOf } from '../wallets/render/languages.ts'
import type { LocalImages, PassState } from '../wallets/render/pass-state.ts'

export interface WalletWarning {
  /** Path of the member of the template. */
  readonly field: string
  readonly wallet: 'apple' | 'google'
  readonly message: string
}

export type WarnedTemplate = Pick<PassState, 'kind' | 'name' | 'brand' | 'fields' | 'locations' | 'options'>

/** Returns the warnings of both wallets, Apple Wallet first. */
export function warningsOf(template: WarnedTemplate): WalletWarning[] {
  return [...appleWarnings(template), ...googleWarnings(template)]
}

/** Members of a template by the key of pass.json that shows them. */
const FIELDS: Readonly<Record<string, string>> = {
  relevantDates: 'relevant_dates',
  sharingProhibited: 'sharing_prohibited',
  groupingIdentifier: 'grouping_identifier',
  associatedStoreIdentifiers: 'associated_store_identifiers',
  appLaunchURL: 'app_links.apple_url',
  locations: 'relevant_locations',
}

const PASS_TYPE = { passTypeIdentifier: 'pass.example', teamIdentifier: 'EXAMPLE' }

function appleWarnings(template: WarnedTemplate): WalletWarning[] {
  const { kind, brand, options } = template
  const warn = (field: string, message: string): WalletWarning => ({ field, wallet: 'apple', message })
  const { removed } = passOf(sampleOf(template), PASS_TYPE)
  return [
    ...(brand.strip !== undefined && !WITH_STRIP.has(kind)
      ? [warn('brand.strip', `Apple Wallet shows no strip image on passes of the kind ${kind}.`)]
      : []),
    ...(WITH_STRIP.has(kind)
      ? []
      : localImagesOf(template, 'strip').map((field) =>
          warn(field, `Apple Wallet shows no strip image on passes of the kind ${kind}.`),
        )),
    ...conflictsOf(template).map((field) =>
      warn(field, 'Apple Wallet shows the translation of an earlier text, because the texts are equal.'),
    ),
    ...removed.map((path) => {
      const [, key = '', rest = ''] = /^(\w+)(.*)$/.exec(path) ?? []
      const field = `${FIELDS[key] ?? key}${rest}`
      return key === 'appLaunchURL'
        ? warn(field, 'Apple Wallet opens an app only if the template has associated_store_identifiers.')
        : warn(field, `Apple Wallet does not support this for passes of the kind ${kind}.`)
    }),
    ...(options?.app_links?.web_url === undefined
      ? []
      : [warn('app_links.web_url', 'Apple Wallet has no link to a website.')]),
    ...(options?.smart_tap
      ? [warn('smart_tap', 'Apple Wallet sends nothing to Smart Tap readers: use nfc.')]
      : []),
    ...(options?.notify_on_update
      ? [warn('notify_on_update', 'Apple Wallet notifies only of fields with a change_message.')]
      : []),
    ...(options?.rotating_barcode
      ? [warn('rotating_barcode', ROTATING[options.rotating_barcode.fallback])]
      : []),
    ...posterWarnings(template, warn),
  ]
}

const ROTATING = {
  fixed_code:
    'Apple Wallet has no rotating barcode: it shows the fixed code of the pass, which scans accept from every pass of the template.',
  no_code:
    'Apple Wallet has no rotating barcode: it shows no code. Holders find the code on the page of the pass.',
}

function posterWarnings(
  { kind, brand, options = {} }: WarnedTemplate,
  warn: (field: string, message: string) => WalletWarning,
): WalletWarning[] {
  const { apple_poster: poster, nfc, semantics } = options
  if (!poster) return []
  const style = posterOf({ kind, options })
  if (!style)
    return [warn('apple_poster', `Apple Wallet has no poster layout for passes of the kind ${kind}.`)]
  const noLogo =
    brand.logo === undefined
      ? [warn('brand.logo', 'The poster layout of Apple Wallet shows no text in place of a logo.')]
      : []
  if (style === 'posterGeneric') {
    return [
      ...noLogo,
      ...(poster.secondary_logo === undefined
        ? []
        : [warn('apple_poster.secondary_logo', 'Apple Wallet shows a second logo only on event tickets.')]),
    ]
  }
  return [
    ...noLogo,
    ...missingTags(semantics).map((name) =>
      warn(
        `semantics.${name}`,
        'Apple Wallet shows the classic layout, because the poster layout requires this tag.',
      ),
    ),
    ...(nfc
      ? []
      : [
          warn(
            'nfc',
            'Apple Wallet’s poster layout is for tickets that are read by NFC, and is not for entry with a barcode. NFC requires an entitlement of Apple.',
          ),
        ]),
  ]
}

/** Returns the paths of translations that Apple Wallet cannot find, because an equal text has a different one. */
function conflictsOf(template: WarnedTemplate): string[] {
  const strings = stringsOf(template)
  return template.fields.flatMap(({ translations = {}, ...field }, index) =>
    Object.entries(translations).flatMap(([language, texts]) =>
      (['label', 'value', 'change_message'] as const)
        .filter((name) => {
          const [text, translation] = [field[name], texts[name]]
          return text && translation !== undefined && strings.get(language)?.get(text) !== translation
        })
        .map((name) => `fields[${index}].translations.${language}.${name}`),
    ),
  )
}

/** Returns the paths of the images that a template has by language. */
function localImagesOf({ options }: WarnedTemplate, ...names: readonly (keyof LocalImages)[]): string[] {
  return Object.entries(options?.images ?? {}).flatMap(([language, images]) =>
    names.filter((name) => images[name] !== undefined).map((name) => `images.${language}.${name}`),
  )
}

function googleWarnings(template: WarnedTemplate): WalletWarning[] {
  const { kind, brand, fields, locations, options = {} } = template
  const dates = options.relevant_dates ?? []
  const shownDates = kind === 'event_ticket' ? 1 : 0
  const combined = fields.length > MAX_TEXTS ? fields.slice(MAX_TEXTS - 1) : []
  const rules: readonly (readonly [field: string, isLost: boolean, message: string])[] = [
    [
      'brand.label_color',
      brand.label_color !== undefined,
      'Google Wallet chooses the color of labels itself.',
    ],
    ['brand.logo_text', brand.logo_text !== undefined, 'Google Wallet shows no text next to the logo.'],
    ...combined.map(({ change_message }, index): (typeof rules)[number] => [
      `fields[${MAX_TEXTS - 1 + index}]`,
      true,
      `Google Wallet shows at most ${MAX_TEXTS} fields, so the last ones share one text${change_message === undefined ? '.' : ', and no message tells that the value changed.'}`,
    ]),
    ...locations.map(({ relevant_text }, index): (typeof rules)[number] => [
      `relevant_locations[${index}].relevant_text`,
      relevant_text !== undefined,
      'Google Wallet shows no text near a location.',
    ]),
    ...dates
      .slice(shownDates)
      .map((_, index): (typeof rules)[number] => [
        `relevant_dates[${shownDates + index}]`,
        true,
        'Google Wallet shows only the first date, and only on event tickets.',
      ]),
    [
      'associated_store_identifiers',
      options.associated_store_identifiers !== undefined,
      'Google Wallet has no links to the App Store.',
    ],
    ...localImagesOf(template, 'logo', 'strip').map((field): (typeof rules)[number] => [
      field,
      true,
      'Google Wallet shows the image of the brand in all languages: it translates only the description of an image.',
    ]),
    [
      'nfc',
      options.nfc !== undefined,
      'Google Wallet sends nothing to readers of Apple’s passes: use smart_tap.',
    ],
    [
      'notify_on_update',
      options.notify_on_update === true && kind === 'generic',
      'Google Wallet does not notify of updates of passes of the kind generic.',
    ],
    ['apple_poster', options.apple_poster !== undefined, 'Google Wallet shows the ordinary layout.'],
    [
      'message_introduction',
      options.message_introduction !== undefined,
      'Google Wallet shows no introduction: it notifies of the first message without one.',
    ],
    ['semantics', Object.keys(options.semantics ?? {}).length > 0, 'Google Wallet has no semantic tags.'],
  ]
  return rules.flatMap(([field, isLost, message]) =>
    isLost ? [{ field, wallet: 'google' as const, message }] : [],
  )
}

/** Returns a pass of the template with placeholders for everything that differs for each pass. */
function sampleOf(template: WarnedTemplate): PassState {
  return {
    ...template,
    place: { space: '', passId: '0' },
    templateId: '0',
    organization: 'Example',
    status: 'issued',
    barcode: { format: 'qr', message: '0' },
    holder: { name: null, email: null },
    expiresAt: null,
    changed: 0,
    pageUrl: '',
    appleToken: '0'.repeat(16),
    webServiceUrl: '',
  }
}
