/** Selects the interchange of a card use: a row of the operator's table, or the one rate without a table. */
import type { InterchangeRow } from '../../platform/interchange-table.ts'

/** Interchange and network fee of clearings. */
export interface Rates {
  /** Basis points of the uses that no row matches. */
  readonly interchange: number
  /** Basis points. */
  readonly networkFee: number
  /** The first row that matches a card use applies. */
  readonly table?: readonly InterchangeRow[]
}

/** What selects the interchange of a clearing. */
export interface InterchangeUse {
  /** Merchant category code. */
  readonly categoryCode: string
  readonly entryMethod: string | null
  /** Country of the merchant; null if it is unknown, which matches no region. */
  readonly country: string | null
}

/** Category of the one rate, which also applies to lines written before categories were stored. */
export const STANDARD = 'standard'

/** The country where the cards are issued. */
const HOME = 'US'

function covers(entry: string, code: string): boolean {
  const [first, last = first] = entry.split('-') as [string, string?]
  return first <= code && code <= last
}

function fits(row: InterchangeRow, { categoryCode, entryMethod, country }: InterchangeUse): boolean {
  const { categories, entry_methods, region } = row
  if (categories && !categories.some((entry) => covers(entry, categoryCode))) return false
  if (entry_methods && (entryMethod === null || !entry_methods.includes(entryMethod))) return false
  if (region === undefined) return true
  return country !== null && (region === 'domestic') === (country === HOME)
}

/**
 * Returns the rate of a clearing.
 * @param named the category that the network names. It applies if the table has it.
 */
export function selectInterchange(
  { table = [], interchange }: Rates,
  use: InterchangeUse,
  named?: string,
): InterchangeRow {
  const row =
    (named !== undefined && table.find(({ id }) => id === named)) || table.find((each) => fits(each, use))
  return row ?? { id: STANDARD, basis_points: interchange }
}
