/** Ensures that each Google Wallet callback takes effect once, even if Google sends it again. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'

const SWEEP: Statement = {
  name: 'google_callbacks_sweep',
  text: 'DELETE FROM google_callbacks WHERE tenant_id = $1 AND expires_at < $2',
}

// The join with event_heads ensures that the space still exists: a space has that row from its first event on.
const CLAIM: Statement = {
  name: 'google_callbacks_claim',
  text: `INSERT INTO google_callbacks (tenant_id, nonce, expires_at)
         SELECT h.tenant_id, $2, $3 FROM event_heads h WHERE h.tenant_id = $1
         ON CONFLICT (tenant_id, nonce) DO NOTHING`,
}

/**
 * Claims a callback for this transaction. Returns false if the callback has already taken effect. Also deletes expired
 * nonces: callbacks with those are refused because of their age.
 *
 * @param expiresAt machine time, as is `now`.
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
