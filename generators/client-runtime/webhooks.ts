/**
 * Deliveries of events: checks who sent one, and makes one for the tests of those who receive them.
 *
 * A signature reads `t=<Unix seconds>,v1=<hex>`, where `v1` is HMAC-SHA256 of the timestamp, a period and the raw
 * body under the endpoint's secret as it was shown, prefix and all. There are several `v1` while a secret is rotated.
 * Made with Web Crypto, so that it runs in browsers, workers and Node alike.
 */
import { ClientError } from './errors.ts'

/** Why a delivery was refused. */
export type WebhookErrorCode =
  /** There is no signature under the name that this version gives it. */
  | 'missing_header'
  /** The signature does not read `t=…,v1=…`, or there is more than one. */
  | 'malformed_header'
  /** No secret has made any of the signatures: another sender, another endpoint's secret, or a changed body. */
  | 'no_match'
  /** Signed by the sender, but too long ago or too far ahead: a replay, or a clock that is wrong. */
  | 'timestamp_out_of_tolerance'
  /** Signed by the sender, but not JSON. */
  | 'body_not_json'
  /** Signed by the sender, but not an object with a `type`. */
  | 'body_not_an_event'
  /** The caller gave something else than the bytes or the text that arrived: most often what a parser made of it. */
  | 'body_not_raw'
  /** The caller gave no secret, or an empty one. */
  | 'missing_secret'
  /** Signed by the sender, but in a version that this package is too old to know. */
  | 'unknown_version'

/** A delivery that must not be acted upon. */
export class WebhookError extends ClientError {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The body as it arrived. JSON that was parsed and written again is another body. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** Of `fetch`, of Node's `http`, or of whatever else lists them by name; case does not matter. */
export type WebhookHeaders =
  | Pick<Headers, 'get' | 'keys'>
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The secret of the endpoint; several while it is rotated, or where one address serves several endpoints. */
export type WebhookSecret = string | readonly string[]

export interface UnwrapOptions {
  /** How far the timestamp may be from now, in either direction, in seconds. 300 when absent. */
  readonly toleranceSeconds?: number
  /** Milliseconds since the epoch, in place of the system's clock. */
  readonly now?: () => number
}

export interface SignOptions {
  /** Milliseconds since the epoch, in place of the system's clock. */
  readonly now?: () => number
}

/**
 * A type of event that this version does not list: the service is newer than the client. It is any other string at
 * run time; to the compiler it is none that a listed type could be, or no `case` would narrow to its own event.
 */
export type UnlistedType = `unlisted: ${string}`

/** An event of such a type: it has what every event has, and of what differs between types nothing is known. */
export type UnlistedEvent<Listed> = { type: UnlistedType } & {
  [Member in Exclude<keyof Listed, 'type'>]: Listed[Member] extends string | number | boolean
    ? Listed[Member]
    : unknown
}

type ListedEvent<Webhooks> = {
  [Type in keyof Webhooks]: Webhooks[Type] extends {
    post: { requestBody: { content: { 'application/json': infer Event } } }
  }
    ? Event
    : never
}[keyof Webhooks]

/**
 * What a version sends, from its types as openapi-typescript writes them: told apart by `type`, and open, so that a
 * `switch` over `type` has something left for its `default`.
 */
export type EventOf<Webhooks> = ListedEvent<Webhooks> | UnlistedEvent<ListedEvent<Webhooks>>

const TOLERANCE_SECONDS = 300
const TIMESTAMP = /^t=(\d{1,12})$/
const SIGNATURE = /^v1=([0-9a-f]{64})$/
/** Another scheme than this file knows, beside which `v1` still counts. */
const FOREIGN = /^v\d+=[\x21-\x2b\x2d-\x7e]+$/

/**
 * Verifies a delivery and reads the event in it.
 *
 * @param header under which the version sends its signature.
 * @throws WebhookError whose `code` says why the delivery must not be acted upon.
 */
export async function verifyDelivery<Event>(
  header: string,
  body: WebhookBody,
  headers: WebhookHeaders,
  secret: WebhookSecret,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: UnwrapOptions = {},
): Promise<Event> {
  const bytes = bytesOf(body)
  const { timestamp, signatures } = parse(find(headers, header), header)
  const expected = await signAll(bytes, timestamp, secret)
  // Whom it is from comes first: what is said of the time of a stranger's delivery would mean nothing.
  if (!matchAny(expected, signatures)) {
    throw new WebhookError('no_match', 'No secret that was given has signed this body')
  }
  const ageSeconds = Math.floor(now() / 1000) - Number(timestamp)
  // Written so that a clock or tolerance which is not a number refuses.
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    const away = `${Math.abs(ageSeconds)} s ${ageSeconds < 0 ? 'ahead' : 'ago'}`
    throw new WebhookError(
      'timestamp_out_of_tolerance',
      `It was signed ${away}; ${toleranceSeconds} s are allowed`,
    )
  }
  return read(bytes) as Event
}

