/** Verifies a whole ledger, for operators. */
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'

/** A ledger rule: a statement that returns the first row that violates it, and a function that describes that row. */
interface LedgerRule {
  readonly text: string
  readonly says: (row: Readonly<Record<string, unknown>>) => string
}

/** The rules in the order in which they are checked. `s` is replaced by the schema. */
const RULES: readonly LedgerRule[] = [
  {
    // Without a join, because no index has the entries of a transaction: with one, PostgreSQL can read all entries for each.
    text: `SELECT n.cause, sum(n.amount)::text AS sum, sum(n.entries)::bigint AS entries FROM (
             SELECT t.cause, 0 AS amount, 0 AS entries, 1 AS causes FROM s.ledger_transactions t WHERE t.tenant_id = $1
              UNION ALL SELECT e.cause, e.amount, 1, 0 FROM s.ledger_entries e WHERE e.tenant_id = $1
           ) AS n GROUP BY n.cause HAVING sum(n.causes) > 0 AND (sum(n.amount) <> 0 OR sum(n.entries) = 0)
            ORDER BY n.cause LIMIT 1`,
    says: ({ cause, sum, entries }) =>
      `the ${entries} entries of transaction ${cause} add up to ${sum}, not to 0`,
  },
  {
    text: `SELECT e.id, e.cause FROM s.ledger_entries e
            WHERE e.tenant_id = $1 AND NOT EXISTS (
              SELECT FROM s.ledger_transactions t WHERE t.tenant_id = e.tenant_id AND t.cause = e.cause)
            ORDER BY e.id LIMIT 1`,
    says: ({ id, cause }) => `entry ${id} belongs to transaction ${cause}, which does not exist`,
  },
  {
    text: `SELECT a.currency, sum(a.balance)::text AS sum FROM s.ledger_accounts a
            WHERE a.tenant_id = $1 GROUP BY a.currency HAVING sum(a.balance) <> 0 ORDER BY a.currency LIMIT 1`,
    says: ({ currency, sum }) => `the balances in ${currency} add up to ${sum}, not to 0`,
  },
  {
    text: `SELECT e.id, e.previous::text, e.amount::text, e.current::text FROM s.ledger_entries e
            WHERE e.tenant_id = $1 AND e.previous + e.amount <> e.current ORDER BY e.account_id, e.version LIMIT 1`,
    says: ({ id, previous, amount, current }) =>
      `entry ${id} goes from ${previous} by ${amount} to ${current}`,
  },
  {
    text: `SELECT n.* FROM (
             SELECT e.id, e.account_id, e.version::text, e.previous::text,
                    e.version <> row_number() OVER account AS misnumbered,
                    coalesce(lag(e.current) OVER account, 0)::text AS before
               FROM s.ledger_entries e WHERE e.tenant_id = $1
             WINDOW account AS (PARTITION BY e.account_id ORDER BY e.version)
           ) AS n WHERE n.misnumbered OR n.previous <> n.before ORDER BY n.account_id, n.version::bigint LIMIT 1`,
    says: ({ id, account_id, version, previous, misnumbered, before }) =>
      misnumbered
        ? `entry ${id} of ${account_id} has number ${version}, and the one before it is missing`
        : `entry ${id} of ${account_id} begins at ${previous}, but the one before it ended at ${before}`,
  },
  {
    text: `SELECT n.* FROM (
             SELECT coalesce(a.id, e.account_id) AS id, coalesce(a.version, 0)::text AS version, coalesce(e.entries, 0)::text AS entries,
                    coalesce(a.balance, 0)::text AS balance, coalesce(e.sum, 0)::text AS sum
               FROM (SELECT * FROM s.ledger_accounts WHERE tenant_id = $1) a
               FULL JOIN (SELECT account_id, count(*) AS entries, sum(amount) AS sum
                            FROM s.ledger_entries WHERE tenant_id = $1 GROUP BY account_id) e ON e.account_id = a.id
           ) AS n WHERE n.version <> n.entries OR n.balance <> n.sum ORDER BY n.id LIMIT 1`,
    says: ({ id, version, entries, balance, sum }) =>
      version === entries
        ? `account ${id} has a balance of ${balance}, but its entries add up to ${sum}`
        : `account ${id} has version ${version} and ${entries} entries`,
  },
  {
    text: `SELECT c.at::text AS at, coalesce(sum(e.current), 0)::text AS sum, count(*) - count(e.id) AS missing
             FROM s.ledger_checkpoints c CROSS JOIN LATERAL json_each_text(c.positions) AS p
             LEFT JOIN s.ledger_entries e ON e.tenant_id = c.tenant_id AND e.account_id = p.key AND e.version = p.value::bigint
            WHERE c.tenant_id = $1 AND p.value::bigint > 0
            GROUP BY c.at HAVING coalesce(sum(e.current), 0) <> 0 OR count(*) > count(e.id) ORDER BY c.at LIMIT 1`,
    says: ({ at, sum, missing }) =>
      Number(missing) > 0
        ? `the checkpoint of ${at} refers to a missing entry`
        : `the balances at the checkpoint of ${at} add up to ${sum}, not to 0`,
  },
  {
    text: `SELECT n.* FROM (
             SELECT c.at::text AS at, p.key AS id, p.value::bigint < lag(p.value::bigint) OVER (PARTITION BY p.key ORDER BY c.at) AS is_back
               FROM s.ledger_checkpoints c CROSS JOIN LATERAL json_each_text(c.positions) AS p WHERE c.tenant_id = $1
           ) AS n WHERE n.is_back ORDER BY n.at, n.id LIMIT 1`,
    says: ({ at, id }) =>
      `the checkpoint of ${at} has a lower position in account ${id} than an earlier checkpoint`,
  },
  {
    text: `SELECT r.hold_id FROM s.ledger_resolutions r
            WHERE r.tenant_id = $1 AND NOT EXISTS (
              SELECT FROM s.ledger_holds h WHERE h.tenant_id = r.tenant_id AND h.id = r.hold_id)
            ORDER BY r.hold_id LIMIT 1`,
    says: ({ hold_id }) => `hold ${hold_id} was resolved, but was never placed`,
  },
  {
    text: `SELECT n.* FROM (
             SELECT coalesce((SELECT a.held FROM s.ledger_accounts a WHERE a.tenant_id = $1 AND a.id = 'program_funds'), 0)::text AS held,
                    (SELECT coalesce(sum(h.amount), 0)::text FROM s.ledger_holds h
                      WHERE h.tenant_id = $1 AND NOT EXISTS (
                        SELECT FROM s.ledger_resolutions r WHERE r.tenant_id = h.tenant_id AND r.hold_id = h.id)) AS sum
           ) AS n WHERE n.held <> n.sum`,
    says: ({ held, sum }) => `account program_funds has ${held} held, but its open holds add up to ${sum}`,
  },
]

/**
 * Returns a description of the first problem in a ledger, or undefined if there is none. Reads with the owner's connection;
 * concurrent writes do not matter.
 */
export async function findFault(
  owner: Database,
  environment: Environment,
  space: string,
): Promise<string | undefined> {
  for (const { text, says } of RULES) {
    const { rows } = await owner.query({ text: text.replaceAll(/\bs\./g, `${environment}.`) }, [space])
    if (rows[0]) return says(rows[0])
  }
  return undefined
}

/** Returns the number of entries in a ledger. */
export async function countEntries(
  owner: Database,
  environment: Environment,
  space: string,
): Promise<number> {
  const text = `SELECT count(*) AS count FROM ${environment}.ledger_entries WHERE tenant_id = $1`
  return (await owner.query<{ count: number }>({ text }, [space])).rows[0]!.count
}
