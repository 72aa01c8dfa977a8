import type { Database, Statement } from '../../../database/database.ts'
import { toTimestamp } from '../../../database/types.ts'

/** An event of a pass as it was sent. `created` is in milliseconds since the epoch. */
export interface PassEventRow {
  readonly id: string
  readonly type: PassEventType
  readonly body: string
  readonly created: number
}

/** Event types that the index `events_of_pass` covers: the changes that the pass itself does not record. */
export type PassEventType = 'pass.updated' | 'pass.installed' | 'pass.uninstalled'

/** A position in a history, newest first. */
export interface HistoryPlace {
  readonly created: number
  readonly id: string
}

// The expression and the types are those of the index.
const READ: Statement = {
  name: 'dashboard_events_of_pass',
  text: `SELECT e.id, e.type, e.body, e.created FROM events e
          WHERE e.tenant_id = $1 AND substring(e.body from '"id":"(pass_[0-9a-z]{26})"') = $2
            AND e.type IN ('pass.installed', 'pass.uninstalled', 'pass.updated')
            AND (e.created, e.id) < ($3, $4)
          ORDER BY e.created DESC, e.id DESC LIMIT $5`,
}

/** Reads events of a pass, newest first. @param before events from this position on are left out. */
export async function readPassEvents(
  db: Database,
  space: string,
  passId: string,
  before: HistoryPlace,
  limit: number,
): Promise<readonly PassEventRow[]> {
  const { rows } = await db.query<PassEventRow>(READ, [
    space,
    passId,
    toTimestamp(before.created),
    before.id,
    limit,
  ])
  return rows
}
