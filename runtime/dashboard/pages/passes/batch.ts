/** Issues the passes of a table in batches of 100. If the same table is submitted again, no pass is issued twice. */
import { createHash } from 'node:crypto'
import type { components } from '../../../../generated/canonical/types.ts'
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { describe } from '../../engine/form-page.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import type { TemplateObject } from '../templates/draft.ts'
import { type CsvRow, parseCsv } from './csv.ts'
import { passBody } from './issue.ts'
import { labelOf } from './values.ts'

export const MAX_ROWS = 1000
/** Maximum batch size of the `createPassBatch` operation. */
const MAX_BATCH = 100

export interface PassTable {
  readonly header: readonly string[]
  readonly rows: readonly CsvRow[]
  /** The pass attribute that each column sets. */
  readonly columns: readonly string[]
}

/** The result of one row: a pass, or an error, or neither if the row was not sent or its result is unknown. */
export interface RowOutcome {
  readonly row: CsvRow
  readonly passId?: string
  readonly fault?: string
}

export interface BatchReport {
  readonly outcomes: readonly RowOutcome[]
  /** Error message if processing stopped early. */
  readonly stopped?: string
}

/** Columns that every table of passes can have, and what they set. */
const COMMON: Readonly<Record<string, string>> = {
  name: 'Holder name',
  email: 'Holder email',
  expires_at: 'Expires',
}

/** Column with the error of each row in a table of failed rows. It is ignored. */
export const ERROR_COLUMN = 'error'

/** Returns the columns that a table of passes of the template can have, and what they set. */
export function columnsOf({ fields }: TemplateObject): readonly (readonly [column: string, label: string])[] {
  return [...Object.entries(COMMON), ...fields.map((each) => [each.key, labelOf(each)] as const)]
}

/** Parses the table. Columns are named by key or by label. Returns an error message if it is not a valid table of passes for the template. */
export function readTable(text: string, template: TemplateObject): PassTable | string {
  const parsed = parseCsv(text)
  if (typeof parsed === 'string') return parsed
  const [header, ...rows] = parsed
  if (!header || rows.length === 0) return 'The table must contain a header line and at least one pass.'
  if (rows.length > MAX_ROWS)
    return `The table contains ${rows.length} passes. The maximum is ${MAX_ROWS}. Split the table into several files.`
  const columns = header.cells.map((cell) => findColumn(cell, template))
  const unknown = header.cells.filter((_, index) => columns[index] === '')
  if (unknown.length > 0)
    return `Unknown ${unknown.length === 1 ? 'column' : 'columns'}: ${unknown.join(', ')}. Rename or remove ${unknown.length === 1 ? 'it' : 'them'}. Valid columns: ${columnsOf(
      template,
    )
      .map(([column]) => column)
      .join(', ')}.`
  const twice = header.cells.find((_, index) => columns.indexOf(columns[index]!) < index)
  if (twice !== undefined) return `The column ${twice} occurs more than once.`
  const ignored = columns.indexOf(ERROR_COLUMN)
  if (ignored === -1) return { header: header.cells, rows, columns }
  const kept = (cells: readonly string[]) => cells.toSpliced(ignored, 1)
  return {
    header: kept(header.cells),
    rows: rows.map(({ line, cells }) => ({ line, cells: kept(cells) })),
    columns: kept(columns),
  }
}

/** Returns the pass attribute that a column sets. Returns an empty string for an unknown column. */
function findColumn(cell: string, { fields }: TemplateObject): string {
  const name = cell.toLowerCase().replace(/^(?:holder|fields)[._]/, '')
  const isField = /^fields\./i.test(cell)
  if (!isField) {
    const [common] =
      Object.entries(COMMON).find(
        ([key, label]) => key === name || label.toLowerCase() === cell.toLowerCase(),
      ) ?? []
    if (common !== undefined) return common
  }
  const field =
    fields.find(({ key }) => key === name) ??
    fields.find(({ label }) => label.toLowerCase() === cell.toLowerCase())
  if (field) return `fields.${field.key}`
  return name === ERROR_COLUMN ? ERROR_COLUMN : ''
}

/** Issues the passes. @param round distinguishes a deliberate resubmission from a retry; empty for the first submission. */
export async function issueTable(
  visit: DashboardVisit,
  templateId: string,
  table: PassTable,
  round: string,
): Promise<BatchReport> {
  const outcomes: RowOutcome[] = []
  let stopped: string | undefined
  for (let at = 0; at < table.rows.length; at += MAX_BATCH) {
    const rows = table.rows.slice(at, at + MAX_BATCH)
    const given = rows.filter(({ cells }) => cells.length <= table.columns.length)
    const answer =
      stopped === undefined && given.length > 0 ? await issueRows(visit, templateId, table, given, round) : []
    if (typeof answer === 'string') stopped = answer
    for (const row of rows) {
      const result = typeof answer === 'string' ? undefined : answer[given.indexOf(row)]
      if (!given.includes(row)) outcomes.push({ row, fault: 'The row has more cells than the header.' })
      else if (result?.status === 'succeeded') outcomes.push({ row, passId: result.pass.id })
      else outcomes.push({ row, ...(result && { fault: faultOf(result.error, table) }) })
    }
  }
  return { outcomes, ...(stopped !== undefined && { stopped }) }
}

/** Returns the error of one row with the names of its columns, without the request ID. */
function faultOf({ message, details = [] }: ErrorBody, { header, columns }: PassTable): string {
  const nameOf = (path: string) => header[columns.indexOf(path.replace(/^holder\./, ''))] ?? path
  return details.length === 0
    ? message
    : `${details.map(({ field, issue }) => `${nameOf(field)} ${issue}`).join('; ')}.`
}

type BatchRowResult = components['schemas']['PassBatchResult']

/** Returns the results of the rows, or the error message if the request failed. */
async function issueRows(
  visit: DashboardVisit,
  templateId: string,
  { columns }: PassTable,
  rows: readonly CsvRow[],
  round: string,
): Promise<readonly BatchRowResult[] | string> {
  const passes = rows.map(({ cells }) =>
    bodyOf(templateId, new Map(columns.map((name, index) => [name, cells[index] ?? '']))),
  )
  const idempotencyKey = keyOf(JSON.stringify([round, rows.map(({ line }) => line), passes]))
  const answer = await visit.operate('createPassBatch', { body: { passes }, idempotencyKey })
  return answer.ok
    ? (answer.body as { readonly results: readonly BatchRowResult[] }).results
    : describe(answer.error)
}

function bodyOf(templateId: string, cells: ReadonlyMap<string, string>): object {
  const of = (name: string) => cells.get(name) ?? ''
  const fields = [...cells].flatMap(([name, value]) =>
    name.startsWith('fields.') ? [[name.slice(7), value]] : [],
  )
  return passBody(
    templateId,
    { name: of('name'), email: of('email') },
    Object.fromEntries(fields),
    of('expires_at'),
  )
}

/** Derives a UUID from the text (RFC 9562, version 8). */
function keyOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
