/**
 * Keeps the number of passes of each template and state, so that a count does not read the passes.
 *
 * Every write of a pass status emits an event that describes it (moves.ts), in the same transaction and numbered in the order
 * of the commits. A count is the stored number at an event, plus the moves of all later events, read in one snapshot. Writers
 * share no row beyond the end of the event sequence, which they lock anyway.
 *
 * The counts are only used if every later event is present and described. Events of an earlier version are not described, and
 * retention may delete events before they are added. In both cases, the tenant's passes are counted again.
 */
import type { Database, Statement } from '../../database/database.ts'
import { shapedStatement } from '../../database/page.ts'
import { pipelined } from '../../database/pipelined.ts'
import { useIndexes } from '../../database/pool/by-index.ts'
import { toTimestamp } from '../../database/types.ts'

/** How far the counts of a space go: columns of `totals_cursors`. */
export interface CountPosition {
  /** The last event that they include; null if the passes are not counted. */
  readonly passes_sequence: number | null
  /** Machine time from which the passes are to be counted, milliseconds since the epoch; null if they are counted. */
  readonly passes_due: number | null
}

/** Pause before passes are counted again, so that nodes of an earlier version do not cause a count at each event. */
const RECOUNT_MS = 300_000

const CHECK: Statement = {
  name: 'pass_counts_check',
  text: `SELECT count(*) AS events, count(e.pass_move) AS described FROM events e
          WHERE e.tenant_id = $1 AND e.sequence > $2 AND e.sequence <= $3`,
}

const ADD: Statement = {
  name: 'pass_counts_add',
  text: `INSERT INTO pass_counts AS t (tenant_id, template_id, state, count)
         SELECT e.tenant_id, split_part(e.pass_move, ' ', 1), m.state, sum(m.change)
           FROM events e
          CROSS JOIN LATERAL (VALUES (split_part(e.pass_move, ' ', 2), -1), (split_part(e.pass_move, ' ', 3), 1)) AS m (state, change)
          WHERE e.tenant_id = $1 AND e.sequence > $2 AND e.sequence <= $3 AND e.pass_move <> '' AND m.state <> ''
          GROUP BY 1, 2, 3
         ON CONFLICT (tenant_id, template_id, state) DO UPDATE SET count = t.count + excluded.count`,
}

const FORGET: Statement = { name: 'pass_counts_forget', text: 'DELETE FROM pass_counts WHERE tenant_id = $1' }

/**
 * Adds the events up to `to` to the counts of a space, or counts its passes. The caller must hold the row of `totals_cursors`,
 * and write the result there.
 *
 * @param most number of events that a call adds at most. If more are missing, the passes are counted again.
 * @param now machine time.
 */
export async function addToPassCounts(
  tx: Database,
  space: string,
  position: CountPosition,
  { to, most, now }: { readonly to: number; readonly most: number; readonly now: number },
): Promise<CountPosition> {
  const { passes_sequence: from, passes_due: due } = position
  if (from === null) return due !== null && due <= now ? countAll(tx, space) : position
  if (from >= to) return position
  if (to - from <= most) {
    const range = [space, from, to]
    const { rows } = await tx.query<{ events: number; described: number }>(CHECK, range)
    const { events, described } = rows[0]!
    if (events === to - from && described === events) {
      pipelined(tx.query(ADD, range))
      return { passes_sequence: to, passes_due: null }
    }
  }
  pipelined(tx.query(FORGET, [space]))
  return { passes_sequence: null, passes_due: now + RECOUNT_MS }
}

const counting = (prefix: string, condition: string) =>
  `(SELECT p.template_id, '${prefix}' || p.status AS state, count(*) AS count FROM passes p
     WHERE p.tenant_id = $1 AND p.archived_at ${condition} GROUP BY p.template_id, p.status)`

// One statement, so that the passes and the end of the events are of one snapshot.
const COUNT: Statement = {
  text: `SELECT coalesce(h.sequence, 0) AS sequence, p.template_id, p.state, p.count
           FROM (SELECT 1) AS one
           LEFT JOIN event_heads h ON h.tenant_id = $1
           LEFT JOIN (${counting('', 'IS NULL')} UNION ALL ${counting('archived_', 'IS NOT NULL')}) AS p ON true`,
}

const STORE: Statement = {
  name: 'pass_counts_store',
  text: `INSERT INTO pass_counts (tenant_id, template_id, state, count)
         SELECT c.tenant_id, n.template_id, n.state, n.count
           FROM totals_cursors c, json_to_recordset($2) AS n (template_id text, state text, count bigint)
          WHERE c.tenant_id = $1 AND n.template_id IS NOT NULL`,
}

