/**
 * Determines how the client writes a request body: its media type, the encoding function, and the parts of a form.
 */
import type { OperationRow, PartRow } from '../../client-runtime/service.ts'
import type { SourceLocation } from '../../diagnostics/place.ts'
import { isRaw } from '../../ir/bodies.ts'
import { essenceOf, isJson } from '../../ir/media-type.ts'
import { partsOf, propertiesNamed } from '../../ir/members.ts'
import type { Api, ApiContent, ApiOperation } from '../../ir/model.ts'
import { FORM, isStyled, MULTIPART, serializationOf, styledField } from '../wire/forms.ts'
import { findUnwritten } from '../wire/parameters.ts'

/** A function of `client-runtime/request-body.ts`. */
export type Encoder = 'encodeForm' | 'encodeMultipart' | 'encodeRaw'

export interface ClientBody {
  readonly content: ApiContent
  /** Undefined for JSON, which openapi-fetch encodes. */
  readonly encoder: Encoder | undefined
  readonly row: Pick<OperationRow, 'media' | 'parts'>
}

/** A body, or part of one, that the client does not encode as described. */
export interface UnwrittenBody {
  readonly place: SourceLocation
  readonly message: string
  readonly hint: string
}

const isAnything = (mediaType: string): boolean => ['*/*', 'application/*'].includes(essenceOf(mediaType))

/** In order of preference; `client-runtime/types.ts` types the body in the same order. */
const PREFERENCES: readonly ((mediaType: string) => boolean)[] = [
  (mediaType) => essenceOf(mediaType) === 'application/json',
  isJson,
  isAnything,
  (mediaType) => essenceOf(mediaType) === MULTIPART,
  (mediaType) => essenceOf(mediaType) === FORM,
  () => true,
]

/** Returns undefined for an operation without a body. */
export function clientBody(api: Api, { body }: ApiOperation): ClientBody | undefined {
  const contents = body?.contents ?? []
  const content = PREFERENCES.map((fits) => contents.find(({ mediaType }) => fits(mediaType))).find(Boolean)
  if (!content) return undefined
  const { mediaType } = content
  const encoder = encoderOf(mediaType)
  const parts = encoder === 'encodeForm' || encoder === 'encodeMultipart' ? partRows(api, content) : {}
  const isUsual = essenceOf(mediaType) === 'application/json' || isAnything(mediaType)
  return {
    content,
    encoder,
    row: { ...(!isUsual && { media: mediaType }), ...(Object.keys(parts).length > 0 && { parts }) },
  }
}

function encoderOf(mediaType: string): Encoder | undefined {
  if (isJson(mediaType) || isAnything(mediaType)) return undefined
  const essence = essenceOf(mediaType)
  return essence === FORM ? 'encodeForm' : essence === MULTIPART ? 'encodeMultipart' : 'encodeRaw'
}

/** Returns the parts of a body that the client cannot encode or leaves to the caller. */
export function findUnwrittenBody(api: Api, operation: ApiOperation): UnwrittenBody[] {
  const body = clientBody(api, operation)
  if (!body) return []
  const { content, encoder } = body
  const { place, mediaType } = content
  if (operation.method === 'GET' || operation.method === 'HEAD') {
    return [
      {
        place,
        message: `the client cannot send the body of ${operation.id}: fetch does not allow a body with ${operation.method}`,
        hint: 'use parameters or a different method',
      },
    ]
  }
  if (encoder === 'encodeRaw' && !isRaw(api.schemas, content)) {
    return [
      {
        place,
        message: `the client does not encode ${mediaType} for ${operation.id}: callers must pass text, a Blob or bytes`,
        hint: 'describe the body as JSON or as a form to let the client encode it',
      },
    ]
  }
  return encoder === undefined || encoder === 'encodeRaw'
    ? []
    : partsWithin(api, content).flatMap((part) => part.unwritten ?? [])
}

interface WrittenPart {
  readonly name: string
  readonly row: PartRow
  readonly unwritten?: UnwrittenBody
}

function partRows(api: Api, content: ApiContent): Readonly<Record<string, PartRow>> {
  const rows = partsWithin(api, content).filter(({ row }) => Object.keys(row).length > 0)
  return Object.fromEntries(rows.map(({ name, row }) => [name, row]))
}

function partsWithin(api: Api, content: ApiContent): WrittenPart[] {
  const isMultipart = essenceOf(content.mediaType) === MULTIPART
  return Object.entries(content.encoding).flatMap(([name, encoding]) => {
    if (typeof encoding !== 'object' || encoding === null) return []
    const { headers, ...rest } = encoding as Readonly<Record<string, unknown>>
    const part = isStyled(rest) ? styledPart(api, content, name, rest) : typedPart(api, content, name, rest)
    if (!isMultipart) return [part]
    if (isStyled(rest))
      return [unwritten(content, name, 'has a style, which the client does not support in multipart bodies')]
    if (headers === undefined || part.unwritten) return [part]
    const { unwritten: found } = unwritten(content, name, 'has headers, which the client does not send')
    return [{ ...part, ...(found && { unwritten: found }) }]
  })
}

/** Describes a part with a style, which is encoded like a query parameter. */
function styledPart(
  api: Api,
  content: ApiContent,
  name: string,
  encoding: Readonly<Record<string, unknown>>,
): WrittenPart {
  const parameter = styledField(api, content, name, encoding)
  const found = parameter && findUnwritten(api, parameter)
  if (found) return unwritten(content, name, found.message)
  const { style, explode, allowReserved: reserved } = serializationOf(encoding)
  const row = {
    style: style as NonNullable<PartRow['style']>,
    ...(explode && { explode }),
    ...(reserved && { reserved }),
  }
  return { name, row }
}

/** Describes a part with its own media type. */
function typedPart(
  api: Api,
  content: ApiContent,
  name: string,
  { contentType }: Readonly<Record<string, unknown>>,
): WrittenPart {
  if (typeof contentType !== 'string' || /[*,]/.test(contentType)) return { name, row: {} }
  if (isJson(contentType)) return { name, row: { type: contentType, json: true } }
  const inside = propertiesNamed(api, content.schema, name).flatMap(({ schema }) => partsOf(api, schema))
  const items = inside.flatMap((each) => (each.kind === 'array' ? partsOf(api, each.items) : [each]))
  return items.some(({ kind }) => kind === 'object' || kind === 'array')
    ? unwritten(
        content,
        name,
        `is an object with the media type ${contentType}, which the client does not encode`,
      )
    : { name, row: { type: contentType } }
}

function unwritten({ place }: ApiContent, name: string, message: string): WrittenPart {
  const hint = 'describe it as JSON, or as text that callers encode'
  return { name, row: { style: 'none' }, unwritten: { place, message: `the part ${name} ${message}`, hint } }
}
