/** Finds where an instant is among the entries of an account. Nothing is stored, so reads of any instant cost nothing later. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { LedgerAccount } from './accounts.ts'

// Entries are numbered in commit order, but dated with the time of their request. An entry that is dated a minute before the
// instant was committed before it. All entries in front of that one are therefore dated before the instant too, and only the
// entries behind it need a look. Checkpoints have decided already on which side of them an entry is.
const BEFORE: Statement = {
  name: 'ledger_positions_before',
  text: `WITH RECURSIVE asked AS MATERIALIZED (
           SELECT i.place, i.at,
                  coalesce((SELECT (c.positions->>a.id)::bigint FROM ledger_checkpoints c
                             WHERE c.tenant_id = $1 AND c.at <= i.at ORDER BY c.at DESC LIMIT 1), 0) AS low,
                  coalesce((SELECT coalesce((c.positions->>a.id)::bigint, 0) FROM ledger_checkpoints c
                             WHERE c.tenant_id = $1 AND c.at >= i.at ORDER BY c.at LIMIT 1), a.version) AS high
             FROM unnest($3::timestamptz[]) WITH ORDINALITY AS i (at, place)
             JOIN ledger_accounts a ON a.tenant_id = $1 AND a.id = $2
         ), search AS (
           SELECT a.place, t.at, a.low, a.high FROM asked a CROSS JOIN LATERAL (VALUES (a.at), (a.at - interval '1 minute')) AS t (at)
            UNION ALL
           SELECT s.place, s.at, CASE WHEN e.created < s.at THEN m.version ELSE s.low END,
                  CASE WHEN e.created < s.at THEN s.high ELSE m.version - 1 END
             FROM search s CROSS JOIN LATERAL (SELECT (s.low + s.high) / 2 + 1 AS version) AS m
             LEFT JOIN LATERAL (
               SELECT e.created FROM ledger_entries e WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version = m.version OFFSET 0
             ) AS e ON true
            WHERE s.low < s.high
         ), found AS (
           SELECT s.place, min(s.low) AS after, max(s.low) AS until FROM search s WHERE s.low >= s.high GROUP BY s.place
         )
         SELECT coalesce(l.version - 1, f.until) AS version
           FROM found f JOIN asked a ON a.place = f.place
          CROSS JOIN LATERAL (
            SELECT min(e.version) AS version FROM ledger_entries e
             WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version > f.after AND e.version <= f.until AND e.created >= a.at
          ) AS l ORDER BY f.place`,
}

/**
 * Returns, for each instant, the version of the last entry of an account before the first one that is dated at or after the
 * instant; 0 if no entry is before it. The result is monotonic in the instant. It is final when an entry that is dated at or
 * after the instant exists, or a checkpoint of the instant.
 * @param instants whole milliseconds since the epoch.
 */
export async function findPositions(
  db: Database,
  tenantId: string,
  account: LedgerAccount,
  instants: readonly number[],
): Promise<readonly number[]> {
  const { rows } = await db.query<{ version: number }>(BEFORE, [tenantId, account, instants.map(toTimestamp)])
  return instants.map((_, place) => rows[place]?.version ?? 0)
}

const BALANCE: Statement = {
  name: 'ledger_entries_balance',
  text: `SELECT least(greatest(e.current, -9007199254740991), 9007199254740991) AS balance FROM ledger_entries e
          WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version = $3`,
}

/** Returns the balance of an account before an instant, in cents; 0 before its first entry. See `findPositions`. */
export async function readBalanceBefore(
  db: Database,
  tenantId: string,
  account: LedgerAccount,
  instant: number,
): Promise<number> {
  const [version] = await findPositions(db, tenantId, account, [instant])
  const { rows } = await db.query<{ balance: number }>(BALANCE, [tenantId, account, version])
  return rows[0]?.balance ?? 0
}