// Millions of passes take longer than statements otherwise may.
const NO_TIMEOUT: Statement = { text: 'SET LOCAL statement_timeout = 0' }

interface CountedState {
  readonly sequence: number
  readonly template_id: string | null
  readonly state: string | null
  readonly count: number | null
}

async function countAll(tx: Database, space: string): Promise<CountPosition> {
  pipelined(tx.query(NO_TIMEOUT))
  useIndexes(tx)
  const { rows } = await tx.query<CountedState>(COUNT, [space])
  pipelined(tx.query(FORGET, [space]))
  pipelined(tx.query(STORE, [space, JSON.stringify(rows)]))
  return { passes_sequence: rows[0]!.sequence, passes_due: null }
}

/** Maximum number of events that a count reads. If the worker is further behind, counting the passes may be faster. */
const MAX_UNADDED = 5000

interface CountShape {
  readonly ofTemplates: boolean
  readonly withExpiry: boolean
}

/** The state, and what it changes by: of stored counts, of later events, and of expiries that are due but not recorded. */
function countsText({ ofTemplates, withExpiry }: CountShape): string {
  const template = (column: string) => (ofTemplates ? `${column} = ANY ($2)` : 'true')
  const move = (part: number) =>
    `CASE WHEN ${template(`split_part(e.pass_move, ' ', 1)`)} THEN split_part(e.pass_move, ' ', ${part}) ELSE '' END`
  const overdue = `
    UNION ALL
    SELECT m.state, m.change FROM passes p
     CROSS JOIN LATERAL (VALUES (p.status, -1), ('expired', 1)) AS o (status, change)
     CROSS JOIN LATERAL (SELECT CASE WHEN p.archived_at IS NULL THEN '' ELSE 'archived_' END || o.status, o.change) AS m (state, change)
     WHERE p.tenant_id = $1 AND p.status IN ('issued', 'installed', 'active') AND p.expires_at IS NOT NULL
       AND p.expires_at <= $${ofTemplates ? 3 : 2} AND ${template('p.template_id')}`
  return `SELECT k.state, sum(k.change)::bigint AS count
            FROM (SELECT c.passes_sequence, h.sequence FROM totals_cursors c, event_heads h
                   WHERE c.tenant_id = $1 AND h.tenant_id = $1 AND h.sequence - c.passes_sequence <= ${MAX_UNADDED}) AS c
           CROSS JOIN LATERAL (
             SELECT n.state, n.count AS change FROM pass_counts n WHERE n.tenant_id = $1 AND ${template('n.template_id')}
             UNION ALL
             SELECT m.state, m.change
               FROM (SELECT e.pass_move, count(*) AS events FROM events e
                      WHERE e.tenant_id = $1 AND e.sequence > c.passes_sequence GROUP BY e.pass_move) AS e
              CROSS JOIN LATERAL (VALUES (${move(2)}, -e.events), (${move(3)}, e.events),
                (CASE WHEN e.pass_move IS NULL THEN 'undescribed' ELSE 'read' END, e.events)) AS m (state, change)
             UNION ALL
             SELECT 'unadded', c.sequence - c.passes_sequence${withExpiry ? overdue : ''}) AS k
           GROUP BY k.state`
}

/**
 * Returns the number of passes in each state (moves.ts). States without passes may be missing.
 *
 * @param templateIds the templates to include. Default: all.
 * @param now service time. If given, a live pass counts as expired once its `expires_at` has passed. Otherwise the stored
 * statuses count.
 * @returns undefined if the passes are not counted, or the counts are too far behind. Then count the passes themselves.
 */
export async function readPassCounts(
  db: Database,
  space: string,
  { templateIds, now }: { readonly templateIds?: readonly string[] | undefined; readonly now?: number },
): Promise<ReadonlyMap<string, number> | undefined> {
  const values = [
    space,
    ...(templateIds ? [templateIds] : []),
    ...(now === undefined ? [] : [toTimestamp(now)]),
  ]
  const shape = { ofTemplates: templateIds !== undefined, withExpiry: now !== undefined }
  const { rows } = await db.query<{ state: string; count: number }>(
    shapedStatement(countsText(shape)),
    values,
  )
  const counts = new Map(rows.map(({ state, count }) => [state, count]))
  const isWhole = counts.get('unadded') === (counts.get('read') ?? 0) && !counts.has('undescribed')
  return isWhole ? counts : undefined
}
