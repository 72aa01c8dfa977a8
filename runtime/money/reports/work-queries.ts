/** Statements of the report workers: find, lease and end reports, and store their files piece by piece. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { pendingRows } from '../../work/held-rows.ts'
import type { Piece } from './pieces.ts'
import type { ReportRow } from './queries.ts'

/** Pending reports. */
export const PENDING_REPORTS = pendingRows<ReportRow>(
  'treasury_reports',
  `id, type, interval_start, interval_end, currency, version, status, result, expires_at, failure_code, created, updated`,
)

const ADD_PIECE: Statement = {
  name: 'treasury_report_pieces_add',
  text: `INSERT INTO treasury_report_pieces (tenant_id, report_id, format, position, content) VALUES ($1, $2, $3, $4, $5)`,
}

export function addPiece(
  db: Database,
  space: string,
  reportId: string,
  { format, position, content }: Piece,
): Promise<unknown> {
  return db.query(ADD_PIECE, [space, reportId, format, position, content])
}

const READ_PIECE: Statement = {
  name: 'treasury_report_pieces_read',
  text: `SELECT p.content FROM treasury_report_pieces p
          WHERE p.tenant_id = $1 AND p.report_id = $2 AND p.format = $3 AND p.position = $4`,
}

/** Returns a piece, or undefined after the end of the file. */
export async function readPiece(
  db: Database,
  space: string,
  reportId: string,
  { format, position }: Pick<Piece, 'format' | 'position'>,
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ content: Buffer }>(READ_PIECE, [space, reportId, format, position])
  return rows[0]?.content
}

const REMOVE_PIECES: Statement = {
  name: 'treasury_report_pieces_remove',
  text: `WITH first AS MATERIALIZED (
           SELECT p.format, p.position FROM treasury_report_pieces p WHERE p.tenant_id = $1 AND p.report_id = $2 LIMIT $3
         )
         DELETE FROM treasury_report_pieces p USING first
          WHERE p.tenant_id = $1 AND p.report_id = $2 AND p.format = first.format AND p.position = first.position`,
}

const REMOVED_AT_ONCE = 50

/** Deletes the stored pieces of a report, in batches. */
export async function removePieces(db: Database, space: string, reportId: string): Promise<void> {
  for (;;) {
    const { count } = await db.query(REMOVE_PIECES, [space, reportId, REMOVED_AT_ONCE])
    if (count < REMOVED_AT_ONCE) return
  }
}

const END: Statement = {
  name: 'treasury_reports_end',
  text: `UPDATE treasury_reports SET status = $3, result = $4, expires_at = $5, failure_code = $6, updated = $7,
                has_files = $8, worker = NULL, leased_until = NULL
          WHERE tenant_id = $1 AND id = $2`,
}

/** Writes the end of a report. The caller has renewed its lease in the same transaction. */
export function endReport(db: Database, space: string, row: ReportRow): Promise<unknown> {
  const { id, status, result, expires_at, failure_code, updated } = row
  const expires = expires_at === null ? null : toTimestamp(expires_at)
  const values = [space, id, status, result && JSON.stringify(result), expires, failure_code]
  return db.query(END, [...values, toTimestamp(updated), result !== null])
}

const FAIL: Statement = {
  name: 'treasury_reports_fail',
  text: `UPDATE treasury_reports SET status = 'failed', failure_code = 'processing_error', updated = $3, worker = NULL, leased_until = NULL
          WHERE tenant_id = $1 AND id = $2 AND status = 'pending'`,
}

/**
 * Fails a pending report without reading it. Returns whether it was pending.
 * @param now service time.
 */
export async function failReport(db: Database, space: string, id: string, now: number): Promise<boolean> {
  return (await db.query(FAIL, [space, id, toTimestamp(now)])).count === 1
}

const FIND_EXPIRED: Statement = {
  name: 'treasury_reports_expired',
  text: `SELECT r.tenant_id, r.id FROM treasury_reports r WHERE r.has_files AND r.expires_at <= $1
          ORDER BY r.expires_at LIMIT $2`,
}

/**
 * Returns reports of all tenants whose files must be deleted.
 * @param now service time.
 */
export async function findExpired(
  db: Database,
  now: number,
  limit: number,
): Promise<readonly { readonly tenant_id: string; readonly id: string }[]> {
  return (await db.query<{ tenant_id: string; id: string }>(FIND_EXPIRED, [toTimestamp(now), limit])).rows
}

const FORGET_FILES: Statement = {
  name: 'treasury_reports_forget_files',
  text: 'UPDATE treasury_reports SET has_files = false WHERE tenant_id = $1 AND id = $2',
}

/** Records that all files of a report are deleted. */
export function forgetFiles(db: Database, space: string, reportId: string): Promise<unknown> {
  return db.query(FORGET_FILES, [space, reportId])
}
