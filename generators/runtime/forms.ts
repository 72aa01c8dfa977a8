/**
 * Reads form bodies. `application/x-www-form-urlencoded` is read like a query; `multipart/form-data` (RFC 7578) is
 * parsed by fetch. The document determines the types of the parts. `client-runtime/request-body.ts` writes forms in the
 * same way.
 */
import type { Detail, FormBody, FormFieldRow, Parameter } from './contract.ts'
import { findForbidden, joinField } from './forbidden.ts'
import { convert, createQueryTable, inWords, ParameterError, readQuery } from './parameters.ts'

/** Limits of a form. `bytes` applies to the whole body. */
export interface FormLimits {
  readonly bytes: number
  /** Number of fields and files, including repetitions. */
  readonly parts: number
}

const LIMITS: FormLimits = { bytes: 16 * 1024 * 1024, parts: 1000 }

/** Thrown if a form body is invalid. */
export class FormError extends Error {
  /** `media`: unsupported media type (415). `limit`: too large (413). `invalid`: invalid content (400 or 422). */
  readonly reason: 'media' | 'limit' | 'invalid'
  readonly faults: readonly Detail[]
  /** The checked value, for `explain`, if the schema refused it. */
  readonly refused: unknown

  constructor(reason: FormError['reason'], faults: readonly Detail[], refused?: unknown) {
    super(faults.map(({ field, issue }) => `${field} ${issue}`.trim()).join('; '))
    this.name = 'FormError'
    this.reason = reason
    this.faults = faults
    this.refused = refused
  }
}

/**
 * Reads and validates a form.
 *
 * @param forms forms of the operation.
 * @param contentType Content-Type header of the request.
 * @returns the valid form: text and JSON with the types of the schema, files as Blobs.
 * @throws FormError if the media type is not supported, a limit is exceeded, or the form is invalid.
 */
export async function readForm(
  forms: readonly FormBody[],
  contentType: string | undefined,
  bytes: Uint8Array,
  limits: FormLimits = LIMITS,
): Promise<Record<string, unknown>> {
  const essence = contentType === undefined ? undefined : essenceOf(contentType)
  const form = forms.find(({ media }) => media === essence)
  if (!form) throw refuse('media', `must be ${forms.map(({ media }) => media).join(' or ')}`)
  if (bytes.length > limits.bytes) throw refuse('limit', `must not have more than ${limits.bytes} bytes`)
  const isMultipart = form.media === 'multipart/form-data'
  const separator = isMultipart ? `--${boundaryOf(contentType!)}` : '&'
  if (countUpTo(limits.parts + 2, bytes, separator) > limits.parts + 1)
    throw refuse('limit', `must not have more than ${limits.parts} parts`)
  const fields = new Map(form.fields.map((field) => [field.name, field]))
  const value = isMultipart
    ? await readMultipart(fields, contentType!, bytes)
    : readUrlencoded(form, fields, bytes)
  const seen = withoutFiles(value)
  if (!form.validate(seen))
    throw new FormError('invalid', [{ field: '', issue: 'does not match its schema' }], seen)
  return value
}

const essenceOf = (mediaType: string): string => mediaType.split(';', 1)[0]!.trim().toLowerCase()

const refuse = (reason: FormError['reason'], issue: string) =>
  new FormError(reason, [{ field: '', issue: `the body ${issue}` }])

function boundaryOf(contentType: string): string {
  const [, quoted, token] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? token
  if (boundary === undefined) throw refuse('media', 'must have a boundary parameter in Content-Type')
  return boundary
}

/** Counts separators before parsing, because each part takes much more memory than its bytes. */
function countUpTo(most: number, bytes: Uint8Array, separator: string): number {
  const wanted = new TextEncoder().encode(separator)
  let count = 0
  for (let at = bytes.indexOf(wanted[0]!); at >= 0 && count < most; at = bytes.indexOf(wanted[0]!, at + 1))
    if (wanted.every((byte, offset) => bytes[at + offset] === byte)) count += 1
  return count
}

type Fields = ReadonlyMap<string, FormFieldRow>

/** Name of the pseudo-parameter for fields without a row. No form field can have this name. */
const REST = '\0'

