/** Describes how servers read forms: a row for each field that is not a single string. */
import { essenceOf, isJson } from '../../ir/media-type.ts'
import { partsOf, propertiesNamed } from '../../ir/members.ts'
import type { Api, ApiContent, ApiOperation, ApiParameter, Schema, Serialization } from '../../ir/model.ts'
import { isObject } from '../../ir/source.ts'
import type { FormBody, FormFieldRow } from '../../runtime/contract.ts'
import { parameterEncoding, scalarTypes } from './parameters.ts'

export const FORM: FormBody['media'] = 'application/x-www-form-urlencoded'
export const MULTIPART: FormBody['media'] = 'multipart/form-data'

/** Returns the form bodies of an operation, by media type. */
export function formContents({ body }: ApiOperation): { media: FormBody['media']; content: ApiContent }[] {
  return [MULTIPART, FORM].flatMap((media) => {
    const content = body?.contents.find(({ mediaType }) => essenceOf(mediaType) === media)
    return content ? [{ media, content }] : []
  })
}

/** Returns rows for the fields that are not a single string, in document order. */
export function formFields(api: Api, content: ApiContent): FormFieldRow[] {
  const properties = partsOf(api, content.schema).flatMap((part) =>
    part.kind === 'object' ? part.properties : [],
  )
  return [...new Set(properties.map(({ name }) => name))]
    .map((name) => readField(api, content, name))
    .filter(({ as, list, encoding }) => as.join() !== 'string' || list || encoding)
}

function readField(api: Api, content: ApiContent, name: string): FormFieldRow {
  const schemas = propertiesNamed(api, content.schema, name).map((each) => each.schema)
  const given = content.encoding[name]
  const own = isObject(given) ? given : {}
  const isMultipart = essenceOf(content.mediaType) === MULTIPART
  const styled = !isMultipart && isStyled(own) ? styledField(api, content, name, own) : undefined
  const style = styled && parameterEncoding(api, styled)
  if (style) return { name, as: ['string'], encoding: style }
  const type = typeof own.contentType === 'string' ? own.contentType : undefined
  if (type !== undefined && isJson(type)) return { name, as: ['json'] }
  const parts = schemas.flatMap((each) => partsOf(api, each))
  const list = parts.some(({ kind }) => kind === 'array')
  const items = parts.flatMap((part) => (part.kind === 'array' ? [part.items, ...part.prefix] : []))
  const values = list ? items : schemas
  const as = new Set(values.flatMap((each) => kindsOf(api, each, isMultipart, type)))
  const types = type?.split(',').map((each) => essenceOf(each))
  return {
    name,
    as: ORDER.filter((each) => as.has(each)),
    ...(list && { list }),
    ...(as.has('bytes') && types && { types }),
  }
}

/**
 * Conversions in the order in which they are tried. Every text is a valid string, and text in place of a file
 * becomes a file.
 */
const ORDER: readonly FormFieldRow['as'][number][] = [
  'json',
  'boolean',
  'integer',
  'int64',
  'number',
  'string',
  'bytes',
]

/** Applies the default media types of parts (Encoding Object, `contentType`). */
function kindsOf(
  api: Api,
  schema: Schema,
  isMultipart: boolean,
  type: string | undefined,
): FormFieldRow['as'] {
  const parts = partsOf(api, schema)
  if (parts.some(({ kind }) => kind === 'object' || kind === 'array')) return ['json']
  if (!isMultipart) return scalarTypes(api, schema)
  if (parts.some(isBinary)) return ['bytes']
  const isOpen = parts.every(({ kind, untyped }) => kind === 'any' || untyped)
  if (!isOpen) return scalarTypes(api, schema)
  return type === undefined || type.startsWith('text/') ? ['string', 'bytes'] : ['bytes']
}

/**
 * Returns whether a string is binary: `format: binary` (OpenAPI 3.0), or a media type without a text encoding
 * (3.1).
 */
function isBinary(schema: Schema): boolean {
  if (schema.kind !== 'string') return false
  const { contentMediaType, contentEncoding } = schema.unheld?.keywords ?? {}
  return schema.format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined)
}

/** Returns whether a field has a style; it is then encoded like a query parameter. */
export const isStyled = (encoding: Readonly<Record<string, unknown>>): boolean =>
  ['style', 'explode', 'allowReserved'].some((member) => encoding[member] !== undefined)

/** Returns the style of a field, with defaults filled in. */
export function serializationOf(encoding: Readonly<Record<string, unknown>>): Serialization {
  const style = String(encoding.style ?? 'form')
  return {
    style,
    explode: encoding.explode === undefined ? style === 'form' : encoding.explode === true,
    allowReserved: encoding.allowReserved === true,
    allowEmptyValue: false,
  }
}

/** Returns the parameter that a field with a style is encoded as; undefined if the schema does not have the field. */
export function styledField(
  api: Api,
  { schema }: ApiContent,
  name: string,
  encoding: Readonly<Record<string, unknown>>,
): ApiParameter | undefined {
  const [property] = propertiesNamed(api, schema, name)
  return (
    property && {
      ...property.schema,
      ...{ name, in: 'query', required: property.required, schema: property.schema, place: property.place },
      serialization: serializationOf(encoding),
    }
  )
}
