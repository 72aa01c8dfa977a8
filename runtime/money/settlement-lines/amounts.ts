/** What a settlement's lines come to. Amounts are cents with the tenant's sign. */
import type { components } from '../../../generated/canonical/types.ts'

export type LineType = components['schemas']['SettlementLineType']

/** What the network shares and takes of a clearing, in basis points: hundredths of a percent. */
export interface Rates {
  readonly interchange: number
  readonly networkFee: number
}

/** An amount times a fraction in whole cents, halves to the even one (IEEE 754, roundTiesToEven). Exact for every amount that is stored. */
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
 * The lines of what was collected. `program_funds` has carried it, so its line has an opposite one; what stays is the share of
 * interchange and the fee, where they come to a cent.
 *
 * @param amount more than 0.
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

/** Interchange of one transaction so far: what its clearings earned, and what its refunds returned of that. Cents, both 0 or more. */
export interface Interchange {
  readonly earned: number
  readonly returned: number
}

/**
 * The interchange that a refund returns: all refunds together then have returned their share of what was earned. The
 * refund of the rest returns the rest. Nothing that was returned comes back by a later clearing.
 *
 * @param amounts of the transaction, this refund included.
 */
export function returnedInterchange(
  { earned, returned }: Interchange,
  { cleared, refunded }: { readonly cleared: number; readonly refunded: number },
): number {
  return Math.max(0, partOf(earned, refunded, cleared) - returned)
}

/**
 * The lines of what a merchant gave back. The network keeps its fee.
 *
 * @param amount more than 0. @param returned interchange, 0 or more.
 */
export function linesOfRefund(amount: number, returned: number): readonly LineAmount[] {
  const lines: LineAmount[] = [
    { type: 'card_refund', amount },
    { type: 'program_funding', amount: -amount },
    { type: 'interchange', amount: 0 - returned },
  ]
  return lines.filter((line) => line.amount !== 0)
}

/** What a settlement shows of its lines. */
export interface Totals {
  readonly transaction_amount: number
  readonly interchange_amount: number
  readonly fees_amount: number
  readonly net_amount: number
  readonly lines_count: number
}

/** What lines add to a settlement. */
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