function readUrlencoded(form: FormBody, fields: Fields, bytes: Uint8Array): Record<string, unknown> {
  const row = {
    type: 'string',
    required: false,
    set: false,
    validate: () => true,
    pointer: form.pointer,
  } as const
  const texts = { style: 'form', explode: true, list: ['string'] } as const
  const rest = { style: 'form', explode: true, object: { members: {}, others: ['string'] } } as const
  const parameters = form.fields.map(({ name, list, encoding = list && texts }): Parameter => {
    return { ...row, name, ...(encoding && { encoding }) }
  })
  const table = createQueryTable([...parameters, { ...row, name: REST, encoding: rest }])
  let read: Record<string, unknown>
  try {
    read = readQuery(table, decodeText(bytes, 'the body'))
  } catch (error) {
    throw error instanceof ParameterError ? new FormError('invalid', [locate(error)]) : error
  }
  const { [REST]: others, ...named } = read
  const entries = Object.entries(named).map(([name, value]) => {
    const field = fields.get(name)!
    return [name, field.encoding ? value : readParts(field, [value].flat() as string[])] as const
  })
  return { ...(others as object), ...Object.fromEntries(entries) }
}

/** Removes the pseudo-parameter from the location of a field without a row. */
const locate = ({ field, issue }: Detail): Detail => ({
  field: field.startsWith(`${REST}.`) ? field.slice(REST.length + 1) : field,
  issue,
})

async function readMultipart(
  fields: Fields,
  contentType: string,
  bytes: Uint8Array,
): Promise<Record<string, unknown>> {
  const parts = new Map<string, (string | File)[]>()
  for (const [name, part] of await parseMultipart(contentType, bytes)) {
    if (name === '__proto__') throw invalid(name, 'is not allowed as a name')
    const field = fields.get(name) ?? textField(name)
    const isText = typeof part === 'string' || field.as.includes('bytes')
    const given = isText ? part : decodeText(new Uint8Array(await part.arrayBuffer()), name)
    const before = parts.get(name)
    if (before) before.push(given)
    else parts.set(name, [given])
  }
  const entries = [...parts].map(
    ([name, given]) => [name, readParts(fields.get(name) ?? textField(name), given)] as const,
  )
  return Object.fromEntries(entries)
}

async function parseMultipart(contentType: string, bytes: Uint8Array): Promise<FormData> {
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    }).formData()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw refuse('invalid', 'is not well-formed multipart/form-data')
  }
}

const textField = (name: string): FormFieldRow => ({ name, as: ['string'] })

const invalid = (field: string, issue: string) => new FormError('invalid', [{ field, issue }])

/** Returns the value of a field from all parts with its name. */
function readParts(field: FormFieldRow, parts: readonly (string | File)[]): unknown {
  const { name, list } = field
  if (list) return parts.map((part, index) => readPart(field, part, `${name}[${index}]`))
  if (parts.length > 1) throw invalid(name, 'must occur only once')
  return readPart(field, parts[0]!, name)
}

function readPart({ as, types }: FormFieldRow, part: string | File, at: string): unknown {
  if (typeof part !== 'string') return checkFile(part, types, at)
  if (part.includes('\0')) throw invalid(at, 'must not contain U+0000')
  for (const type of as) {
    const value =
      type === 'json' ? parse(part, at) : type === 'bytes' ? asFile(part, at) : convert(type, part)
    if (value !== undefined) return value
  }
  const scalars = as.filter((type) => type !== 'json' && type !== 'bytes')
  throw invalid(
    at,
    `must be ${[...(as.some((type) => type === 'json') ? ['valid JSON'] : []), ...(scalars.length > 0 ? [inWords(scalars)] : [])].join(' or ')}`,
  )
}

function checkFile(file: File, types: FormFieldRow['types'], at: string): File {
  const essence = essenceOf(file.type)
  const fits = (type: string) =>
    type === '*/*' || type === essence || (type.endsWith('/*') && essence.startsWith(type.slice(0, -1)))
  if (types && !types.some(fits)) throw invalid(at, `must be a file of ${types.join(' or ')}`)
  return file
}

/** Rejects binary parts without a filename: fetch decodes them as UTF-8, which loses bytes. */
function asFile(text: string, at: string): Blob {
  if (text.includes('\ufffd')) throw invalid(at, 'must have a filename, because it is not text')
  return new Blob([text], { type: 'text/plain' })
}

/** Parses JSON. Returns undefined if the text is not JSON. */
function parse(text: string, at: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
  const forbidden = findForbidden(value)
  if (forbidden) throw invalid(joinField(at, forbidden.field), forbidden.issue)
  return value
}

function decodeText(bytes: Uint8Array, at: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw invalid(at, 'is not UTF-8 text')
  }
}

/** Replaces files with strings of the same length, because documents declare files as strings with a length. */
function withoutFiles(form: Readonly<Record<string, unknown>>): unknown {
  const seen = (value: unknown): unknown => (value instanceof Blob ? 'x'.repeat(value.size) : value)
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => [name, Array.isArray(value) ? value.map(seen) : seen(value)]),
  )
}
