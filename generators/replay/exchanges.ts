/** Reads recorded exchanges with their callers: entries of HAR files, and lines of request logs. */

import { createHash } from 'node:crypto'
import { isJson } from '../ir/media-type.ts'
import { isObject, type Json } from '../runtime/explain/walk.ts'
import {
  type LoggedExchange,
  lowerNames,
  RecordFault,
  readLogLine,
  recordedBody,
  targetOf,
} from '../runtime/recorded.ts'

interface CallerExchange extends LoggedExchange {
  readonly caller: string
}

export interface TrafficHeaders {
  /** Header that names the version, in lower case. */
  readonly versionHeader: string
  /** Header that names the caller, in lower case. Default: a hash of the key. */
  readonly callerHeader?: string
}

/** Reads a record. @throws RecordFault if it is not JSON, or no exchange. */
export function readRecord(record: Buffer, isHar: boolean, names: TrafficHeaders): CallerExchange {
  let value: unknown
  try {
    value = JSON.parse(record.toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new RecordFault(`is not valid JSON: ${error.message}`)
  }
  if (!isObject(value)) throw new RecordFault('is not a JSON object')
  const exchange = isHar ? readHarEntry(value) : readLogLine(value)
  const version = exchange.version ?? exchange.headers?.[names.versionHeader]
  return {
    ...exchange,
    caller: exchange.caller ?? callerOf(exchange.headers ?? {}, names),
    ...(version !== undefined && { version }),
  }
}

/** Reads an entry of a HAR file (HAR 1.2). */
function readHarEntry({ request, response }: Json): LoggedExchange {
  if (!isObject(request) || typeof request.method !== 'string' || typeof request.url !== 'string')
    throw new RecordFault('has no `request` with a `method` and `url`')
  const { postData } = request
  const { status, content } = isObject(response) ? response : {}
  return {
    method: request.method.toUpperCase(),
    target: targetOf(request.url),
    headers: lowerNames(pairsOf(request.headers)),
    // 0 is a request without an answer.
    ...(typeof status === 'number' && status > 0 && { status }),
    ...(isObject(postData) && isJsonMedia(postData.mimeType) && recordedBody('body', postData.text)),
    ...(isObject(content) && isJsonMedia(content.mimeType) && recordedBody('answer', contentText(content))),
  }
}

const isJsonMedia = (media: unknown): boolean => typeof media === 'string' && isJson(media)

const contentText = ({ text, encoding }: Json): unknown =>
  encoding === 'base64' && typeof text === 'string' ? Buffer.from(text, 'base64').toString('utf8') : text

const pairsOf = (headers: unknown): (readonly [string, unknown])[] =>
  Array.isArray(headers)
    ? headers.flatMap((each: unknown) => (isObject(each) ? [[String(each.name), each.value] as const] : []))
    : []

/** Headers that hold keys, which must not be printed. */
const SECRETS = ['authorization', 'x-api-key', 'api-key', 'cookie']

const hashes = new Map<string, string>()
const MAX_HASHES = 10_000

function callerOf(headers: Readonly<Record<string, string>>, { callerHeader }: TrafficHeaders): string {
  const name = callerHeader ?? SECRETS.find((each) => headers[each] !== undefined)
  const value = name === undefined ? undefined : headers[name]
  if (value === undefined) return 'unknown'
  if (!SECRETS.includes(name!)) return value
  const known = hashes.get(value)
  if (known !== undefined) return known
  const hash = `key ${createHash('sha256').update(value).digest('hex').slice(0, 12)}`
  if (hashes.size < MAX_HASHES) hashes.set(value, hash)
  return hash
}
