/** Accounts of a tenant's ledger. Amounts are cents with the tenant's sign: what is the tenant's is positive. */
import type { Database, Statement } from '../../database/database.ts'

/**
 * The accounts of a tenant, each made by its first entry:
 *
 * - `program_funds`: what cards can spend
 * - `network_clearing`: what was collected for merchants
 * - `dispute_receivable`: what the network is to give back for disputes, negative
 * - `provisional_credit`: what is credited for them meanwhile
 * - `interchange_revenue`, `network_fees`, `settlement_payable`, `payout_in_transit`: settlements and payouts
 * - `bank`: where money comes from and goes to
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
  /** Cents that open holds take up; the rest of the balance is available. */
  readonly held: number
}

const NONE: Funds = { balance: 0, held: 0 }

// What requests ask for ends at 10^15, what workers book does not: a balance beyond the exact numbers reads as the last of them.
const FUNDS = 'least(greatest(a.balance, -9007199254740991), 9007199254740991) AS balance, a.held'

const LOCK: Statement = {
  name: 'ledger_accounts_lock',
  text: `SELECT ${FUNDS} FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = $2 FOR UPDATE`,
}

/** An account as nobody else can change it before the end of the transaction. */
export async function lockAccount(db: Database, tenantId: string, account: LedgerAccount): Promise<Funds> {
  return (await db.query<Funds>(LOCK, [tenantId, account])).rows[0] ?? NONE
}

/** What cards can spend, locked in the same way. */
export function lockFunds(db: Database, tenantId: string): Promise<Funds> {
  return lockAccount(db, tenantId, 'program_funds')
}

const READ: Statement = {
  name: 'ledger_accounts_read',
  text: `SELECT ${FUNDS} FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.id = $2`,
}

/** An account as it is now. */
export async function readAccount(db: Database, tenantId: string, account: LedgerAccount): Promise<Funds> {
  return (await db.query<Funds>(READ, [tenantId, account])).rows[0] ?? NONE
}
