import type { Statement } from '../database/database.ts'
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
