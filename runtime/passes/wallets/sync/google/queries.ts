/** Queries for the Google Wallet follower: due spaces, new events, resend walks and results. */
import type { Database, Statement } from '../../../../database/database.ts'
import { pipelined } from '../../../../database/pipelined.ts'
import { byIndex } from '../../../../database/pool/by-index.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { toTimestamp } from '../../../../database/types.ts'
import { createLeases, type Lease } from '../../../../work/leases.ts'

/**
 * A walk that resends the passes of a changed template, those with due messages, or all passes if neither is given.
 */
export interface ResendWalk {
  /** `new` until the walk begins, so that a message that is sent later gets a walk of its own. */
  readonly messages?: 'new' | 'begun'
  readonly template?: string
  /** The class is sent first, because no event announces its change (templates/wallet-queue.ts). */
  readonly class?: true
  /** The last pass that was sent; absent at the beginning. */
  readonly after?: PassPosition
  /** Whether to start over at the end, because the template changed during the walk. */
  readonly again?: true
}

/** The position of a pass in the order of a walk. `created` is in milliseconds since the epoch. */
export interface PassPosition {
  readonly id: string
  readonly status: string
  readonly created: number
}

// It only reads and takes no lock, so a database that is distributed by tenant can run it on all shards in parallel. It
// costs one index descent for each tenant that has emitted events.
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
  /** Events not yet synchronized. */
  readonly behind: number
}

/** Returns the spaces after `after` that have something to send and are not leased. @param now machine time. */
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
  /** UUID, unique to this visit. */
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
  // A space that moves or is wiped gets no further visit, also not after one that had more to send.
  where: 'NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = google_cursors.tenant_id)',
  returning: 'sequence, walks, failures',
  // The first visit creates the row, so without Google Wallet no space has one.
  open: {
    name: 'google_cursors_open',
    text: `INSERT INTO google_cursors (tenant_id, sequence) SELECT h.tenant_id, 0 FROM event_heads h WHERE h.tenant_id = $1
           ON CONFLICT (tenant_id) DO NOTHING`,
  },
})

/**
 * Acquires the lease of a space. Returns undefined if another worker has it, or if the space is waiting for a retry.
 */
export async function claimSpace(db: Database, space: string, lease: Lease): Promise<SpaceVisit | undefined> {
  const claimed = await LEASES.acquire(db, [space], lease)
  return claimed && { space, token: lease.token, ...claimed }
}

/** An event, and the ID of the template or pass that it concerns; null if it does not affect wallets. */
export interface News {
  readonly sequence: number
  readonly type: string
  readonly target: string | null
  /** The trace in which it was emitted. */
  readonly trace?: string | null
}

export interface NewsPage {
  /** Last number of the tenant's event sequence. */
  readonly head: number
  readonly news: readonly News[]
}

const READ_NEWS: Statement = {
  name: 'google_news',
  text: `SELECT h.sequence AS head, n.sequence, n.type, n.target, n.trace
           FROM event_heads h
           LEFT JOIN LATERAL (
             SELECT e.sequence, e.type, e.trace,
                    CASE WHEN e.type = ANY ($4)
                         THEN coalesce(e.body::json #>> '{data,pass,id}', e.body::json #>> '{data,pass_template,id}')
                    END AS target
               FROM events e WHERE e.tenant_id = $1 AND e.sequence > $2 ORDER BY e.sequence LIMIT $3) AS n ON true
          WHERE h.tenant_id = $1
          ORDER BY n.sequence`,
}

/** Returns the events after a sequence number, in commit order. @param types event types that affect wallets. */
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

// Uses the index passes_shown_by_template. If a pass changes its position during the walk, its change event sends it
// anyway.
const WALK_TEMPLATE: Statement = {
  name: 'google_walk_template',
  text: `SELECT id, status, created FROM passes p
          WHERE p.tenant_id = $1 AND p.template_id = $2 AND p.archived_at IS NULL
            AND (p.status, p.created, p.id) > ($3, $4, $5)
          ORDER BY p.status, p.created, p.id LIMIT $6`,
}

const WALK_MESSAGES: Statement = {
  name: 'google_walk_messages',
  text: `SELECT DISTINCT pass_id AS id, '' AS status, timestamptz 'epoch' AS created FROM pass_messages m
          WHERE m.tenant_id = $1 AND m.is_due_at_google AND m.pass_id > $2 ORDER BY pass_id LIMIT $3`,
}

const WALK_ALL: Statement = {
  name: 'google_walk_all',
  text: `SELECT id, status, created FROM passes p
          WHERE p.tenant_id = $1 AND p.archived_at IS NULL AND (p.created, p.id) > ($2, $3)
          ORDER BY p.created, p.id LIMIT $4`,
}

/** Returns the next passes of a walk, without archived ones. */
export async function readWalk(
  db: Database,
  space: string,
  { template, after, messages }: ResendWalk,
  limit: number,
): Promise<readonly PassPosition[]> {
  if (messages) return (await db.query<PassPosition>(WALK_MESSAGES, [space, after?.id ?? '', limit])).rows
  const place = [after ? toTimestamp(after.created) : '-infinity', after?.id ?? '']
  const answer =
    template === undefined
      ? await db.query<PassPosition>(WALK_ALL, [space, ...place, limit])
      : await db.query<PassPosition>(WALK_TEMPLATE, [space, template, after?.status ?? '', ...place, limit])
  return answer.rows
}

/** The end of a visit, to be recorded. */
export interface VisitEnd {
  readonly sequence: number
  readonly walks: readonly ResendWalk[]
  /** Time of the next visit, in machine time; -Infinity for no delay. */
  readonly readyAt: number
  readonly failures: number
  readonly refused: readonly { readonly id: string; readonly status: number; readonly message: string }[]
  /** IDs of targets that Google accepted. */
  readonly taken: readonly string[]
}

// $7 selects the walks that were appended after the visit started; they stay, after the others.
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

/**
 * Records the end of a visit and releases the lease. Returns false if the lease has expired and another worker has
 * taken over.
 */
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
