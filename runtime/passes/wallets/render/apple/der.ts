/**
 * Reads and writes the subset of DER that signatures and certificates need (ITU-T X.690). Values are complete
 * encodings.
 */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  nothing: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** Encodes a value: the tag, the length in its shortest form, and the content. */
function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const size: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) size.unshift(rest & 0xff)
  return Buffer.concat([Buffer.of(tag, 0x80 | size.length, ...size), content])
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(TAGS.sequence, ...parts)
}

/** Encodes a set. DER requires its elements in ascending order of their encodings (X.690, 11.6). */
export function setOf(...parts: readonly Buffer[]): Buffer {
  return encode(TAGS.set, ...parts.toSorted(Buffer.compare))
}

/** Encodes a constructed value with a context-specific tag. */
export function explicit(tag: number, ...parts: readonly Buffer[]): Buffer {
  return encode(0xa0 | tag, ...parts)
}

/** Encodes a non-negative integer from big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0
  while (from < bytes.length - 1 && bytes[from] === 0) from += 1
  const digits = bytes.subarray(from)
  return encode(TAGS.integer, Buffer.from((digits[0] ?? 0) & 0x80 ? [0] : []), digits)
}

export function boolean(value: boolean): Buffer {
  return encode(TAGS.boolean, Buffer.of(value ? 0xff : 0))
}

export function octets(bytes: Uint8Array): Buffer {
  return encode(TAGS.octets, bytes)
}

/** Encodes a bit string. @param unused number of unused bits at the end. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return encode(TAGS.bits, Buffer.of(unused), bytes)
}

export const NOTHING: Buffer = encode(TAGS.nothing)

export function utf8(text: string): Buffer {
  return encode(TAGS.utf8, Buffer.from(text))
}

/** Encodes an object identifier in dotted notation. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return encode(TAGS.oid, Buffer.from([40 * first + second, ...rest].flatMap(base128)))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift(0x80 | (rest & 0x7f))
  return digits
}

/**
 * Encodes a time with a precision of one second: UTCTime until 2049, then GeneralizedTime (RFC 5280, 4.1.2.5; RFC 5652,
 * 11.3).
 */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const year = Number(digits.slice(0, 4))
  return year >= 1950 && year < 2050
    ? encode(TAGS.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : encode(TAGS.generalizedTime, Buffer.from(`${digits}Z`))
}

/** Returns the complete encodings of the values in a constructed value. Throws if the bytes are not valid DER. */
export function partsOf(value: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let rest = contentOf(value); rest.length > 0; ) {
    const { end } = measure(rest)
    parts.push(rest.subarray(0, end))
    rest = rest.subarray(end)
  }
  return parts
}

function contentOf(value: Buffer): Buffer {
  const { start, end } = measure(value)
  return value.subarray(start, end)
}

function measure(value: Buffer): { readonly start: number; readonly end: number } {
  const first = value[1] ?? 0x80
  const digits = first & 0x80 ? first & 0x7f : 0
  if (first === 0x80 || digits > 4 || value.length < 2 + digits)
    throw new Error('the bytes are not valid DER: the length is malformed')
  const length = digits === 0 ? first : value.readUIntBE(2, digits)
  const start = 2 + digits
  if (start + length > value.length) throw new Error('the bytes are not valid DER: they end too early')
  return { start, end: start + length }
}
