/** The codec: encoding and decoding are inverses, and everything else is an error that shows no card number. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeMessage, IsoFormatError } from '../../../runtime/cards/iso8583/codec/decode.ts'
import type { Dialect } from '../../../runtime/cards/iso8583/codec/dialect.ts'
import { describeMessage } from '../../../runtime/cards/iso8583/codec/dump.ts'
import { encodeMessage } from '../../../runtime/cards/iso8583/codec/encode.ts'
import { DIALECTS } from '../../../runtime/cards/iso8583/dialects/dialects.ts'
import { messages } from './arbitraries.ts'

const VARIANTS: readonly Dialect[] = [
  ...Object.values(DIALECTS),
  { ...DIALECTS.bcd, name: 'bcd, lengths in BCD', lengths: 'bcd' },
  { ...DIALECTS.ascii, name: 'ascii, binary bitmaps', bitmap: 'binary', bytes: 'raw' },
]

const CARD = '4000001234567899'
const TRACK = `${CARD}=29121010000012345678`

/** The error of a message that must be wrong. */
function errorOf(dialect: Dialect, bytes: Uint8Array): IsoFormatError {
  try {
    decodeMessage(dialect, bytes)
  } catch (error) {
    if (error instanceof IsoFormatError) return error
    throw error
  }
  throw new Error('the message is valid')
}

describe.each(VARIANTS)('$name', (dialect) => {
  test('decoding is the inverse of encoding', () => {
    fc.assert(
      fc.property(messages(dialect), (message) => {
        const bytes = encodeMessage(dialect, message)
        expect(decodeMessage(dialect, bytes)).toEqual(message)
        expect(encodeMessage(dialect, decodeMessage(dialect, bytes))).toEqual(bytes)
      }),
      { numRuns: 150 },
    )
  })

  test('any bytes are a message, or an error of the format within the bytes', () => {
    const start = fc
      .tuple(messages(dialect), fc.uint8Array({ maxLength: 40 }), fc.nat({ max: 200 }))
      .map(([message, noise, at]) => {
        const bytes = encodeMessage(dialect, message)
        return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at + noise.length)])
      })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), start), (bytes) => {
        try {
          expect(encodeMessage(dialect, decodeMessage(dialect, bytes))).toEqual(Buffer.from(bytes))
        } catch (error) {
          if (!(error instanceof IsoFormatError)) throw error
          expect(error.offset).toBeLessThanOrEqual(bytes.length)
        }
      }),
      { numRuns: 400 },
    )
  })

  test('an error of a damaged message shows no more of a card number than its first six and last four digits', () => {
    const damage = fc.array(
      fc.tuple(fc.constantFrom('replace', 'remove', 'insert'), fc.nat({ max: 150 }), fc.nat({ max: 255 })),
      { minLength: 1, maxLength: 3 },
    )
    const fields = { 2: CARD, 35: TRACK, 45: `B${CARD}^DOE/J^2912`, 55: new Map([['5A', CARD]]) }
    let errors = 0
    fc.assert(
      fc.property(messages(dialect, fields), damage, (message, changes) => {
        let bytes = encodeMessage(dialect, message)
        for (const [change, at, byte] of changes) {
          const rest = bytes.subarray(change === 'insert' ? at : at + 1)
          bytes = Buffer.concat([
            bytes.subarray(0, at),
            ...(change === 'remove' ? [] : [Buffer.of(byte)]),
            rest,
          ])
        }
        try {
          decodeMessage(dialect, bytes)
        } catch (error) {
          if (!(error instanceof IsoFormatError)) throw error
          errors++
          // Bytes, and their text.
          const shown = error.message.replaceAll(/^[0-9a-f]{4} {2}| \|.*\|$|\n| /gm, '')
          const ascii = Buffer.from(shown.replaceAll(/[^0-9A-F]/g, 'F'), 'hex').toString('latin1')
          for (const text of [error.message, shown, ascii])
            for (let from = 0; from + 11 <= CARD.length; from++)
              expect(text).not.toContain(CARD.slice(from, from + 11))
        }
      }),
      { numRuns: 300 },
    )
    expect(errors).toBeGreaterThan(50)
  })

  test('a description of a valid message masks its card number wherever it is', () => {
    const fields = new Map<number, string | Map<string, string>>([
      [2, CARD],
      [14, '2912'],
      [35, TRACK],
      [45, `B${CARD}^DOE/J^2912`],
      [46, `card ${CARD}`],
      [52, '0123456789ABCDEF'],
      [
        55,
        new Map([
          ['5A', CARD],
          ['9F02', '000000001000'],
          ['70', `5A08${CARD}`],
        ]),
      ],
    ])
    const text = describeMessage({ mti: '0100', fields }, dialect)
    expect(text).toContain('2 Primary account number: 400000******7899')
    expect(text).toContain('35 Track 2 data: 400000******7899')
    expect(text).toContain('9F02: 000000001000')
    for (const secret of [CARD, '2912', 'DOE', '0123456789ABCDEF']) expect(text).not.toContain(secret)
  })
})

