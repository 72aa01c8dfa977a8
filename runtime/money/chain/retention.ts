/** Deletes ended payments long after any reorganization could affect them. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

/**
 * How long signed transactions are kept, so that they can be sent again after a reorganization. The payout and its ledger
 * entries are kept.
 */
export const PAYMENTS_KEPT_MS = 90 * 86_400_000

const SWEEP: Statement = {
  text: `WITH old AS (
           SELECT DISTINCT t.chain_id, t.signer, t.nonce
             FROM control.chain_transactions t JOIN control.chain_payments p USING (chain_id, signer, nonce)
            WHERE t.signed_at < $1 AND p.state <> 'open'
              AND NOT EXISTS (SELECT FROM control.chain_transactions n
                               WHERE n.chain_id = t.chain_id AND n.signer = t.signer AND n.nonce = t.nonce AND n.signed_at >= $1)
            LIMIT $2
         ), signed AS (
           DELETE FROM control.chain_transactions t USING old WHERE (t.chain_id, t.signer, t.nonce) = (old.chain_id, old.signer, old.nonce)
         )
         DELETE FROM control.chain_payments p USING old WHERE (p.chain_id, p.signer, p.nonce) = (old.chain_id, old.signer, old.nonce)`,
}

/**
 * Deletes payments that have ended and whose last transaction was signed before `before`. Returns how many.
 * @param before machine time.
 */
export async function sweepPayments(control: Database, before: number, limit: number): Promise<number> {
  return (await control.query(SWEEP, [toTimestamp(before), limit])).count
}
