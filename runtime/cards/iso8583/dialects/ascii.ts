/**
 * A dialect in ASCII: digits, bitmaps in hexadecimal digits, lengths and bytes are all printable. Private fields follow
 * the layout of Mastercard's authorization messages: 48 has subelements, 61 the point of service, 63 the network's
 * reference.
 */
import { whereAlpha3, whereNumeric } from 'iso-3166-1'
import { type Dialect, field } from '../codec/dialect.ts'
import { ISO_1987 } from '../codec/fields.ts'
import { valueAt } from '../codec/message.ts'
import { elements, positions } from '../codec/parts.ts'
import { emvTags } from '../codec/tags.ts'
import { addressChecks, checkOf, chipChecks, walletOf } from './verification.ts'

/** Statuses of the point of service (61, part `status`) in which an authorization continues an earlier one. */
const PREAUTHORIZATION = '4'

export const asciiDialect: Dialect = {
  name: 'ascii',
  frame: 'ascii4',
  digits: 'ascii',
  bitmap: 'hex',
  lengths: 'ascii',
  bytes: 'hex',
  fields: {
    ...ISO_1987,
    43: field('Card acceptor name and location', 'ans40', {
      parts: positions({ name: 22, space: 1, city: 13, gap: 1, country: 3 }),
    }),
    // 26 wallet, 33 token data, 45 CAVV result, 63 trace ID of the first message, 80 PIN result, 83 AVS, 87 CVC,
    // 92 CVC 2.
    48: field('Additional data', 'ans...999', { parts: elements(['33', '92']) }),
    55: field('Chip data', 'b...255', { parts: emvTags }),
    61: field('Point of service data', 'ans...26', {
      parts: positions({
        attendance: 1,
        reserved: 1,
        location: 1,
        cardholder: 1,
        card: 1,
        capture: 1,
        status: 1,
        security: 1,
        partial: 1,
        level: 1,
        input: 1,
        lifecycle: 2,
        country: 3,
        postal_code: 10,
      }),
    }),
    63: field('Network data', 'ans...50', { parts: positions({ network: 3, reference: 6 }) }),
    95: field('Replacement amounts', 'an42', {
      parts: positions({ 1: 12, 2: 12, billing: 12, reserved: 6 }),
    }),
    121: field('Authorizing agent identification code', 'n...6'),
    127: field('Private data', 'ans...100'),
  },
  meaning: {
    transactionId(message) {
      const trace = valueAt(message, '48.63')?.trim()
      const network = valueAt(message, '63.network')
      const reference = valueAt(message, '63.reference')
      const date = valueAt(message, '15')
      return trace || (network && reference && date ? `${network}${reference}${date}`.trim() : undefined)
    },
    isIncrement: (message) =>
      valueAt(message, '48.63') !== undefined && valueAt(message, '61.status') === PREAUTHORIZATION,
    allowsPartial: (message) => valueAt(message, '61.partial') === '1',
    isFinal: () => undefined,
    wallet(message) {
      const code = valueAt(message, '48.26')?.trim()
      if (code === '103') return 'apple_pay'
      if (code === '216' || code === '217') return 'google_pay'
      return walletOf(valueAt(message, '48.33')?.slice(0, 11))
    },
    checks: (message) => ({
      ...chipChecks(message),
      ...addressChecks(valueAt(message, '48.83')),
      ...checkOf('cvc', [valueAt(message, '48.87')], ['M'], ['N', 'Y']),
      ...checkOf('pin', [valueAt(message, '48.80')], ['PV', 'TV'], ['PI', 'TI']),
      ...checkOf('authentication', [valueAt(message, '48.45')], ['2', '3', '8', 'A'], ['1', '4', '7', '9']),
    }),
    country: (message) =>
      whereAlpha3(valueAt(message, '43.country') ?? '')?.alpha2 ??
      whereNumeric(valueAt(message, '61.country') ?? '')?.alpha2,
    remainingBilled: 'billing',
  },
}
