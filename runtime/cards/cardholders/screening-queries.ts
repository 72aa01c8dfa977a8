/** Finds the tenants and cardholders to screen against a new sanctions list. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { CARDHOLDER_COLUMNS, type CardholderRow } from './queries.ts'

const OPEN: Statement = {
  name: 'screenings_open',
  text: `INSERT INTO screenings (tenant_id, list_number, look_at) VALUES ($1, $2, '-infinity')
         ON CONFLICT (tenant_id) DO NOTHING`,
}

/** Records that the tenant has cardholders to screen. Called for every new cardholder; only the first call writes a row. */
export function openScreening(db: Database, tenantId: string, listNumber: number): Promise<unknown> {
  return db.query(OPEN, [tenantId, listNumber])
}

const FIND: Statement = {
  name: 'screenings_find',
  text: `SELECT s.tenant_id FROM screenings s
          WHERE s.tenant_id > $3 AND (s.list_number < $1 OR s.look_at <= $2)
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = s.tenant_id)
          ORDER BY s.tenant_id LIMIT $4`,
}

/**
 * Returns the spaces after `after` that may have cardholders to screen against the list.
 * @param now machine time.
 */
export async function findSpaces(
  db: Database,
  listNumber: number,
  now: number,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(FIND, [listNumber, toTimestamp(now), after, limit])
  return rows.map(({ tenant_id }) => tenant_id)
}

const BEHIND = `status IN ('pending', 'active') AND tenant_id = $1 AND list_number < $2`

// SKIP LOCKED: another node is screening these rows, or a request is changing them. A later run finds those that are still
// behind.
const LOCK: Statement = {
  name: 'cardholders_lock_behind',
  text: `SELECT ${CARDHOLDER_COLUMNS} FROM cardholders
          WHERE ${BEHIND} AND (list_number, id) > ($3, $4) AND id <> ALL ($6)
          ORDER BY list_number, id LIMIT $5 FOR NO KEY UPDATE SKIP LOCKED`,
}

/** A position in the index `cardholders_by_list`, from which a screening continues. */
export interface WalkPosition {
  readonly listNumber: number
  readonly id: string
}

/**
 * Locks and returns the next cardholders that were screened against an older list. Skips rows that another transaction has
 * locked.
 * @param except identifiers of cardholders to leave out.
 */
export async function lockBehind(
  db: Database,
  tenantId: string,
  listNumber: number,
  after: WalkPosition,
  limit: number,
  except: readonly string[],
): Promise<readonly CardholderRow[]> {
  const values = [tenantId, listNumber, after.listNumber, after.id, limit, except]
  return (await db.query<CardholderRow>(LOCK, values)).rows
}

const MARK: Statement = {
  name: 'cardholders_mark_screened',
  text: `UPDATE cardholders c SET last_screened_at = $3, list_version = $4, list_number = $5, sanctions_status = n.status
           FROM json_to_recordset($2) AS n (id text, status text)
          WHERE c.tenant_id = $1 AND c.id = n.id`,
}

/** Writes the screening results of cardholders that the caller has locked. */
export function markScreened(
  db: Database,
  tenantId: string,
  rows: readonly Pick<CardholderRow, 'id' | 'sanctions_status'>[],
  list: { readonly version: string; readonly number: number },
  now: number,
): Promise<unknown> {
  const outcomes = rows.map(({ id, sanctions_status }) => ({ id, status: sanctions_status }))
  return db.query(MARK, [tenantId, JSON.stringify(outcomes), toTimestamp(now), list.version, list.number])
}

// Ordered like cardholders_by_list. EXISTS would ignore the order, and the planner could then scan the whole tenant through
// a different index.
const END: Statement = {
  name: 'screenings_end',
  text: `UPDATE screenings SET list_number = $2, look_at = $3
          WHERE tenant_id = $1
            AND (SELECT id FROM cardholders WHERE ${BEHIND} ORDER BY list_number, id LIMIT 1) IS NULL`,
}

/**
 * Records that all cardholders of the tenant were screened against the list. Returns false if one is still behind.
 * @param lookAt when to check the tenant again, in machine time.
 */
export async function endScreening(
  db: Database,
  tenantId: string,
  listNumber: number,
  lookAt: number,
): Promise<boolean> {
  return (await db.query(END, [tenantId, listNumber, toTimestamp(lookAt)])).count === 1
}
