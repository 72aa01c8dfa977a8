import { createPublicKey } from 'node:crypto'
import type { Detail } from 'dateline/runtime'
import { checkMetadata } from '../../api/json/merge-patch.ts'
import { barcodeIssue } from '../wallets/render/barcode.ts'
import { translationsOf } from '../wallets/render/languages.ts'
import type { TemplateField } from './fields.ts'
import { checkPng, type ImageRule } from './images.ts'
import type { TemplateContent } from './queries.ts'

const KIB = 1024

/** Limits of the images of a template, for both wallets: three pixels for each point of Apple Wallet. */
export const IMAGE_RULES = {
  icon: { width: 174, height: 174, bytes: 64 * KIB, squareFrom: 29 },
  logo: { width: 480, height: 150, bytes: 128 * KIB },
  strip: { width: 1125, height: 432, bytes: 512 * KIB },
  artwork: { width: 1074, height: 1344, bytes: 512 * KIB },
  secondary_logo: { width: 405, height: 36, bytes: 64 * KIB },
} as const satisfies Record<string, ImageRule>

/** Limit of all images by language, because reads and events of a template include them. */
const LOCAL_IMAGES_BYTES = 512 * KIB

type Nfc = NonNullable<TemplateContent['options']['nfc']>

/** The parts of a template with rules that JSON Schema cannot express. */
export interface TemplateParts {
  readonly fields?: readonly TemplateField[]
  readonly brand?: { readonly icon?: string; readonly logo?: string; readonly strip?: string }
  readonly barcode?: TemplateContent['barcode'] | undefined
  readonly metadata?: Readonly<Record<string, string>>
  readonly options?: TemplateContent['options']
}

/**
 * Checks rules beyond the schema: unique field keys, change messages with one value, dates in order, valid images within their limits, and messages that fit the
 * barcode format.
 *
 * @returns the problems; empty if the template is valid.
 */
export function checkTemplate({
  fields = [],
  brand = {},
  barcode,
  metadata = {},
  options = {},
}: TemplateParts): Detail[] {
  const faults: Detail[] = []
  const seen = new Set<string>()
  for (const [index, { key, change_message, translations }] of fields.entries()) {
    if (seen.has(key))
      faults.push({ field: `fields[${index}].key`, issue: 'is already the key of another field' })
    seen.add(key)
    const messages = { change_message, ...translatedMessages(translations) }
    for (const [path, message = '%@'] of Object.entries(messages))
      if (message.split('%@').length !== 2)
        faults.push({ field: `fields[${index}].${path}`, issue: 'must have %@ exactly once' })
  }
  for (const name of ['icon', 'logo', 'strip'] as const) {
    const image = brand[name]
    const issue = image === undefined ? undefined : checkPng(image, IMAGE_RULES[name])
    if (issue !== undefined) faults.push({ field: `brand.${name}`, issue })
  }
  faults.push(...checkLocalImages(options.images), ...checkPoster(options.apple_poster))
  for (const [index, { starts_at, ends_at }] of (options.relevant_dates ?? []).entries()) {
    if (ends_at !== undefined && Date.parse(ends_at) <= Date.parse(starts_at))
      faults.push({ field: `relevant_dates[${index}].ends_at`, issue: 'must be after starts_at' })
  }
  const { format, message } = barcode ?? {}
  if (options.rotating_barcode) faults.push(...checkRotating(barcode))
  if (options.nfc) faults.push(...checkNfc(options.nfc, message))
  if (options.smart_tap && !/^[ -~]*$/.test(message ?? ''))
    faults.push({
      field: 'barcode.message',
      issue: 'must be printable ASCII, because the template has smart_tap',
    })
  const issue = format && message !== undefined ? barcodeIssue(format, message) : undefined
  if (issue !== undefined) faults.push({ field: 'barcode.message', issue })
  return [...faults, ...checkMetadata(metadata)]
}

function checkLocalImages(images: TemplateContent['options']['images'] = {}): Detail[] {
  const all = Object.entries(images).flatMap(([language, each]) =>
    (['logo', 'strip'] as const).flatMap((name) => {
      const image = each[name]
      return image === undefined ? [] : [{ field: `images.${language}.${name}`, name, image }]
    }),
  )
  const faults = all.flatMap(({ field, name, image }) => {
    const issue = checkPng(image, IMAGE_RULES[name])
    return issue === undefined ? [] : [{ field, issue }]
  })
  const bytes = all.reduce((sum, { image }) => sum + Buffer.byteLength(image, 'base64'), 0)
  if (bytes > LOCAL_IMAGES_BYTES)
    faults.push({ field: 'images', issue: `are larger than ${LOCAL_IMAGES_BYTES / KIB} KiB together` })
  return faults
}

function checkPoster(poster: TemplateContent['options']['apple_poster']): Detail[] {
  return (['artwork', 'secondary_logo'] as const).flatMap((name) => {
    const image = poster?.[name]
    const issue = image === undefined ? undefined : checkPng(image, IMAGE_RULES[name])
    return issue === undefined ? [] : [{ field: `apple_poster.${name}`, issue }]
  })
}

/** Checks the barcode of a template whose barcode rotates. Google Wallet rotates only these formats ("RotatingBarcode"). */
function checkRotating({ format = 'qr', message }: Partial<TemplateContent['barcode']> = {}): Detail[] {
  const because = 'because the template has rotating_barcode'
  return [
    ...(format === 'qr' || format === 'pdf417'
      ? []
      : [{ field: 'barcode.format', issue: `must be qr or pdf417, ${because}` }]),
    ...(message === undefined
      ? []
      : [{ field: 'barcode.message', issue: `must be absent, ${because}: each pass has its own code` }]),
  ]
}

/** Maximum number of bytes that a reader gets (Apple, "Pass.NFC"). */
const NFC_BYTES = 64

/** Length of a P-256 key with a compressed point, in DER. */
const COMPRESSED_BYTES = 59

function checkNfc({ message, encryption_public_key: key }: Nfc, barcode: string | undefined): Detail[] {
  const faults: Detail[] = []
  if (Buffer.byteLength(message ?? barcode ?? '') > NFC_BYTES)
    faults.push({ field: 'nfc.message', issue: `must not be longer than ${NFC_BYTES} bytes` })
  const bytes = Buffer.from(key, 'base64')
  if (bytes.length !== COMPRESSED_BYTES || !isP256(bytes))
    faults.push({
      field: 'nfc.encryption_public_key',
      issue: 'must be a P-256 public key (SubjectPublicKeyInfo) with a compressed point',
    })
  return faults
}

function isP256(key: Buffer): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key, format: 'der', type: 'spki' })
    return asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false // not a key
  }
}

/** Returns the change messages by their path within the field. */
function translatedMessages(translations: TemplateField['translations']): Record<string, string> {
  const messages = Object.entries(translationsOf(translations, 'change_message'))
  return Object.fromEntries(
    messages.map(([language, text]) => [`translations.${language}.change_message`, text]),
  )
}
