import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { LineRow, SettlementWithLines } from './queries.ts'

type Schemas = components['schemas']

export function showLine(row: LineRow): Schemas['SettlementLine'] {
  return {
    id: row.id,
    object: 'settlement_line',
    settlement_id: row.settlement_id,
    type: row.type,
    amount: row.amount,
    currency: 'usd',
    source_id: row.source_id,
    ledger_entry_id: row.ledger_entry_id,
    created: writeInstant(row.created),
  }
}

export function showSettlement(row: SettlementWithLines): Schemas['Settlement'] {
  return {
    id: row.id,
    object: 'settlement',
    status: row.status,
    currency: row.currency,
    period_start: writeInstant(row.period_start),
    period_end: writeInstant(row.period_end),
    transaction_amount: row.transaction_amount,
    interchange_amount: row.interchange_amount,
    fees_amount: row.fees_amount,
    net_amount: row.net_amount,
    lines_count: row.lines_count,
    payout_id: row.payout_id,
    lines: row.lines.map(showLine),
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}
