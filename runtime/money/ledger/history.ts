/** What was entered into a ledger, read in steps of a bounded size. Entries never change, so each step may be a transaction of its own. */
import type { Database, Statement } from '../../database/database.ts'
import type { PositionSpan } from './checkpoints.ts'

export interface LedgerEntry {
  readonly id: string
  readonly account_id: string
  readonly cause: string
  /** Cents, as are the balances of the account before and after it. */
  readonly amount: bigint
  readonly previous: bigint
  readonly current: bigint
  /** Number of the entry within its account. */
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly created: number
}

/** Entries do not follow on each other as they should. */
export class InconsistentLedger extends Error {
  override name = 'InconsistentLedger'
}

const STEP = 2_000

const BY_ACCOUNT: Statement = {
  name: 'ledger_entries_by_account',
  text: `SELECT e.id, e.account_id, e.cause, e.amount::text, e.previous::text, e.current::text, e.version, e.created FROM ledger_entries e
          WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version > $3 AND e.version <= $4 ORDER BY e.version LIMIT $5`,
}

type Cents = 'amount' | 'previous' | 'current'

type StoredEntry = Omit<LedgerEntry, Cents> & Readonly<Record<Cents, string>>

function readEntry(entry: StoredEntry): LedgerEntry {
  const { amount, previous, current } = entry
  return { ...entry, amount: BigInt(amount), previous: BigInt(previous), current: BigInt(current) }
}

/** Part of a walk along one account. */
export interface AccountStep {
  /** Cents by which the balance at the start of the span is more than the steps before this have said. */
  readonly opening: bigint
  readonly entries: readonly LedgerEntry[]
}

/**
 * One account over a span, entry by entry. What it costs depends on the entries in the span, not on those before or after it.
 *
 * @throws {InconsistentLedger} if an entry is missing, or does not begin with the balance that the one before ended with.
 */
export async function* walkAccount(
  db: Database,
  tenantId: string,
  account: string,
  span: PositionSpan,
): AsyncGenerator<AccountStep> {
  const read = async (after: number, until: number) =>
    (await db.query<StoredEntry>(BY_ACCOUNT, [tenantId, account, after, until, STEP])).rows.map(readEntry)
  const [start, until] = [span.after[account] ?? 0, span.until[account] ?? 0]
  const [last] = start === 0 ? [] : await read(start - 1, start)
  if (start > 0 && !last) throw new InconsistentLedger(`${account} has no entry ${start}`)
  let balance = last?.current ?? 0n
  yield { opening: balance, entries: [] }
  for (let after = start; after < until; ) {
    const entries = await read(after, until)
    if (entries.length === 0) throw new InconsistentLedger(`${account} has no entry ${after + 1}`)
    for (const entry of entries) {
      checkFollows(entry, balance, after)
      balance = entry.current
      after = entry.version
    }
    yield { opening: 0n, entries }
  }
}

function checkFollows(entry: LedgerEntry, balance: bigint, version: number): void {
  const { id, previous, amount, current } = entry
  if (entry.version !== version + 1 || previous !== balance || previous + amount !== current) {
    throw new InconsistentLedger(`${id} does not follow on the entry before it`)
  }
}
