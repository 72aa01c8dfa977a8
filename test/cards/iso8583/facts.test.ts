/** Messages that other programs wrote: the tests of moov-io/iso8583 (Apache-2.0) have their bytes and values. */
import { expect, test } from 'vitest'
import { decodeMessage } from '../../../runtime/cards/iso8583/codec/decode.ts'
import { type Dialect, field } from '../../../runtime/cards/iso8583/codec/dialect.ts'
import { encodeMessage } from '../../../runtime/cards/iso8583/codec/encode.ts'
import { ISO_1987 } from '../../../runtime/cards/iso8583/codec/fields.ts'
import { emvTags } from '../../../runtime/cards/iso8583/codec/tags.ts'
import { DIALECTS } from '../../../runtime/cards/iso8583/dialects/dialects.ts'

/** Fields as ISO 8583:1987 has them, without the private layouts of a dialect. */
const reserved = field('Reserved', 'ans...999')
const plain: Dialect = {
  ...DIALECTS.ascii,
  fields: { ...ISO_1987, 55: reserved, 60: reserved, 63: reserved },
}

test.each([
  [
    'an authorization',
    '01007000000000000000164242424242424242123456000000000100',
    { 2: '4242424242424242', 3: '123456', 4: '000000000100' },
  ],
  [
    'a financial request',
    '0200323A40010841801038000000000000000004200508050113921208050420042251320720000010000001156040800411        01251146333156336000299',
    {
      ...{
        3: '380000',
        4: '000000000000',
        7: '0420050805',
        11: '011392',
        12: '120805',
        13: '0420',
        15: '0422',
      },
      ...{
        18: '5132',
        32: '2000001',
        37: '000000115604',
        42: '0800411        ',
        48: '511463331563',
        49: '360',
      },
      60: '99',
    },
  ],
  [
    'a reversal with the secondary bitmap',
    '0400F23A400108418202000000400000000019111111111000000000018000000000003000001090806461003310011200909080996010060002000000000003430003948 03808110012000004096565733200000003000001360030003317000394809080646510000000003132020000331609080645190000000020000000000000',
    {
      ...{
        2: '1111111110000000000',
        3: '180000',
        4: '000000030000',
        7: '0109080646',
        11: '100331',
        12: '001120',
      },
      ...{ 13: '0909', 15: '0809', 18: '9601', 32: '', 37: '600020000000', 42: '00003430003948 ', 49: '360' },
      48: '08110012000004096565733200000003000001',
      55: '003317000394809080646510000000',
      63: '132',
      90: new Map([
        ['mti', '0200'],
        ['stan', '003316'],
        ['sent', '0908064519'],
        ['acquirer', '00000000200'],
        ['forwarder', '00000000000'],
      ]),
    },
  ],
  [
    'a reversal advice with an empty card number',
    '04207230008100000000001800000000000300000109080646100331001120331100011122233',
    {
      ...{ 2: '', 3: '180000', 4: '000000030000', 7: '0109080646', 11: '100331', 12: '001120', 25: '33' },
      32: '00011122233',
    },
  ],
  [
    'a sign-on',
    '0800823A0000000000000400000000000000042009061390000109061304200420001',
    { 7: '0420090613', 11: '900001', 12: '090613', 13: '0420', 15: '0420', 70: '001' },
  ],
  [
    'the answer to a sign-on',
    '0810823A000002000000048000000000000004200906139000010906130420042000001031128',
    {
      7: '0420090613',
      11: '900001',
      12: '090613',
      13: '0420',
      15: '0420',
      39: '00',
      70: '001',
      73: '031128',
    },
  ],
])('%s', (_, text, fields) => {
  const bytes = Buffer.from(text)
  const message = decodeMessage(plain, bytes)
  expect({ mti: message.mti, ...Object.fromEntries(message.fields) }).toEqual({
    mti: text.slice(0, 4),
    ...fields,
  })
  expect(encodeMessage(plain, message)).toEqual(bytes)
})

test('chip data with private tags of three bytes', () => {
  const hex =
    '4F07A00000000410105F2A0208405F2D047275656E82021980950500000000009A032410029C01009F02060000000001009F3303' +
    '0000E89F34030000009F3501229F360200539F370409BC21069F4104000000069F530100DF81290830F0F00030F0FF00'
  const fail = (index: number, expected: string): never => {
    throw new Error(`${index}: ${expected}`)
  }
  const tags = emvTags.split(hex, fail)
  expect(emvTags.join(tags)).toBe(hex)
  expect(Object.fromEntries(tags)).toMatchObject({
    '4F': 'A0000000041010',
    '5F2A': '0840',
    '5F2D': '7275656E',
    '82': '1980',
    '9A': '241002',
    '9F02': '000000000100',
    DF8129: '30F0F00030F0FF00',
  })
})
