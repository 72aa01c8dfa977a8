/** How far Google Wallet follows the events of each tenant: whose turn it is, what is new, what was sent. */
import type { Database, Statement } from '../../../../database/database.ts'
import { pipelined } from '../../../../database/pipelined.ts'
import { byIndex } from '../../../../database/pool/by-index.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { toTimestamp } from '../../../../database/types.ts'
import { createLeases, type Lease } from '../../../../work/leases.ts'

/** A walk through passes that are sent again because their template has changed; through all where no template is named. */
export interface ResendWalk {
  readonly template?: string
  /** Its class comes first: no event tells of the change (pass-templates/wallet-queue.ts). */
  readonly class?: true
  /** Behind the pass that was sent last; absent at the beginning. */
  readonly after?: PassPosition
  /** Once more from the beginning: the template has changed when the walk was in the middle. */
  readonly again?: true
}

/** Where a pass stands in the order of a walk. `created` in milliseconds since the epoch. */
export interface PassPosition {
  readonly id: string
  readonly status: string
  readonly created: number
}

// Reads only, and takes no lock: a database that is distributed by tenant answers it from all places at once. One descent of
// an index for each tenant that has emitted events.
const FIND: Statement = {
  name: 'google_cursors_find',
  text: `SELECT h.tenant_id AS space, h.sequence - coalesce(c.sequence, 0) AS behind
           FROM event_heads h LEFT JOIN google_cursors c ON c.tenant_id = h.tenant_id
          WHERE h.tenant_id > $2 AND (h.sequence > coalesce(c.sequence, 0) OR c.walks::text <> '[]')
            AND coalesce(c.ready_at, '-infinity') <= $1
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = h.tenant_id)
          ORDER BY h.tenant_id LIMIT $3`,
}

export interface FoundSpace {
  readonly space: string
  /** Events that Google does not know of. */
  readonly behind: number
}

/** Spaces behind `after` with something to send that no worker is at. @param now machine time. */
export async function findSpaces(
  pool: Pool,
  now: number,
  after: string,
  limit: number,
): Promise<readonly FoundSpace[]> {
  const values = [toTimestamp(now), after, limit]
  return (await byIndex(pool).query<FoundSpace>(FIND, values)).rows
}

/** A visit to a space, under a lease. */
export interface SpaceVisit {
  readonly space: string
  /** UUID, of this visit alone. */
  readonly token: string
  readonly sequence: number
  readonly walks: readonly ResendWalk[]
  readonly failures: number
}

const LEASES = createLeases<Omit<SpaceVisit, 'space' | 'token'>>({
  name: 'google_cursors',
  table: 'google_cursors',
  key: ['tenant_id'],
  token: 'token',
  until: 'ready_at',
  returning: 'sequence, walks, failures',
  // A space has a row from its first visit on: a tenant that is never visited, because Google is not in use, has none.
  open: {
    name: 'google_cursors_open',
    text: `INSERT INTO google_cursors (tenant_id, sequence) SELECT h.tenant_id, 0 FROM event_heads h WHERE h.tenant_id = $1
           ON CONFLICT (tenant_id) DO NOTHING`,
  },
})

/** Takes the lease; undefined where another worker has it, or the space has to wait. */
export async function claimSpace(db: Database, space: string, lease: Lease): Promise<SpaceVisit | undefined> {
  const claimed = await LEASES.acquire(db, [space], lease)
  return claimed && { space, token: lease.token, ...claimed }
}

/** An event, and the template or pass that it tells of; null for what concerns no wallet. */
export interface News {
  readonly sequence: number
  readonly type: string
  readonly target: string | null
}

export interface NewsPage {
  /** Where the tenant's sequence ends. */
  readonly head: number
  readonly news: readonly News[]
}

const READ_NEWS: Statement = {
  name: 'google_news',
  text: `SELECT h.sequence AS head, n.sequence, n.type, n.target
           FROM event_heads h
           LEFT JOIN LATERAL (
             SELECT e.sequence, e.type,
                    CASE WHEN e.type = ANY ($4)
                         THEN coalesce(e.body::json #>> '{data,pass,id}', e.body::json #>> '{data,pass_template,id}')
                    END AS target
               FROM events e WHERE e.tenant_id = $1 AND e.sequence > $2 ORDER BY e.sequence LIMIT $3) AS n ON true
          WHERE h.tenant_id = $1
          ORDER BY n.sequence`,
}

