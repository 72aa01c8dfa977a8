import type { Statement } from '../database/database.ts'
import type { LineType } from '../money/settlement-lines/amounts.ts'
import type { Environment } from '../platform/environment.ts'
import type { Operator } from '../tenants/admin/change.ts'
import { postingsIn, showMoney } from './money.ts'

const readIn = (environment: Environment): Statement => ({
  text: `SELECT s.id, s.status, s.currency, s.period_start, s.period_end, s.transaction_amount, s.interchange_amount, s.fees_amount,
                s.net_amount, s.lines_count, s.due, s.created, s.updated,
                (SELECT coalesce(json_object_agg(l.type, json_build_object('lines', l.lines, 'amount', l.amount) ORDER BY l.type), '{}')
                   FROM (SELECT l.type, count(*) AS lines, sum(l.amount) AS amount FROM ${environment}.settlement_lines l
                          WHERE l.tenant_id = $1 AND l.settlement_id = s.id GROUP BY l.type) AS l) AS types,
                (SELECT json_build_object('id', p.id, 'status', p.status, 'amount', p.amount, 'currency', p.currency)
                   FROM ${environment}.payouts p WHERE p.tenant_id = $1 AND p.id = s.payout_id) AS payout,
                (SELECT c.offset_ms / 1000 FROM ${environment}.settlement_clocks c WHERE c.tenant_id = $1) AS clock_ahead_seconds,
                ${postingsIn(environment, 's')}
           FROM ${environment}.settlements s WHERE s.tenant_id = $1 AND s.id = $2`,
})

/** Returns a settlement with its line totals, its payout and its ledger postings. Throws `not_found`. */
export function showSettlement(operator: Operator, tenantId: string, id: string): Promise<object> {
  return showMoney(operator, tenantId, id, readIn, 'settlement')
}

const RARE = [
  'card_refund',
  'dispute',
  'dispute_reversal',
  'adjustment',
] as const satisfies readonly LineType[]

// Only lines of rare types are read: the totals of the settlement give the rest.
const readAmountsIn = (environment: Environment): Statement => ({
  text: `SELECT s.created, s.updated,
                json_build_object(
                  'card_transaction', s.transaction_amount - r.card_refund, 'card_refund', r.card_refund,
                  'interchange', s.interchange_amount, 'network_fee', -s.fees_amount,
                  'dispute', r.dispute, 'dispute_reversal', r.dispute_reversal, 'adjustment', r.adjustment,
                  'program_funding', s.net_amount - s.transaction_amount - s.interchange_amount + s.fees_amount
                                     - r.dispute - r.dispute_reversal - r.adjustment) AS amounts,
                ${postingsIn(environment, 's')}
           FROM ${environment}.settlements s CROSS JOIN LATERAL (
             SELECT ${RARE.map((type) => `coalesce(sum(l.amount) FILTER (WHERE l.type = '${type}'), 0) AS ${type}`).join(', ')}
               FROM ${environment}.settlement_lines l
              WHERE l.tenant_id = $1 AND l.settlement_id = s.id AND l.type IN (${RARE.map((type) => `'${type}'`).join(', ')})
           ) AS r WHERE s.tenant_id = $1 AND s.id = $2`,
})

/**
 * Returns the amount of each line type of a settlement, in cents, and its ledger postings. A settlement of a million lines
 * takes milliseconds. Throws `not_found`.
 */
export function showSettlementAmounts(operator: Operator, tenantId: string, id: string): Promise<object> {
  return showMoney(operator, tenantId, id, readAmountsIn, 'settlement')
}
