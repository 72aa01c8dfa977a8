/** Statements of the worker of backtests: find, lease and end backtests, and read what they replay. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { pendingRows } from '../../work/held-rows.ts'
import { type MessageColumns, messagesOf } from '../transactions/messages.ts'
import { BACKTEST_COLUMNS, type BacktestRow, type FlipRow } from './queries.ts'
import type { RecordedTransaction } from './replay.ts'

/** Pending backtests. */
export const PENDING_BACKTESTS = pendingRows<BacktestRow>('spending_control_backtests', BACKTEST_COLUMNS)

const PROGRESS: Statement = {
  name: 'spending_control_backtests_progress',
  text: 'UPDATE spending_control_backtests SET progress = $3 WHERE tenant_id = $1 AND id = $2',
}

/** @param progress percent. */
export function noteProgress(db: Database, space: string, id: string, progress: number): Promise<unknown> {
  return db.query(PROGRESS, [space, id, progress])
}

const END: Statement = {
  name: 'spending_control_backtests_end',
  text: `UPDATE spending_control_backtests SET status = $3, progress = $4, result = $5, updated = $6, worker = NULL, leased_until = NULL
          WHERE tenant_id = $1 AND id = $2 AND status = 'pending'`,
}

/** Writes the end of a pending backtest. Returns whether it was pending. */
export async function endBacktest(
  db: Database,
  space: string,
  {
    id,
    status,
    progress,
    result,
    updated,
  }: Pick<BacktestRow, 'id' | 'status' | 'progress' | 'result' | 'updated'>,
): Promise<boolean> {
  const written = [status, progress, result && JSON.stringify(result), toTimestamp(updated)]
  return (await db.query(END, [space, id, ...written])).count === 1
}

const INSERT_FLIPS: Statement = {
  name: 'spending_control_flips_insert',
  text: `INSERT INTO spending_control_flips (tenant_id, backtest_id, id, card_transaction_id, card_id, change, code, rule, amount, recorded_amount,
                                             draft_amount, created)
         SELECT b.tenant_id, b.id, f.id, f.card_transaction_id, f.card_id, f.change, f.code, f.rule, f.amount, f.recorded_amount,
                f.draft_amount, timestamptz 'epoch' + f.created * interval '1 millisecond'
           FROM spending_control_backtests b,
                json_to_recordset($3) AS f (id text, card_transaction_id text, card_id text, change text, code text, rule text,
                                            amount bigint, recorded_amount bigint, draft_amount bigint, created bigint)
          WHERE b.tenant_id = $1 AND b.id = $2`,
}

/** Writes flips of a stored backtest. */
export function insertFlips(
  db: Database,
  space: string,
  backtestId: string,
  flips: readonly FlipRow[],
): Promise<unknown> {
  return db.query(INSERT_FLIPS, [space, backtestId, JSON.stringify(flips)])
}

/** What a backtest reads of a transaction. */
interface StoredTransaction extends Omit<RecordedTransaction, 'messages'>, MessageColumns {
  /** Whether the draft is for its card. */
  readonly is_meant: boolean
}

/** The rules take up most of a row, so they are read only if they can explain a decline or a partial approval. */
const PAGE: Statement = {
  name: 'spending_control_backtests_page',
  text: `SELECT t.id, t.card_id, t.created, t.merchant, t.entry_method, t.checks,
                t.decision_id, json_array_length(t.rules) > 0 AS is_judged,
                CASE WHEN t.messages IS NULL OR t.authorized < t.requested OR t.messages::text LIKE '%"declined"%' THEN t.rules END AS rules,
                CASE WHEN t.decision_id IS NOT NULL AND t.authorized < t.requested THEN (
                  SELECT d.amount FROM authorization_decisions d
                   WHERE d.tenant_id = $1 AND d.id = t.decision_id AND d.status = 'responded') END AS answered,
                t.messages, CASE WHEN t.messages IS NULL THEN t.history ELSE '[]' END AS history,
                t.requested, t.disputed, t.decline_code, t.expires_at,
                CASE WHEN $5::text IS NOT NULL THEN t.card_id = $5
                     WHEN $6::text IS NOT NULL THEN EXISTS (
                       SELECT FROM cards c WHERE c.tenant_id = $1 AND c.id = t.card_id AND c.card_program_id = $6)
                     ELSE true END AS is_meant
           FROM (SELECT * FROM card_transactions p
                  WHERE p.tenant_id = $1 AND (p.created, p.id) > ($2, $3) AND p.created < $4
                  ORDER BY p.created, p.id LIMIT $7) AS t
          ORDER BY t.created, t.id`,
}

const PAGE_ROWS = 2000

/** The last transaction of a page. */
export interface ReplayPosition {
  readonly created: number
  readonly id: string
}

export interface ReplayPage {
  readonly transactions: readonly RecordedTransaction[]
  readonly last: ReplayPosition
}

/** Returns the next transactions of a backtest after a position, and the position after them; undefined at the end. */
export async function readPageOf(
  db: Database,
  space: string,
  { card_id, card_program_id, interval_end }: BacktestRow,
  after: ReplayPosition,
): Promise<ReplayPage | undefined> {
  const bounds = [toTimestamp(after.created), after.id, toTimestamp(interval_end)]
  const values = [space, ...bounds, card_id, card_program_id, PAGE_ROWS]
  const { rows } = await db.query<StoredTransaction>(PAGE, values)
  const last = rows.at(-1)
  if (!last) return undefined
  const transactions = rows
    .filter(({ is_meant }) => is_meant)
    .map((row) => ({ ...row, messages: row.messages ?? messagesOf(row) }))
  return { transactions, last }
}
