/** The draft of a template form: created from a template or from form fields, and converted to API request bodies. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../../generated/canonical/types.ts'
import type { PassKind } from '../../../passes/wallets/render/pass-state.ts'
import { readLines, readTranslations, type TextsByLanguage, writeLines, writeTranslations } from './lines.ts'
import { memberOfText, type OptionTexts, optionTexts, optionValues } from './options.ts'

export type TemplateObject = components['schemas']['PassTemplate']

export const IMAGES = ['logo', 'strip', 'icon'] as const
export type TemplateImage = (typeof IMAGES)[number]

export const POSTER_IMAGES = ['artwork', 'secondary_logo'] as const
export const LOCAL_IMAGES = ['logo', 'strip'] as const

/** Images in one language. */
export interface DraftImages extends Readonly<Record<(typeof LOCAL_IMAGES)[number], string>> {
  readonly language: string
  /** The language in which the template has the images of this row; empty for a new row. */
  readonly was: string
}

export interface DraftLocation {
  readonly latitude: string
  readonly longitude: string
  readonly altitude: string
  readonly relevant_text: string
  /** Lines in the form `language = text`. */
  readonly translations: string
}

export interface DraftField {
  readonly key: string
  readonly label: string
  readonly value: string
  readonly change_message: string
  /** Lines in the form `language.name = text`. */
  readonly translations: string
}

export const BARCODE_FORMATS = [
  ['qr', 'QR code'],
  ['pdf417', 'PDF417'],
  ['aztec', 'Aztec code'],
  ['code128', 'Code 128'],
] as const

/** Form values as text. An empty string means no value. Images are base64 of the uploaded file. */
export interface TemplateDraft {
  readonly name: string
  readonly kind: PassKind
  readonly brand: {
    readonly background_color: string
    readonly foreground_color: string
    readonly label_color: string
    readonly logo_text: string
  } & Readonly<Record<TemplateImage, string>>
  readonly poster: Readonly<Record<(typeof POSTER_IMAGES)[number], string>>
  readonly images: readonly DraftImages[]
  readonly fields: readonly DraftField[]
  readonly barcode: { readonly format: string; readonly message: string }
  readonly relevant_locations: readonly DraftLocation[]
  readonly options: OptionTexts
  readonly language: string
  /** Lines in the form `language.name = text`. */
  readonly translations: string
  /** Lines in the form `name = value`. */
  readonly semantics: string
  /** Lines in the form `key = value`. */
  readonly metadata: string
}

export const NEW: TemplateDraft = {
  name: '',
  kind: 'loyalty',
  brand: {
    background_color: '#1e4f8f',
    foreground_color: '#ffffff',
    label_color: '',
    logo_text: '',
    logo: '',
    strip: '',
    icon: '',
  },
  poster: { artwork: '', secondary_logo: '' },
  images: [],
  fields: [{ key: 'points', label: 'Points', value: '0', change_message: '', translations: '' }],
  barcode: { format: 'qr', message: '' },
  relevant_locations: [],
  options: {},
  language: '',
  translations: '',
  semantics: '',
  metadata: '',
}

export function draftOf(template: TemplateObject): TemplateDraft {
  const { name, kind, brand, fields, barcode, relevant_locations, metadata } = template
  const text = (value: number | string | null | undefined) => String(value ?? '')
  return {
    name,
    kind: kind as PassKind,
    brand: {
      background_color: brand.background_color,
      foreground_color: brand.foreground_color,
      label_color: text(brand.label_color),
      logo_text: text(brand.logo_text),
      logo: text(brand.logo),
      strip: text(brand.strip),
      icon: text(brand.icon),
    },
    poster: {
      artwork: text(template.apple_poster?.artwork),
      secondary_logo: text(template.apple_poster?.secondary_logo),
    },
    images: Object.entries(template.images ?? {}).map(([language, { logo, strip }]) => ({
      language,
      was: language,
      logo: text(logo),
      strip: text(strip),
    })),
    fields: fields.map(({ key, label, value, change_message, translations = {} }) => ({
      key,
      label,
      value,
      change_message: text(change_message),
      translations: writeTranslations(translations),
    })),
    barcode: { format: barcode.format, message: text(barcode.message) },
    relevant_locations: relevant_locations.map((each) => ({
      latitude: text(each.latitude),
      longitude: text(each.longitude),
      altitude: text(each.altitude),
      relevant_text: text(each.relevant_text),
      translations: writeLines(Object.entries(each.translations ?? {})),
    })),
    options: optionTexts(template),
    language: text(template.language),
    translations: writeTranslations(template.translations ?? {}),
    semantics: writeLines(Object.entries(template.semantics ?? {})),
    metadata: writeLines(Object.entries(metadata)),
  }
}

