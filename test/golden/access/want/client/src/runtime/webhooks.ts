/**
 * Verifies webhook deliveries, and signs deliveries for tests of receivers.
 *
 * A signature has the form `t=<Unix seconds>,v1=<hex>`. `v1` is the HMAC-SHA256 of the timestamp, a period and the raw
 * body. The key is the endpoint's secret as it is displayed, with its prefix. There are several `v1` while a secret is
 * rotated. The code uses Web Crypto, so that it runs in browsers, workers and Node.js.
 *
 * Deliveries in the form of Standard Webhooks are verified too: `v1` with a secret, `v1a` with a public key.
 */
import { ClientError } from './errors.ts'
import type { ValueCodec } from './service.ts'

/** The reason why a delivery was rejected. */
export type WebhookErrorCode =
  /** The signature header of this version is missing. */
  | 'missing_header'
  /** The header does not have the form `t=…,v1=…`, or it occurs more than once. */
  | 'malformed_header'
  /** No signature matches a secret: a different sender, the secret of a different endpoint, or a changed body. */
  | 'no_match'
  /** The signature is valid, but the timestamp is too old or too far in the future: a replay, or a wrong clock. */
  | 'timestamp_out_of_tolerance'
  /** The signature is valid, but the body is not JSON. */
  | 'body_not_json'
  /** The signature is valid, but the body is not an object with a `type`. */
  | 'body_not_an_event'
  /** The given body is not the received text or bytes. Usually a JSON parser has already processed it. */
  | 'body_not_raw'
  /** The given secret is missing or empty. */
  | 'missing_secret'
  /** The signature is valid, but this package has no types for the version of the event. */
  | 'unknown_version'

/** Thrown if a delivery must be rejected. */
export class WebhookError extends ClientError {
  override readonly name = 'WebhookError'
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The body exactly as received. Parsing and serializing JSON again changes it. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** Headers from `fetch`, from Node's `http`, or as any object with headers by name. Case does not matter. */
export type WebhookHeaders =
  | Pick<Headers, 'get' | 'keys'>
  | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The secret of the endpoint. Several secrets are allowed, for a rotation or for a URL that serves several endpoints.
 * A public key, which begins with `whpk_`, verifies the Ed25519 signatures of Standard Webhooks instead.
 */
export type WebhookSecret = string | readonly string[]

export interface UnwrapOptions {
  /** Maximum difference between the timestamp and now, in either direction, in seconds. Default: 300. */
  readonly toleranceSeconds?: number
  /** Replaces the system clock. Returns milliseconds since the epoch. */
  readonly now?: () => number
}

export interface SignOptions {
  /** Replaces the system clock. Returns milliseconds since the epoch. */
  readonly now?: () => number
}

/**
 * An event type that this version does not list, because the service is newer than the client. At run time it is any
 * other string. Its compile-time type cannot overlap with listed types; otherwise, `case` would not narrow to one
 * event.
 */
export type UnlistedType = `unlisted: ${string}`

/** An event of an unlisted type. It has the members that all events share. */
export type UnlistedEvent<Listed> = { type: UnlistedType } & {
  [Member in Exclude<keyof Listed, 'type'>]: Listed[Member] extends string | number | boolean
    ? Listed[Member]
    : Listed[Member] extends readonly unknown[]
      ? unknown
      : Listed[Member] extends object
        ? Record<string, unknown>
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
 * The events of a version, derived from the types that openapi-typescript generates. The union is discriminated by
 * `type`, and it is open, so that a `switch` over `type` needs a `default`.
 */
export type EventOf<Webhooks> = ListedEvent<Webhooks> | UnlistedEvent<ListedEvent<Webhooks>>

const TOLERANCE_SECONDS = 300
const TIMESTAMP = /^t=(\d{1,12})$/
const SIGNATURE = /^v1=([0-9a-f]{64})$/
/** A signature scheme that this file does not support. It may occur next to `v1`. */
const FOREIGN = /^v\d+=[\x21-\x2b\x2d-\x7e]+$/

/** The headers of Standard Webhooks, and the prefix of its public keys. */
const STANDARD = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' }
const PUBLIC_KEY = 'whpk_'

/**
 * Verifies a delivery and returns its event.
 *
 * @param header the signature header of the version.
 * @throws WebhookError if the delivery must be rejected; `code` gives the reason.
 */
export async function verifyDelivery<Event>(
  header: string,
  body: WebhookBody,
  headers: WebhookHeaders,
  secret: WebhookSecret,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: UnwrapOptions = {},
  codec?: Pick<ValueCodec, 'parse' | 'decode'>,
): Promise<Event> {
  const bytes = bytesOf(body)
  const secrets = listSecrets(secret)
  const isPublic = secrets.some((each) => each.startsWith(PUBLIC_KEY))
  const has = (name: string) => valuesOf(headers, name).length > 0
  const isStandard = isPublic || (!has(header) && has(STANDARD.signature))
  const { timestamp, matches } = isStandard
    ? await matchStandard(bytes, headers, secrets)
    : await matchOwn(bytes, find(headers, header), header, secrets)
  // The signature is checked first: the timestamp of an unknown sender means nothing.
  if (!matches) throw new WebhookError('no_match', 'No signature of the delivery matches a given secret')
  const ageSeconds = Math.floor(now() / 1000) - Number(timestamp)
  // The negated comparison also rejects NaN, from an invalid clock or tolerance.
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    const away = `${Math.abs(ageSeconds)} s ${ageSeconds < 0 ? 'ahead' : 'ago'}`
    throw new WebhookError(
      'timestamp_out_of_tolerance',
      `The delivery was signed ${away}, but the tolerance is ${toleranceSeconds} s`,
    )
  }
  return read(bytes, codec) as Event
}

/**
 * Returns the signature header for a delivery with this body, with one signature for each secret.
 *
 * @throws WebhookError if there is no secret.
 */
export async function signDelivery(
  header: string,
  body: WebhookBody,
  secret: WebhookSecret,
  { now = Date.now }: SignOptions = {},
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now() / 1000))
  const signatures = await signAll(bytesOf(body), timestamp, listSecrets(secret))
  return { [header]: [`t=${timestamp}`, ...signatures.map((each) => `v1=${each}`)].join(',') }
}

