import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import { CONTENT_COLUMNS, contentValues, type MessageContent } from './content.ts'

type PassMessage = components['schemas']['PassMessage']

/** Times in milliseconds since the epoch. */
export interface PassMessageRow extends MessageContent {
  readonly id: string
  readonly pass_id: string
  readonly pass_message_batch_id: string | null
  readonly status: PassMessage['status']
  readonly reason: PassMessage['reason']
  readonly sent_at: number | null
  readonly created: number
  readonly updated: number
}

export const MESSAGE_COLUMNS = `id, pass_id, pass_message_batch_id, ${CONTENT_COLUMNS}, status, reason, sent_at, created, updated`

const INSERT: Statement = {
  name: 'pass_messages_insert',
  text: `INSERT INTO pass_messages (tenant_id, id, pass_id, created, updated, next_at, ${CONTENT_COLUMNS}, status)
         VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, 'queued')`,
}

/** Queues a message to one pass. */
export function insertPassMessage(db: Database, tenantId: string, row: PassMessageRow): Promise<unknown> {
  const times = [row.created, dueAt(row)].map(toTimestamp)
  return db.query(INSERT, [tenantId, row.id, row.pass_id, ...times, ...contentValues(row)])
}

/** Returns when a queued message is due. */
export function dueAt({ starts_at, created }: Pick<PassMessageRow, 'starts_at' | 'created'>): number {
  return Math.max(starts_at ?? created, created)
}

const READ: Statement = {
  name: 'pass_messages_read',
  text: `SELECT ${MESSAGE_COLUMNS} FROM pass_messages WHERE tenant_id = $1 AND id = $2`,
}

export async function readPassMessage(
  db: Database,
  tenantId: string,
  id: string,
): Promise<PassMessageRow | undefined> {
  return (await db.query<PassMessageRow>(READ, [tenantId, id])).rows[0]
}

const RECENT: Statement = {
  name: 'pass_messages_recent',
  text: `SELECT coalesce(sent_at, next_at) AS at FROM pass_messages
          WHERE tenant_id = $1 AND pass_id = $2 AND coalesce(sent_at, next_at) > $3 AND coalesce(sent_at, next_at) <= $4
          ORDER BY at`,
}

/** Returns the times, in order, at which messages of a pass were sent or will be sent after `from`, until `to`. */
export async function readSendingTimes(
  db: Database,
  tenantId: string,
  passId: string,
  from: number,
  to: number,
): Promise<readonly number[]> {
  const values = [tenantId, passId, toTimestamp(from), toTimestamp(to)]
  return (await db.query<{ at: number }>(RECENT, values)).rows.map(({ at }) => at)
}

export const listPassMessages = defineList<PassMessageRow, 'listPassMessages'>({
  operation: 'listPassMessages',
  table: 'pass_messages',
  alias: 't',
  columns: MESSAGE_COLUMNS,
  filters: {
    pass_id: 't.pass_id',
    pass_message_batch_id: 't.pass_message_batch_id',
    status: 't.status',
  },
  indexes: [[], ['status'], ['pass_id'], ['pass_message_batch_id', 'status']],
})