/** Values by their path in the request body, such as `brand.logo`, or null for no value. A list is one value. */
export type DraftContent = Readonly<Record<string, unknown>>

export function contentOf(draft: TemplateDraft): DraftContent {
  const { name, brand, fields, barcode, relevant_locations, language, translations } = draft
  return {
    name,
    ...under('brand', brand),
    apple_poster: posterOf(draft.poster),
    ...under('images', imagesOf(draft.images)),
    fields: fields.map(({ change_message, translations, ...each }) => ({
      ...each,
      change_message: change_message || null,
      translations: translations === '' ? null : readTranslations(translations),
    })),
    ...under('barcode', barcode),
    relevant_locations: relevant_locations.map(writeLocation),
    ...optionValues(draft.options),
    language: language || null,
    ...under('translations', withAllTexts(readTranslations(translations))),
    ...under('semantics', Object.fromEntries(readLines(draft.semantics))),
    ...under('metadata', Object.fromEntries(readLines(draft.metadata))),
  }
}

/** The API takes the images of a poster together. */
function posterOf({ artwork, secondary_logo }: TemplateDraft['poster']): object | null {
  if (artwork === '' && secondary_logo === '') return null
  return { ...(artwork !== '' && { artwork }), secondary_logo: secondary_logo || null }
}

/** Returns the images by language. A row without a language stays, so that the API reports the error. */
function imagesOf(images: readonly DraftImages[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    images.map(({ language, logo, strip }) => [language, { logo: logo || null, strip: strip || null }]),
  )
}

/** Null removes a text of the template that has no line anymore. */
function withAllTexts(translations: TextsByLanguage): TextsByLanguage {
  const each = Object.entries(translations)
  return Object.fromEntries(
    each.map(([language, texts]) => [language, { name: null, logo_text: null, ...texts }]),
  )
}

