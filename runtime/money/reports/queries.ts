import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import {
  ALL_ROWS,
  BoundValues,
  type CreatedRange,
  type Records,
  type RequestedPage,
  readPage,
} from '../../database/page.ts'
import { toTimestamp } from '../../database/types.ts'
import type { ReportFormat } from '../../tenants/addresses/report-links.ts'

type Schemas = components['schemas']

export type ReportType = Schemas['TreasuryReportType']

/** A complete file. */
export interface WrittenFile {
  readonly format: ReportFormat
  /** Bytes. */
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** The result of a report. Balances are cents. */
export interface ReportResult {
  readonly files: readonly WrittenFile[]
  readonly row_count: number
  readonly opening: number
  readonly closing: number
}

/** A report as stored. Times are milliseconds since the epoch. */
export interface ReportRow {
  readonly id: string
  readonly type: ReportType
  readonly interval_start: number
  readonly interval_end: number
  readonly currency: 'usd'
  /** API version in which the rows are written. */
  readonly version: string
  readonly status: Schemas['TreasuryReportStatus']
  readonly result: ReportResult | null
  /** Time until which the files can be downloaded; null until the report has succeeded. */
  readonly expires_at: number | null
  readonly failure_code: Schemas['TreasuryReportFailureCode'] | null
  readonly created: number
  readonly updated: number
}

const FIRST = [
  'type',
  'interval_start',
  'interval_end',
  'currency',
  'version',
  'status',
  'created',
  'updated',
]
const COLUMNS = ['id', ...FIRST, 'result', 'expires_at', 'failure_code'].map((name) => `r.${name}`).join(', ')

const INSERT: Statement = {
  name: 'treasury_reports_insert',
  text: `INSERT INTO treasury_reports (tenant_id, id, ${FIRST.join(', ')})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
}

/** Writes a new, pending report. */
export function insertReport(db: Database, tenantId: string, row: ReportRow): Promise<unknown> {
  const { id, type, currency, version, status } = row
  const times = [row.interval_start, row.interval_end, row.created, row.updated].map(toTimestamp)
  const [start, end, created, updated] = times
  return db.query(INSERT, [tenantId, id, type, start, end, currency, version, status, created, updated])
}

const READ: Statement = {
  name: 'treasury_reports_read',
  text: `SELECT ${COLUMNS} FROM treasury_reports r WHERE r.tenant_id = $1 AND r.id = $2
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = $1)`,
}

/** Returns a report. Returns undefined for a wiped space, which file links can still refer to. */
export async function readReport(db: Database, tenantId: string, id: string): Promise<ReportRow | undefined> {
  return (await db.query<ReportRow>(READ, [tenantId, id])).rows[0]
}

/** Types that older versions lack. Their reports are shown in the version of their request and in later versions. */
const LATER_TYPES: readonly ReportType[] = ['statement', 'journal']

/** Whether callers of a version see a report. */
export function isShownIn(version: string, report: Pick<ReportRow, 'type' | 'version'>): boolean {
  return !LATER_TYPES.includes(report.type) || report.version <= version
}

export interface ReportFilter {
  readonly created: CreatedRange
  /** Version of the caller. */
  readonly version: string
}

/** Returns one page of the reports that callers of a version see. */
export function listReports(
  db: Database,
  tenantId: string,
  { created, version }: ReportFilter,
  page: RequestedPage,
): Promise<Records<ReportRow>> {
  const bindings = new BoundValues(tenantId)
  const where = `(r.type <> ALL (${bindings.bind(LATER_TYPES)}::text[]) OR r.version <= ${bindings.bind(version)})`
  const source = { table: 'treasury_reports', alias: 'r', columns: COLUMNS }
  return readPage<ReportRow>(db, source, bindings, [{ ...ALL_ROWS, where }], created, page)
}

const COUNT_PENDING: Statement = {
  name: 'treasury_reports_count_pending',
  text: `SELECT count(*) AS count FROM (
           SELECT FROM treasury_reports r WHERE r.tenant_id = $1 AND r.status = 'pending' LIMIT $2
         ) AS pending`,
}

/** Counts a tenant's pending reports, up to `most`. */
export async function countPending(db: Database, tenantId: string, most: number): Promise<number> {
  return (await db.query<{ count: number }>(COUNT_PENDING, [tenantId, most])).rows[0]?.count ?? 0
}
