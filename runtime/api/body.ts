/** Reads and parses the body of a request, and validates it against the caller's version. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Body, CheckedItem, Detail } from 'dateline/runtime'
import { type JsonScan, scanJson } from '../platform/json/scan-json.ts'
import { ApiError, malformedJson, unavailable, validationFailed } from './errors/errors.ts'
import type { ApiService, ReceivedRequest, RequestBody } from './exchange.ts'
import { explainAll, findMisspelt, type VersionedSchema } from './explanation.ts'
import { findSyntaxFault } from './json/find-syntax-fault.ts'
import { findForbidden, type Tally } from './json/inspect-json.ts'
import { findAnywhere } from './routing.ts'
import type { ApiRoute, Versions, VersionTable } from './version-table.ts'

const MIB = 1024 * 1024

/** Maximum body size in bytes, unless the operation declares a different one. */
export const BODY_LIMIT = MIB

/** Checks the size and encoding of the body before it is read. */
export function limitTransport({ request, path }: ReceivedRequest, { versions }: ApiService): void {
  const { headers, method } = request
  const length = Number(headers['content-length'] ?? 0)
  if (length > BODY_LIMIT) {
    const limit = limitOf(findAnywhere(versions, method!, path))
    if (length > limit) throw bodyTooLarge(limit)
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType('The body is compressed. Send it without Content-Encoding.')
  }
}

function limitOf(route: ApiRoute | undefined): number {
  const { bodyLimit } = route?.operation.extensions ?? {}
  return bodyLimit === undefined ? BODY_LIMIT : bodyLimit * MIB
}

function bodyTooLarge(limit: number): ApiError {
  const message = `The body is larger than ${limit / MIB} MiB.`
  return new ApiError(413, 'body_too_large', 'body_too_large', message)
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'unsupported_media_type', 'unsupported_media_type', message)
}

const NO_BODY: RequestBody = { body: undefined, items: undefined }

/** Reads and validates the body. @throws ApiError 400, 408, 413, 415, 422 or 503. */
export function readBody(
  received: ReceivedRequest,
  version: VersionTable,
  route: ApiRoute,
  service: ApiService,
): RequestBody | Promise<RequestBody> {
  return route.write ? readWritten(received, version, route, service) : NO_BODY
}

async function readWritten(
  received: ReceivedRequest,
  version: VersionTable,
  route: ApiRoute,
  { bodyMs, versions }: ApiService,
): Promise<RequestBody> {
  const { request } = received
  const { body } = route.operation
  const bytes = await readBytes(request, bodyMs, limitOf(route))
  if (bytes.length === 0) {
    if (body?.required) throw malformedJson('The request has no body. This operation requires a JSON body.')
    return NO_BODY
  }
  requireJsonType(request.headers['content-type'])
  const value = parseJson(bytes)
  const scan = scanJson(bytes)
  const forbidden = inspectBody(value, body?.each, scan)
  if (forbidden.whole) throw validationFailed([forbidden.whole])
  if (!body) {
    requireNothing(value)
    return NO_BODY
  }
  const explainIn = (partOf: PartOf) => (part: unknown) => {
    const history = historyOf(versions, received, partOf)
    return explainAll({ version, pointer: partOf(body)!.pointer }, part, history)
  }
  if (!body.validate(value)) throw validationFailed(explainIn((each) => each)(value))
  if (body.each) {
    const items = validateItems(
      body.each,
      value,
      forbidden.items,
      explainIn(({ each }) => each),
    )
    return { body: value, items }
  }
  const misspelt = scan.hasFractions ? findMisspelt(bytes, version.document, body.pointer) : []
  if (misspelt.length > 0) throw validationFailed(misspelt)
  return { body: value, items: undefined }
}

/** Selects the part of a body that is validated separately: the whole body, or an item of a batch. */
type PartOf = (body: Body) => { readonly pointer: string } | undefined

/** Returns the same part in every version that has the operation. */
function historyOf(
  versions: Versions,
  { request, path }: ReceivedRequest,
  partOf: PartOf,
): VersionedSchema[] {
  return versions.all.flatMap((version) => {
    const body = version.matcher.match(path)?.routes.get(request.method!)?.operation.body
    const part = body && partOf(body)
    return part ? [{ version, pointer: part.pointer }] : []
  })
}

type Each = NonNullable<Body['each']>

