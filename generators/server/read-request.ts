/**
 * Reads what an operation takes from a request: parameters and the body, validated as the caller's version describes
 * them.
 */
import type {
  Body,
  CheckedItem,
  Detail,
  FormBody,
  Operation,
  Parameter,
  RawBody,
  Translate,
} from '../runtime/contract.ts'
import { explain, issueOf } from '../runtime/explain.ts'
import { findForbidden } from '../runtime/forbidden.ts'
import { formats } from '../runtime/formats.ts'
import { FormError, readForm } from '../runtime/forms.ts'
import {
  createQueryTable,
  joinField,
  ParameterError,
  type QueryTable,
  readHeader,
  readQuery,
  readSegment,
} from '../runtime/parameters.ts'
import { splitPath } from '../runtime/path-matcher.ts'
import { parseExact } from '../runtime/values.ts'
import { RequestRefusal } from './refusals.ts'

/** An OpenAPI document as a plain object. */
export type OpenApiDocument = Readonly<Record<string, unknown>>

/** An operation, with data that is computed once for all its requests. */
export interface Route {
  readonly operation: Operation
  /** Names of the path's parameters, in the order of the path. */
  readonly pathNames: readonly string[]
  readonly query: QueryTable
}

/** @returns the route of an operation. */
export const createRoute = (operation: Operation): Route => ({
  operation,
  pathNames: splitPath(operation.path)
    .filter((segment) => segment.startsWith('{'))
    .map((segment) => segment.slice(1, -1)),
  query: createQueryTable(operation.query),
})

/** Loads the document of the caller's version, to explain a refused value. Undefined if the service has none. */
export type LoadDocument = () => Promise<OpenApiDocument | undefined>

/** Returns the faults of a refused value. Without a document, the only fault is that the value is invalid. */
async function explainValue(load: LoadDocument, pointer: string, value: unknown): Promise<readonly Detail[]> {
  const document = await load()
  const faults = document ? explain(document, pointer, value, formats) : []
  return faults.length > 0
    ? faults.map((fault) => ({ field: fault.field, issue: issueOf(fault) }))
    : [{ field: '', issue: 'does not match its schema' }]
}

export interface ReadParameters {
  readonly path: Record<string, unknown>
  readonly query: Record<string, unknown>
  /** By name in lowercase. */
  readonly headers: Record<string, unknown>
}

/** @throws RequestRefusal 400 at the first parameter that its document does not allow. */
export async function readParameters(
  { operation, pathNames, query }: Route,
  pathValues: readonly string[],
  search: string,
  headers: Headers,
  load: LoadDocument,
): Promise<ReadParameters> {
  try {
    const path = Object.fromEntries(
      operation.pathParameters.map((parameter) => [
        parameter.name,
        readSegment(parameter, pathValues[pathNames.indexOf(parameter.name)]!),
      ]),
    )
    return { path, query: readQuery(query, search), headers: readHeaders(operation.headers, headers) }
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    throw await refuseParameter(error, load)
  }
}

function readHeaders(rows: readonly Parameter[], headers: Headers): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const row of rows) {
    const text = headers.get(row.name)
    if (text !== null) values[row.name.toLowerCase()] = readHeader(row, text)
    else if (row.required) throw new ParameterError('missing', row.name, 'is required')
  }
  return values
}

async function refuseParameter({ field, issue, refused }: ParameterError, load: LoadDocument) {
  const details = refused
    ? (await explainValue(load, refused.parameter.pointer, refused.value)).map((detail) => ({
        field: joinField(refused.parameter.name, detail.field),
        issue: detail.issue,
      }))
    : [{ field, issue }]
  const [{ field: name, issue: fault }] = details as [Detail]
  return new RequestRefusal(400, 'invalid_parameter', `${name} ${fault}.`, details)
}

/** The part of the body that a handler receives. */
export type ReadContent =
  | {
      readonly body?: unknown
      readonly up?: Translate | undefined
      /** Makes the handler's value from the translated one. */
      readonly decode?: Translate | undefined
    }
  | { readonly items: readonly CheckedItem<unknown>[] }

