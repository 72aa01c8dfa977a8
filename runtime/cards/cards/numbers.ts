/** Numbers of cards: of a range for tests, which no network routes. */
import { randomInt } from 'node:crypto'
import { checkDigit } from '../../platform/card-numbers.ts'
import type { CardSecrets } from '../card-keys/card-keys.ts'

/** The first digits of every number. */
const TEST_BIN = '400000'
const LENGTH = 16

const digits = (count: number) => String(randomInt(10 ** count)).padStart(count, '0')

/** A random number of sixteen digits, the last of which checks the others, and a security code of three. */
export function makeSecrets(): CardSecrets {
  const start = TEST_BIN + digits(LENGTH - TEST_BIN.length - 1)
  return { number: start + checkDigit(start), cvc: digits(3) }
}

const YEARS = 4

/** When a card expires that is issued at the instant: four years later, at the end of the month, UTC. */
export function expiryOf(now: number): { readonly exp_month: number; readonly exp_year: number } {
  const issued = new Date(now)
  return { exp_month: issued.getUTCMonth() + 1, exp_year: issued.getUTCFullYear() + YEARS }
}

/** Whether the last day of the card's month of expiry is over, in UTC. */
export function isExpired(
  { exp_month, exp_year }: { readonly exp_month: number; readonly exp_year: number },
  now: number,
): boolean {
  return now >= Date.UTC(exp_year, exp_month)
}
