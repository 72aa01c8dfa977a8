/** Generates card numbers from a test range, which no card network routes. */
import { randomInt } from 'node:crypto'
import { checkDigit } from '../../platform/card-numbers.ts'
import type { CardSecrets } from '../card-keys/card-keys.ts'

/** The bank identification number (BIN): the first digits of every card number. */
const TEST_BIN = '400000'
const LENGTH = 16

const digits = (count: number) => String(randomInt(10 ** count)).padStart(count, '0')

/** Returns a random 16-digit card number with a valid check digit, and a 3-digit security code. */
export function makeSecrets(): CardSecrets {
  const start = TEST_BIN + digits(LENGTH - TEST_BIN.length - 1)
  return { number: start + checkDigit(start), cvc: digits(3) }
}

const YEARS = 4

/** Returns the expiry of a card issued at `now`: the same month four years later, in UTC. */
export function expiryOf(now: number): { readonly exp_month: number; readonly exp_year: number } {
  const issued = new Date(now)
  return { exp_month: issued.getUTCMonth() + 1, exp_year: issued.getUTCFullYear() + YEARS }
}

/** Returns whether the card's expiry month is over, in UTC. */
export function isExpired(
  { exp_month, exp_year }: { readonly exp_month: number; readonly exp_year: number },
  now: number,
): boolean {
  return now >= Date.UTC(exp_year, exp_month)
}
