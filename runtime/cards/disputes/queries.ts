import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { type CardTransactionRow, lockCardTransaction } from '../transactions/queries.ts'

type Schemas = components['schemas']

/** A dispute as stored, without the content of its files. Amounts are cents, times are milliseconds since the epoch. */
export interface DisputeRow {
  readonly id: string
  readonly card_transaction_id: string
  readonly amount: number
  readonly provisional_credit: number
  readonly reason: Schemas['DisputeReason']
  readonly status: Schemas['DisputeStatus']
  readonly explanation: string | null
  readonly files: readonly Schemas['EvidenceFile'][]
  readonly metadata: Readonly<Record<string, string>>
  readonly submission_deadline: number
  readonly submitted_at: number | null
  readonly closed_at: number | null
  readonly created: number
  readonly updated: number
}

const MUTABLE = [
  ...['amount', 'provisional_credit', 'reason', 'status', 'explanation', 'files', 'metadata', 'submitted_at'],
  ...['closed_at', 'updated'],
] as const
const FIXED = ['card_transaction_id', 'submission_deadline', 'created'] as const

const COLUMNS = ['id', ...MUTABLE, ...FIXED].map((column) => `d.${column}`).join(', ')

const optional = (ms: number | null) => (ms === null ? null : toTimestamp(ms))

/** Returns the values of the MUTABLE columns, in that order. */
const changing = (row: DisputeRow): unknown[] => [
  row.amount,
  row.provisional_credit,
  row.reason,
  row.status,
  row.explanation,
  JSON.stringify(row.files),
  JSON.stringify(row.metadata),
  optional(row.submitted_at),
  optional(row.closed_at),
  toTimestamp(row.updated),
]

const INSERT: Statement = {
  name: 'disputes_insert',
  text: `INSERT INTO disputes (tenant_id, id, ${[...MUTABLE, ...FIXED].join(', ')})
         VALUES (${[...Array(MUTABLE.length + FIXED.length + 2).keys()].map((n) => `$${n + 1}`).join(', ')})`,
}

export function insertDispute(db: Database, tenantId: string, row: DisputeRow): Promise<unknown> {
  const fixed = [row.card_transaction_id, toTimestamp(row.submission_deadline), toTimestamp(row.created)]
  return db.query(INSERT, [tenantId, row.id, ...changing(row), ...fixed])
}

const UPDATE: Statement = {
  name: 'disputes_update',
  text: `UPDATE disputes SET ${MUTABLE.map((column, index) => `${column} = $${index + 3}`).join(', ')}
         WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the mutable columns of a dispute that the caller has locked with `lockDispute`. */
export function updateDispute(db: Database, tenantId: string, row: DisputeRow): Promise<unknown> {
  return db.query(UPDATE, [tenantId, row.id, ...changing(row)])
}

const READ: Statement = {
  name: 'disputes_read',
  text: `SELECT ${COLUMNS} FROM disputes d WHERE d.tenant_id = $1 AND d.id = $2`,
}

export async function readDispute(
  db: Database,
  tenantId: string,
  id: string,
): Promise<DisputeRow | undefined> {
  return (await db.query<DisputeRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'disputes_lock', text: `${READ.text} FOR UPDATE` }

/** A locked dispute and its locked card transaction. */
export interface LockedDispute {
  readonly dispute: DisputeRow
  readonly transaction: CardTransactionRow
}

/** Locks the card, its transaction and then the dispute: the lock order that every transaction uses. */
export async function lockDispute(
  db: Database,
  tenantId: string,
  id: string,
): Promise<LockedDispute | undefined> {
  // The transaction of a dispute never changes, so the dispute can be read for it without a lock.
  const known = await readDispute(db, tenantId, id)
  if (!known) return undefined
  const [transaction, { rows }] = await Promise.all([
    lockCardTransaction(db, tenantId, known.card_transaction_id),
    db.query<DisputeRow>(LOCK, [tenantId, id]),
  ])
  const dispute = rows[0]
  return dispute && transaction && { dispute, transaction }
}

const LOCK_OPEN: Statement = {
  name: 'disputes_lock_open',
  text: `SELECT ${COLUMNS} FROM disputes d
          WHERE d.tenant_id = $1 AND d.card_transaction_id = $2 AND d.status = ANY ($3) ORDER BY d.created, d.id FOR UPDATE`,
}

/**
 * Locks and returns the disputes of a transaction that have one of the statuses, oldest first. The caller has locked the
 * transaction.
 */
export async function lockDisputesOf(
  db: Database,
  tenantId: string,
  transactionId: string,
  statuses: readonly DisputeRow['status'][],
): Promise<readonly DisputeRow[]> {
  return (await db.query<DisputeRow>(LOCK_OPEN, [tenantId, transactionId, statuses])).rows
}

const DISPUTED: Statement = {
  name: 'card_transactions_dispute',
  text: 'UPDATE card_transactions SET disputed = disputed + $3 WHERE tenant_id = $1 AND id = $2',
}

/** Adds to the disputed amount of a transaction. The caller has locked the transaction. */
export function addDisputed(
  db: Database,
  tenantId: string,
  transactionId: string,
  amount: number,
): Promise<unknown> {
  return db.query(DISPUTED, [tenantId, transactionId, amount])
}

const REMOVE_FILES: Statement = {
  name: 'dispute_files_remove',
  text: 'DELETE FROM dispute_files WHERE tenant_id = $1 AND dispute_id = $2',
}

const ADD_FILE: Statement = {
  name: 'dispute_files_add',
  text: `INSERT INTO dispute_files (tenant_id, dispute_id, position, content) VALUES ($1, $2, $3, $4)`,
}

export function removeFiles(db: Database, tenantId: string, disputeId: string): Promise<unknown> {
  return db.query(REMOVE_FILES, [tenantId, disputeId])
}

/**
 * Stores the content of an evidence file.
 * @param position index of the file in the dispute's list.
 */
export function addFile(
  db: Database,
  tenantId: string,
  disputeId: string,
  position: number,
  content: Buffer,
): Promise<unknown> {
  return db.query(ADD_FILE, [tenantId, disputeId, position, content])
}

const OVERDUE: Statement = {
  name: 'disputes_overdue',
  text: `SELECT tenant_id, id, card_transaction_id FROM disputes d WHERE d.status = 'unsubmitted' AND d.submission_deadline <= $1
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = d.tenant_id)
          ORDER BY d.submission_deadline LIMIT $2`,
}

export interface OverdueDispute {
  readonly tenant_id: string
  readonly id: string
  readonly card_transaction_id: string
}

/**
 * Returns disputes of all tenants that were not submitted before their deadline.
 * @param now service time.
 */
export async function findOverdueDisputes(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly OverdueDispute[]> {
  return (await db.query<OverdueDispute>(OVERDUE, [toTimestamp(now), limit])).rows
}

export const listDisputes = defineList<DisputeRow, 'listDisputes'>({
  operation: 'listDisputes',
  table: 'disputes',
  alias: 'd',
  columns: COLUMNS,
  filters: { card_transaction_id: 'd.card_transaction_id', status: 'd.status', reason: 'd.reason' },
  indexes: [[], ['status', 'reason'], ['card_transaction_id', 'status', 'reason']],
})
