/**
 * Maps instants to positions in a ledger. Entries are numbered in commit order, but dated with the time of their request. So
 * the set of entries before an instant is decided once and stored. Entries that are committed later count as after the
 * instant, regardless of their date.
 */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'

/**
 * For each account, the version of its last entry before an instant. An account that is not listed has no entry before it.
 */
export type Positions = Readonly<Record<string, number>>

/** The entries after some positions, up to other positions. */
export interface PositionSpan {
  readonly after: Positions
  readonly until: Positions
}

/** Entries of an account that are more than this many versions apart are assumed to be in time order. */
const DISORDER = 10_000

const READ: Statement = {
  name: 'ledger_checkpoints_read',
  text: 'SELECT c.positions FROM ledger_checkpoints c WHERE c.tenant_id = $1 AND c.at = $2',
}

const BEGIN: Statement = {
  name: 'ledger_checkpoints_begin',
  text: `INSERT INTO ledger_checkpoints (tenant_id, at, positions) VALUES ($1, '-infinity', '{}') ON CONFLICT (tenant_id, at) DO NOTHING`,
}

const LOCK: Statement = {
  name: 'ledger_checkpoints_lock',
  text: `SELECT FROM ledger_checkpoints c WHERE c.tenant_id = $1 AND c.at = '-infinity' FOR UPDATE`,
}

const BEFORE: Statement = {
  name: 'ledger_checkpoints_before',
  text: 'SELECT c.positions FROM ledger_checkpoints c WHERE c.tenant_id = $1 AND c.at < $2 ORDER BY c.at DESC LIMIT 1',
}

const AFTER: Statement = {
  name: 'ledger_checkpoints_after',
  text: 'SELECT c.positions FROM ledger_checkpoints c WHERE c.tenant_id = $1 AND c.at > $2 ORDER BY c.at LIMIT 1',
}

const INSERT: Statement = {
  name: 'ledger_checkpoints_insert',
  text: 'INSERT INTO ledger_checkpoints (tenant_id, at, positions) VALUES ($1, $2, $3)',
}

const HEADS: Statement = {
  name: 'ledger_heads',
  text: 'SELECT a.id, a.version FROM ledger_accounts a WHERE a.tenant_id = $1',
}

/**
 * Returns the positions at a past instant. The result never changes, is monotonic in the instant, and never separates the
 * two entries of a transaction. Call it in a transaction; other checkpoints of the tenant wait until that transaction ends.
 * @param instant milliseconds since the epoch.
 */
export async function readCheckpoint(db: Database, tenantId: string, instant: number): Promise<Positions> {
  const at = toTimestamp(instant)
  const read = async (statement: Statement) =>
    (await db.query<{ positions: Positions }>(statement, [tenantId, at])).rows[0]?.positions
  const known = await read(READ)
  if (known) return known
  pipelined(db.query(BEGIN, [tenantId]))
  pipelined(db.query(LOCK, [tenantId]))
  const [made, before = {}, after, heads] = await Promise.all([
    read(READ),
    read(BEFORE),
    read(AFTER),
    // A single statement sees either all entries of a transaction or none.
    db.query<{ id: string; version: number }>(HEADS, [tenantId]),
  ])
  if (made) return made
  const ends = heads.rows.map(({ id, version }) => [id, after ? (after[id] ?? 0) : version] as const)
  const positions = await findPositions(db, tenantId, { after: before, until: Object.fromEntries(ends) }, at)
  pipelined(db.query(INSERT, [tenantId, at, JSON.stringify(positions)]))
  return positions
}

interface FoundCheckpoint {
  readonly account_id: string
  readonly version: number
}

const DATED_LATER: Statement = {
  name: 'ledger_entries_dated_later',
  text: `SELECT p.account_id, min(e.version) AS version
           FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS p (account_id, after, until)
          CROSS JOIN LATERAL (
            SELECT e.version FROM ledger_entries e
             WHERE e.tenant_id = $1 AND e.account_id = p.account_id AND e.version > p.after AND e.version <= p.until AND e.created >= $5
          ) AS e
          GROUP BY p.account_id`,
}

// The two entries of a transaction are created in the same millisecond, which the first 14 characters of their identifiers
// encode.
const SPLIT: Statement = {
  name: 'ledger_entries_split',
  text: `WITH late AS MATERIALIZED (
           SELECT e.id, e.cause FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS p (account_id, after, until)
            CROSS JOIN LATERAL (
              SELECT e.id, e.cause FROM ledger_entries e
               WHERE e.tenant_id = $1 AND e.account_id = p.account_id AND e.version > p.after AND e.version <= p.until AND e.created < $5
            ) AS e
         ), beside AS MATERIALIZED (
           SELECT e.* FROM (SELECT DISTINCT left(late.id, 14) AS at FROM late) AS made
            CROSS JOIN LATERAL (
              SELECT e.account_id, e.version, e.cause FROM ledger_entries e
               WHERE e.tenant_id = $1 AND e.id > made.at AND e.id < made.at || '~'
            ) AS e
         )
         SELECT b.account_id, min(b.version) AS version FROM beside b
          WHERE b.cause IN (SELECT late.cause FROM late) GROUP BY b.account_id`,
}

/**
 * Returns the last positions in the span such that every earlier entry is dated before the instant and no transaction is
 * split. If entries are out of time order, all entries after one with a later date count as after the instant.
 */
async function findPositions(
  db: Database,
  tenantId: string,
  span: PositionSpan,
  at: string,
): Promise<Positions> {
  const accounts = Object.keys(span.until)
  const lowest = (account: string) => span.after[account] ?? 0
  const searched = await Promise.all(
    accounts.map(async (account) => {
      const within = [lowest(account), span.until[account]!] as const
      return [account, await countUntil(db, tenantId, account, within, Date.parse(at))] as const
    }),
  )
  const positions: Record<string, number> = Object.fromEntries(searched)
  const retreat = async (statement: Statement, span: (account: string) => readonly [number, number]) => {
    const spans = accounts.map(span)
    const bounds = [spans.map(([after]) => after), spans.map(([, until]) => until)]
    const { rows } = await db.query<FoundCheckpoint>(statement, [tenantId, accounts, ...bounds, at])
    const less = rows.filter(({ account_id, version }) => version <= positions[account_id]!)
    for (const { account_id, version } of less) positions[account_id] = version - 1
    return less.length > 0
  }
  await retreat(DATED_LATER, (account) => {
    const until = positions[account]!
    return [Math.max(lowest(account), until - DISORDER), until]
  })
  const behind = (account: string) => {
    const after = positions[account]!
    return [after, Math.min(span.until[account]!, after + DISORDER)] as const
  }
  while (await retreat(SPLIT, behind));
  return positions
}

const DATED: Statement = {
  name: 'ledger_entries_dated',
  text: 'SELECT e.created FROM ledger_entries e WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version = $3',
}

/** Finds, by binary search, a position between an entry dated before the instant and one that is not. */
async function countUntil(
  db: Database,
  tenantId: string,
  account: string,
  [after, until]: readonly [number, number],
  instant: number,
): Promise<number> {
  let [low, high] = [after, until]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { rows } = await db.query<{ created: number }>(DATED, [tenantId, account, middle + 1])
    if (rows[0] && rows[0].created < instant) low = middle + 1
    else high = middle
  }
  return low
}
