/** Parts of classes and objects (Google Wallet, REST reference, v1). */
import { createHash } from 'node:crypto'
import { DEFAULT_LANGUAGE, languageOf, type TextByLanguage, translationsOf } from '../languages.ts'
import type { PassBrand, PassState } from '../pass-state.ts'

/**
 * A class or an object as JSON. Null marks an empty member: an insert leaves it out, a PATCH sends null to clear it.
 */
export interface GoogleResource {
  readonly id: string
  readonly [member: string]: unknown
}

/** The parts of a template that its class shows. */
export type TemplateState = Pick<
  PassState,
  'templateId' | 'kind' | 'organization' | 'name' | 'brand' | 'locations' | 'options'
> & {
  readonly space: string
  /** Keys of its fields, in order. */
  readonly fieldKeys: readonly string[]
}

/** The issuer, and the public address of the service. */
export interface GoogleIssuer {
  /** Google Wallet issuer ID: digits. */
  readonly issuerId: string
  /** Origin of the environment's API, without a trailing slash. */
  readonly baseUrl: string
}

/** Returns a `LocalizedString`. Google shows the default value to readers of languages without a translation. */
export function localized(
  value: string,
  language = DEFAULT_LANGUAGE,
  translations: TextByLanguage = {},
): unknown {
  const translatedValues = Object.entries(translations).map(([language, value]) => ({ language, value }))
  return {
    defaultValue: { language, value },
    ...(translatedValues.length > 0 && { translatedValues }),
  }
}

/** Returns the name in all languages. */
export function localizedName(template: Pick<PassState, 'name' | 'options'>): unknown {
  const translations = translationsOf(template.options?.translations, 'name')
  return localized(template.name, languageOf(template), translations)
}

/** Returns the name in all languages for a member next to the one with the name; null without translations. */
export function translatedName(template: Pick<PassState, 'name' | 'options'>): unknown {
  const translations = translationsOf(template.options?.translations, 'name')
  return Object.keys(translations).length > 0 ? localizedName(template) : null
}

/**
 * Returns the setting for notifications of updates. It applies only to the request that has it, so each request has it.
 */
export function notifyPreference({ options }: Pick<PassState, 'options'>): unknown {
  return options?.notify_on_update ? 'NOTIFY_ON_UPDATE' : null
}

/** Template images that Google Wallet shows. */
export const GOOGLE_IMAGES = ['logo', 'strip'] as const
export type GoogleImage = (typeof GOOGLE_IMAGES)[number]

/** Returns the base64-encoded image, or undefined if the template has none. The icon replaces a missing logo. */
export function pictureOf(brand: PassBrand, image: GoogleImage): string | undefined {
  return image === 'logo' ? (brand.logo ?? brand.icon) : brand.strip
}

/** Path under the environment's origin from which Google and holders' devices load template images. */
export const IMAGE_PATH = '/google/v1/images/'

/**
 * Returns the reference to a template image. Its URL contains a digest of the image, because Google caches images: a
 * new image needs a new URL.
 */
export function imageOf(
  { baseUrl }: GoogleIssuer,
  template: Pick<TemplateState, 'space' | 'templateId' | 'brand' | 'organization'>,
  image: GoogleImage,
): unknown {
  const { space, templateId, brand, organization } = template
  const picture = pictureOf(brand, image)
  if (picture === undefined && image === 'strip') return null
  const digest = createHash('sha256')
    .update(picture ?? brand.background_color)
    .digest('hex')
    .slice(0, 16)
  const uri = `${baseUrl}${IMAGE_PATH}${space}/${templateId}/${image}-${digest}.png`
  return { sourceUri: { uri }, contentDescription: localized(organization) }
}

/** Returns the resource without its null members, for an insert. */
export function withoutEmpty(resource: GoogleResource): GoogleResource {
  const entries = Object.entries(resource).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(entries), id: resource.id }
}
