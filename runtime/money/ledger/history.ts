/** Reads ledger entries in steps of bounded size. Entries never change, so each step can run in a separate transaction. */
import type { Database, Statement } from '../../database/database.ts'
import type { PositionSpan } from './checkpoints.ts'

export interface LedgerEntry {
  readonly id: string
  readonly account_id: string
  readonly cause: string
  /** How the balance moved, in accounts that the API shows: `card_refund`. */
  readonly kind: string
  /** Cents, like the account's balances before and after the entry. */
  readonly amount: bigint
  readonly previous: bigint
  readonly current: bigint
  /** Number of the entry within its account. */
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly created: number
}

/**
 * SQL expression of the kind of an entry `e` of `program_funds` or `settlement_payable`: how the balance moved. The index
 * ledger_entries_by_kind has the same expression.
 */
export const KIND = `(CASE left(e.cause, 3)
  WHEN 'ctx' THEN CASE WHEN e.amount < 0 THEN 'card_transaction' ELSE 'card_refund' END
  WHEN 'len' THEN 'funding'
  WHEN 'po_' THEN CASE WHEN e.amount < 0 THEN 'payout' ELSE 'payout_reversal' END
  ELSE CASE split_part(e.cause, '/', 2) WHEN 'interchange' THEN 'interchange' WHEN 'network_fees' THEN 'network_fee'
    WHEN 'disputes' THEN 'dispute' WHEN 'shortfall' THEN 'settlement_shortfall' ELSE 'adjustment' END
  END) COLLATE "C"`

/** A ledger entry is missing or does not continue from the entry before it. */
export class InconsistentLedger extends Error {
  override name = 'InconsistentLedger'
}

const STEP = 2_000

const BY_ACCOUNT: Statement = {
  name: 'ledger_entries_by_account',
  text: `SELECT e.id, e.account_id, e.cause, ${KIND} AS kind, e.amount::text, e.previous::text, e.current::text, e.version, e.created FROM ledger_entries e
          WHERE e.tenant_id = $1 AND e.account_id = $2 AND e.version > $3 AND e.version <= $4 ORDER BY e.version LIMIT $5`,
}

type Cents = 'amount' | 'previous' | 'current'

type StoredEntry = Omit<LedgerEntry, Cents> & Readonly<Record<Cents, string>>

function readEntry(entry: StoredEntry): LedgerEntry {
  const { amount, previous, current } = entry
  return { ...entry, amount: BigInt(amount), previous: BigInt(previous), current: BigInt(current) }
}

/** A part of an account's history. */
export interface AccountStep {
  /** Cents to add to the opening balance that earlier steps have reported. */
  readonly opening: bigint
  readonly entries: readonly LedgerEntry[]
}

/**
 * Reads one account over a span, entry by entry. The cost depends only on the entries in the span.
 * @throws {InconsistentLedger} if an entry is missing, or does not start with the balance that the entry before it ended
 * with.
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
    throw new InconsistentLedger(`${id} does not continue from the entry before it`)
  }
}
