/** What was entered into a ledger, read in steps of a bounded size. Entries never change, so each step may be a transaction of its own. */
import type { Database, Statement } from '../platform/database/database.ts'
import { firstIdAt } from '../platform/ids.ts'
import type { Account } from './accounts.ts'

export interface LedgerEntry {
  readonly id: string
  readonly account_id: Account
  readonly cause: string
  /** Cents, as are the balances of the account before and after it. */
  readonly amount: number
  readonly previous: number
  readonly current: number
  /** Number of the entry within its account. */
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly created: number
}

/** From the first instant up to the second, itself excluded; milliseconds since the epoch. */
export interface Interval {
  readonly start: number
  readonly end: number
}

/** Entries do not follow on each other as they should. */
export class InconsistentLedger extends Error {
  override name = 'InconsistentLedger'
}

const STEP = 2_000

const HEADS: Statement = {
  name: 'ledger_heads',
  text: 'SELECT a.id, a.version FROM ledger_accounts a WHERE a.tenant_id = $1',
}

/** How many entries each account has: all of them are there for whoever reads later. */
async function readHeads(db: Database, tenantId: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; version: number }>(HEADS, [tenantId])
  return new Map(rows.map(({ id, version }) => [id, version]))
}

const COLUMNS = 'e.id, e.account_id, e.cause, e.amount, e.previous, e.current, e.version, e.created'

const BY_TIME: Statement = {
  name: 'ledger_entries_by_time',
  text: `SELECT ${COLUMNS} FROM ledger_entries e WHERE e.tenant_id = $1 AND e.id > $2 AND e.id < $3 ORDER BY e.id LIMIT $4`,
}

/** Entries of all accounts in the interval, in the order of their identifiers, without what is entered meanwhile. */
export async function* walkEntries(
  db: Database,
  tenantId: string,
  { start, end }: Interval,
): AsyncGenerator<readonly LedgerEntry[]> {
  const heads = await readHeads(db, tenantId)
  let after = firstIdAt('len', start)
  const before = firstIdAt('len', end)
  for (;;) {
    const { rows } = await db.query<LedgerEntry>(BY_TIME, [tenantId, after, before, STEP])
    yield rows.filter(({ account_id, version }) => version <= (heads.get(account_id) ?? 0))
    if (rows.length < STEP) return
    after = rows.at(-1)!.id
  }
}

const BY_ACCOUNT: Statement = {
  name: 'ledger_entries_by_account',
  text: `SELECT ${COLUMNS} FROM ledger_entries e
          WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version > $3 AND e.version <= $4 ORDER BY e.version LIMIT $5`,
}

async function readEntries(
  db: Database,
  tenantId: string,
  account: Account,
  [after, last]: readonly [number, number],
  limit: number,
): Promise<readonly LedgerEntry[]> {
  return (await db.query<LedgerEntry>(BY_ACCOUNT, [tenantId, account, after, last, limit])).rows
}

// Entries are numbered as they are committed and dated as their requests came: so far one may stand from its place by time.
const DISORDER_MS = 600_000
const DISORDER = 10_000

/** How many entries of an account were surely, or may have been, dated before an instant. */
async function countUntil(
  db: Database,
  tenantId: string,
  account: Account,
  head: number,
  instant: number,
): Promise<number> {
  let [low, high] = [0, head]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [entry] = await readEntries(db, tenantId, account, [middle, middle + 1], 1)
    if (entry && entry.created < instant) low = middle + 1
    else high = middle
  }
  return low
}

/** Part of a walk along one account. */
export interface AccountStep {
  /** Cents by which the balance at the start of the interval is more than the steps before this have said. */
  readonly opening: number
  /** Those in the interval. */
  readonly entries: readonly LedgerEntry[]
}

/**
 * One account over an interval. What it costs depends on the entries in the interval, not on those before or after it.
 *
 * @throws {InconsistentLedger} where an entry does not begin with the balance that the one before ended with.
 */
export async function* walkAccount(
  db: Database,
  tenantId: string,
  account: Account,
  { start, end }: Interval,
): AsyncGenerator<AccountStep> {
  const head = (await readHeads(db, tenantId)).get(account) ?? 0
  const first = await countUntil(db, tenantId, account, head, start - DISORDER_MS)
  const last = await countUntil(db, tenantId, account, head, end + DISORDER_MS)
  const until = Math.min(head, last + DISORDER)
  let after = Math.max(0, first - DISORDER)
  let balance: number | undefined
  while (after < until) {
    const entries = await readEntries(db, tenantId, account, [after, until], STEP)
    if (entries.length === 0) throw new InconsistentLedger(`${account} has no entry ${after + 1}`)
    let opening = balance === undefined ? entries[0]!.previous : 0
    for (const entry of entries) {
      checkFollows(entry, balance, after)
      if (entry.created < start) opening += entry.amount
      balance = entry.current
      after = entry.version
    }
    yield { opening, entries: entries.filter(({ created }) => created >= start && created < end) }
  }
}

function checkFollows(entry: LedgerEntry, balance: number | undefined, version: number): void {
  const { id, previous, amount, current } = entry
  if (entry.version !== version + 1 || previous !== (balance ?? previous) || previous + amount !== current) {
    throw new InconsistentLedger(`${id} does not follow on the entry before it`)
  }
}
