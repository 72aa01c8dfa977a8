import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import type { VerifiedFile } from './verify.ts'

/** A file as stored. */
export interface ClearingFileRow {
  readonly environment: Environment
  readonly id: string
  readonly network: string
  /** ISO 8601 date. */
  readonly business_date: string
  readonly format: string
  readonly sha256: string
  readonly records: number
  /** Cents, as text. */
  readonly clearings_amount: string
  readonly refunds_amount: string
  /** Number of lines that have an outcome, from the first one on. */
  readonly lines: number
  /** Bytes up to the end of the last of them. */
  readonly position: number
  readonly exceptions: number
  readonly created: number
  readonly imported: number | null
}

const COLUMNS = `f.environment, f.id, f.network, f.business_date::text, f.format, f.sha256, f.records, f.clearings_amount::text,
  f.refunds_amount::text, f.lines, f.position, f.exceptions, f.created, f.imported`

const INSERT: Statement = {
  text: `INSERT INTO control.network_files
           (environment, id, network, business_date, format, sha256, records, clearings_amount, refunds_amount, position, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
}

const READ: Statement = {
  text: `SELECT ${COLUMNS} FROM control.network_files f WHERE f.environment = $1 AND f.id = $2`,
}

/** Returns the file, which is stored now if it was not before. @param now machine time. */
export async function beginFile(
  control: Database,
  { header, trailer, start }: VerifiedFile,
  format: string,
  now: number,
): Promise<ClearingFileRow> {
  const { environment, fileId, network, businessDate } = header
  const totals = [trailer.records, trailer.clearings.toString(), trailer.refunds.toString()]
  const values = [environment, fileId, network, businessDate, format, trailer.sha256, ...totals, start]
  await control.query(INSERT, [...values, toTimestamp(now)])
  return (await control.query<ClearingFileRow>(READ, [environment, fileId])).rows[0]!
}

const LIST: Statement = {
  text: `SELECT ${COLUMNS}, (SELECT count(*) FROM control.network_exceptions e WHERE e.environment = f.environment
                 AND e.file_id = f.id AND e.resolved IS NULL) AS open_exceptions
           FROM control.network_files f WHERE ($1::text IS NULL OR f.id = $1) ORDER BY f.created DESC, f.id LIMIT $2`,
}

export type ListedFile = ClearingFileRow & { readonly open_exceptions: number }

/** Returns the newest files, or those with the ID in both environments. */
export async function listFiles(
  control: Database,
  id: string | undefined,
  limit: number,
): Promise<readonly ListedFile[]> {
  return (await control.query<ListedFile>(LIST, [id ?? null, limit])).rows
}

const OF_DATE: Statement = {
  text: `SELECT ${COLUMNS} FROM control.network_files f WHERE f.environment = $1 AND f.business_date = $2 ORDER BY f.id`,
}

/** Returns the files of a business day. */
export async function filesOf(
  control: Database,
  environment: Environment,
  date: string,
): Promise<readonly ClearingFileRow[]> {
  return (await control.query<ClearingFileRow>(OF_DATE, [environment, date])).rows
}

const ADVANCE: Statement = {
  text: `UPDATE control.network_files SET lines = $4, position = $5, exceptions = exceptions + $6, imported = $7
          WHERE environment = $1 AND id = $2 AND position = $3 AND imported IS NULL`,
}

/** How far the import of a file is. */
export interface FileProgress {
  readonly lines: number
  readonly position: number
}

/**
 * Stores the progress of an import. Returns false if another process has advanced it.
 * @param imported machine time of the end; null before it.
 */
export async function advanceFile(
  control: Database,
  { environment, id }: Pick<ClearingFileRow, 'environment' | 'id'>,
  before: FileProgress,
  after: FileProgress & { readonly exceptions: number; readonly imported: number | null },
): Promise<boolean> {
  const { lines, position, exceptions, imported } = after
  const ended = imported === null ? null : toTimestamp(imported)
  const values = [environment, id, before.position, lines, position, exceptions, ended]
  return (await control.query(ADVANCE, values)).count > 0
}
