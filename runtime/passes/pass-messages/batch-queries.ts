import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { CONTENT_COLUMNS, contentValues, type MessageContent, timestamp } from './content.ts'

type PassMessageBatch = components['schemas']['PassMessageBatch']

/** Times in milliseconds since the epoch. */
export interface PassMessageBatchRow extends MessageContent {
  readonly id: string
  readonly filter: PassMessageBatch['filter']
  readonly status: PassMessageBatch['status']
  readonly total: number
  readonly sent: number
  readonly skipped: number
  /** The last pass for which a message is queued: when it was created, and its ID. */
  readonly after_created: number | null
  readonly after_id: string | null
  readonly created: number
  readonly updated: number
}

export const BATCH_COLUMNS = `id, filter, ${CONTENT_COLUMNS}, status, total, sent, skipped, after_created, after_id, created, updated`

const INSERT: Statement = {
  name: 'pass_message_batches_insert',
  text: `INSERT INTO pass_message_batches (tenant_id, id, filter, created, updated, ${CONTENT_COLUMNS}, status, total, sent, skipped)
         VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, 'queuing', 0, 0, 0)`,
}

/** Writes a new batch. */
export function insertPassMessageBatch(
  db: Database,
  tenantId: string,
  row: PassMessageBatchRow,
): Promise<unknown> {
  const { id, filter, created } = row
  return db.query(INSERT, [tenantId, id, JSON.stringify(filter), toTimestamp(created), ...contentValues(row)])
}

const READ: Statement = {
  name: 'pass_message_batches_read',
  text: `SELECT ${BATCH_COLUMNS} FROM pass_message_batches WHERE tenant_id = $1 AND id = $2`,
}

export async function readPassMessageBatch(
  db: Database,
  tenantId: string,
  id: string,
): Promise<PassMessageBatchRow | undefined> {
  return (await db.query<PassMessageBatchRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = {
  name: 'pass_message_batches_lock',
  text: `SELECT ${BATCH_COLUMNS} FROM pass_message_batches WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id FOR NO KEY UPDATE`,
}

/** Locks batches until the transaction ends, and returns them by ID. */
export async function lockBatches(
  db: Database,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, PassMessageBatchRow>> {
  const unique = [...new Set(ids)]
  if (unique.length === 0) return new Map()
  const { rows } = await db.query<PassMessageBatchRow>(LOCK, [tenantId, unique])
  return new Map(rows.map((row) => [row.id, row]))
}

const COUNT_OPEN: Statement = {
  name: 'pass_message_batches_count_open',
  text: `SELECT count(*) AS count FROM (
           SELECT FROM pass_message_batches WHERE tenant_id = $1 AND status IN ('queuing', 'sending') LIMIT $2) AS open`,
}

/** Counts a tenant's batches that have not ended, up to `most`. */
export async function countOpenBatches(db: Database, tenantId: string, most: number): Promise<number> {
  return (await db.query<{ count: number }>(COUNT_OPEN, [tenantId, most])).rows[0]?.count ?? 0
}

const UPDATE: Statement = {
  name: 'pass_message_batches_update',
  text: `UPDATE pass_message_batches
            SET status = $3, total = $4, sent = $5, skipped = $6, after_created = $7, after_id = $8, updated = $9
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the progress of a locked batch. */
export function updateBatch(db: Database, tenantId: string, row: PassMessageBatchRow): Promise<unknown> {
  const { id, status, total, sent, skipped, after_created, after_id, updated } = row
  const position = [timestamp(after_created), after_id]
  return db.query(UPDATE, [tenantId, id, status, total, sent, skipped, ...position, toTimestamp(updated)])
}

export const listPassMessageBatches = defineList<PassMessageBatchRow, 'listPassMessageBatches'>({
  operation: 'listPassMessageBatches',
  table: 'pass_message_batches',
  alias: 't',
  columns: BATCH_COLUMNS,
  filters: { status: 't.status' },
  indexes: [[], ['status']],
})
