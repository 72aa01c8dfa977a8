import { randomBytes, randomFillSync } from 'node:crypto'
import { type RecordPrefix, records } from '../../generated/canonical/records.ts'

/** Prefixes of records that the API document does not describe. All except `len` appear only in operator tools. */
const OWN_PREFIXES = ['len', 'mem', 'inv', 'ocl', 'lft', 'nex', 'ncrt', 'nkey'] as const

export type IdPrefix = RecordPrefix | (typeof OWN_PREFIXES)[number]

/** Prefixes of all identifiers: those of the newest document, and those above. */
export const PREFIXES: readonly IdPrefix[] = [...(Object.keys(records) as RecordPrefix[]), ...OWN_PREFIXES]

/** Crockford's base32 in lower case: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Two characters for each value of ten bits. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, bits) => `${ALPHABET.charAt(bits >> 5)}${ALPHABET.charAt(bits & 31)}`,
)

/** 26 characters hold 130 bits, two more than needed, so the first character is at most 7. */
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

const random = new Uint32Array(512)
let randomLeft = 0

/** Returns a random 32-bit integer. One call to the operating system fills a buffer of 512. */
function random32(): number {
  if (randomLeft === 0) {
    randomFillSync(random)
    randomLeft = random.length
  }
  randomLeft -= 1
  return random[randomLeft]!
}

// The implementation-defined bits of a UUIDv7 hold a counter (RFC 9562, 6.2, method 1). Identifiers that one process
// makes for the same millisecond therefore sort in order of creation, regardless of the clock that the millisecond
// comes from.
let counter = randomBytes(4).readUInt32BE() >>> 1

let timeOfText = -1
let timeText = ''

/** Returns the first ten characters: two bits of padding and 48 bits of time. */
function writeTime(atMs: number): string {
  if (atMs === timeOfText) return timeText
  let rest = Math.floor(atMs)
  let text = ''
  for (let position = 0; position < 10; position += 1) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  timeOfText = atMs
  timeText = text
  return text
}

/** Returns four characters for the lowest twenty bits. */
function write20(bits: number): string {
  return PAIRS[(bits >>> 10) & 1023]! + PAIRS[bits & 1023]!
}

/**
 * Creates an identifier: the prefix and a UUIDv7 (RFC 9562) as 26 characters of Crockford base32 in lower case.
 * Identifiers sort by creation time.
 *
 * @param atMs milliseconds since the epoch; service time for records that tenants see. Defaults to the machine's clock.
 */
export function newId(prefix: IdPrefix, atMs: number = Date.now()): string {
  counter = (counter + 1) >>> 0
  const high = counter >>> 20
  const low = counter & 0xfffff
  const a = random32()
  const b = random32()
  // version 7, 12 bits of counter, variant 2, 20 bits of counter, 42 random bits
  const first = 0x70000 | (high << 4) | 0b1000 | (low >>> 18)
  const second = ((low & 0x3ffff) << 2) | (a >>> 30)
  return `${prefix}_${writeTime(atMs)}${write20(first)}${write20(second)}${write20(a)}${write20(b)}`
}

/**
 * Returns a text that sorts before every identifier of that prefix created at or after `atMs` (milliseconds since the
 * epoch), and after all earlier ones.
 */
export function firstIdAt(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${writeTime(Math.max(0, atMs))}`
}

/** Whether the text has the form of an identifier with that prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.length === prefix.length + 27 &&
    text.startsWith(`${prefix}_`) &&
    BODY.test(text.slice(prefix.length + 1))
  )
}

const VALUES = new Map([...ALPHABET].map((character, value) => [character, BigInt(value)]))

/** Returns the 16 bytes of an identifier's UUID. Throws if the text is not an identifier. */
export function bytesOf(id: string): Buffer {
  const body = id.slice(id.indexOf('_') + 1)
  if (!BODY.test(body)) throw new Error(`"${id}" is not an identifier`)
  let bits = 0n
  for (const character of body) bits = (bits << 5n) | VALUES.get(character)!
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeBigUInt64BE(bits >> 64n, 0)
  bytes.writeBigUInt64BE(bits & 0xffff_ffff_ffff_ffffn, 8)
  return bytes
}

/**
 * Returns the creation time of an identifier in milliseconds since the epoch. Throws if the text is not an identifier.
 */
export function timeOfId(id: string): number {
  return bytesOf(id).readUIntBE(0, 6)
}

/** Encodes the first 16 bytes as the 26 characters of an identifier's body. */
export function bodyOf(bytes: Buffer): string {
  let bits = (bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8)
  let text = ''
  for (let position = 0; position < 26; position += 1) {
    text = ALPHABET.charAt(Number(bits & 31n)) + text
    bits >>= 5n
  }
  return text
}

/** Returns the identifier whose UUID has these 16 bytes. */
export function idOf(prefix: IdPrefix, bytes: Buffer): string {
  return `${prefix}_${bodyOf(bytes)}`
}