/** The first forbidden value of a body. In a batch, the first one of each item, which then fails only that item. */
interface Forbidden {
  readonly whole: Detail | undefined
  readonly items: readonly (Detail | undefined)[]
}

/** Finds forbidden values. @throws ApiError `malformed_json` if an object has two members with the same name. */
export function inspectBody(
  value: unknown,
  each: Each | undefined,
  { colons }: Pick<JsonScan, 'colons'>,
): Forbidden {
  const tally: Tally = { colons: 0 }
  const given = each && itemsOf(each, value)
  // An item is two levels below the root of the body.
  const items = given?.map((item) => findForbidden(item, tally, 2)) ?? []
  const whole = findForbidden(given ? { ...(value as object), [each!.property]: [] } : value, tally)
  if (tally.colons !== colons) throw malformedJson('An object in the body has the same member twice.')
  return { whole, items }
}

function itemsOf({ property }: Each, value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, property)) return undefined
  const items = (value as Readonly<Record<string, unknown>>)[property]
  return Array.isArray(items) ? items : undefined
}

/** An operation without a body also accepts `{}`. */
function requireNothing(value: unknown): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) throw validationFailed([{ field: '', issue: 'must be an object without properties' }])
  const faults = Object.keys(value).map((field) => ({ field, issue: 'is not a known property' }))
  if (faults.length > 0) throw validationFailed(faults)
}

function validateItems(
  each: Each,
  value: unknown,
  forbidden: readonly (Detail | undefined)[],
  explainItem: (item: unknown) => Detail[],
): CheckedItem<unknown>[] {
  return (itemsOf(each, value) ?? []).map((item, index) => {
    const fault = forbidden[index]
    if (fault) return { valid: false, details: [fault] }
    if (each.validate(item)) return { valid: true, value: item }
    return { valid: false, details: explainItem(item) }
  })
}

/**
 * Limit for all bodies that are being read. Buffers are outside the heap, so the check of the heap size does not see
 * them.
 */
const MAX_HELD = 256 * BODY_LIMIT

let held = 0

/** The rest of the body is still arriving, so the connection cannot be reused. */
function bodyTooSlow(): ApiError {
  return new ApiError(408, 'invalid_parameter', 'invalid_format', 'The body took too long to arrive.', {
    headers: ['Connection', 'close'],
  })
}

/**
 * Reads a whole body. Rejects with 413 if it is larger than `limit` bytes, with 408 if it does not arrive in time,
 * with 503 if all bodies that are being read are too large together, and with the error of the connection if it
 * fails.
 */
export function readBytes(request: IncomingMessage, timeoutMs: number, limit = BODY_LIMIT): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let counted = 0
    const release = () => {
      clearTimeout(late)
      held -= counted
      counted = 0
    }
    const giveUp = (error: Error) => {
      release()
      chunks.length = 0
      request.off('data', take)
      request.pause()
      reject(error)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      counted += chunk.length
      held += chunk.length
      if (size > limit) giveUp(bodyTooLarge(limit))
      else if (held > MAX_HELD) giveUp(unavailable())
      else chunks.push(chunk)
    }
    const late = setTimeout(() => giveUp(bodyTooSlow()), timeoutMs)
    request.on('data', take)
    request.once('end', () => {
      release()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    request.once('error', giveUp)
    request.once('close', () => giveUp(new Error('the connection closed before the end of the body')))
  })
}

const JSON_TYPE = /^application\/json *(; *charset="?utf-8"? *)?$/i

/** @throws ApiError 415 unless the content type is JSON, with UTF-8 if it names a charset. */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType !== undefined && JSON_TYPE.test(contentType)) return
  throw unsupportedMediaType('The Content-Type must be application/json.')
}

/** Parses JSON. @throws ApiError `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformedJson('The body is not valid UTF-8.')
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    if (error instanceof SyntaxError) throw malformedJson(describeSyntax(bytes.toString()))
    throw error
  }
}

/** Longer texts are not searched for the position of a syntax error, because the search blocks the event loop. */
const MAX_SEARCHED = 256 * 1024

function describeSyntax(text: string): string {
  const fault = text.length > MAX_SEARCHED ? undefined : findSyntaxFault(text)
  if (!fault) return 'The body is not valid JSON.'
  return `The body is not valid JSON: expected ${fault.expected} at line ${fault.line}, column ${fault.column}.`
}