/**
 * The header that a delivery of this body would carry. Under several secrets it has a signature of each.
 *
 * @throws WebhookError when there is no secret.
 */
export async function signDelivery(
  header: string,
  body: WebhookBody,
  secret: WebhookSecret,
  { now = Date.now }: SignOptions = {},
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now() / 1000))
  const signatures = await signAll(bytesOf(body), timestamp, secret)
  return { [header]: [`t=${timestamp}`, ...signatures.map((each) => `v1=${each}`)].join(',') }
}

/** @returns the values of a header, however the caller's framework keeps them. */
export function valuesOf(headers: WebhookHeaders, header: string): readonly string[] {
  const wanted = header.toLowerCase()
  return isHeaders(headers)
    ? [headers.get(wanted) ?? []].flat()
    : Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? (value ?? []) : []))
}

function bytesOf(body: WebhookBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (ArrayBuffer.isView(body)) return body
  // By its tag: an ArrayBuffer of another realm is no instance of this one's.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body)
  throw new WebhookError(
    'body_not_raw',
    'The body must be the text or the bytes that arrived; a parser in front has consumed them',
  )
}

/** @throws WebhookError when the header is not there exactly once. */
function find(headers: WebhookHeaders, header: string): string {
  const values = valuesOf(headers, header)
  const [value] = values
  if (value === undefined) {
    const names = isHeaders(headers) ? [...headers.keys()] : Object.keys(headers)
    const similar = names.filter((name) => name.toLowerCase().endsWith('signature'))
    const hint = similar.length > 0 ? `; ${similar.join(' and ')} may be that of another version` : ''
    throw new WebhookError('missing_header', `There is no ${header}${hint}`)
  }
  if (values.length > 1) throw new WebhookError('malformed_header', `There are several ${header}`)
  return value
}

function isHeaders(headers: WebhookHeaders): headers is Pick<Headers, 'get' | 'keys'> {
  return typeof headers.get === 'function'
}

/** @returns the timestamp as it was signed, digit by digit. */
function parse(value: string, header: string): { timestamp: string; signatures: string[] } {
  const [first = '', ...rest] = value.split(',')
  const timestamp = TIMESTAMP.exec(first)?.[1]
  const signatures = rest.flatMap((each) => SIGNATURE.exec(each)?.[1] ?? [])
  const strange = rest.some(
    (each) => !SIGNATURE.test(each) && (each.startsWith('v1=') || !FOREIGN.test(each)),
  )
  if (timestamp === undefined || signatures.length === 0 || strange) {
    throw new WebhookError('malformed_header', `${header} does not read t=<Unix seconds>,v1=<hex>`)
  }
  return { timestamp, signatures }
}

/** @returns the signature under each secret, in hex. */
function signAll(body: Uint8Array, timestamp: string, secret: WebhookSecret): Promise<string[]> {
  const secrets = typeof secret === 'string' ? [secret] : [...(secret ?? [])]
  // An empty key is one that everybody has.
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each === '')) {
    throw new WebhookError('missing_secret', 'The secret of the endpoint is missing or empty')
  }
  const start = new TextEncoder().encode(`${timestamp}.`)
  const message = new Uint8Array(start.length + body.length)
  message.set(start)
  message.set(body, start.length)
  return Promise.all(secrets.map((each) => sign(message, each)))
}

async function sign(message: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const raw = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, message))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares all with all to the last digit, so that the time it takes says nothing of where they differ. */
function matchAny(expected: readonly string[], given: readonly string[]): boolean {
  let matches = 0
  for (const ours of expected) {
    for (const theirs of given) {
      let difference = ours.length ^ theirs.length
      for (let at = 0; at < ours.length; at++) difference |= ours.charCodeAt(at) ^ theirs.charCodeAt(at)
      matches |= Number(difference === 0)
    }
  }
  return matches === 1
}

function read(body: Uint8Array): unknown {
  const event = parseJson(body)
  if (typeof event !== 'object' || event === null || !('type' in event) || typeof event.type !== 'string') {
    throw new WebhookError('body_not_an_event', 'The body is not an object with a type')
  }
  return event
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw new WebhookError('body_not_json', 'The body is not JSON in UTF-8', { cause })
  }
}
