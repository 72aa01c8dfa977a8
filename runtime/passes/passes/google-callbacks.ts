/** What Google Wallet tells of a pass takes effect once, however often it is told. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'

const SWEEP: Statement = {
  name: 'google_callbacks_sweep',
  text: 'DELETE FROM google_callbacks WHERE tenant_id = $1 AND expires_at < $2',
}

// Of a space that is there: its head of events is, since its passes were issued.
const CLAIM: Statement = {
  name: 'google_callbacks_claim',
  text: `INSERT INTO google_callbacks (tenant_id, nonce, expires_at)
         SELECT h.tenant_id, $2, $3 FROM event_heads h WHERE h.tenant_id = $1
         ON CONFLICT (tenant_id, nonce) DO NOTHING`,
}

/**
 * Claims the effect of a callback for this transaction; false where it has had its effect. Those that have run out are
 * forgotten: they are refused for their age.
 *
 * @param expiresAt machine time, as `now`.
 */
export async function claimCallback(
  db: Database,
  space: string,
  nonce: string,
  expiresAt: number,
  now: number,
): Promise<boolean> {
  pipelined(db.query(SWEEP, [space, toTimestamp(now)]))
  return (await db.query(CLAIM, [space, nonce, toTimestamp(expiresAt)])).count === 1
}
