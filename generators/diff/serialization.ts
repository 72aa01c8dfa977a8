/** Compares how compound values are encoded: parameters, headers, and the properties of a form. */

import { partsOf } from '../ir/members.ts'
import type { Api, ApiContent, ApiParameter, Property, Schema, Serialization } from '../ir/model.ts'
import { isObject } from '../ir/source.ts'
import {
  type ComparisonPosition,
  found,
  HARMLESS,
  inside,
  places,
  propertyStep,
  REQUEST,
  targetOf,
} from './position.ts'

/**
 * Compares how a parameter or header is encoded.
 *
 * @param breaks the directions that a difference breaks.
 * @param translated whether every version reads its own encoding.
 */
export function compareSerialization(
  position: ComparisonPosition,
  a: ApiParameter,
  b: ApiParameter,
  breaks: number,
  translated = false,
): void {
  const [was, is] = [wordsOf(position.old, a), wordsOf(position.next, b)]
  const kept = translated && isReadAlike(position.old, a) && isReadAlike(position.next, b)
  const unread = kept ? HARMLESS : breaks
  if (was !== is)
    found(position, 'serialization-changed', unread, `is now encoded as ${is}; it was ${was}`, places(a, b))
  for (const name of ['allowReserved', 'allowEmptyValue'] as const) {
    if (a.in !== 'query' || a.serialization[name] === b.serialization[name]) continue
    const said = b.serialization[name] ? `${name} is now true` : `${name} is now false`
    const lost = name === 'allowReserved' ? unread : breaks
    found(position, 'serialization-changed', b.serialization[name] ? HARMLESS : lost, said, places(a, b))
  }
}

/** Returns whether handlers get the same value in every style. Without a type, the style decides what a text is. */
const isReadAlike = (api: Api, { schema, serialization: { mediaType } }: ApiParameter): boolean =>
  mediaType === undefined &&
  partsOf(api, schema).every(({ kind, untyped }) => kind !== 'any' && kind !== 'never' && !untyped)

/**
 * Returns an old parameter as a service without translations reads it. In a URL or a header, a number is text, and one
 * value is a list of one. Returns the parameter itself if that is no difference.
 */
export function asReadBy({ old, next }: ComparisonPosition, a: ApiParameter, b: ApiParameter): ApiParameter {
  const { style, mediaType } = b.serialization
  if (a.serialization.mediaType !== undefined || mediaType !== undefined) return a
  const schema = asText(old, next, a.schema, b.schema)
  if (schema !== a.schema) return { ...a, schema }
  const [one, list] = [targetOf(old, a.schema), targetOf(next, b.schema)]
  if (list.kind !== 'array' || isCompound(old, one) || (style !== 'form' && style !== 'simple')) return a
  return {
    ...a,
    schema: {
      ...list,
      nullable: one.nullable,
      items: asText(old, next, { ...one, nullable: false, default: undefined }, list.items),
      minItems: Math.min(list.minItems ?? 0, 1),
      default: one.default === undefined ? undefined : [one.default],
    },
    serialization: b.serialization,
  }
}

/** Returns the new schema for a number or a boolean, also as an item, if the new document allows every text. */
function asText(old: Api, next: Api, a: Schema, b: Schema): Schema {
  const [was, is] = [targetOf(old, a), targetOf(next, b)]
  if (was.kind === 'array' && is.kind === 'array') {
    const items = asText(old, next, was.items, is.items)
    return items === was.items ? a : { ...was, items }
  }
  const isLiteral = partsOf(old, was).every(({ kind }) => /^(number|boolean|string|enum)$/.test(kind))
  if (was.kind === 'string' || !isLiteral || is.kind !== 'string' || is.unheld || is.format !== undefined)
    return a
  if (is.pattern !== undefined || (is.minLength ?? 0) > 1 || is.maxLength !== undefined) return a
  const { default: value, nullable } = was
  return { ...is, nullable, default: value === undefined ? undefined : String(value) }
}

