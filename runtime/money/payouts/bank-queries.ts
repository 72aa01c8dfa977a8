/** Statements on payouts that a bank makes. Times are machine time, in milliseconds since the epoch. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

const STATES = ['queued', 'sending', 'sent', 'paid', 'ended'] as const

/** A transfer as stored. */
export interface BankTransferRow {
  readonly state: (typeof STATES)[number]
  /** When it is looked at next; null once it has ended. */
  readonly due: number | null
  readonly token: string | null
  /** Looks without a usable answer since the last one. */
  readonly failures: number
  readonly problem: string | null
  readonly bank_id: string | null
  readonly paid_at: number | null
  /** Since when there is no usable answer. */
  readonly held_up_since: number | null
  /** What an operator has decided. */
  readonly decision: 'paid' | 'failed' | null
}

const MUTABLE = [
  ...['state', 'due', 'token', 'failures', 'problem', 'bank_id', 'paid_at', 'held_up_since', 'decision'],
] as const

const INSERT: Statement = {
  name: 'bank_transfers_insert',
  text: `INSERT INTO bank_transfers (tenant_id, id, state, due) VALUES ($1, $2, 'queued', $3)`,
}

/** Hands a payout in for the bank, due at once; it travels with the statements that follow. */
export function insertBankTransfer(db: Database, tenantId: string, id: string): Promise<unknown> {
  return db.query(INSERT, [tenantId, id, toTimestamp(0)])
}

const DUE: Statement = {
  name: 'bank_transfers_due',
  text: 'SELECT b.tenant_id, b.id, b.problem FROM bank_transfers b WHERE b.due <= $1 ORDER BY b.due, b.id LIMIT $2',
}

/** A transfer that is due. What else its row holds is read for each alone. */
export interface DueBankTransfer {
  readonly tenant_id: string
  readonly id: string
  readonly problem: string | null
}

/** Transfers of all tenants that are to be looked at. */
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

/** The transfer, locked; its payout is locked before it. Throws if the row cannot be read. */
export async function lockBankTransfer(
  db: Database,
  tenantId: string,
  id: string,
): Promise<BankTransferRow | undefined> {
  const row = (await db.query<BankTransferRow>(LOCK, [tenantId, id])).rows[0]
  if (row && !STATES.includes(row.state)) throw new Error(`the row has the unknown state ${row.state}`)
  return row
}

// Pauses as between answers that cannot be used: twice as long after each, up to five minutes.
const HOLD_UP: Statement = {
  name: 'bank_transfers_hold_up',
  text: `UPDATE bank_transfers SET problem = $3, held_up_since = coalesce(held_up_since, $4), failures = failures + 1, token = NULL,
                due = $4::timestamptz + least(interval '5 minutes', interval '1 second' * power(2, least(failures, 20)))
          WHERE tenant_id = $1 AND id = $2 AND due IS NOT NULL`,
}

/** Sets a transfer aside without reading its row: it is looked at again later. @param now machine time. */
export async function holdUpBankTransfer(
  db: Database,
  tenantId: string,
  id: string,
  { problem, now }: { readonly problem: string; readonly now: number },
): Promise<void> {
  await db.query(HOLD_UP, [tenantId, id, problem, toTimestamp(now)])
}

const UPDATE: Statement = {
  name: 'bank_transfers_update',
  text: `UPDATE bank_transfers SET ${MUTABLE.map((column, index) => `${column} = $${index + 3}`).join(', ')}
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes a transfer that `lockBankTransfer` holds. */
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
