/** Active destinations whose holders were held against an older list than there is. */
import type { Database, Statement } from '../../platform/database/database.ts'
import { COLUMNS, DEFAULT, type DestinationRow } from './queries.ts'

const BEHIND: Statement = {
  name: 'payout_destinations_behind',
  text: `SELECT d.tenant_id FROM payout_destinations d WHERE d.status = 'active' AND d.list_number < $1
            AND d.tenant_id <> ALL (ARRAY(SELECT w.tenant_id FROM wiped_spaces w))
          ORDER BY d.list_number LIMIT $2`,
}

/** Whose they are, once for each destination. */
export async function findBehind(
  db: Database,
  listNumber: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string }[]> {
  return (await db.query<{ tenant_id: string }>(BEHIND, [listNumber, limit])).rows
}

const LOCK_BEHIND: Statement = {
  name: 'payout_destinations_lock_behind',
  text: `SELECT ${COLUMNS} FROM payout_destinations d ${DEFAULT}
          WHERE d.tenant_id = $1 AND d.status = 'active' AND d.list_number < $2
          ORDER BY d.list_number LIMIT $3 FOR NO KEY UPDATE OF d`,
}

/** Some of a tenant's, locked. */
export async function lockBehind(
  db: Database,
  tenantId: string,
  listNumber: number,
  limit: number,
): Promise<readonly DestinationRow[]> {
  return (await db.query<DestinationRow>(LOCK_BEHIND, [tenantId, listNumber, limit])).rows
}

const MARK: Statement = {
  name: 'payout_destinations_mark_screened',
  text: 'UPDATE payout_destinations SET list_number = $3 WHERE tenant_id = $1 AND id = ANY ($2)',
}

/** Notes against which list destinations were held. */
export function markScreened(
  db: Database,
  tenantId: string,
  ids: readonly string[],
  listNumber: number,
): Promise<unknown> {
  return db.query(MARK, [tenantId, ids, listNumber])
}
