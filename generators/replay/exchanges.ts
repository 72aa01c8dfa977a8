/** Reads recorded exchanges: entries of HAR files, and lines of request logs. */
import { createHash } from 'node:crypto'
import type { RecordedExchange } from '../runtime/replay.ts'

/** An exchange with its caller, and the version that it names. */
export interface CallerExchange extends RecordedExchange {
  readonly caller: string
  readonly version?: string
}

export interface TrafficHeaders {
  /** Header that names the version, in lower case. */
  readonly versionHeader: string
  /** Header that names the caller, in lower case. Default: a hash of the key. */
  readonly callerHeader?: string
}

/** Thrown for a record that is no exchange. The message follows the location of the record. */
export class RecordFault extends Error {}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a record. @throws RecordFault if it is not JSON, or no exchange. */
export function parseRecord(record: Buffer): Members {
  let value: unknown
  try {
    value = JSON.parse(record.toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new RecordFault(`is not valid JSON: ${error.message}`)
  }
  if (!isMembers(value)) throw new RecordFault('is not a JSON object')
  return value
}

/**
 * Reads a line of a request log: an object with `method`, `target` (or `url`, or `path` and `query`), and optionally `status`,
 * `version`, `caller` (or `key_id`), `request_headers`, `request_body` and `response_body`. Bodies are JSON values, or their text.
 */
export function readLogLine(row: Members, options: TrafficHeaders): CallerExchange {
  const { method, target, url, path, query, version, caller, key_id, status } = row
  const given = typeof target === 'string' ? target : typeof url === 'string' ? targetOf(url) : path
  if (typeof method !== 'string' || typeof given !== 'string')
    throw new RecordFault('has no `method` and `target`')
  const headers = isMembers(row.request_headers) ? lowerNames(Object.entries(row.request_headers)) : undefined
  const named = typeof version === 'string' ? version : headers?.[options.versionHeader]
  const by = caller ?? key_id
  return {
    method: method.toUpperCase(),
    target: given === path && typeof query === 'string' && query !== '' ? `${given}?${query}` : given,
    ...(headers && { headers }),
    caller: typeof by === 'string' ? by : callerOf(headers ?? {}, options),
    ...(named !== undefined && { version: named }),
    ...(status !== undefined && status !== null && { status: Number(status) }),
    ...withBody('body', row.request_body),
    ...withBody('answer', row.response_body),
  }
}

/** Text that is not JSON, for example because the log shortened it, counts as not recorded. */
function withBody<Name extends string>(name: Name, given: unknown): { readonly [Key in Name]?: unknown } {
  if (given === undefined || given === null || given === '') return {}
  const value = typeof given === 'string' ? jsonOf(given) : given
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: unknown }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Reads an entry of a HAR file (HAR 1.2). */
export function readHarEntry({ request, response }: Members, options: TrafficHeaders): CallerExchange {
  if (!isMembers(request) || typeof request.method !== 'string' || typeof request.url !== 'string')
    throw new RecordFault('has no `request` with a `method` and `url`')
  const headers = lowerNames(pairsOf(request.headers))
  const { postData } = request
  const answered = isMembers(response) ? response : {}
  const { status, content } = answered
  const version = headers[options.versionHeader]
  return {
    method: request.method.toUpperCase(),
    target: targetOf(request.url),
    headers,
    caller: callerOf(headers, options),
    ...(version !== undefined && { version }),
    ...(typeof status === 'number' && status > 0 && { status }),
    ...(isMembers(postData) && isJsonMedia(postData.mimeType) && withBody('body', postData.text)),
    ...(isMembers(content) && isJsonMedia(content.mimeType) && withBody('answer', contentText(content))),
  }
}

const isJsonMedia = (media: unknown): boolean =>
  typeof media === 'string' && /^application\/([\w.+-]+\+)?json\b/i.test(media)

const contentText = ({ text, encoding }: Members): unknown =>
  encoding === 'base64' && typeof text === 'string' ? Buffer.from(text, 'base64').toString('utf8') : text

const pairsOf = (headers: unknown): (readonly [string, unknown])[] =>
  Array.isArray(headers)
    ? headers.flatMap((each: unknown) => (isMembers(each) ? [[String(each.name), each.value] as const] : []))
    : []

const lowerNames = (pairs: readonly (readonly [string, unknown])[]): Record<string, string> =>
  Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]))

/** Returns path and query of a URL. */
function targetOf(url: string): string {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? ''
  const target = url.slice(origin.length).replace(/#.*$/, '')
  return target.startsWith('/') ? target : `/${target}`
}

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
