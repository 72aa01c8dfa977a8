/** Encodes ISO 8583:1987 messages: the exact inverse of decoding. */
import { digitsPerByte, KIND_PATTERNS, lengthBytes } from './characters.ts'
import type { Dialect, FieldFormat } from './dialect.ts'
import type { IsoMessage, IsoValue } from './message.ts'

/**
 * Encodes one message, without its frame.
 *
 * @throws Error that names the field, without its value, if the dialect does not allow the message. Values are not
 * padded or cut.
 */
export function encodeMessage(dialect: Dialect, { mti, fields }: IsoMessage): Buffer {
  const numbers = [...fields.keys()].sort((a, b) => a - b)
  const encoded = [encodeDigits(dialect, mti), encodeBitmaps(dialect, numbers)]
  for (const number of numbers) {
    const format = dialect.fields[number]
    const value = fields.get(number)
    if (!format || value === undefined) throw new Error(`field ${number}: the dialect does not have it`)
    try {
      encoded.push(encodeField(dialect, format, value))
    } catch (cause) {
      const issue = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`field ${number} (${format.name}): ${issue}`, { cause })
    }
  }
  return Buffer.concat(encoded)
}

function encodeBitmaps(dialect: Dialect, numbers: readonly number[]): Buffer {
  const last = numbers.at(-1) ?? 0
  const count = Math.max(1, Math.ceil(last / 64))
  const bytes = Buffer.alloc(count * 8)
  const set = (bit: number) =>
    bytes.writeUInt8(bytes.readUInt8((bit - 1) >> 3) | (0x80 >> ((bit - 1) & 7)), (bit - 1) >> 3)
  numbers.forEach(set)
  for (let map = 1; map < count; map++) set((map - 1) * 64 + 1)
  return dialect.bitmap === 'binary' ? bytes : Buffer.from(bytes.toString('hex').toUpperCase(), 'latin1')
}

function encodeDigits(dialect: Dialect, digits: string): Buffer {
  if (dialect.digits === 'ascii') return Buffer.from(digits, 'latin1')
  return Buffer.from((digits.length % 2 === 0 ? digits : `0${digits}`).replaceAll('=', 'D'), 'hex')
}

function encodeField(dialect: Dialect, format: FieldFormat, given: IsoValue): Buffer {
  const { kind, length: most, prefix, parts } = format
  if ((parts === undefined) !== (typeof given === 'string'))
    throw new Error(parts ? 'expected parts' : 'expected text')
  const value = typeof given === 'string' ? given : (parts?.join(given) ?? '')
  if (!WHOLE[kind].test(value)) throw new Error(`expected the characters of ${kind}`)
  const length = kind === 'b' ? value.length / 2 : kind === 'x+n' ? value.length - 1 : value.length
  if (prefix === 0 ? length !== most : length > most)
    throw new Error(`expected ${prefix === 0 ? 'a' : 'at most a'} length of ${most}, not ${length}`)
  return Buffer.concat([encodeLength(dialect.lengths, prefix, length), encodeValue(dialect, kind, value)])
}

const wholeOf = (kind: keyof typeof KIND_PATTERNS) =>
  new RegExp(`^(?:${KIND_PATTERNS[kind].pattern.source})*$`)

/** Values of each kind, of any length. */
const WHOLE: Readonly<Record<FieldFormat['kind'], RegExp>> = {
  n: wholeOf('n'),
  z: wholeOf('z'),
  an: wholeOf('an'),
  ans: wholeOf('ans'),
  'x+n': /^[CD]\d*$/,
  b: /^(?:[0-9A-F]{2})*$/,
}

function encodeLength(lengths: Dialect['lengths'], prefix: FieldFormat['prefix'], length: number): Buffer {
  const digits = lengthBytes(lengths, prefix) * digitsPerByte(lengths)
  const text = length.toString(lengths === 'binary' ? 16 : 10).padStart(digits, '0')
  return prefix === 0 ? Buffer.alloc(0) : Buffer.from(text, lengths === 'ascii' ? 'latin1' : 'hex')
}

function encodeValue(dialect: Dialect, kind: FieldFormat['kind'], value: string): Buffer {
  if (kind === 'n' || kind === 'z') return encodeDigits(dialect, value)
  if (kind === 'x+n')
    return Buffer.concat([Buffer.from(value.slice(0, 1)), encodeDigits(dialect, value.slice(1))])
  return Buffer.from(value, kind === 'b' && dialect.bytes === 'raw' ? 'hex' : 'latin1')
}
