/**
 * Adds a tenant's new events and ledger entries to its totals of each day and to its pass counts. Requests write no totals, because a row that every
 * authorization changes would serialize the cards of a tenant.
 */
import type { EventPayloads } from '../../../generated/canonical/events.ts'
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { byIndex } from '../../database/pool/by-index.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { toTimestamp } from '../../database/types.ts'
import { addToPassCounts, type CountPosition } from '../../passes/passes/pass-counts.ts'

/** Event types whose events are counted. */
export const COUNTED_EVENTS = [
  'card.transaction.authorized',
  'card.transaction.declined',
  'pass.created',
  'pass.installed',
  'pass.uninstalled',
] as const satisfies readonly (keyof EventPayloads)[]

/** Sums beyond the exact range of numbers are kept as the nearest limit. */
const MAX_SUM = '9007199254740991'

/** Spaces to visit: those with events, or entries of the account, after the position of their totals. */
const findBehind = (name: string, table: string, alias: string, isBehind: string): Statement => ({
  name,
  text: `SELECT ${alias}.tenant_id FROM ${table} ${alias} LEFT JOIN totals_cursors c ON c.tenant_id = ${alias}.tenant_id
          WHERE ${alias}.tenant_id > $1 AND ${isBehind}
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = ${alias}.tenant_id)
          ORDER BY ${alias}.tenant_id LIMIT $2`,
})

/** Spaces whose passes must be counted. */
const FIND_UNCOUNTED: Statement = {
  name: 'totals_find_uncounted',
  text: `SELECT c.tenant_id FROM totals_cursors c
          WHERE c.tenant_id > $1 AND c.passes_due IS NOT NULL AND c.passes_due <= $3
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = c.tenant_id)
          ORDER BY c.tenant_id LIMIT $2`,
}

const FINDS = [
  findBehind('totals_find_events', 'event_heads', 'h', 'h.sequence > coalesce(c.sequence, 0)'),
  findBehind(
    'totals_find_entries',
    'ledger_accounts',
    'a',
    `a.id = 'program_funds' AND a.version > coalesce(c.ledger_version, 0)`,
  ),
]

/** Returns the spaces after `after` whose totals are behind, in order. Takes no lock. @param now machine time. */
export async function findSpacesBehind(
  pool: Pool,
  after: string,
  limit: number,
  now: number,
): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const find of [...FINDS, FIND_UNCOUNTED]) {
    const values = find === FIND_UNCOUNTED ? [after, limit, toTimestamp(now)] : [after, limit]
    const { rows } = await byIndex(pool).query<{ tenant_id: string }>(find, values)
    for (const { tenant_id } of rows) found.add(tenant_id)
  }
  return [...found].sort().slice(0, limit)
}

const OPEN: Statement = {
  name: 'totals_open',
  text: `INSERT INTO totals_cursors (tenant_id, sequence, ledger_version, updated) VALUES ($1, 0, 0, $2)
         ON CONFLICT (tenant_id) DO NOTHING`,
}

// A worker that another one is ahead of does not wait.
const LOCK: Statement = {
  name: 'totals_lock',
  text: `SELECT c.sequence, c.ledger_version, c.passes_sequence, c.passes_due FROM totals_cursors c
          WHERE c.tenant_id = $1 FOR UPDATE SKIP LOCKED`,
}

interface Position {
  readonly sequence: number
  readonly ledger_version: number
}

// Retention leaves gaps in the sequence, so the next events are counted by rows. Entries have no gaps.
const REACH: Statement = {
  name: 'totals_reach',
  text: `SELECT coalesce(
                  (SELECT max(p.sequence) FROM (
                     SELECT e.sequence FROM events e WHERE e.tenant_id = $1 AND e.sequence > $2 ORDER BY e.sequence LIMIT $4) AS p),
                  h.sequence, $2) AS sequence,
                least(coalesce(a.version, 0), $3::bigint + $4) AS ledger_version,
                coalesce(h.sequence, 0) AS last_sequence, coalesce(a.version, 0) AS last_version
           FROM (SELECT 1) AS one
           LEFT JOIN event_heads h ON h.tenant_id = $1
           LEFT JOIN ledger_accounts a ON a.tenant_id = $1 AND a.id = 'program_funds'`,
}

interface Reach extends Position {
  readonly last_sequence: number
  readonly last_version: number
}

