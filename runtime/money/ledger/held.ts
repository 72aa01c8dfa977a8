/**
 * Reads what open holds added up to at an instant. The account has only the current sum, so a worker keeps the sums at the ends
 * of hours, and the rest of an hour is added.
 */
import type { Database, Statement } from '../../database/database.ts'
import { byIndex } from '../../database/pool/by-index.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { toTimestamp } from '../../database/types.ts'
import { notBehind } from '../../tenants/clock/not-behind.ts'

/** The sum of holds that were placed, less those that were resolved. @param from, to expressions of instants; `to` is excluded. */
const changeOf = (from: string, to: string) =>
  `coalesce((SELECT sum(h.amount) FROM ledger_holds h WHERE h.tenant_id = $1 AND h.created >= ${from} AND h.created < ${to}), 0)
   - coalesce((SELECT sum(h.amount) FROM (
                 SELECT r.hold_id FROM ledger_resolutions r WHERE r.tenant_id = $1 AND r.created >= ${from} AND r.created < ${to}) AS r
               CROSS JOIN LATERAL (SELECT h.amount FROM ledger_holds h WHERE h.tenant_id = $1 AND h.id = r.hold_id OFFSET 0) AS h), 0)`

/** The latest kept sum under a condition; 0 from the beginning if there is no such sum. */
const sinceOf = (condition: string) =>
  `last AS MATERIALIZED (
     SELECT t.until, t.held FROM ledger_hold_totals t WHERE t.tenant_id = $1 ${condition} ORDER BY t.until DESC LIMIT 1
   ), since AS MATERIALIZED (
     SELECT coalesce((SELECT l.until FROM last l), '-infinity') AS at, coalesce((SELECT l.held FROM last l), 0) AS held
   )`

const HELD: Statement = {
  name: 'ledger_held_before',
  text: `WITH ${sinceOf('AND t.until <= $2')}
         SELECT (s.held + ${changeOf('s.at', '$2')})::bigint AS held FROM since s`,
}

/**
 * Returns the cents in holds that were placed before an instant, and not resolved before it.
 * @param instant whole milliseconds since the epoch.
 */
export async function readHeldBefore(db: Database, tenantId: string, instant: number): Promise<number> {
  return (await db.query<{ held: number }>(HELD, [tenantId, toTimestamp(instant)])).rows[0]!.held
}

/** Requests are over long before this time has passed, so an hour gains no more holds. */
const SETTLED_MS = 3_600_000

const BEHIND: Statement = {
  name: 'ledger_hold_totals_behind',
  text: `SELECT a.tenant_id FROM ledger_accounts a
           LEFT JOIN LATERAL (
             SELECT t.until FROM ledger_hold_totals t WHERE t.tenant_id = a.tenant_id ORDER BY t.until DESC LIMIT 1) AS t ON true
          WHERE a.tenant_id > $1 AND a.id = 'program_funds' AND (
            EXISTS (SELECT FROM ledger_holds h WHERE h.tenant_id = a.tenant_id AND h.created >= coalesce(t.until, '-infinity') AND h.created < $3)
            OR EXISTS (SELECT FROM ledger_resolutions r
                        WHERE r.tenant_id = a.tenant_id AND r.created >= coalesce(t.until, '-infinity') AND r.created < $3))
            AND ${notBehind('a')}
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = a.tenant_id)
          ORDER BY a.tenant_id LIMIT $2`,
}

/**
 * Returns the spaces after `after` with a complete hour whose sum is not kept, in order. Takes no lock.
 * @param now service time. Spaces whose clock is behind it are left out.
 */
export async function findHoldsBehind(
  pool: Pool,
  after: string,
  limit: number,
  now: number,
): Promise<readonly string[]> {
  const { rows } = await byIndex(pool).query<{ tenant_id: string }>(BEHIND, [
    after,
    limit,
    toTimestamp(endOf(now)),
  ])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** The end of the last hour that gains no more holds. */
const endOf = (now: number) => now - SETTLED_MS - (now % 3_600_000)

const SUM: Statement = {
  name: 'ledger_hold_totals_sum',
  text: `WITH ${sinceOf('')}, hour AS MATERIALIZED (
           SELECT s.at, s.held, date_trunc('hour', least(
                    (SELECT h.created FROM ledger_holds h WHERE h.tenant_id = $1 AND h.created >= s.at ORDER BY h.created LIMIT 1),
                    (SELECT r.created FROM ledger_resolutions r WHERE r.tenant_id = $1 AND r.created >= s.at ORDER BY r.created LIMIT 1)
                  ), 'UTC') + interval '1 hour' AS until FROM since s
         )
         SELECT o.until, (o.held + ${changeOf('o.at', 'o.until')})::bigint AS held FROM hour o WHERE o.until <= $2`,
}

// A separate statement: Citus sends a new row to one shard only if nothing is beside it.
const ADD: Statement = {
  name: 'ledger_hold_totals_add',
  text: `INSERT INTO ledger_hold_totals (tenant_id, until, held) VALUES ($1, $2, $3)
         ON CONFLICT (tenant_id, until) DO NOTHING`,
}

/**
 * Keeps the sum at the end of the next hour with holds or resolutions. Two calls at the same time keep the same sum.
 * @param now service time.
 * @returns whether there was such an hour.
 */
export async function keepHeld(db: Database, tenantId: string, now: number): Promise<boolean> {
  const { rows } = await db.query<{ until: number; held: number }>(SUM, [tenantId, toTimestamp(endOf(now))])
  const [sum] = rows
  if (!sum) return false
  return (await db.query(ADD, [tenantId, toTimestamp(sum.until), sum.held])).count > 0
}
