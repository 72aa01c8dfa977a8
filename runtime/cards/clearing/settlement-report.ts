/** Reads the network's settlement report: what it settled on a day, by card program and interchange category. */
import { readFileSync } from 'node:fs'
import type { Environment } from '../../platform/environment.ts'
import { splitRow } from './csv-format.ts'
import { ClearingFileError } from './records.ts'

/** Cents and numbers of items. Interchange and fees are those of the clearings and refunds of the day. */
export const SETTLED = [
  'clearings_count',
  'clearings_amount',
  'refunds_count',
  'refunds_amount',
  'interchange_amount',
  'fees_amount',
] as const

export type Settled = Readonly<Record<(typeof SETTLED)[number], bigint>>

/** One day, card program and interchange category. */
export interface SettledRow {
  readonly business_date: string
  readonly environment: Environment
  /** Empty for cards without a program. */
  readonly card_program_id: string
  readonly interchange_category: string
  readonly settled: Settled
}

const NAMES = ['business_date', 'environment', 'card_program_id', 'interchange_category', ...SETTLED] as const

/** Identifies a card program and an interchange category. */
export const keyOf = (row: Pick<SettledRow, 'card_program_id' | 'interchange_category'>): string =>
  `${row.card_program_id} ${row.interchange_category}`

function recordsOf(path: string): readonly Readonly<Record<string, unknown>>[] {
  const text = readFileSync(path, 'utf8')
  if (path.endsWith('.csv')) {
    const [names = [], ...rows] = text
      .split(/\r?\n/)
      .filter((line) => line !== '')
      .map((line) => splitRow(line) ?? [])
    return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])))
  }
  const content: unknown = JSON.parse(text)
  const rows = typeof content === 'object' && content !== null && 'rows' in content ? content.rows : content
  if (!Array.isArray(rows)) throw new ClearingFileError(`${path} holds no list of rows.`)
  return rows
}

/**
 * Reads the rows of a day, by `keyOf`. The file is CSV with a header row, or JSON: a list of rows, or `{"rows": […]}`. Its size
 * depends on the numbers of card programs and categories, not on the number of clearings. Throws `ClearingFileError`.
 */
export function readReport(
  path: string,
  environment: Environment,
  date: string,
): ReadonlyMap<string, Settled> {
  const found = new Map<string, Settled>()
  for (const [index, record] of recordsOf(path).entries()) {
    const place = `row ${index + 1} of ${path}`
    const unknown = Object.keys(record).find((name) => !NAMES.some((known) => known === name))
    if (unknown !== undefined) throw new ClearingFileError(`${place} has an unknown member ${unknown}.`)
    if (record.business_date !== date || record.environment !== environment) continue
    const settled = Object.fromEntries(
      SETTLED.map((name) => {
        const text = String(record[name] ?? '')
        if (!/^-?\d{1,30}$/.test(text))
          throw new ClearingFileError(`${name} of ${place} is not a whole number.`)
        return [name, BigInt(text)]
      }),
    ) as Settled
    const key = keyOf({
      card_program_id: String(record.card_program_id ?? ''),
      interchange_category: String(record.interchange_category ?? ''),
    })
    if (found.has(key))
      throw new ClearingFileError(`${place} repeats the card program and category of another row.`)
    found.set(key, settled)
  }
  return found
}
