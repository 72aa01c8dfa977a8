/** Decodes the bytes of an ISO 8583:1987 message, without its frame. */
import { digitsPerByte, KIND_PATTERNS, lengthBytes } from './characters.ts'
import type { Dialect, FieldFormat } from './dialect.ts'
import { type ByteSpan, dump, maskCardNumber } from './dump.ts'
import type { IsoMessage, IsoValue } from './message.ts'

/** A message that the dialect does not allow. The error's text shows no card number. */
export class IsoFormatError extends Error {
  override name = 'IsoFormatError'
  /** What is wrong: a field by number and name, `message type`, `bitmap` or `end`. */
  readonly place: string
  /** Byte at which it is wrong, from 0. */
  readonly offset: number
  readonly expected: string
  /** The fields before the wrong one. Undefined if the message type itself is wrong. */
  readonly decoded: IsoMessage | undefined

  constructor(place: string, offset: number, expected: string, found: string, reader: Reading) {
    const { mti, fields, announced } = reader
    const stan = fields.get(11)
    const number = fields.get(2)
    const cardNumber = typeof number === 'string' ? number : undefined
    const context = [
      mti !== undefined && `message type ${mti}`,
      announced.length > 0 && `fields ${announced.join(' ')}`,
      cardNumber !== undefined && `card ${maskCardNumber(cardNumber)}`,
      typeof stan === 'string' && `trace number ${stan}`,
    ].filter((part) => part !== false)
    const shown = reader.bytes.subarray(0, offset + BYTES_AFTER)
    const more = reader.bytes.length - shown.length
    super(
      [
        `${place} at byte ${offset}: expected ${expected}, but ${found}${context.length > 0 ? ` (${context.join(', ')})` : ''}`,
        dump(shown, { spans: reader.secrets, cardNumber, digits: reader.dialect.digits }),
        ...(more > 0 ? [`${more} more bytes`] : []),
      ].join('\n'),
    )
    this.place = place
    this.offset = offset
    this.expected = expected
    this.decoded = mti === undefined ? undefined : { mti, fields }
  }
}

/** The dump ends here after the wrong byte: what follows has no known layout. */
const BYTES_AFTER = 16

/** A message while it is read. */
interface Reading {
  readonly bytes: Uint8Array
  readonly dialect: Dialect
  offset: number
  mti: string | undefined
  /** Field numbers of the bitmaps. */
  readonly announced: number[]
  readonly fields: Map<number, IsoValue>
  /** Bytes of the fields with secrets. */
  readonly secrets: ByteSpan[]
}

/**
 * Decodes one message. Reads no byte twice and none beyond the end; a length that exceeds the rest of the message is an
 * error before anything is allocated.
 *
 * @throws IsoFormatError for the first thing that the dialect does not allow, also if bytes follow the last field.
 */
export function decodeMessage(dialect: Dialect, bytes: Uint8Array): IsoMessage {
  const reading: Reading = {
    bytes,
    dialect,
    offset: 0,
    mti: undefined,
    announced: [],
    fields: new Map(),
    secrets: [],
  }
  const mti = readDigits(reading, 4, 'message type', 'n')
  if (!/^0[1-8]\d[0-5]$/.test(mti))
    fail(
      reading,
      'message type',
      0,
      'version 0 (1987), class 1 to 8, function, and origin 0 to 5',
      'it is different',
    )
  reading.mti = mti
  readBitmaps(reading)
  for (const number of reading.announced) readField(reading, number)
  if (reading.offset < bytes.length)
    fail(reading, 'end', reading.offset, 'no more bytes', `${bytes.length - reading.offset} follow`)
  return { mti, fields: reading.fields }
}

function fail(reading: Reading, place: string, offset: number, expected: string, found?: string): never {
  const byte = reading.bytes[offset]
  const there =
    byte === undefined ? 'the message ends' : `found 0x${byte.toString(16).toUpperCase().padStart(2, '0')}`
  throw new IsoFormatError(place, offset, expected, found ?? there, reading)
}

/** Takes the next bytes, as hexadecimal digits. */
function take(reading: Reading, count: number, place: string, expected: string): string {
  const { bytes, offset } = reading
  if (offset + count > bytes.length) fail(reading, place, bytes.length, `${expected} from byte ${offset}`)
  reading.offset += count
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, count)
    .toString('hex')
    .toUpperCase()
}

function takeText(reading: Reading, count: number, place: string, expected: string): string {
  return Buffer.from(take(reading, count, place, expected), 'hex').toString('latin1')
}

/** Checks the characters of a value, which starts at the byte `start`. */
function check(
  reading: Reading,
  text: string,
  pattern: RegExp,
  place: string,
  start: number,
  expected: string,
): string {
  const wrong = [...text].findIndex((character) => !pattern.test(character))
  if (wrong !== -1) fail(reading, place, start + wrong, expected)
  return text
}

const HEX = /[0-9A-F]/
const DIGIT = /\d/

