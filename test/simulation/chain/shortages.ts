/** Minutes of a day in which the payer cannot pay: bursts of actions begin in them. Payouts wait, and are paid afterwards. */

/** What is short, by the minute of the day. */
const MINUTES = {
  '02:30': 'dear',
  '05:00': 'tokens',
  '07:30': 'gas',
  '10:00': 'costly',
  '12:30': 'paused',
} as const

export type Shortage = (typeof MINUTES)[keyof typeof MINUTES]

/** @param at milliseconds since the epoch. */
export const shortageAt = (at: number): Shortage | undefined =>
  MINUTES[new Date(at).toISOString().slice(11, 16) as keyof typeof MINUTES]

const GWEI = 1_000_000_000n

/** Base fees in wei: with one, the fee is the limit of 500 gwei; with the other, it is above. */
export const BASE_FEES: Readonly<Partial<Record<Shortage, bigint>>> = {
  costly: 249n * GWEI + GWEI / 4n,
  dear: 5000n * GWEI,
}

/** Highest fee that the service offers, in wei. */
export const MOST_FEE = 500n * GWEI

/** What the log says of a payout that waits for something. */
export const WAITS: Readonly<Record<'tokens' | 'gas' | 'paused', RegExp>> = {
  tokens: /^A payout is held up: the signer has only 1 base units of USDC; the payment needs \d+0000$/,
  gas: /^A payout is held up: the signer has only 1 wei for gas$/,
  paused: /^A payout is held up: the token is paused$/,
}

/** What the log says of a fee that is too high. */
export const DEAR = /^A payout is held up: the gas price of (\d+) wei is above the limit of 500000000000 wei$/