/** @throws RequestRefusal 400, 413, 415 or 422 if the body is not one that the operation takes. */
export async function readContent(
  operation: Operation,
  request: Request,
  maxBytes: number,
  load: LoadDocument,
): Promise<ReadContent> {
  const { body, forms = [], raw = [] } = operation
  const all = [...(body ? [body] : []), ...forms, ...raw]
  if (all.length === 0) return {}
  const type = request.headers.get('content-type')
  const bytes = await readBytes(request, maxBytes)
  const plain = raw.find(({ media }) => type !== null && fitsMedia(type, media))
  // An empty file is a body, if it has a type.
  if (bytes.length === 0 && !plain) {
    if (all.some(({ required }) => required))
      throw new RequestRefusal(400, 'malformed_body', 'The request has no body: this operation requires one.')
    return {}
  }
  if (body && isJson(type)) return readJson(operation, body, bytes, load)
  const form = forms.find(({ media }) => type !== null && fitsMedia(type, media))
  if (form) return readFields(operation, form, type!, bytes, maxBytes, load)
  if (plain) return readRaw(plain, type!, bytes, load)
  const media = [...(body ? ['application/json'] : []), ...[...forms, ...raw].map((each) => each.media)]
  throw new RequestRefusal(415, 'unsupported_media_type', `Send the body as ${media.join(' or ')}.`)
}

function fitsMedia(type: string, media: string): boolean {
  const essence = type.split(';', 1)[0]!.trim().toLowerCase()
  return (
    media === essence || media === '*/*' || (media.endsWith('/*') && essence.startsWith(media.slice(0, -1)))
  )
}

/** Returns whether a Content-Type is JSON. */
export const isJson = (type: string | null): boolean =>
  type !== null && /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new RequestRefusal(413, 'body_too_large', `The body is larger than the limit of ${maxBytes} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (let next = await reader?.read(); next && !next.done; next = await reader!.read()) {
    size += next.value.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(next.value)
  }
  if (chunks.length === 1) return chunks[0]!
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

async function readJson(
  { upBody, typed }: Operation,
  body: Body,
  bytes: Uint8Array,
  load: LoadDocument,
): Promise<ReadContent> {
  const value = parseJson(bytes, typed ? parseExact : JSON.parse)
  const forbidden = findForbidden(value)
  if (forbidden) throw invalid([forbidden])
  if (!body.validate(value)) throw invalid(await explainValue(load, body.pointer, value))
  const { each } = body
  if (!each) return { body: value, up: upBody, decode: typed?.body }
  const items = (value as Readonly<Record<string, readonly unknown[]>>)[each.property] ?? []
  return {
    items: await Promise.all(
      items.map(
        async (item): Promise<CheckedItem<unknown>> =>
          each.validate(item)
            ? { valid: true, value: item }
            : { valid: false, details: await explainValue(load, each.pointer, item) },
      ),
    ),
  }
}

function parseJson(bytes: Uint8Array, parse: (text: string) => unknown): unknown {
  const text = decodeText(bytes)
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new RequestRefusal(400, 'malformed_body', `The body is not valid JSON: ${error.message}.`)
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new RequestRefusal(400, 'malformed_body', 'The body is not UTF-8 text.')
  }
}

/** Reads text as a string, and other bodies as a Blob. Documents declare bytes as strings with a length. */
async function readRaw(
  { media, validate, pointer }: RawBody,
  type: string,
  bytes: Uint8Array,
  load: LoadDocument,
): Promise<ReadContent> {
  const text = media.startsWith('text/') ? decodeText(bytes) : undefined
  const seen = text ?? 'x'.repeat(bytes.length)
  if (!validate(seen)) throw invalid(await explainValue(load, pointer, seen))
  return { body: text ?? new Blob([bytes as Uint8Array<ArrayBuffer>], { type }) }
}

const invalid = (details: readonly Detail[]) =>
  new RequestRefusal(422, 'invalid_body', 'The body does not match its schema.', details)

/** Number of fields and files of a form, including repetitions. */
const MAX_PARTS = 1000

async function readFields(
  { typed }: Operation,
  form: FormBody,
  type: string,
  bytes: Uint8Array,
  maxBytes: number,
  load: LoadDocument,
): Promise<ReadContent> {
  try {
    const body = await readForm([form], type, bytes, { bytes: maxBytes, parts: MAX_PARTS })
    return { body, up: form.up, decode: typed?.forms?.[form.media] }
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    if (error.reason === 'media') throw new RequestRefusal(415, 'unsupported_media_type', error.message)
    if (error.reason === 'limit') throw new RequestRefusal(413, 'body_too_large', error.message)
    throw invalid(
      error.refused === undefined ? error.faults : await explainValue(load, form.pointer, error.refused),
    )
  }
}
