/**
 * A dialect in BCD: digits are packed, bitmaps, lengths and bytes are binary, text is ASCII. Private fields follow the
 * layout of Visa's authorization messages: 44 has results, 60 the terminal, 62 and 63 have bitmaps of their own, 123 has
 * data sets.
 */
import { isCountry } from '../../../platform/countries.ts'
import { type Dialect, field } from '../codec/dialect.ts'
import { ISO_1987 } from '../codec/fields.ts'
import { valueAt } from '../codec/message.ts'
import { bitmapped, positions } from '../codec/parts.ts'
import { dataSets, emvTags } from '../codec/tags.ts'
import { addressChecks, checkOf, chipChecks, walletOf } from './verification.ts'

/** Message reason code (63.3) of an increment. */
const INCREMENT = '3900'

export const bcdDialect: Dialect = {
  name: 'bcd',
  frame: 'binary2',
  digits: 'bcd',
  bitmap: 'binary',
  lengths: 'binary',
  bytes: 'raw',
  fields: {
    ...ISO_1987,
    43: field('Card acceptor name and location', 'ans40', {
      parts: positions({ name: 25, city: 13, country: 2 }),
    }),
    44: field('Additional response data', 'ans..25', {
      parts: positions({
        source: 1,
        address: 1,
        reserved_3: 1,
        reserved_4: 1,
        cvv: 1,
        diversion: 2,
        level: 1,
        chip: 1,
        reserved_9: 1,
        cvv2: 1,
        original_response: 2,
        check: 1,
        cavv: 1,
      }),
    }),
    48: field('Additional data', 'ans..255'),
    55: field('Chip data', 'b..255', { parts: emvTags }),
    60: field('Point of service information', 'n..12', {
      parts: positions({
        terminal: 1,
        capability: 1,
        chip_condition: 1,
        special: 1,
        group: 2,
        chip: 1,
        reliability: 1,
        commerce: 2,
        identification: 1,
        partial: 1,
      }),
    }),
    62: field('Payment service data', 'b..255', {
      parts: bitmapped(8, {
        1: { kind: 'an', length: 1 },
        2: { kind: 'n', length: 15 },
        3: { kind: 'an', length: 4 },
        4: { kind: 'an', length: 1 },
        5: { kind: 'n', length: 2 },
        11: { kind: 'n', length: 2 },
        12: { kind: 'n', length: 2 },
        17: { kind: 'an', length: 15 },
        23: { kind: 'an', length: 2 },
      }),
    }),
    63: field('Network data', 'b..255', {
      parts: bitmapped(3, {
        1: { kind: 'n', length: 4 },
        2: { kind: 'n', length: 4 },
        3: { kind: 'n', length: 4 },
        4: { kind: 'n', length: 4 },
        11: { kind: 'an', length: 1 },
        19: { kind: 'n', length: 3 },
      }),
    }),
    // 66 has the cardholder's address, 68 token data: tag 01 the token, tag 03 who requested it.
    123: field('Verification data', 'b..255', { parts: dataSets(['66.C0', '66.CF', '68.01']) }),
    // The tertiary bitmap: chip data in fields of their own.
    130: field('Terminal capability profile', 'b3'),
    131: field('Terminal verification results', 'b5'),
    132: field('Unpredictable number', 'b4'),
    136: field('Cryptogram', 'b8'),
    137: field('Application transaction counter', 'b2'),
    138: field('Application interchange profile', 'b2'),
    144: field('Cryptogram transaction type', 'n2'),
    145: field('Terminal country code', 'n3'),
    146: field('Terminal transaction date', 'n6'),
    147: field('Cryptogram amount', 'n12'),
    148: field('Cryptogram currency code', 'n3'),
    149: field('Cryptogram cashback amount', 'n12'),
  },
  meaning: {
    transactionId: (message) => valueAt(message, '62.2'),
    isIncrement: (message) => valueAt(message, '63.3') === INCREMENT,
    allowsPartial: (message) => valueAt(message, '60.partial') === '1',
    isFinal(message) {
      const [number, count] = [valueAt(message, '62.11'), valueAt(message, '62.12')]
      return number === undefined || count === undefined ? undefined : number === count
    },
    wallet(message) {
      const requestor = valueAt(message, '123.68.03')
      // The data set writes the requestor's digits in ASCII.
      return requestor === undefined ? undefined : walletOf(Buffer.from(requestor, 'hex').toString('latin1'))
    },
    checks: (message) => ({
      ...chipChecks(message),
      ...addressChecks(valueAt(message, '44.address')),
      ...checkOf('cvc', [valueAt(message, '44.cvv'), valueAt(message, '44.cvv2')], ['2', 'M'], ['1', 'N']),
      ...checkOf('authentication', [valueAt(message, '44.cavv')], ['2', '3', '8', 'A'], ['1', '4', '7', '9']),
    }),
    country(message) {
      const country = valueAt(message, '43.country') ?? ''
      return isCountry(country) ? country : undefined
    },
  },
}