describe('errors name the field, the byte and what was expected', () => {
  const ascii = (text: string) => errorOf(DIALECTS.ascii, Buffer.from(text, 'latin1'))
  const bcd = (hex: string) => errorOf(DIALECTS.bcd, Buffer.from(hex, 'hex'))

  test.each([
    ['', 'message type', 0, '4 digits from byte 0'],
    ['01', 'message type', 2, '4 digits from byte 0'],
    ['0X00', 'message type', 1, '4 digits'],
    ['1100', 'message type', 0, 'version 0 (1987), class 1 to 8, function, and origin 0 to 5'],
    ['01007000', 'bitmap', 8, '16 hexadecimal digits (0 to 9, A to F) from byte 4'],
    ['0100700000000000000x', 'bitmap', 19, '16 hexadecimal digits (0 to 9, A to F)'],
    [
      '01004000000000000000',
      'field 2 (Primary account number)',
      20,
      'a length of at most 19 in 2 bytes from byte 20',
    ],
    ['0100400000000000000020', 'field 2 (Primary account number)', 20, 'a length of at most 19'],
    ['010040000000000000001640000', 'field 2 (Primary account number)', 27, '16 digits from byte 22'],
    ['0100100000000000000000000000001A', 'field 4 (Amount, transaction)', 31, '12 digits'],
    ['010000000000000000001', 'end', 20, 'no more bytes'],
    [
      '01000000000000000001',
      'field 64 (Message authentication code)',
      20,
      '16 hexadecimal digits from byte 20',
    ],
    ['01000000000000000200005R8303', 'field 55 (Chip data)', 28, '10 hexadecimal digits from byte 23'],
    [
      '01000000000000010000009R8303YYY',
      'field 48 (Additional data)',
      31,
      '9 printable ASCII characters from byte 23',
    ],
    ['01000000000000010000007R8304YY', 'field 48 (Additional data)', 26, 'the length of the rest, at most 2'],
  ])('%j', (text, place, offset, expected) => {
    expect(ascii(text)).toMatchObject({ place, offset, expected })
  })

  test.each([
    ['0100400000000000000014', 'field 2 (Primary account number)', 10, 'a length of at most 19'],
    ['01004000000000000000031234', 'field 2 (Primary account number)', 11, '3 digits in BCD'],
    ['0100100000000000000000000000010A', 'field 4 (Amount, transaction)', 15, '12 digits in BCD'],
    ['010000000000000002000282', 'field 55 (Chip data)', 12, '2 bytes from byte 11'],
    ['01000000000000000200028205', 'field 55 (Chip data)', 12, 'the length of tag 82, at most 0 bytes'],
    [
      '01000000000000000200038285FF',
      'field 55 (Chip data)',
      12,
      'a length of tag 82 in at most two more bytes',
    ],
    [
      '0100000000000000020004828101AA',
      'field 55 (Chip data)',
      12,
      'the shortest form of the length of tag 82',
    ],
    ['0100000000000000020006820100820100', 'field 55 (Chip data)', 14, 'one tag 82'],
    [
      '0100000000000000000408000000000000000100',
      'field 62 (Payment service data)',
      18,
      'no bit 64, which the dialect does not have',
    ],
    ['0100000000000000000409400000000000000012', 'field 62 (Payment service data)', 19, '8 bytes for part 2'],
  ])('%s in BCD', (hex, place, offset, expected) => {
    expect(bcd(hex)).toMatchObject({ place, offset, expected })
  })

  const WRONG = `16${CARD}000000000000012345060112000000001X`

  test('the text has a dump up to the wrong byte, in which the card number is masked', () => {
    expect(ascii(`01007220000000000000${WRONG}${'9'.repeat(40)}`).message.split('\n')).toEqual([
      'field 11 (System trace audit number) at byte 71: expected 6 digits, but found 0x58 (message type 0100, fields 2 3 4 7 11, card 400000******7899)',
      '0000  30 31 30 30 37 32 32 30 30 30 30 30 30 30 30 **  |010072200000000*|',
      '0010  ** ** ** ** ** ** ** ** ** ** ** ** ** ** ** **  |****************|',
      '0020  ** ** ** ** ** ** 30 30 30 30 30 30 30 30 ** **  |******00000000**|',
      '0030  ** ** ** ** ** ** ** ** 30 36 30 31 31 32 30 30  |********06011200|',
      '0040  30 ** ** ** ** ** ** 58 39 39 39 39 39 39 39 39  |0******X99999999|',
      '0050  39 39 39 39 39 39 39                             |9999999|',
      '25 more bytes',
    ])
  })

  test('without a valid card number in front, the dump masks all runs of digits', () => {
    const hidden = `${'** '.repeat(16)} |${'*'.repeat(16)}|`
    expect(ascii(`01003220000000000000${WRONG}`).message.split('\n')).toEqual([
      'end at byte 54: expected no more bytes, but 18 follow (message type 0100, fields 3 4 7 11, trace number 000123)',
      ...['0000', '0010', '0020', '0030'].map((offset) => `${offset}  ${hidden}`),
      expect.stringMatching(/^0040 {2}(\*\* ){6} +\|\*{6}\|$/),
      '2 more bytes',
    ])
  })
})