/** Returns the values of a header from any supported type of headers. */
export function valuesOf(headers: WebhookHeaders, header: string): readonly string[] {
  const wanted = header.toLowerCase()
  return isHeaders(headers)
    ? [headers.get(wanted) ?? []].flat()
    : Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? (value ?? []) : []))
}

function bytesOf(body: WebhookBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (ArrayBuffer.isView(body)) return body
  // Compares the tag, because `instanceof` fails for an ArrayBuffer from a different realm.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body)
  throw new WebhookError(
    'body_not_raw',
    'The body must be the received text or bytes. Read it before a body parser does.',
  )
}

/** Returns the value of a header. @throws WebhookError if it does not occur exactly once. */
function find(headers: WebhookHeaders, header: string): string {
  const values = valuesOf(headers, header)
  const [value] = values
  if (value === undefined) {
    const names = isHeaders(headers) ? [...headers.keys()] : Object.keys(headers)
    const similar = names.filter((name) => name.toLowerCase().endsWith('signature'))
    const hint =
      similar.length > 0 ? `; ${similar.join(' and ')} may be the header of a different version` : ''
    throw new WebhookError('missing_header', `The header ${header} is missing${hint}`)
  }
  if (values.length > 1)
    throw new WebhookError('malformed_header', `The header ${header} occurs more than once`)
  return value
}

function isHeaders(headers: WebhookHeaders): headers is Pick<Headers, 'get' | 'keys'> {
  return typeof headers.get === 'function'
}

/** Parses a signature header. Returns the timestamp as signed text, so that its digits stay exactly the same. */
function parse(value: string, header: string): { timestamp: string; signatures: string[] } {
  const [first = '', ...rest] = value.split(',')
  const timestamp = TIMESTAMP.exec(first)?.[1]
  const signatures = rest.flatMap((each) => SIGNATURE.exec(each)?.[1] ?? [])
  const strange = rest.some(
    (each) => !SIGNATURE.test(each) && (each.startsWith('v1=') || !FOREIGN.test(each)),
  )
  if (timestamp === undefined || signatures.length === 0 || strange) {
    throw new WebhookError(
      'malformed_header',
      `The header ${header} does not have the form t=<Unix seconds>,v1=<hex>`,
    )
  }
  return { timestamp, signatures }
}