function under(part: string, values: Readonly<Record<string, unknown>>): DraftContent {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${part}.${name}`, value === '' ? null : value]),
  )
}

function writeLocation({
  latitude,
  longitude,
  altitude,
  relevant_text,
  translations,
}: DraftLocation): object {
  return {
    latitude: asNumber(latitude),
    longitude: asNumber(longitude),
    ...(altitude !== '' && { altitude: asNumber(altitude) }),
    ...(relevant_text !== '' && { relevant_text }),
    ...(translations !== '' && { translations: Object.fromEntries(readLines(translations)) }),
  }
}

/** Text that is not a number is passed on unchanged, so that the API reports the error for this field. */
function asNumber(text: string): number | string {
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** Returns the request body that creates a template. */
export function createBody(draft: TemplateDraft): object {
  const given = Object.entries(contentOf(draft)).filter(([, value]) => value !== null)
  return { kind: draft.kind, ...nest(Object.fromEntries(given)) }
}

/** Returns the merge patch (RFC 7396) from one content to the other. */
export function patchBody(from: DraftContent, to: DraftContent): object {
  return nest(Object.fromEntries(changedPaths(from, to).map((path) => [path, to[path] ?? null])))
}

/** Returns the content as an object, whose paths are members of members. */
export function nest(content: DraftContent): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(content)) {
    const at = path.indexOf('.')
    const [name, key] = at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)]
    body[name] = key === undefined ? value : { ...(body[name] as object | undefined), [key]: value }
  }
  return body
}

export function changedPaths(from: DraftContent, to: DraftContent): string[] {
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (path) => !isDeepStrictEqual(from[path] ?? null, to[path] ?? null),
  )
}

/** Returns the content with images replaced by their digests. A form carries it as the state of the template when it was loaded. */
export function digest(content: DraftContent): DraftContent {
  const isImage = (path: string) =>
    path === 'apple_poster' || path.startsWith('images.') || IMAGES.some((name) => path === `brand.${name}`)
  return Object.fromEntries(
    Object.entries(content).map(([path, value]) => [
      path,
      isImage(path) && value !== null
        ? createHash('sha256').update(JSON.stringify(value)).digest('base64url')
        : value,
    ]),
  )
}

/** Encodes the digested content for a hidden form field. */
export function writeDigest(content: DraftContent): string {
  return Buffer.from(JSON.stringify(digest(content))).toString('base64url')
}

/** Decodes the output of `writeDigest`. Returns undefined for other text. */
export function readDigest(text: string): DraftContent | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return typeof content === 'object' && content !== null ? (content as DraftContent) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function mergeLanguages(own: ReadonlySet<string>, mine: string, theirs: string): TextsByLanguage {
  const [one, other] = [readTranslations(mine), readTranslations(theirs)]
  const kept = [...new Set([...Object.keys(other), ...Object.keys(one)])].flatMap((language) => {
    const texts = own.has(`translations.${language}`) ? one[language] : other[language]
    return texts ? [[language, texts] as const] : []
  })
  return Object.fromEntries(kept)
}

/** New rows without a language yet stay at the end. */
function mergeImages(
  own: ReadonlySet<string>,
  mine: readonly DraftImages[],
  theirs: readonly DraftImages[],
): readonly DraftImages[] {
  const named = new Set([...theirs, ...mine].map(({ language }) => language))
  return [...named].flatMap((language) => {
    const of = own.has(`images.${language}`) || language === '' ? mine : theirs
    return of.filter((each) => each.language === language)
  })
}

/** Merges a draft with changes that another member saved since: values changed in `mine` win, all others come from `theirs`. */
export function mergeDrafts(began: DraftContent, mine: TemplateDraft, theirs: TemplateDraft): TemplateDraft {
  const own = new Set(changedPaths(began, digest(contentOf(mine))))
  const pick = <Value>(path: string, one: Value, other: Value) => (own.has(path) ? one : other)
  const each = <Part extends Readonly<Record<string, string>>>(name: string, one: Part, other: Part): Part =>
    Object.fromEntries(
      Object.keys(one).map((key) => [key, pick(`${name}.${key}`, one[key], other[key])]),
    ) as Part
  const eachLine = (name: 'semantics' | 'metadata'): string => {
    const [lines, others] = [new Map(readLines(mine[name])), new Map(readLines(theirs[name]))]
    const kept = [...new Set([...others.keys(), ...lines.keys()])].flatMap((key) => {
      const value = pick(`${name}.${key}`, lines.get(key), others.get(key))
      return value === undefined ? [] : [[key, value] as const]
    })
    return writeLines(kept)
  }
  return {
    kind: theirs.kind,
    name: pick('name', mine.name, theirs.name),
    brand: each('brand', mine.brand, theirs.brand),
    poster: pick('apple_poster', mine.poster, theirs.poster),
    images: mergeImages(own, mine.images, theirs.images),
    fields: pick('fields', mine.fields, theirs.fields),
    barcode: each('barcode', mine.barcode, theirs.barcode),
    relevant_locations: pick('relevant_locations', mine.relevant_locations, theirs.relevant_locations),
    options: Object.fromEntries(
      Object.keys({ ...theirs.options, ...mine.options }).map((path) => [
        path,
        pick(memberOfText(path), mine.options[path] ?? '', theirs.options[path] ?? ''),
      ]),
    ),
    language: pick('language', mine.language, theirs.language),
    translations: writeTranslations(mergeLanguages(own, mine.translations, theirs.translations)),
    semantics: eachLine('semantics'),
    metadata: eachLine('metadata'),
  }
}
