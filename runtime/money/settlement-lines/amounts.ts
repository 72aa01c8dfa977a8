/** Computes the amounts of settlement lines. Amounts are cents; money of the tenant is positive. */
import type { components } from '../../../generated/canonical/types.ts'
import type { InterchangeRow } from '../../platform/interchange-table.ts'
import { STANDARD } from './interchange.ts'

export type LineType = components['schemas']['SettlementLineType']

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
  readonly interchange_category?: string
  /** On the transaction line of a clearing: the interchange that the clearing earned. */
  readonly interchange_earned?: number
  /** The network's business day, ISO 8601. */
  readonly network_date?: string
}

/** Interchange of one transaction so far, in cents. */
export interface Interchange {
  /** Sum over the clearings, at least 0. */
  readonly earned: number
  /** The part of it that refunds have returned. */
  readonly returned: number
  /** Category of its clearings. */
  readonly category: string
}

/** The interchange of a transaction without earlier clearings. */
export const NO_INTERCHANGE: Interchange = { earned: 0, returned: 0, category: STANDARD }

/** Cleared and refunded cents of a transaction, including the change that the lines are for. Cleared is greater than 0. */
export interface ClearedAmounts {
  readonly cleared: number
  readonly refunded: number
}

/**
 * Returns the change of interchange. Refunds return their share of what all clearings have earned, so the sum depends only
 * on the totals: clearings and refunds end in the same sum in any order.
 */
function interchangeChange(
  { earned, returned }: Interchange,
  more: number,
  { cleared, refunded }: ClearedAmounts,
): number {
  const total = earned + more
  return total - partOf(total, refunded, cleared) - (earned - returned)
}

/** Returns the interchange that a clearing earns by itself, in cents. */
export function earnedBy(amount: number, { basis_points, fixed_cents = 0 }: InterchangeRow): number {
  return partOf(amount, basis_points, BASIS_POINTS) + fixed_cents
}

/**
 * Returns the lines of a clearing. `program_funds` pays it, so the transaction line has an opposite funding line. What
 * remains is the interchange share and the fee, if they amount to at least one cent.
 * @param amount greater than 0.
 * @param networkFee in basis points.
 * @param before the interchange before this clearing.
 */
export function linesOfClearing(
  amount: number,
  rate: InterchangeRow,
  networkFee: number,
  before: Interchange,
  amounts: ClearedAmounts,
): readonly LineAmount[] {
  const interchange_earned = earnedBy(amount, rate)
  return written(rate.id, [
    { type: 'card_transaction', amount: -amount, interchange_earned },
    { type: 'program_funding', amount },
    { type: 'interchange', amount: interchangeChange(before, interchange_earned, amounts) },
    { type: 'network_fee', amount: -partOf(amount, networkFee, BASIS_POINTS) },
  ])
}

/**
 * Returns the lines of a refund. The network keeps its fee.
 * @param amount greater than 0.
 * @param before the interchange before this refund.
 */
export function linesOfRefund(
  amount: number,
  before: Interchange,
  amounts: ClearedAmounts,
): readonly LineAmount[] {
  return written(before.category, [
    { type: 'card_refund', amount },
    { type: 'program_funding', amount: -amount },
    { type: 'interchange', amount: interchangeChange(before, 0, amounts) },
  ])
}

function written(interchange_category: string, lines: readonly LineAmount[]): readonly LineAmount[] {
  return lines.filter(({ amount }) => amount !== 0).map((line) => ({ ...line, interchange_category }))
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
