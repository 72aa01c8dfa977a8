/** What stands in the form of a template: read from a template, read from what was typed, and written as the API takes it. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../../generated/canonical/types.ts'
import type { PassKind } from '../../../passes/wallets/render/pass-state.ts'

export type TemplateObject = components['schemas']['PassTemplate']

export const IMAGES = ['logo', 'strip', 'icon'] as const
export type TemplateImage = (typeof IMAGES)[number]

export interface DraftLocation {
  readonly latitude: string
  readonly longitude: string
  readonly altitude: string
  readonly relevant_text: string
}

/** As typed: an empty text is nothing. Images are base64 of what was uploaded. */
export interface TemplateDraft {
  readonly name: string
  readonly kind: PassKind
  readonly brand: {
    readonly background_color: string
    readonly foreground_color: string
    readonly label_color: string
    readonly logo_text: string
  } & Readonly<Record<TemplateImage, string>>
  readonly fields: readonly { readonly key: string; readonly label: string; readonly value: string }[]
  readonly barcode: { readonly format: string; readonly message: string }
  readonly relevant_locations: readonly DraftLocation[]
  /** Lines of `key = value`. */
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
  fields: [{ key: 'points', label: 'Points', value: '0' }],
  barcode: { format: 'qr', message: '' },
  relevant_locations: [],
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
    fields: fields.map(({ key, label, value }) => ({ key, label, value })),
    barcode: { format: barcode.format, message: text(barcode.message) },
    relevant_locations: relevant_locations.map(({ latitude, longitude, altitude, relevant_text }) => ({
      latitude: text(latitude),
      longitude: text(longitude),
      altitude: text(altitude),
      relevant_text: text(relevant_text),
    })),
    metadata: writeLines(Object.entries(metadata)),
  }
}

function writeLines(entries: readonly (readonly [key: string, value: string])[]): string {
  return entries.map(([key, value]) => `${key} = ${escapeLine(value)}`).join('\n')
}

const escapeLine = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
const LINE_ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\\\': '\\' }
const unescapeLine = (text: string) => text.replaceAll(/\\[nr\\]/g, (each) => LINE_ESCAPES[each]!)

/** Values by where they stand in the body of a request, such as `brand.logo`; null where there is none. Lists are whole. */
export type DraftContent = Readonly<Record<string, unknown>>

export function contentOf(draft: TemplateDraft): DraftContent {
  const { name, brand, fields, barcode, relevant_locations, metadata } = draft
  return {
    name,
    ...under('brand', brand),
    fields,
    ...under('barcode', barcode),
    relevant_locations: relevant_locations.map(writeLocation),
    ...under('metadata', Object.fromEntries(readLines(metadata))),
  }
}

function readLines(text: string): (readonly [key: string, value: string])[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [key = '', ...rest] = line.split('=')
    return [key.trim(), unescapeLine(rest.join('=').trim())]
  })
}

function under(part: string, values: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${part}.${name}`, value === '' ? null : value]),
  )
}

function writeLocation({ latitude, longitude, altitude, relevant_text }: DraftLocation): object {
  return {
    latitude: asNumber(latitude),
    longitude: asNumber(longitude),
    ...(altitude !== '' && { altitude: asNumber(altitude) }),
    ...(relevant_text !== '' && { relevant_text }),
  }
}

/** What is no number goes as it is: the API says so of the very field. */
function asNumber(text: string): number | string {
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** The body of a new template. */
export function createBody(draft: TemplateDraft): object {
  const given = Object.entries(contentOf(draft)).filter(([, value]) => value !== null)
  return { kind: draft.kind, ...nest(Object.fromEntries(given)) }
}

/** The merge patch (RFC 7396) that makes one content another. */
export function patchBody(from: DraftContent, to: DraftContent): object {
  return nest(Object.fromEntries(changedPaths(from, to).map((path) => [path, to[path] ?? null])))
}

function nest(content: DraftContent): Record<string, unknown> {
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

/** The same with images as digests: what a form carries of how a template was. */
export function digest(content: DraftContent): DraftContent {
  const isImage = (path: string) => IMAGES.some((name) => path === `brand.${name}`)
  return Object.fromEntries(
    Object.entries(content).map(([path, value]) => [
      path,
      isImage(path) && typeof value === 'string'
        ? createHash('sha256').update(value).digest('base64url')
        : value,
    ]),
  )
}

/** As text for a field of a form. */
export function writeDigest(content: DraftContent): string {
  return Buffer.from(JSON.stringify(digest(content))).toString('base64url')
}

/** @returns undefined for what `writeDigest` has not written. */
export function readDigest(text: string): DraftContent | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return typeof content === 'object' && content !== null ? (content as DraftContent) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** What one member typed over what another has saved meanwhile: the first one's changes, and the other's everywhere else. */
export function mergeDrafts(began: DraftContent, mine: TemplateDraft, theirs: TemplateDraft): TemplateDraft {
  const own = new Set(changedPaths(began, digest(contentOf(mine))))
  const pick = <Value>(path: string, one: Value, other: Value) => (own.has(path) ? one : other)
  const each = <Part extends Readonly<Record<string, string>>>(name: string, one: Part, other: Part): Part =>
    Object.fromEntries(
      Object.keys(one).map((key) => [key, pick(`${name}.${key}`, one[key], other[key])]),
    ) as Part
  const [lines, otherLines] = [mine, theirs].map(({ metadata }) => new Map(readLines(metadata))) as [
    Map<string, string>,
    Map<string, string>,
  ]
  const kept = [...new Set([...otherLines.keys(), ...lines.keys()])].flatMap((key) => {
    const value = pick(`metadata.${key}`, lines.get(key), otherLines.get(key))
    return value === undefined ? [] : [[key, value] as const]
  })
  return {
    kind: theirs.kind,
    name: pick('name', mine.name, theirs.name),
    brand: each('brand', mine.brand, theirs.brand),
    fields: pick('fields', mine.fields, theirs.fields),
    barcode: each('barcode', mine.barcode, theirs.barcode),
    relevant_locations: pick('relevant_locations', mine.relevant_locations, theirs.relevant_locations),
    metadata: writeLines(kept),
  }
}
