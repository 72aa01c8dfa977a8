/** Statements on payouts that a bank makes. Times are machine time, in milliseconds since the epoch. */
import type { Database, Statement } from '../../platform/database/database.ts'
import { toTimestamp } from '../../platform/database/types.ts'

/** A transfer as stored. */
export interface BankTransferRow {
  readonly state: 'queued' | 'sending' | 'sent' | 'paid' | 'ended'
  /** When it is looked at next; null once it has ended. */
  readonly due: number | null
  readonly token: string | null
  /** Looks without a usable answer since the last one. */
  readonly failures: number
  readonly problem: string | null
  readonly bank_id: string | null
  readonly paid_at: number | null
}

const MUTABLE = ['state', 'due', 'token', 'failures', 'problem', 'bank_id', 'paid_at'] as const

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
  text: 'SELECT b.tenant_id, b.id FROM bank_transfers b WHERE b.due <= $1 ORDER BY b.due LIMIT $2',
}

/** Transfers of all tenants that are to be looked at. */
export async function findDueTransfers(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(DUE, [toTimestamp(now), limit])).rows
}

const LOCK: Statement = {
  name: 'bank_transfers_lock',
  text: `SELECT ${MUTABLE.map((column) => `b.${column}`).join(', ')} FROM bank_transfers b
          WHERE b.tenant_id = $1 AND b.id = $2 FOR UPDATE`,
}

/** The transfer as nobody else can change it; its payout is locked before it. */
export async function lockBankTransfer(
  db: Database,
  tenantId: string,
  id: string,
): Promise<BankTransferRow | undefined> {
  return (await db.query<BankTransferRow>(LOCK, [tenantId, id])).rows[0]
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
  const { state, due, token, failures, problem, bank_id, paid_at } = row
  const at = (time: number | null) => (time === null ? null : toTimestamp(time))
  return db.query(UPDATE, [tenantId, id, state, at(due), token, failures, problem, bank_id, at(paid_at)])
}
