import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

// A walk under way goes on to the end and then from the beginning to where it is now: everybody is told of this change, once.
const TELL: Statement = {
  name: 'wallet_changes_template',
  text: `INSERT INTO wallet_changes AS c (tenant_id, platform, subject_type, subject_id, since)
         SELECT h.tenant_id, 'apple', 'template', $2, $3::timestamptz FROM wallet_heads h WHERE h.tenant_id = $1
         ON CONFLICT (tenant_id, subject_id, platform)
         DO UPDATE SET walk_until = c.walked_to, anew = false`,
}

// A visit under way keeps what is appended meanwhile; it may have read the template before, so only without one it is enough
// that the same is there already.
const RESEND: Statement = {
  name: 'google_cursors_resend',
  text: `UPDATE google_cursors c SET walks = (c.walks::jsonb || $2::jsonb)::json
          WHERE c.tenant_id = $1 AND NOT (c.token IS NULL AND c.walks::jsonb @> $2::jsonb)`,
}

/**
 * Leaves word for Google Wallet that a template has changed in what the tenant's version does not show: no event tells of it.
 * Belongs behind the lock of the template.
 */
export function resendTemplate(db: Database, tenantId: string, templateId: string): Promise<unknown> {
  return db.query(RESEND, [tenantId, JSON.stringify([{ template: templateId, class: true }])])
}

/**
 * Leaves word that a template has changed for the wallets that its passes are in: one row, however many these are, and none
 * for tenants whose passes are in no wallet. Workers do the rest after the commit. Belongs behind the lock of the template, or a
 * device that registers at the same time could miss the change.
 *
 * @param machineNow milliseconds since the epoch, by which the wait of wallets is measured.
 */
export function tellWalletsOfTemplate(
  db: Database,
  tenantId: string,
  templateId: string,
  machineNow: number,
): Promise<unknown> {
  return db.query(TELL, [tenantId, templateId, toTimestamp(machineNow)])
}
