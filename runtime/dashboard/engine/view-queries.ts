/** Statements of saved views, on the control schema. */
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import type { Environment } from '../../platform/environment.ts'

/** The list of a member that has the views. */
export interface ViewedList {
  readonly tenantId: string
  readonly memberId: string
  readonly environment: Environment
  /** Path of the list below the environment. */
  readonly list: string
}

export interface SavedView {
  readonly name: string
  /** Query string without the question mark. */
  readonly query: string
}

/** Also a constraint of the table. */
export const MAX_VIEWS = 20

const OF_LIST = 'tenant_id = $1 AND member_id = $2 AND environment = $3 AND list = $4'

const keyOf = ({ tenantId, memberId, environment, list }: ViewedList) => [
  tenantId,
  memberId,
  environment,
  list,
]

const LIST: Statement = {
  name: 'saved_views_list',
  text: `SELECT name, query FROM control.saved_views WHERE ${OF_LIST} ORDER BY place`,
}

export async function listViews(db: Database, of: ViewedList): Promise<readonly SavedView[]> {
  return (await db.query<SavedView>(LIST, keyOf(of))).rows
}

const INSERT: Statement = {
  text: `INSERT INTO control.saved_views (tenant_id, member_id, environment, list, name, query, place)
         SELECT $1, $2, $3, $4, $5, $6, free.place FROM generate_series(1, ${MAX_VIEWS}) AS free (place)
          WHERE NOT EXISTS (SELECT FROM control.saved_views v WHERE v.tenant_id = $1 AND v.member_id = $2
                               AND v.environment = $3 AND v.list = $4 AND v.place = free.place)
          ORDER BY free.place LIMIT 1 ON CONFLICT DO NOTHING`,
}

/** Adds a view. @returns false if the list has a view with this name, has `MAX_VIEWS` views, or changes at the same time. */
export async function insertView(db: Database, of: ViewedList, { name, query }: SavedView): Promise<boolean> {
  return (await db.query(INSERT, [...keyOf(of), name, query])).count > 0
}

const RENAME: Statement = {
  text: `UPDATE control.saved_views SET name = $6 WHERE ${OF_LIST} AND name = $5`,
}

/** Renames a view, if it exists. @returns false if another view has the new name. */
export async function renameView(db: Database, of: ViewedList, name: string, next: string): Promise<boolean> {
  try {
    await db.query(RENAME, [...keyOf(of), name, next])
    return true
  } catch (error) {
    if (codeOf(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

const DELETE: Statement = { text: `DELETE FROM control.saved_views WHERE ${OF_LIST} AND name = $5` }

export function deleteView(db: Database, of: ViewedList, name: string): Promise<unknown> {
  return db.query(DELETE, [...keyOf(of), name])
}
