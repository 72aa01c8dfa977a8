import { filters } from '../../../generated/canonical/records.ts'
import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'

type Schemas = components['schemas']

/** A payout as stored. Amounts are cents, times are milliseconds since the epoch. */
export interface PayoutRow {
  readonly id: string
  readonly amount: number
  readonly currency: 'usdc' | 'usd'
  readonly destination_id: string
  /** The settlement that created the payout automatically, or null. */
  readonly settlement_id: string | null
  readonly status: Schemas['PayoutStatus']
  readonly failure_code: Schemas['PayoutFailureCode'] | null
  /** CAIP-2; null before the payment is sent, and for bank accounts. */
  readonly chain_id: string | null
  readonly transaction_hash: string | null
  readonly confirmations: number
  /** For example `2026-06-03`. */
  readonly arrival_date: string | null
  /** Number of ledger postings so far. */
  readonly postings: number
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
}

const FIXED = ['amount', 'currency', 'destination_id', 'settlement_id', 'metadata', 'created'] as const
const MUTABLE = [
  ...['status', 'failure_code', 'chain_id', 'transaction_hash', 'confirmations', 'arrival_date', 'postings'],
  'updated',
] as const

const COLUMNS = ['id', ...MUTABLE, ...FIXED].map((column) => `p.${column}`).join(', ')

/** Returns the values of the MUTABLE columns, in that order. */
const changing = (row: PayoutRow): unknown[] => [
  row.status,
  row.failure_code,
  row.chain_id,
  row.transaction_hash,
  row.confirmations,
  row.arrival_date,
  row.postings,
  toTimestamp(row.updated),
]

const INSERT: Statement = {
  name: 'payouts_insert',
  text: `INSERT INTO payouts (tenant_id, id, ${[...MUTABLE, ...FIXED].join(', ')})
         VALUES (${[...Array(MUTABLE.length + FIXED.length + 2).keys()].map((n) => `$${n + 1}`).join(', ')})`,
}

export function insertPayout(db: Database, tenantId: string, row: PayoutRow): Promise<unknown> {
  return db.query(INSERT, [
    tenantId,
    row.id,
    ...changing(row),
    row.amount,
    row.currency,
    row.destination_id,
    row.settlement_id,
    JSON.stringify(row.metadata),
    toTimestamp(row.created),
  ])
}

const UPDATE: Statement = {
  name: 'payouts_update',
  text: `UPDATE payouts SET ${MUTABLE.map((column, index) => `${column} = $${index + 3}`).join(', ')}
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a payout that the caller has locked with `lockPayout`. */
export function updatePayout(db: Database, tenantId: string, row: PayoutRow): Promise<unknown> {
  return db.query(UPDATE, [tenantId, row.id, ...changing(row)])
}

const READ_MANY: Statement = {
  name: 'payouts_read_many',
  text: `SELECT ${COLUMNS} FROM unnest($2::text[]) AS given (id)
         CROSS JOIN LATERAL (SELECT * FROM payouts p WHERE p.tenant_id = $1 AND p.id = given.id OFFSET 0) AS p`,
}

export async function readPayouts(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<readonly PayoutRow[]> {
  return ids.length === 0 ? [] : (await db.query<PayoutRow>(READ_MANY, [tenantId, ids])).rows
}

const READ: Statement = {
  name: 'payouts_read',
  text: `SELECT ${COLUMNS} FROM payouts p WHERE p.tenant_id = $1 AND p.id = $2`,
}

export async function readPayout(db: Database, tenantId: string, id: string): Promise<PayoutRow | undefined> {
  return (await db.query<PayoutRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'payouts_lock', text: `${READ.text} FOR UPDATE` }

/**
 * Returns a payout and locks it until the transaction ends. Throws if its status is unknown, so that no money moves for it.
 */
export async function lockPayout(db: Database, tenantId: string, id: string): Promise<PayoutRow | undefined> {
  const row = (await db.query<PayoutRow>(LOCK, [tenantId, id])).rows[0]
  if (row && !filters.listPayouts.status.includes(row.status))
    throw new Error(`payout ${id} has the unknown status ${row.status}`)
  return row
}

export const listPayouts = defineList<PayoutRow, 'listPayouts'>({
  operation: 'listPayouts',
  table: 'payouts',
  alias: 'p',
  columns: COLUMNS,
  filters: { status: 'p.status', destination_id: 'p.destination_id', settlement_id: 'p.settlement_id' },
  // A settlement has at most one payout, so the other filters need no index.
  indexes: [[], ['status'], ['destination_id', 'status'], ['settlement_id']],
  partial: { settlement_id: 'p.settlement_id IS NOT NULL' },
})
