/** The body of a request: read, parsed, and validated as the caller's version describes it. */

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

/** The most bytes of a body that are read, where its operation says nothing else. */
export const BODY_LIMIT = MIB

/** What is refused of any caller, before anything is read. */
export function limitTransport({ request, path }: ReceivedRequest, { versions }: ApiService): void {
  const { headers, method } = request
  const length = Number(headers['content-length'] ?? 0)
  if (length > BODY_LIMIT) {
    const limit = limitOf(findAnywhere(versions, method!, path))
    if (length > limit) throw bodyTooLarge(limit)
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType('Send the body as it is: compressed bodies are not read.')
  }
}

/** What a body may have, in bytes. */
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

/** The body, as the caller's version describes it. */
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
    if (body?.required) throw malformedJson('This operation needs a JSON body.')
    return NO_BODY
  }
  requireJsonType(request.headers['content-type'])
  const value = parseJson(bytes)
  const scan = scanJson(bytes)
  const forbidden = inspect(value, body?.each, scan)
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

/** What is validated by itself: a body, or each item of a batch. */
type PartOf = (body: Body) => { readonly pointer: string } | undefined

/** The same part in all versions that have the operation. */
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

/** What a body must not hold: the first of it, and in a batch the first of each item, which costs only that item. */
interface Forbidden {
  readonly whole: Detail | undefined
  readonly items: readonly (Detail | undefined)[]
}

/** Throws `malformed_json` where an object has a member twice. */
function inspect(value: unknown, each: Each | undefined, { colons }: JsonScan): Forbidden {
  const tally: Tally = { colons: 0 }
  const given = each && itemsOf(each, value)
  // Items are two levels below the envelope.
  const items = given?.map((item) => findForbidden(item, tally, 2)) ?? []
  const whole = findForbidden(given ? { ...(value as object), [each!.property]: [] } : value, tally)
  if (tally.colons !== colons) throw malformedJson('An object of the body has a member twice.')
  return { whole, items }
}

function itemsOf({ property }: Each, value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, property)) return undefined
  const items = (value as Readonly<Record<string, unknown>>)[property]
  return Array.isArray(items) ? items : undefined
}

/** An operation without a body takes `{}` too. */
function requireNothing(value: unknown): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) throw validationFailed([{ field: '', issue: 'must be an object without properties' }])
  const faults = Object.keys(value).map((field) => ({ field, issue: 'is not a known property' }))
  if (faults.length > 0) throw validationFailed(faults)
}

/** Validates the items of a batch one by one. */
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

/** Bytes that all bodies being read may take together: they are outside the heap, whose size is watched. */
const MAX_HELD = 256 * BODY_LIMIT

let held = 0

/** What still arrives belongs to this request, so the connection ends with the answer. */
function bodyTooSlow(): ApiError {
  return new ApiError(408, 'invalid_parameter', 'invalid_format', 'The body took too long to arrive.', {
    headers: ['Connection', 'close'],
  })
}

/**
 * Reads a body whole. Rejects with 413 when it has more than `limit` bytes, with 408 when it is not there in time, with 503 when all
 * that are being read grow too large together, and with the connection's error when that is lost.
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
    request.once('close', () => giveUp(new Error('the request ended before its body')))
  })
}

const JSON_TYPE = /^application\/json *(; *charset="?utf-8"? *)?$/i

/** Throws 415 unless the header says JSON, in UTF-8 where it says anything about that. */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType !== undefined && JSON_TYPE.test(contentType)) return
  throw unsupportedMediaType('Send the body as application/json.')
}

/** Parses JSON. Throws `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformedJson('The body is not UTF-8.')
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    if (error instanceof SyntaxError) throw malformedJson(describeSyntax(bytes.toString()))
    throw error
  }
}

/** A position further behind helps nobody, and looking for it takes time from others. */
const MAX_SEARCHED = 256 * 1024

function describeSyntax(text: string): string {
  const fault = text.length > MAX_SEARCHED ? undefined : findSyntaxFault(text)
  if (!fault) return 'The body is not valid JSON.'
  return `The body is not valid JSON: line ${fault.line}, column ${fault.column} should be ${fault.expected}.`
}
