/** What a settlement's lines come to. Amounts are cents with the tenant's sign. */
import type { components } from '../../generated/canonical/types.ts'

export type LineType = components['schemas']['SettlementLineType']

/** What the network shares and takes of a clearing, in basis points: hundredths of a percent. */
export interface Rates {
  readonly interchange: number
  readonly networkFee: number
}

/** A part of an amount in whole cents, halves to the even one (IEEE 754, roundTiesToEven). Exact for every amount that is stored. */
export function partOf(amount: number, basisPoints: number): number {
  const product = BigInt(amount) * BigInt(basisPoints)
  const [whole, rest] = [product / 10_000n, product % 10_000n]
  const isUp = rest > 5000n || (rest === 5000n && whole % 2n === 1n)
  return Number(isUp ? whole + 1n : whole)
}

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
    { type: 'interchange', amount: partOf(amount, rates.interchange) },
    { type: 'network_fee', amount: -partOf(amount, rates.networkFee) },
  ]
  return lines.filter((line) => line.amount !== 0)
}

/** The lines of what a merchant gave back. @param amount more than 0. */
export function linesOfRefund(amount: number): readonly LineAmount[] {
  return [
    { type: 'card_refund', amount },
    { type: 'program_funding', amount: -amount },
  ]
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
