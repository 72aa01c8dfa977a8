/** Issues the passes of a table in batches of 100. If the same table is submitted again, no pass is issued twice. */
import { createHash } from 'node:crypto'
import type { components } from '../../../../generated/canonical/types.ts'
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { describe } from '../../engine/form-page.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import type { TemplateObject } from '../templates/draft.ts'
import { type CsvRow, parseCsv } from './csv.ts'
import { passBody } from './issue.ts'

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

const HOLDER = ['name', 'email']

/** Parses the table. Returns an error message if it is not a valid table of passes for the template. */
export function readTable(text: string, { fields }: TemplateObject): PassTable | string {
  const parsed = parseCsv(text)
  if (typeof parsed === 'string') return parsed
  const [header, ...rows] = parsed
  if (!header || rows.length === 0) return 'The table must contain a header line and at least one pass.'
  if (rows.length > MAX_ROWS)
    return `The table contains ${rows.length} passes. The maximum is ${MAX_ROWS}. Split the table into several files.`
  const names = header.cells.map((cell) => cell.toLowerCase().replace(/^(?:holder|fields)[._]/, ''))
  const keys = fields.map(({ key }) => key)
  const columns = names.map((name, index) => {
    const isField = /^fields\./i.test(header.cells[index]!)
    if (!isField && (HOLDER.includes(name) || name === 'expires_at')) return name
    return keys.includes(name) ? `fields.${name}` : ''
  })
  const unknown = header.cells.filter((_, index) => columns[index] === '')
  if (unknown.length > 0)
    return `Unknown ${unknown.length === 1 ? 'column' : 'columns'}: ${unknown.join(', ')}. Valid columns: ${[...HOLDER, 'expires_at', ...keys].join(', ')}.`
  const twice = header.cells.find((_, index) => columns.indexOf(columns[index]!) < index)
  if (twice !== undefined) return `The column ${twice} occurs more than once.`
  return { header: header.cells, rows, columns }
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
      else outcomes.push({ row, ...(result && { fault: faultOf(result.error) }) })
    }
  }
  return { outcomes, ...(stopped !== undefined && { stopped }) }
}

/** Returns the error of one row, without the request ID. */
function faultOf({ message, details = [] }: ErrorBody): string {
  return details.length === 0
    ? message
    : `${details.map(({ field, issue }) => `${field} ${issue}`).join('; ')}.`
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
