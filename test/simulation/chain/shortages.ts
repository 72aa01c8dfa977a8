/**
 * Times of a day in which the payer cannot pay: bursts of actions begin in them. Payouts wait, and are paid afterwards. The
 * last one is so long that payouts fail.
 */

/** What is short, from a time of the day until another. */
const TIMES = [
  ['02:30', '02:31', 'dear'],
  ['02:31', '02:32', 'funds'],
  ['05:00', '05:01', 'tokens'],
  ['05:01', '05:02', 'confused'],
  ['07:30', '07:31', 'gas'],
  ['07:31', '07:32', 'switched'],
  ['10:00', '10:01', 'costly'],
  ['12:31', '13:11', 'paused'],
] as const

export type Shortage = (typeof TIMES)[number][2]

const timeOf = (at: number) => new Date(at).toISOString().slice(11, 16)

/** @param at milliseconds since the epoch. */
export const shortageAt = (at: number): Shortage | undefined =>
  TIMES.find(([from, until]) => from <= timeOf(at) && timeOf(at) < until)?.[2]

/** Whether the payer lacked something at some time between two. */
export function isShortBetween(from: number, until: number): boolean {
  for (let at = from; at < until; at += 15_000) if (shortageAt(at) !== undefined) return true
  return shortageAt(until) !== undefined
}

/** A payout that waits for so long fails. */
const GIVE_UP_MS = 600_000

/** Whether a payout can have failed at a time because the token was paused. @param created when it was ordered. */
export function isGivenUp(created: number, failed: number): boolean {
  const from = Date.parse(`${new Date(failed).toISOString().slice(0, 10)}T${TIMES.at(-1)![0]}:00Z`)
  return shortageAt(failed) === 'paused' && failed - Math.max(created, from) >= GIVE_UP_MS
}

const GWEI = 1_000_000_000n

/** Base fees in wei: with one, the fee is the limit of 500 gwei; with the other, it is above. */
export const BASE_FEES: Readonly<Partial<Record<Shortage, bigint>>> = {
  costly: 249n * GWEI + GWEI / 4n,
  dear: 5000n * GWEI,
}

/** Highest fee that the service offers, in wei. */
export const MOST_FEE = 500n * GWEI

/** What the node says instead of an estimate. */
export const REFUSALS = { funds: 'insufficient funds for gas * price + value', confused: 'header not found' }

/** What the log says each time that the service finds out that something is short. */
export const WAITS = {
  tokens: /^A payout is held up: the signer has only 1 base units of USDC; the payment needs \d+0000$/,
  gas: /^A payout is held up: the signer has only 1 wei for gas$/,
  paused: /^A payout is held up: the token is paused$/,
  funds: /^A payout is held up: insufficient funds for gas \* price \+ value$/,
  confused: /^A payout is held up: the node cannot estimate the gas: header not found$/,
  switched: /^USDC payouts wait: node\.invalid is chain 1; expected chain \d+$/,
} as const satisfies Partial<Record<Shortage, RegExp>>

/** Whether a node tells which tip is usual, at a time. */
export const hasTips = (at: number): boolean => Math.floor(at / 60_000) % 3 > 0

/** What the log says of a fee that is too high. */
export const DEAR = /^A payout is held up: the gas price of (\d+) wei is above the limit of 500000000000 wei$/