/** Events behind a number in the order of their commits. @param types those that concern wallets. */
export async function readNews(
  db: Database,
  space: string,
  after: number,
  limit: number,
  types: readonly string[],
): Promise<NewsPage> {
  type Row = { [Member in keyof News]: News[Member] | null } & { readonly head: number }
  const { rows } = await db.query<Row>(READ_NEWS, [space, after, limit, types])
  return { head: rows[0]?.head ?? after, news: rows.filter(({ sequence }) => sequence !== null) as News[] }
}

// Along passes_shown_by_template. A pass that moves in it meanwhile has changed, and is sent because of that.
const WALK_TEMPLATE: Statement = {
  name: 'google_walk_template',
  text: `SELECT id, status, created FROM passes p
          WHERE p.tenant_id = $1 AND p.template_id = $2 AND p.archived_at IS NULL
            AND (p.status, p.created, p.id) > ($3, $4, $5)
          ORDER BY p.status, p.created, p.id LIMIT $6`,
}

const WALK_ALL: Statement = {
  name: 'google_walk_all',
  text: `SELECT id, status, created FROM passes p
          WHERE p.tenant_id = $1 AND p.archived_at IS NULL AND (p.created, p.id) > ($2, $3)
          ORDER BY p.created, p.id LIMIT $4`,
}

/** The next passes of a walk, without archived ones. */
export async function readWalk(
  db: Database,
  space: string,
  { template, after }: ResendWalk,
  limit: number,
): Promise<readonly PassPosition[]> {
  const place = [after ? toTimestamp(after.created) : '-infinity', after?.id ?? '']
  const answer =
    template === undefined
      ? await db.query<PassPosition>(WALK_ALL, [space, ...place, limit])
      : await db.query<PassPosition>(WALK_TEMPLATE, [space, template, after?.status ?? '', ...place, limit])
  return answer.rows
}

/** What a visit has come to. */
export interface VisitEnd {
  readonly sequence: number
  readonly walks: readonly ResendWalk[]
  /** Machine time. */
  readonly readyAt: number
  readonly failures: number
  readonly refused: readonly { readonly id: string; readonly status: number; readonly message: string }[]
  /** Targets that Google has taken. */
  readonly taken: readonly string[]
}

// What was appended to the walks since the visit began stays behind them; $7 is where that begins.
const END: Statement = {
  name: 'google_cursors_end',
  text: `UPDATE google_cursors SET sequence = $3, ready_at = $5, failures = $6, token = NULL,
                walks = ($4::jsonb || jsonb_path_query_array(walks::jsonb, $7::jsonpath))::json
          WHERE tenant_id = $1 AND token = $2`,
}

const WRITE_REFUSALS: Statement = {
  name: 'google_refusals_write',
  text: `INSERT INTO google_refusals AS r (tenant_id, target_id, status, message, refused_at)
         SELECT c.tenant_id, n.id, n.status, n.message, $3::timestamptz
           FROM google_cursors c, json_to_recordset($2) AS n (id text, status smallint, message text)
          WHERE c.tenant_id = $1
         ON CONFLICT (tenant_id, target_id)
         DO UPDATE SET status = excluded.status, message = excluded.message, refused_at = excluded.refused_at`,
}

const FORGET_REFUSALS: Statement = {
  name: 'google_refusals_forget',
  text: `DELETE FROM google_refusals WHERE tenant_id = $1 AND target_id = ANY ($2)`,
}

/** Gives the lease back and records how far it came; false where the lease has run out and another worker goes on. */
export function endVisit(
  pool: Pool,
  { space, token, walks }: SpaceVisit,
  end: VisitEnd,
  now: number,
): Promise<boolean> {
  return pool.transaction(async (tx) => {
    const readyAt = Number.isFinite(end.readyAt) ? toTimestamp(end.readyAt) : '-infinity'
    const values = [
      space,
      token,
      end.sequence,
      JSON.stringify(end.walks),
      readyAt,
      end.failures,
      `$[${walks.length} to last]`,
    ]
    if ((await tx.query(END, values)).count === 0) return false
    const { refused, taken } = end
    if (taken.length > 0) pipelined(tx.query(FORGET_REFUSALS, [space, taken]))
    if (refused.length > 0)
      pipelined(tx.query(WRITE_REFUSALS, [space, JSON.stringify(refused), toTimestamp(now)]))
    return true
  })
}
