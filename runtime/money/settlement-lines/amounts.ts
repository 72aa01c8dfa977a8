/** Computes the amounts of settlement lines. Amounts are cents; money of the tenant is positive. */
import type { components } from '../../../generated/canonical/types.ts'

export type LineType = components['schemas']['SettlementLineType']

/** Interchange share and network fee of a clearing, in basis points (hundredths of a percent). */
export interface Rates {
  readonly interchange: number
  readonly networkFee: number
}

/**
 * Multiplies an amount by a fraction, rounded to whole cents, half to even (IEEE 754, roundTiesToEven). Exact for every
 * stored amount.
 */
function partOf(amount: number, numerator: number, denominator: number): number {
  const [product, divisor] = [BigInt(amount) * BigInt(numerator), BigInt(denominator)]
  const [whole, rest] = [product / divisor, product % divisor]
  const isUp = 2n * rest > divisor || (2n * rest === divisor && whole % 2n === 1n)
  return Number(isUp ? whole + 1n : whole)
}

const BASIS_POINTS = 10_000

export interface LineAmount {
  readonly type: LineType
  readonly amount: number
}

/**
 * Returns the lines of a clearing. `program_funds` pays it, so the transaction line has an opposite funding line. What
 * remains is the interchange share and the fee, if they amount to at least one cent.
 * @param amount greater than 0.
 */
export function linesOfClearing(amount: number, rates: Rates): readonly LineAmount[] {
  const lines: LineAmount[] = [
    { type: 'card_transaction', amount: -amount },
    { type: 'program_funding', amount },
    { type: 'interchange', amount: partOf(amount, rates.interchange, BASIS_POINTS) },
    { type: 'network_fee', amount: -partOf(amount, rates.networkFee, BASIS_POINTS) },
  ]
  return lines.filter((line) => line.amount !== 0)
}

/** Interchange of one transaction so far, in cents: earned by clearings, and returned by refunds. Both are at least 0. */
export interface Interchange {
  readonly earned: number
  readonly returned: number
}

/**
 * Returns the interchange that a refund gives back, so that all refunds together return their share of the earned
 * interchange. A refund of the rest returns the rest. A later clearing never restores returned interchange.
 * @param amounts amounts of the transaction, including this refund.
 */
export function returnedInterchange(
  { earned, returned }: Interchange,
  { cleared, refunded }: { readonly cleared: number; readonly refunded: number },
): number {
  return Math.max(0, partOf(earned, refunded, cleared) - returned)
}

/**
 * Returns the lines of a refund. The network keeps its fee.
 * @param amount greater than 0.
 * @param returned interchange to give back, at least 0.
 */
export function linesOfRefund(amount: number, returned: number): readonly LineAmount[] {
  const lines: LineAmount[] = [
    { type: 'card_refund', amount },
    { type: 'program_funding', amount: -amount },
    { type: 'interchange', amount: 0 - returned },
  ]
  return lines.filter((line) => line.amount !== 0)
}

/** The totals of a settlement's lines. */
export interface Totals {
  readonly transaction_amount: number
  readonly interchange_amount: number
  readonly fees_amount: number
  readonly net_amount: number
  readonly lines_count: number
}

/** Returns what lines add to the totals of a settlement. */
export function totalsOf(lines: readonly LineAmount[]): Totals {
  const sum = (...types: readonly LineType[]) =>
    lines
      .filter(({ type }) => types.length === 0 || types.includes(type))
      .reduce((total, { amount }) => total + amount, 0)
  return {
    transaction_amount: sum('card_transaction', 'card_refund'),
    interchange_amount: sum('interchange'),
    fees_amount: 0 - sum('network_fee'),
    net_amount: sum(),
    lines_count: lines.length,
  }
}
