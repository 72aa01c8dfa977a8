/** Statements on bank transfers. Times are machine time, in milliseconds since the epoch. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { contextToStore } from '../../tracing/span.ts'

const STATES = ['queued', 'sending', 'sent', 'paid', 'ended'] as const

/** A bank transfer as stored. */
export interface BankTransferRow {
  readonly state: (typeof STATES)[number]
  /** Time of the next check; null once the transfer has ended. */
  readonly due: number | null
  readonly token: string | null
  /** Number of checks since the last usable answer. */
  readonly failures: number
  readonly problem: string | null
  readonly bank_id: string | null
  readonly paid_at: number | null
  /** Time since which there is no usable answer. */
  readonly held_up_since: number | null
  /** An operator's decision. */
  readonly decision: 'paid' | 'failed' | null
}

const MUTABLE = [
  ...['state', 'due', 'token', 'failures', 'problem', 'bank_id', 'paid_at', 'held_up_since', 'decision'],
] as const

const INSERT: Statement = {
  name: 'bank_transfers_insert',
  text: `INSERT INTO bank_transfers (tenant_id, id, state, due, trace) VALUES ($1, $2, 'queued', $3, $4)`,
}

/** Writes a new transfer for a payout, due immediately. The statement can be pipelined. */
export function insertBankTransfer(db: Database, tenantId: string, id: string): Promise<unknown> {
  return db.query(INSERT, [tenantId, id, toTimestamp(0), contextToStore()])
}

const DUE: Statement = {
  name: 'bank_transfers_due',
  text: 'SELECT b.tenant_id, b.id, b.problem, b.trace FROM bank_transfers b WHERE b.due <= $1 ORDER BY b.due, b.id LIMIT $2',
}

/** A transfer that is due. Its other columns are read separately. */
export interface DueBankTransfer {
  readonly tenant_id: string
  readonly id: string
  readonly problem: string | null
  /** The trace in which the payout was created. */
  readonly trace: string | null
}

/** Returns the transfers of all tenants that are due. */
export async function findDueTransfers(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly DueBankTransfer[]> {
  return (await db.query<DueBankTransfer>(DUE, [toTimestamp(now), limit])).rows
}

const LOCK: Statement = {
  name: 'bank_transfers_lock',
  text: `SELECT ${MUTABLE.map((column) => `b.${column}`).join(', ')} FROM bank_transfers b
          WHERE b.tenant_id = $1 AND b.id = $2 FOR UPDATE`,
}

/** Returns a transfer and locks it. Lock its payout first. Throws if the row cannot be read. */
export async function lockBankTransfer(
  db: Database,
  tenantId: string,
  id: string,
): Promise<BankTransferRow | undefined> {
  const row = (await db.query<BankTransferRow>(LOCK, [tenantId, id])).rows[0]
  if (row && !STATES.includes(row.state))
    throw new Error(`bank transfer ${id} has the unknown state ${row.state}`)
  return row
}

// The same backoff as after an unusable answer: doubles with each failure, up to five minutes. Citus refuses to add an interval to
// a timestamp here, because the sum depends on the time zone.
const HOLD_UP: Statement = {
  name: 'bank_transfers_hold_up',
  text: `UPDATE bank_transfers SET problem = $3, held_up_since = coalesce(held_up_since, $4), failures = failures + 1, token = NULL,
                due = to_timestamp($5::float8 + least(300, power(2, least(failures, 20))))
          WHERE tenant_id = $1 AND id = $2 AND due IS NOT NULL`,
}

/**
 * Holds up a transfer without reading its row, and schedules the next check.
 * @param now machine time.
 */
export async function holdUpBankTransfer(
  db: Database,
  tenantId: string,
  id: string,
  { problem, now }: { readonly problem: string; readonly now: number },
): Promise<void> {
  await db.query(HOLD_UP, [tenantId, id, problem, toTimestamp(now), now / 1000])
}

const UPDATE: Statement = {
  name: 'bank_transfers_update',
  text: `UPDATE bank_transfers SET ${MUTABLE.map((column, index) => `${column} = $${index + 3}`).join(', ')}
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes a transfer that the caller has locked with `lockBankTransfer`. */
export function updateBankTransfer(
  db: Database,
  tenantId: string,
  id: string,
  row: BankTransferRow,
): Promise<unknown> {
  const { state, due, token, failures, problem, bank_id, paid_at, held_up_since, decision } = row
  const at = (time: number | null) => (time === null ? null : toTimestamp(time))
  const values = [state, at(due), token, failures, problem, bank_id, at(paid_at), at(held_up_since), decision]
  return db.query(UPDATE, [tenantId, id, ...values])
}
