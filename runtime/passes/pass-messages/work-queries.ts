/** Statements of the worker that sends messages, and of Google's follower. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { timestamp } from './content.ts'
import { MESSAGE_COLUMNS, type PassMessageRow } from './queries.ts'

export interface DueMessage {
  readonly tenant_id: string
  readonly id: string
  readonly pass_id: string
  readonly pass_message_batch_id: string | null
}

const finding = (name: string, condition: string): Statement => ({
  name,
  text: `SELECT tenant_id, id, pass_id, pass_message_batch_id FROM pass_messages m
          WHERE pass_message_batch_id ${condition} AND next_at > '-infinity' AND next_at <= $1
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = m.tenant_id)
          ORDER BY next_at LIMIT $2`,
})

const FIND = finding('pass_messages_due', 'IS NULL')
const FIND_IN_BATCH = finding('pass_messages_due_in_batch', 'IS NOT NULL')

const finder = (statement: Statement) => async (db: Database, now: number, limit: number) =>
  (await db.query<DueMessage>(statement, [toTimestamp(now), limit])).rows

/** Find messages of all tenants that are due, the longest due first: single messages, and messages of batches. */
export const findDueMessages = finder(FIND)
export const findDueInBatches = finder(FIND_IN_BATCH)

const LOCK: Statement = {
  name: 'pass_messages_lock',
  text: `SELECT ${MESSAGE_COLUMNS} FROM pass_messages
          WHERE tenant_id = $1 AND id = ANY ($2) AND next_at <= $3 ORDER BY id FOR UPDATE`,
}

/** Locks the messages that are still due, until the transaction ends. @param now service time. */
export async function lockDueMessages(
  db: Database,
  space: string,
  ids: readonly string[],
  now: number,
): Promise<readonly PassMessageRow[]> {
  return (await db.query<PassMessageRow>(LOCK, [space, ids, toTimestamp(now)])).rows
}

// Each pass is looked up by the index, even if PostgreSQL misjudges the number of passes.
const COUNT: Statement = {
  name: 'pass_messages_count_recent',
  text: `SELECT wanted.id AS pass_id, sent.count
           FROM json_array_elements_text($2) AS wanted (id)
          CROSS JOIN LATERAL (
            SELECT count(*) AS count FROM (
              SELECT FROM pass_messages m
               WHERE m.tenant_id = $1 AND m.pass_id = wanted.id AND m.sent_at > '-infinity' AND m.sent_at > $3
              OFFSET 0) AS each) AS sent`,
}

/** Counts the messages that were sent after a time, by pass. */
export async function countSent(
  db: Database,
  space: string,
  passIds: readonly string[],
  after: number,
): Promise<Map<string, number>> {
  const values = [space, JSON.stringify(passIds), toTimestamp(after)]
  const { rows } = await db.query<{ pass_id: string; count: number }>(COUNT, values)
  return new Map(rows.map(({ pass_id, count }) => [pass_id, count]))
}

// A message that is sent next to Google is shown, and one that is no longer shown is not sent any more.
const SETTLE: Statement = {
  name: 'pass_messages_settle',
  text: `UPDATE pass_messages m
            SET status = n.status, reason = n.reason, sent_at = n.sent_at, next_at = n.next_at, is_shown = n.is_shown,
                is_due_at_google = n.is_shown, updated = n.updated
           FROM json_to_recordset($2) AS n (id text, status text, reason text, sent_at timestamptz, next_at timestamptz,
                                            is_shown boolean, updated timestamptz)
          WHERE m.tenant_id = $1 AND m.id = n.id`,
}

/** A message, and what wallets show of it from now on. */
export interface SettledMessage extends PassMessageRow {
  readonly next_at: number | null
  readonly is_shown: boolean
}

/** Writes the new states of locked messages. */
export function writeSettled(db: Database, space: string, rows: readonly SettledMessage[]): Promise<unknown> {
  const written = rows.map(({ id, status, reason, sent_at, next_at, is_shown, updated }) => ({
    id,
    status,
    reason,
    sent_at: timestamp(sent_at),
    next_at: timestamp(next_at),
    is_shown,
    updated: toTimestamp(updated),
  }))
  return db.query(SETTLE, [space, JSON.stringify(written)])
}

const SENT_TO_GOOGLE: Statement = {
  name: 'pass_messages_sent_to_google',
  text: 'UPDATE pass_messages SET is_due_at_google = false WHERE tenant_id = $1 AND id = $2',
}

/** Records that Google has answered for a message. */
export function writeSentToGoogle(db: Database, space: string, id: string): Promise<unknown> {
  return db.query(SENT_TO_GOOGLE, [space, id])
}

// If a walk over messages is waiting and no visit is running (token is null), it will find the new messages.
const WALK: Statement = {
  name: 'google_cursors_messages',
  text: `UPDATE google_cursors c SET walks = (c.walks::jsonb || $2::jsonb)::json
          WHERE c.tenant_id = $1 AND NOT (c.token IS NULL AND c.walks::jsonb @> $2::jsonb)`,
}

const NEW_WALK = JSON.stringify([{ messages: 'new' }])

/** Lets Google's follower send the messages that are due there. Without Google Wallet, no space has a cursor. */
export function walkMessages(db: Database, space: string): Promise<unknown> {
  return db.query(WALK, [space, NEW_WALK])
}