/** Reads digits or track data. An odd number of digits in BCD starts with a zero, which is not part of the value. */
function readDigits(reading: Reading, count: number, place: string, kind: 'n' | 'z'): string {
  const start = reading.offset
  const { pattern, name } = KIND_PATTERNS[kind]
  const expected = `${count} ${name}`
  if (reading.dialect.digits === 'ascii')
    return check(reading, takeText(reading, count, place, expected), pattern, place, start, expected)
  const hex = take(reading, Math.ceil(count / 2), place, `${expected} in BCD`)
  const digits = kind === 'z' ? hex.replaceAll('D', '=') : hex
  const wrong = [...digits].findIndex((digit) => !pattern.test(digit))
  const isPadded = digits.length === count || digits.startsWith('0')
  if (wrong !== -1 || !isPadded)
    fail(reading, place, start + (isPadded ? wrong >> 1 : 0), `${expected} in BCD`)
  return digits.slice(digits.length - count)
}

const BITMAP = '16 hexadecimal digits (0 to 9, A to F)'

/** Reads the bitmaps, which follow each other: bit 1 announces the secondary one, and bit 65 the tertiary one. */
function readBitmaps(reading: Reading): void {
  for (let first = 0; first < 192; first += 64) {
    const place = first === 0 ? 'bitmap' : `bitmap of fields ${first + 1} to ${first + 64}`
    const start = reading.offset
    const hex =
      reading.dialect.bitmap === 'hex'
        ? check(reading, takeText(reading, 16, place, BITMAP), HEX, place, start, BITMAP)
        : take(reading, 8, place, '8 bytes')
    const bits = BigInt(`0x${hex}`)
    const isSet = (bit: number) => ((bits >> BigInt(64 - bit)) & 1n) === 1n
    for (let bit = 2; bit <= 64; bit++) if (isSet(bit)) reading.announced.push(first + bit)
    if (!isSet(1)) return
    if (first === 128) fail(reading, place, start, 'no fourth bitmap')
  }
}

function readField(reading: Reading, number: number): void {
  const format = reading.dialect.fields[number]
  if (!format)
    fail(reading, `field ${number}`, reading.offset, 'a field of the dialect', 'the bitmap announces it')
  const place = `field ${number} (${format.name})`
  const span = { start: reading.offset, end: reading.bytes.length }
  // Until the end of the field is known, everything after its start is secret.
  if (hasSecret(format)) reading.secrets.push(span)
  const length = format.prefix === 0 ? format.length : readLength(reading, format, place)
  const start = reading.offset
  const value = readValue(reading, format, length, place)
  reading.fields.set(number, format.parts ? split(reading, format, value, start, place) : value)
  span.end = reading.offset
}

const hasSecret = ({ secret, parts }: FieldFormat) => secret !== undefined || parts?.secrets !== undefined

function readLength(reading: Reading, { prefix, length: most }: FieldFormat, place: string): number {
  const { lengths } = reading.dialect
  const start = reading.offset
  const size = lengthBytes(lengths, prefix)
  const expected = `a length of at most ${most}`
  const hex = take(reading, size, place, `${expected} in ${size} bytes`)
  const text = lengths === 'ascii' ? Buffer.from(hex, 'hex').toString('latin1') : hex
  if (lengths !== 'binary') {
    const wrong = [...text].findIndex((digit) => !DIGIT.test(digit))
    if (wrong !== -1)
      fail(reading, place, start + Math.floor(wrong / digitsPerByte(lengths)), `${expected} in digits`)
  }
  const length = Number.parseInt(text, lengths === 'binary' ? 16 : 10)
  if (length > most) fail(reading, place, start, expected, `the length is ${length}`)
  return length
}

/** Reads the characters or bytes of a field. The length is at most that of the format. */
function readValue(reading: Reading, { kind }: FieldFormat, length: number, place: string): string {
  const start = reading.offset
  if (kind === 'n' || kind === 'z') return readDigits(reading, length, place, kind)
  if (kind === 'b') {
    const expected = `${length} bytes`
    if (reading.dialect.bytes === 'raw') return take(reading, length, place, expected)
    const hexadecimal = `${length * 2} hexadecimal digits`
    return check(reading, takeText(reading, length * 2, place, hexadecimal), HEX, place, start, hexadecimal)
  }
  if (kind === 'x+n') {
    const sign = check(reading, takeText(reading, 1, place, 'C or D'), /[CD]/, place, start, 'C or D')
    return sign + readDigits(reading, length, place, 'n')
  }
  const { pattern, name } = KIND_PATTERNS[kind]
  const expected = `${length} ${name}`
  return check(reading, takeText(reading, length, place, expected), pattern, place, start, expected)
}

/** Splits a nested field. A character of the value is half a byte in hexadecimal digits and in BCD. */
function split(
  reading: Reading,
  { kind, parts }: FieldFormat,
  value: string,
  start: number,
  place: string,
): IsoValue {
  if (!parts) return value
  const { dialect } = reading
  const isHalf = (kind === 'b' && dialect.bytes === 'raw') || (kind === 'n' && dialect.digits === 'bcd')
  const padding = isHalf && value.length % 2 === 1 ? 1 : 0
  return parts.split(value, (index, expected) =>
    fail(reading, place, isHalf ? start + ((index + padding) >> 1) : start + index, expected),
  )
}
