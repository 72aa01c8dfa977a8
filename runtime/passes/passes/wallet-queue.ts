import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import { contextToStore } from '../../tracing/span.ts'
import type { PassRow } from './queries.ts'

// On a repeated change the fan-out wraps around, as in templates/wallet-queue.ts. Rows are written in order of their
// IDs in every transaction, so that two batches cannot deadlock.
const TELL: Statement = {
  name: 'wallet_changes_passes',
  text: `INSERT INTO wallet_changes AS c (tenant_id, platform, subject_type, subject_id, since, trace)
         SELECT h.tenant_id, 'apple', 'pass', n.id, $3::timestamptz, $4
           FROM (SELECT id FROM json_array_elements_text($2) AS id ORDER BY id) AS n
           JOIN wallet_heads h ON h.tenant_id = $1
         ON CONFLICT (tenant_id, subject_id, platform)
         DO UPDATE SET walk_until = c.walked_to, anew = false, trace = excluded.trace`,
}

/**
 * Queues a fan-out of changed passes to the wallets that have them; a worker performs it after the commit. Passes that
 * are in no Apple wallet are skipped. The caller must hold the locks of the passes (`lockPasses`): otherwise a device
 * that registers a pass at the same time could miss the change. The statement is pipelined.
 *
 * @param machineNow milliseconds since the epoch, from which the waiting time is measured.
 */
export function tellWallets(
  db: Database,
  tenantId: string,
  passes: readonly Pick<PassRow, 'id' | 'platforms'>[],
  machineNow: number,
): void {
  const ids = passes.filter(({ platforms }) => platforms.includes('apple')).map(({ id }) => id)
  const values = [tenantId, JSON.stringify(ids), toTimestamp(machineNow), contextToStore()]
  if (ids.length > 0) pipelined(db.query(TELL, values))
}
