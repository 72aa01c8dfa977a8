import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { contextToStore } from '../../tracing/span.ts'

// If a fan-out is running, it continues to the end and wraps around to its current position, so each device is notified
// once of the new change.
const TELL: Statement = {
  name: 'wallet_changes_template',
  text: `INSERT INTO wallet_changes AS c (tenant_id, platform, subject_type, subject_id, since, trace)
         SELECT h.tenant_id, 'apple', 'template', $2, $3::timestamptz, $4 FROM wallet_heads h WHERE h.tenant_id = $1
         ON CONFLICT (tenant_id, subject_id, platform)
         DO UPDATE SET walk_until = c.walked_to, anew = false, trace = excluded.trace`,
}

// If the same entry exists already, a new one is unnecessary only while no visit is running (token is null): a running
// visit may have read the template before this change. A running visit keeps entries that are appended after its start.
const RESEND: Statement = {
  name: 'google_cursors_resend',
  text: `UPDATE google_cursors c SET walks = (c.walks::jsonb || $2::jsonb)::json
          WHERE c.tenant_id = $1 AND NOT (c.token IS NULL AND c.walks::jsonb @> $2::jsonb)`,
}

/**
 * Queues a template for Google Wallet when the tenant's pinned version does not show the change, so no event announces
 * it. The caller must hold the template's lock.
 */
export function resendTemplate(db: Database, tenantId: string, templateId: string): Promise<unknown> {
  return db.query(RESEND, [tenantId, JSON.stringify([{ template: templateId, class: true }])])
}

/**
 * Queues a fan-out of a template change to the wallets that have its passes; a worker performs it after the commit. It
 * writes one row for any number of passes, and none if the tenant has no passes in wallets. The caller must hold the
 * template's lock: otherwise a device that registers at the same time could miss the change.
 *
 * @param machineNow milliseconds since the epoch, from which the waiting time is measured.
 */
export function tellWalletsOfTemplate(
  db: Database,
  tenantId: string,
  templateId: string,
  machineNow: number,
): Promise<unknown> {
  return db.query(TELL, [tenantId, templateId, toTimestamp(machineNow), contextToStore()])
}
