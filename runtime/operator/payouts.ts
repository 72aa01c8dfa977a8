import type { Statement } from '../database/database.ts'
import type { Environment } from '../platform/environment.ts'
import type { Operator } from '../tenants/admin/change.ts'
import { postingsIn, showMoney } from './money.ts'

/** Leaves out the lease token, and bank account data that the tenant cannot see. */
const readIn = (environment: Environment): Statement => ({
  text: `SELECT p.id, p.status, p.amount, p.currency, p.failure_code, p.settlement_id, p.chain_id, p.transaction_hash, p.confirmations,
                p.created, p.updated,
                (SELECT json_build_object('id', d.id, 'type', d.type, 'status', d.status, 'holder_name', d.holder_name,
                                          'address', d.address, 'bank_account', d.bank_account)
                   FROM ${environment}.payout_destinations d WHERE d.tenant_id = $1 AND d.id = p.destination_id) AS destination,
                (SELECT to_jsonb(c) - 'tenant_id' - 'id' FROM ${environment}.chain_transfers c
                  WHERE c.tenant_id = $1 AND c.id = p.id) AS transfer,
                (SELECT json_build_object('signed_at', t.signed_at, 'sent_at', t.sent_at)
                   FROM control.chain_payments c JOIN control.chain_transactions t USING (chain_id, signer, nonce)
                  WHERE c.environment = '${environment}' AND c.transfer_id = p.id AND c.space = $1 AND c.state <> 'displaced'
                  ORDER BY t.attempt LIMIT 1) AS signature,
                (SELECT to_jsonb(b) - 'tenant_id' - 'id' - 'token' FROM ${environment}.bank_transfers b
                  WHERE b.tenant_id = $1 AND b.id = p.id) AS bank,
                ${postingsIn(environment, 'p')}
           FROM ${environment}.payouts p WHERE p.tenant_id = $1 AND p.id = $2`,
})

/** Returns a payout with its destination, its chain or bank transfer and its ledger postings. Throws `not_found`. */
export function showPayout(operator: Operator, tenantId: string, id: string): Promise<object> {
  return showMoney(operator, tenantId, id, readIn, 'payout')
}
