/** Generates card numbers from a test range, which no card network routes. */
import { randomInt } from 'node:crypto'
import { checkDigit } from '../../platform/card-numbers.ts'
import type { CardSecrets } from './card-keys.ts'

/** The bank identification number (BIN): the first digits of every card number. */
const TEST_BIN = '400000'
const LENGTH = 16

const digits = (count: number) => String(randomInt(10 ** count)).padStart(count, '0')

/** Returns a random 16-digit card number with a valid check digit, and a 3-digit security code. */
export function makeSecrets(): CardSecrets {
  const start = TEST_BIN + digits(LENGTH - TEST_BIN.length - 1)
  return { number: start + checkDigit(start), cvc: digits(3) }
}