interface Matched {
  /** Unix time as signed text. */
  readonly timestamp: string
  readonly matches: boolean
}

async function matchOwn(
  body: Uint8Array,
  value: string,
  header: string,
  secrets: readonly string[],
): Promise<Matched> {
  const { timestamp, signatures } = parse(value, header)
  return { timestamp, matches: matchAny(await signAll(body, timestamp, secrets), signatures) }
}

/** Compares the signatures of Standard Webhooks: a secret with each `v1`, a public key with each `v1a`. */
async function matchStandard(
  body: Uint8Array,
  headers: WebhookHeaders,
  secrets: readonly string[],
): Promise<Matched> {
  const [id, timestamp, value] = [STANDARD.id, STANDARD.timestamp, STANDARD.signature].map((name) =>
    find(headers, name),
  ) as [string, string, string]
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookError(
      'malformed_header',
      `The header ${STANDARD.timestamp} is not a Unix time in seconds`,
    )
  }
  const message = join(`${id}.${timestamp}.`, body)
  const given = value.split(' ')
  const of = (scheme: string) =>
    given.filter((each) => each.startsWith(scheme)).map((each) => each.slice(scheme.length))
  const tried = await Promise.all(
    secrets.map(async (each) => {
      const key = fromBase64(each.slice(each.indexOf('_') + 1))
      if (!key) return false
      if (!each.startsWith(PUBLIC_KEY)) return matchAny([toBase64(await digest(message, key))], of('v1,'))
      return verifiesAny(key, of('v1a,'), message)
    }),
  )
  return { timestamp, matches: tried.includes(true) }
}

async function verifiesAny(
  publicKey: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (publicKey.length !== 32) return false
  const key = await crypto.subtle.importKey('raw', publicKey, { name: 'Ed25519' }, false, ['verify'])
  const verified = await Promise.all(
    signatures.map((each) => {
      const signature = fromBase64(each)
      return signature !== undefined && crypto.subtle.verify({ name: 'Ed25519' }, key, signature, message)
    }),
  )
  return verified.includes(true)
}

/** Returns the secrets as a list. @throws WebhookError if the list or a secret is empty: anyone could sign with an empty key. */
function listSecrets(secret: WebhookSecret): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : [...(secret ?? [])]
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each === '')) {
    throw new WebhookError('missing_secret', 'The endpoint secret is missing or empty')
  }
  return secrets
}

/** Returns the hexadecimal signature for each secret. */
function signAll(body: Uint8Array, timestamp: string, secrets: readonly string[]): Promise<string[]> {
  const message = join(`${timestamp}.`, body)
  return Promise.all(secrets.map((each) => sign(message, each)))
}

function join(start: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const first = new TextEncoder().encode(start)
  const message = new Uint8Array(first.length + body.length)
  message.set(first)
  message.set(body, first.length)
  return message
}

async function sign(message: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  const bytes = await digest(message, new TextEncoder().encode(secret))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function digest(message: Uint8Array<ArrayBuffer>, raw: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message))
}

/** Decodes base64 or base64url. Returns undefined for other text, and for none. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = atob(text.replace(/-/g, '+').replace(/_/g, '/'))
    return bytes === '' ? undefined : Uint8Array.from(bytes, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))

/** Compares all pairs completely, so that the duration does not reveal where they differ. */
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

function read(body: Uint8Array, codec: Parameters<typeof verifyDelivery>[5]): unknown {
  const event = parseJson(body, codec?.parse ?? JSON.parse)
  if (typeof event !== 'object' || event === null || !('type' in event) || typeof event.type !== 'string') {
    throw new WebhookError('body_not_an_event', 'The body is not a JSON object with a string member "type"')
  }
  return codec?.decode ? codec.decode(event) : event
}

function parseJson(body: Uint8Array, parse: (text: string) => unknown): unknown {
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw new WebhookError('body_not_json', 'The body is not JSON in UTF-8', { cause })
  }
}
