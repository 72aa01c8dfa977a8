/** What records, such as a card transaction, added to settlements. */
import type { Database, Statement } from '../../database/database.ts'
import type { SettlementWithLines } from './queries.ts'

/** Amounts in cents, with the sign of settlement lines. */
export interface SettlementOfSources extends Pick<SettlementWithLines, 'id' | 'status' | 'period_start'> {
  readonly transactions: number
  readonly interchange: number
  readonly fees: number
  readonly disputes: number
}

const sumOf = (...types: readonly string[]) =>
  `coalesce(sum(l.amount) FILTER (WHERE l.type IN (${types.map((type) => `'${type}'`).join(', ')})), 0)::bigint`

const READ: Statement = {
  name: 'settlement_lines_of_sources',
  text: `SELECT s.id, s.status, s.period_start,
                ${sumOf('card_transaction', 'card_refund')} AS transactions, ${sumOf('interchange')} AS interchange,
                ${sumOf('network_fee')} AS fees, ${sumOf('dispute', 'dispute_reversal')} AS disputes
           FROM settlement_lines l
           JOIN settlements s ON s.tenant_id = $1 AND s.id = l.settlement_id
          WHERE l.tenant_id = $1 AND l.source_id = ANY($2)
          GROUP BY s.id, s.status, s.period_start ORDER BY s.period_start, s.id`,
}

/** Returns the settlements with lines of the records, oldest first. */
export async function readSettlementsOf(
  db: Database,
  tenantId: string,
  sourceIds: readonly string[],
): Promise<readonly SettlementOfSources[]> {
  return (await db.query<SettlementOfSources>(READ, [tenantId, sourceIds])).rows
}
