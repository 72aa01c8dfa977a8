import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { BacktestRow, FlipRow } from './queries.ts'

type Schemas = components['schemas']

export function showBacktest(row: BacktestRow): Schemas['SpendingControlBacktest'] {
  return {
    id: row.id,
    object: 'spending_control_backtest',
    spending_control_draft_id: row.spending_control_draft_id,
    version: row.version,
    interval_start: writeInstant(row.interval_start),
    interval_end: writeInstant(row.interval_end),
    status: row.status,
    progress: row.progress,
    result: row.result,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

export function showFlip({
  created,
  recorded_amount,
  draft_amount,
  ...row
}: FlipRow): Schemas['SpendingControlFlip'] {
  return {
    ...row,
    object: 'spending_control_flip',
    ...(recorded_amount !== null && draft_amount !== null && { recorded_amount, draft_amount }),
    created: writeInstant(created),
  }
}
