/** Finds active destinations whose holders were last screened against an older list. */
import type { Database, Statement } from '../../database/database.ts'
import { COLUMNS, DEFAULT, type DestinationRow } from './queries.ts'

const BEHIND: Statement = {
  name: 'payout_destinations_behind',
  text: `SELECT d.tenant_id, d.id FROM payout_destinations d WHERE d.status = 'active' AND d.list_number < $1
            AND d.tenant_id <> ALL (ARRAY(SELECT w.tenant_id FROM wiped_spaces w))
          ORDER BY d.list_number LIMIT $2`,
}

/** Returns destinations of all tenants, longest unscreened first. */
export async function findBehind(
  db: Database,
  listNumber: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(BEHIND, [listNumber, limit])).rows
}

// Uses the primary key. With a condition on the status, PostgreSQL could scan the partial index of a tenant with many
// destinations.
const LOCK_BEHIND: Statement = {
  name: 'payout_destinations_lock_behind',
  text: `SELECT ${COLUMNS} FROM payout_destinations d ${DEFAULT}
          WHERE d.tenant_id = $1 AND d.id = ANY ($3) AND d.list_number < $2
          ORDER BY d.id FOR NO KEY UPDATE OF d`,
}

/** Locks and returns those of the given destinations that no other node has screened in the meantime. */
export async function lockBehind(
  db: Database,
  tenantId: string,
  listNumber: number,
  ids: readonly string[],
): Promise<readonly DestinationRow[]> {
  const { rows } = await db.query<DestinationRow>(LOCK_BEHIND, [tenantId, listNumber, ids])
  return rows.filter(({ status }) => status === 'active')
}

const MARK: Statement = {
  name: 'payout_destinations_mark_screened',
  text: 'UPDATE payout_destinations SET list_number = $3 WHERE tenant_id = $1 AND id = ANY ($2)',
}

/** Records the list that destinations were screened against. */
export function markScreened(
  db: Database,
  tenantId: string,
  ids: readonly string[],
  listNumber: number,
): Promise<unknown> {
  return db.query(MARK, [tenantId, ids, listNumber])
}