const ADD = 'INSERT INTO daily_totals AS t (tenant_id, day, kind, label, count, amount)'

const KEY = 'ON CONFLICT (tenant_id, day, kind, label) DO UPDATE SET'

const DAY = `(e.created AT TIME ZONE 'UTC')::date`

// `source` is in canonical form; it is null if the body is.
const ADD_EVENTS: Statement = {
  name: 'totals_add_events',
  text: `${ADD}
         SELECT e.tenant_id, ${DAY}, e.type,
                CASE WHEN e.type = 'card.transaction.declined'
                     THEN coalesce(coalesce(e.source, e.body::json) #>> '{data,card_transaction,decline_reason,code}', '')
                     ELSE '' END,
                count(*), 0::bigint
           FROM events e WHERE e.tenant_id = $1 AND e.sequence > $2 AND e.sequence <= $3 AND e.type = ANY ($4)
          GROUP BY 1, 2, 3, 4
         ${KEY} count = t.count + excluded.count`,
}

const ENTRIES = `ledger_entries e
  WHERE e.tenant_id = $1 AND e.account_id = 'program_funds' AND e.version > $2 AND e.version <= $3`

// Clearings and refunds name their transaction as the cause: ctx_…/2.
const ADD_SPENDING: Statement = {
  name: 'totals_add_spending',
  text: `${ADD}
         SELECT u.tenant_id, u.day, CASE WHEN u.amount < 0 THEN 'card_spending' ELSE 'card_refunds' END, x.category,
                count(*), least(sum(abs(u.amount)), ${MAX_SUM})::bigint
           FROM (SELECT e.tenant_id, e.amount, ${DAY} AS day, split_part(e.cause, '/', 1) AS transaction_id FROM ${ENTRIES}
                    AND e.cause LIKE 'ctx\\_%') AS u
          CROSS JOIN LATERAL (
            SELECT x.category FROM card_transactions x WHERE x.tenant_id = $1 AND x.id = u.transaction_id OFFSET 0) AS x
          GROUP BY 1, 2, 3, 4
         ${KEY} count = t.count + excluded.count, amount = least(t.amount::numeric + excluded.amount, ${MAX_SUM})`,
}

const SET_BALANCE: Statement = {
  name: 'totals_set_balance',
  text: `${ADD}
         SELECT e.tenant_id, ${DAY}, 'balance'::text, ''::text, 0::bigint,
                least(greatest((array_agg(e.current ORDER BY e.version DESC))[1], -${MAX_SUM}), ${MAX_SUM})
           FROM ${ENTRIES}
          GROUP BY 1, 2
         ${KEY} amount = excluded.amount`,
}

const MOVE: Statement = {
  name: 'totals_move',
  text: `UPDATE totals_cursors SET sequence = $2, ledger_version = $3, updated = $4, passes_sequence = $5, passes_due = $6
          WHERE tenant_id = $1`,
}

/**
 * Adds the next events and entries of a space, in a transaction. Another call for the same space adds what follows, so nothing
 * counts twice.
 *
 * @param most maximum number of events, and of entries.
 * @param now machine time.
 * @returns whether more follow; undefined if another transaction is adding.
 */
export async function addToTotals(
  tx: Database,
  space: string,
  most: number,
  now: number,
): Promise<boolean | undefined> {
  pipelined(tx.query(OPEN, [space, toTimestamp(now)]))
  const from = (await tx.query<Position & CountPosition>(LOCK, [space])).rows[0]
  if (!from) return undefined
  const { rows } = await tx.query<Reach>(REACH, [space, from.sequence, from.ledger_version, most])
  const to = rows[0]!
  pipelined(tx.query(ADD_EVENTS, [space, from.sequence, to.sequence, COUNTED_EVENTS]))
  const entries = [space, from.ledger_version, to.ledger_version]
  if (to.ledger_version > from.ledger_version) {
    pipelined(tx.query(ADD_SPENDING, entries))
    pipelined(tx.query(SET_BALANCE, entries))
  }
  const counted = await addToPassCounts(tx, space, from, { to: to.sequence, most, now })
  const due = counted.passes_due === null ? null : toTimestamp(counted.passes_due)
  const reached = [to.sequence, to.ledger_version, toTimestamp(now)]
  await tx.query(MOVE, [space, ...reached, counted.passes_sequence, due])
  return to.sequence < to.last_sequence || to.ledger_version < to.last_version
}
