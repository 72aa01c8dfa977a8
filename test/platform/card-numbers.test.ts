import { describe, expect, test } from 'vitest'
import { redactCardNumbers } from '../../runtime/platform/card-numbers.ts'

describe('a card number is redacted', () => {
  test.each([
    ['Visa', '4242424242424242'],
    ['Visa with 19 digits', '4000000000000000006'],
    ['Mastercard', '5555555555554444'],
    ['Mastercard of the range 2', '2223003122003222'],
    ['Discover', '6011111111111117'],
    ['JCB', '3566002020360505'],
    ['American Express', '378282246310005'],
    ['Diners Club', '30569309025904'],
    ['in groups', '4242 4242 4242 4242'],
    ['with hyphens', '4242-4242-4242-4242'],
    ['in a query', '4242+4242+4242+4242'],
    ['in a path', '4242%204242%204242%204242'],
  ])('a card number is redacted: %s', (_, number) => {
    for (const [before, after] of [
      ['', ''],
      ['{"note":"', '"}'],
      ['\\n', '\\n'],
      ['%3D', '&x=1'],
      ['4500 ', ' 12/29 123'],
      ['no.', '.'],
    ] as const) {
      const text = before.endsWith('.') ? `${before} ${number}${after}` : before + number + after
      expect(redactCardNumbers(text)).toBe(text.replace(number, '[redacted]'))
    }
  })

  test('each of several card numbers in a text is redacted', () => {
    const text = '4242424242424242,378282246310005 and 4242 4242 4242 4242'
    expect(redactCardNumbers(text)).toBe('[redacted],[redacted] and [redacted]')
  })
})

test.each([
  '4242424242424241',
  '42424242424242420',
  '1000000000000008',
  '20260519120000',
  '+4915123456789',
  '0.4242424242424242',
  '0198c2f4-4242-4242-8242-424242424242',
  'card_01jx2c4d5e6f7g8h9j0k1m2n3p',
])('digits that are not a card number stay: %s', (text) => {
  expect(redactCardNumbers(text)).toBe(text)
})

// Quadratic work on a text of this size takes minutes: more than the time limit of a test.
test('the time to redact a text grows in proportion to its length', () => {
  for (const atom of ['4', '4 ', '4242 ', '4%20', '%20', '3', '4242424242424242 ']) {
    const text = atom.repeat(500_000 / atom.length)
    expect(redactCardNumbers(text).length, atom).toBeLessThanOrEqual(text.length)
  }
})
