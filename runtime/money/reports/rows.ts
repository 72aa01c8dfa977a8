/** What reports consist of: rows, which are read step by step. */
import type { Database } from '../../database/database.ts'
import type { PositionSpan } from '../ledger/checkpoints.ts'

/** A report row, by column. `amount` is the change of the report's balance, in cents. */
export type ReportLine = Readonly<Record<string, string | number | bigint | null>> & {
  readonly amount: number | bigint
}

export interface ReportStep {
  /** Cents to add to the opening balance that earlier steps have reported. */
  readonly opening: bigint
  readonly rows: readonly ReportLine[]
}

/** The scope of a report. */
export interface ReportScope {
  readonly db: Database
  readonly space: string
  readonly span: PositionSpan
  /** API version in which the rows are written. */
  readonly version: string
}

export interface RowSource {
  readonly columns: readonly string[]
  readonly steps: (scope: ReportScope) => AsyncIterable<ReportStep>
}

/** Currency of the ledger. */
export const CURRENCY = 'usd'
