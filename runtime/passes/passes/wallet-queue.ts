import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import type { PassRow } from './queries.ts'

// As for templates (pass-templates/wallet-queue.ts). In one order everywhere, so that two batches never wait for each other.
const TELL: Statement = {
  name: 'wallet_changes_passes',
  text: `INSERT INTO wallet_changes AS c (tenant_id, platform, subject_type, subject_id, since)
         SELECT h.tenant_id, 'apple', 'pass', n.id, $3::timestamptz
           FROM (SELECT id FROM json_array_elements_text($2) AS id ORDER BY id) AS n
           JOIN wallet_heads h ON h.tenant_id = $1
         ON CONFLICT (tenant_id, subject_id, platform)
         DO UPDATE SET walk_until = c.walked_to, anew = false`,
}

/**
 * Leaves word that passes have changed for the wallets that they are in; workers do the rest after the commit. What is in no
 * wallet costs nothing. The passes must be locked (`lockPasses`), or a device that registers one at the same time could miss the
 * change. The statement travels with those that follow.
 *
 * @param machineNow milliseconds since the epoch, by which the wait of wallets is measured.
 */
export function tellWallets(
  db: Database,
  tenantId: string,
  passes: readonly Pick<PassRow, 'id' | 'platforms'>[],
  machineNow: number,
): void {
  const ids = passes.filter(({ platforms }) => platforms.includes('apple')).map(({ id }) => id)
  if (ids.length > 0) pipelined(db.query(TELL, [tenantId, JSON.stringify(ids), toTimestamp(machineNow)]))
}
