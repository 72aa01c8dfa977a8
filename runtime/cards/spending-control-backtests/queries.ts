import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import type { BacktestResult, Flip } from './replay.ts'

type Schemas = components['schemas']

/** A backtest as stored. Times are milliseconds since the epoch. */
export interface BacktestRow {
  readonly id: string
  readonly spending_control_draft_id: string
  readonly version: number
  /** Those of the version, which never changes. */
  readonly spending_controls: SpendingControls
  readonly card_id: string | null
  readonly card_program_id: string | null
  readonly interval_start: number
  readonly interval_end: number
  readonly status: Schemas['SpendingControlBacktestStatus']
  /** Percent. */
  readonly progress: number
  readonly result: BacktestResult | null
  readonly created: number
  readonly updated: number
}

export const BACKTEST_COLUMNS = `id, spending_control_draft_id, version, spending_controls, card_id, card_program_id, interval_start,
  interval_end, status, progress, result, created, updated`

const INSERT: Statement = {
  name: 'spending_control_backtests_insert',
  text: `INSERT INTO spending_control_backtests (tenant_id, ${BACKTEST_COLUMNS})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', 0, NULL, $10, $10)`,
}

/** Writes a new, pending backtest. */
export function insertBacktest(db: Database, tenantId: string, row: BacktestRow): Promise<unknown> {
  const { id, spending_control_draft_id, version, spending_controls, card_id, card_program_id } = row
  const times = [row.interval_start, row.interval_end, row.created].map(toTimestamp)
  const target = [JSON.stringify(spending_controls), card_id, card_program_id]
  return db.query(INSERT, [tenantId, id, spending_control_draft_id, version, ...target, ...times])
}

const READ: Statement = {
  name: 'spending_control_backtests_read',
  text: `SELECT ${BACKTEST_COLUMNS} FROM spending_control_backtests WHERE tenant_id = $1 AND id = $2`,
}

export async function readBacktest(
  db: Database,
  tenantId: string,
  id: string,
): Promise<BacktestRow | undefined> {
  return (await db.query<BacktestRow>(READ, [tenantId, id])).rows[0]
}

const COUNT_PENDING: Statement = {
  name: 'spending_control_backtests_count_pending',
  text: `SELECT count(*) AS count FROM (
           SELECT FROM spending_control_backtests WHERE tenant_id = $1 AND status = 'pending' LIMIT $2
         ) AS pending`,
}

/** Counts a tenant's pending backtests, up to `most`. */
export async function countPending(db: Database, tenantId: string, most: number): Promise<number> {
  return (await db.query<{ count: number }>(COUNT_PENDING, [tenantId, most])).rows[0]?.count ?? 0
}

export const listBacktests = defineList<BacktestRow, 'listSpendingControlBacktests'>({
  operation: 'listSpendingControlBacktests',
  table: 'spending_control_backtests',
  alias: 'b',
  columns: BACKTEST_COLUMNS,
  filters: { spending_control_draft_id: 'b.spending_control_draft_id' },
  indexes: [[], ['spending_control_draft_id']],
})

export interface FlipRow extends Flip {
  readonly id: string
}

interface OfBacktest {
  readonly backtest_id: readonly [string]
}

export const listFlips = defineList<FlipRow, 'listSpendingControlFlips', OfBacktest>({
  operation: 'listSpendingControlFlips',
  table: 'spending_control_flips',
  alias: 'f',
  columns: `f.id, f.card_transaction_id, f.card_id, f.change, f.code, f.rule, f.amount, f.recorded_amount,
            f.draft_amount, f.created`,
  filters: { backtest_id: 'f.backtest_id', change: 'f.change' },
  indexes: [['backtest_id', 'change']],
})