/** Describes the encoding. Omits details without effect: a scalar needs no separators. */
function wordsOf(api: Api, { serialization, schema }: ApiParameter): string {
  const { style, explode, mediaType } = serialization
  if (mediaType !== undefined) return mediaType
  if (!isCompound(api, schema)) return style === 'label' || style === 'matrix' ? style : 'a plain value'
  return `${style}${explode ? ', exploded' : ''}`
}

const isCompound = (api: Api, schema: Schema): boolean =>
  partsOf(api, schema).some(({ kind }) => kind === 'array' || kind === 'object' || kind === 'any')

/** Compares the encoding of form properties; `encoding` has no effect in other bodies. */
export function compareEncodings(position: ComparisonPosition, a: ApiContent, b: ApiContent): void {
  if (!isForm(a) || !isForm(b)) return
  const [before, after] = [propertiesOf(position.old, a), propertiesOf(position.next, b)]
  for (const name of new Set([...Object.keys(a.encoding), ...Object.keys(b.encoding)])) {
    // A property that only one version has is reported as such.
    if (before.has(name) !== after.has(name)) continue
    const [was, is] = [encodingOf(position.old, a, name), encodingOf(position.next, b, name)]
    const here = inside(position, propertyStep(name))
    const other = (kind: keyof Encoding) => was[kind] !== is[kind]
    if (other('written') || other('headers'))
      found(here, 'encoding-changed', position.mask, 'has a different encoding', places(a, b))
    const lost = was.types.filter((type) => !is.types.includes(type))
    const more = is.types.filter((type) => !was.types.includes(type))
    if (lost.length > 0)
      found(
        here,
        'encoding-changed',
        position.mask & REQUEST,
        `is no longer ${lost.join(' or ')}`,
        places(a, b),
      )
    if (more.length > 0)
      found(
        here,
        'encoding-changed',
        position.mask & ~REQUEST,
        `may now be ${more.join(' or ')}`,
        places(a, b),
      )
  }
}

const isForm = ({ mediaType }: ApiContent): boolean =>
  /^multipart\/|^application\/x-www-form-urlencoded/i.test(mediaType)

interface Encoding {
  readonly types: readonly string[]
  readonly written: string
  /** Headers that each part must have. */
  readonly headers: string
}

/**
 * Returns the encoding of a form property with defaults filled in (Encoding Object), so that writing a default is
 * not a difference.
 */
function encodingOf(api: Api, content: ApiContent, name: string): Encoding {
  const value = content.encoding[name]
  const given = isObject(value) ? value : {}
  const property = propertiesOf(api, content).get(name)
  // A single value needs no separators.
  const isPlain = property !== undefined && !isCompound(api, property.schema)
  const type = typeof given.contentType === 'string' ? given.contentType : defaultType(api, content, name)
  const {
    style = 'form',
    explode = style === 'form',
    allowReserved = false,
    headers = {},
  } = given as Partial<Serialization> & { headers?: unknown }
  return {
    types: type.split(',').map((each) => each.trim().toLowerCase()),
    written: JSON.stringify(isPlain ? [allowReserved] : [style, explode, allowReserved]),
    headers: JSON.stringify(headers),
  }
}

const propertiesOf = (api: Api, { schema }: ApiContent): ReadonlyMap<string, Property> =>
  new Map(
    partsOf(api, schema)
      .flatMap((part) => (part.kind === 'object' ? part.properties : []))
      .map((property) => [property.name, property]),
  )

function defaultType(api: Api, content: ApiContent, name: string): string {
  const property = propertiesOf(api, content).get(name)
  const [part] = property ? partsOf(api, property.schema) : []
  const own = part?.kind === 'array' ? partsOf(api, part.items)[0] : part
  if (own?.kind === 'object') return 'application/json'
  return own?.kind === 'string' && own.format === 'binary' ? 'application/octet-stream' : 'text/plain'
}
