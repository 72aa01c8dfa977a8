/** Parts that classes and objects are made of (Google Wallet, REST reference, v1). */
import { createHash } from 'node:crypto'
import type { PassBrand, PassState } from '../pass-state.ts'

/**
 * A class or an object, as JSON. A member that is null is to be empty: an insertion leaves it out, a PATCH sends it so that
 * what stood there goes.
 */
export interface GoogleResource {
  readonly id: string
  readonly [member: string]: unknown
}

/** What is known of a template. */
export type TemplateState = Pick<
  PassState,
  'templateId' | 'kind' | 'organization' | 'name' | 'brand' | 'locations'
> & {
  readonly space: string
  /** Of its fields, in their order. */
  readonly fieldKeys: readonly string[]
}

/** Who issues, and where the service is reached from outside. */
export interface GoogleIssuer {
  /** Digits. */
  readonly issuerId: string
  /** Origin of the environment's API, without a slash at the end. */
  readonly baseUrl: string
}

/** Texts have one language here; readers of another see the same words. */
const LANGUAGE = 'en'

export function localized(value: string): unknown {
  return { defaultValue: { language: LANGUAGE, value } }
}

/** Pictures of a template that Google Wallet shows. */
export const GOOGLE_IMAGES = ['logo', 'strip'] as const
export type GoogleImage = (typeof GOOGLE_IMAGES)[number]

/** The picture in base64; the icon stands in for a logo. Undefined where the template has none. */
export function pictureOf(brand: PassBrand, image: GoogleImage): string | undefined {
  return image === 'logo' ? (brand.logo ?? brand.icon) : brand.strip
}

/** Path below the environment's origin at which holders' devices and Google fetch pictures of templates. */
export const IMAGE_PATH = '/google/v1/images/'

/**
 * Where Google fetches a picture of a template. A digest of the picture stands in the address, because Google keeps what it
 * has fetched: another picture has another address.
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

/** Without members that are to be empty: what an insertion sends. */
export function withoutEmpty(resource: GoogleResource): GoogleResource {
  const entries = Object.entries(resource).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(entries), id: resource.id }
}
