/** Ledger accounts of a tenant. Amounts are cents; money of the tenant is positive. */
import type { Database, Statement } from '../../database/database.ts'

/**
 * The accounts of a tenant. Each is created by its first entry.
 *
 * - `program_funds`: money that cards can spend
 * - `network_clearing`: money collected for merchants
 * - `dispute_receivable`: money that the network owes for disputes; negative
 * - `provisional_credit`: money credited for disputes until they are decided
 * - `interchange_revenue`, `network_fees`, `settlement_payable`, `payout_in_transit`: settlements and payouts
 * - `bank`: the source and destination of money outside the ledger
 */
export type LedgerAccount =
  | 'program_funds'
  | 'network_clearing'
  | 'interchange_revenue'
  | 'network_fees'
  | 'dispute_receivable'
  | 'provisional_credit'
  | 'settlement_payable'
  | 'payout_in_transit'
  | 'bank'

export interface Funds {
  /** Cents. */
  readonly balance: number
  /** Cents in open holds; the rest of the balance is available. */
  readonly held: number
}

const NONE: Funds = { balance: 0, held: 0 }

// Requests are limited to 10^15 cents, but workers are not. A balance outside the exact range of numbers is read as the
// nearest limit.
const FUNDS = 'least(greatest(a.balance, -9007199254740991), 9007199254740991) AS balance, a.held'

const LOCK: Statement = {
  name: 'ledger_accounts_lock',
  text: `SELECT ${FUNDS} FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = $2 FOR UPDATE`,
}

/** Returns an account and locks it until the transaction ends. */
export async function lockAccount(db: Database, tenantId: string, account: LedgerAccount): Promise<Funds> {
  return (await db.query<Funds>(LOCK, [tenantId, account])).rows[0] ?? NONE
}

/** Locks and returns the account that cards spend from. */
export function lockFunds(db: Database, tenantId: string): Promise<Funds> {
  return lockAccount(db, tenantId, 'program_funds')
}

const READ: Statement = {
  name: 'ledger_accounts_read',
  text: `SELECT ${FUNDS} FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = $2`,
}

/** Returns an account without locking it. */
export async function readAccount(db: Database, tenantId: string, account: LedgerAccount): Promise<Funds> {
  return (await db.query<Funds>(READ, [tenantId, account])).rows[0] ?? NONE
}
