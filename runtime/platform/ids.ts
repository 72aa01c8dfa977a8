import { randomBytes, randomFillSync } from 'node:crypto'
import { type RecordPrefix, records } from '../../generated/canonical/records.ts'

/** Of records that the document does not describe; all but `len` never leave the operator's tools. */
const OWN_PREFIXES = ['len', 'mem', 'inv', 'ocl', 'lft'] as const

export type IdPrefix = RecordPrefix | (typeof OWN_PREFIXES)[number]

/** Prefixes of all identifiers: those of the newest document, and own ones. */
export const PREFIXES: readonly IdPrefix[] = [...(Object.keys(records) as RecordPrefix[]), ...OWN_PREFIXES]

/** Crockford's base32 in lower case: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Two characters for every ten bits. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, bits) => `${ALPHABET.charAt(bits >> 5)}${ALPHABET.charAt(bits & 31)}`,
)

/** 128 bits in 26 characters leave two bits over, so the first character is at most 7. */
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

const random = new Uint32Array(512)
let randomLeft = 0

/** A random whole number of 32 bits; the operating system is asked once for many. */
function random32(): number {
  if (randomLeft === 0) {
    randomFillSync(random)
    randomLeft = random.length
  }
  randomLeft -= 1
  return random[randomLeft]!
}

// Bits that a UUIDv7 may fill as its maker likes hold a counter (RFC 9562, 6.2, method 1): identifiers made in
// one process for the same millisecond sort in the order of their making, whichever clock the millisecond is of.
let counter = randomBytes(4).readUInt32BE() >>> 1

let timeOfText = -1
let timeText = ''

/** The first ten characters: two bits of padding and the 48 bits of time. */
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

/** Four characters for the lowest twenty bits. */
function write20(bits: number): string {
  return PAIRS[(bits >>> 10) & 1023]! + PAIRS[bits & 1023]!
}

/**
 * Makes an identifier: the prefix and 26 characters of Crockford base32, lower case, of a UUIDv7 (RFC 9562), so
 * that identifiers sort by the time they were made at.
 *
 * @param atMs milliseconds since the epoch; service time for what tenants see. Default: the machine's clock.
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

/** Sorts before every identifier of that kind made at that time or later, and after all others. Milliseconds since the epoch. */
export function firstIdAt(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${writeTime(Math.max(0, atMs))}`
}

/** Whether the text has the shape of an identifier of that kind. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.length === prefix.length + 27 &&
    text.startsWith(`${prefix}_`) &&
    BODY.test(text.slice(prefix.length + 1))
  )
}

const VALUES = new Map([...ALPHABET].map((character, value) => [character, BigInt(value)]))

/** The 16 bytes of an identifier's UUID. Throws for a text that is no identifier. */
export function bytesOf(id: string): Buffer {
  const body = id.slice(id.indexOf('_') + 1)
  if (!BODY.test(body)) throw new Error(`${id} is no identifier`)
  let bits = 0n
  for (const character of body) bits = (bits << 5n) | VALUES.get(character)!
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeBigUInt64BE(bits >> 64n, 0)
  bytes.writeBigUInt64BE(bits & 0xffff_ffff_ffff_ffffn, 8)
  return bytes
}

/** When an identifier was made, in milliseconds since the epoch. Throws for a text that is not an identifier. */
export function timeOfId(id: string): number {
  return bytesOf(id).readUIntBE(0, 6)
}

/** The first 16 of the bytes as the 26 characters of an identifier's body. */
export function bodyOf(bytes: Buffer): string {
  let bits = (bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8)
  let text = ''
  for (let position = 0; position < 26; position += 1) {
    text = ALPHABET.charAt(Number(bits & 31n)) + text
    bits >>= 5n
  }
  return text
}

/** The identifier whose UUID has these 16 bytes. */
export function idOf(prefix: IdPrefix, bytes: Buffer): string {
  return `${prefix}_${bodyOf(bytes)}`
}
