/** Random ISO 8583 messages of a dialect, for property tests. */
import fc from 'fast-check'
import type { Dialect, FieldFormat } from '../../../runtime/cards/iso8583/codec/dialect.ts'
import type { IsoMessage, IsoValue } from '../../../runtime/cards/iso8583/codec/message.ts'

const text = (alphabet: string, least: number, most: number) =>
  fc
    .array(fc.constantFrom(...alphabet), { minLength: least, maxLength: most })
    .map((characters) => characters.join(''))

const DIGITS = '0123456789'
const LETTERS = 'ABCXYZabcxyz'
const ALPHABETS = {
  n: DIGITS,
  z: `${DIGITS}=`,
  an: `${DIGITS}${LETTERS} `,
  ans: `${DIGITS}${LETTERS} .,-/*~`,
}

const hex = (least: number, most: number) =>
  fc
    .uint8Array({ minLength: least, maxLength: most })
    .map((bytes) => Buffer.from(bytes).toString('hex').toUpperCase())

const EMV_TAGS = ['57', '5A', '82', '95', '9A', '9C', '5F2A', '9F02', '9F26', '9F34', '9F36', 'DF8129']

/** Nested values by field, of parts that every dialect's table allows. */
function nested(number: number, { length, kind }: FieldFormat, dialect: Dialect): fc.Arbitrary<IsoValue> {
  const pairs = (entries: fc.Arbitrary<readonly (readonly [string, string])[]>) =>
    entries.map((list) => new Map(list))
  if (number === 55)
    return pairs(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...EMV_TAGS), hex(0, 20)), {
        maxLength: 5,
        selector: ([tag]) => tag,
      }),
    )
  if (number === 48)
    return pairs(
      fc
        .uniqueArray(fc.tuple(text(DIGITS, 2, 2), text(ALPHABETS.ans, 0, 12)), {
          maxLength: 6,
          selector: ([id]) => id,
        })
        .map((list) => [['first', 'R'], ...list]),
    )
  if (number === 123)
    return pairs(
      fc
        .uniqueArray(fc.tuple(fc.constantFrom('03', '04', '05', 'C0'), hex(0, 8)), {
          minLength: 1,
          maxLength: 4,
          selector: ([id]) => id,
        })
        .map((list) => list.map(([id, value], index) => [`${index < 2 ? '66' : '68'}.${id}`, value])),
    )
  if (number === 62)
    return fc.constantFrom(
      new Map([['2', '123456789012345']]),
      new Map([
        ['1', 'Y'],
        ['11', '01'],
        ['23', 'A '],
      ]),
    )
  if (number === 63 && dialect.digits === 'bcd')
    return fc.constantFrom(
      new Map([
        ['1', '0002'],
        ['3', '3900'],
      ]),
      new Map([['19', '123']]),
      new Map(),
    )
  // The other nested fields are cut from a flat value of the full length.
  const whole = text(ALPHABETS[kind === 'n' ? 'n' : 'an'], length, length)
  const { parts } = dialect.fields[number]!
  const size = number === 54 ? 120 : number === 61 ? 26 : number === 63 ? 9 : number === 44 ? 13 : length
  return whole.map((value) =>
    parts!.split(value.slice(0, size), (index, expected) => {
      throw new Error(`${number} at ${index}: ${expected}`)
    }),
  )
}

function anyValue(number: number, format: FieldFormat, dialect: Dialect): fc.Arbitrary<IsoValue> {
  const { kind, length, prefix } = format
  if (format.parts) return nested(number, format, dialect)
  const least = prefix === 0 ? length : 0
  const most = Math.min(length, prefix === 0 ? length : 60)
  if (kind === 'b') return hex(least, most)
  if (kind === 'x+n')
    return fc.tuple(fc.constantFrom('C', 'D'), text(DIGITS, least, most)).map(([a, b]) => a + b)
  return text(ALPHABETS[kind], least, most)
}

/** Messages of up to twelve random fields, always with the given ones. */
export function messages(
  dialect: Dialect,
  fixed: Readonly<Record<number, IsoValue>> = {},
): fc.Arbitrary<IsoMessage> {
  const numbers = Object.keys(dialect.fields).map(Number)
  return fc
    .tuple(
      fc.constantFrom('0100', '0110', '0120', '0201', '0400', '0420', '0800'),
      fc.uniqueArray(fc.constantFrom(...numbers), { maxLength: 12 }),
    )
    .chain(([mti, chosen]) =>
      fc
        .tuple(...chosen.map((number) => anyValue(number, dialect.fields[number]!, dialect)))
        .map((values) => {
          const given = Object.entries(fixed).map(([number, value]) => [Number(number), value] as const)
          return {
            mti,
            fields: new Map([...chosen.map((number, i) => [number, values[i]!] as const), ...given]),
          }
        }),
    )
}
