/** Passes of a table, issued a hundred at a time: the same table sent again goes on where it stopped, and issues none twice. */
import { createHash } from 'node:crypto'
import type { components } from '../../../../generated/canonical/types.ts'
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { describe } from '../../engine/form-page.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import type { TemplateObject } from '../templates/draft.ts'
import { type CsvRow, parseCsv } from './csv.ts'
import { passBody } from './issue.ts'

export const MAX_ROWS = 1000
/** As the document says of a batch. */
const MAX_BATCH = 100

/** Passes to be issued. */
export interface PassTable {
  readonly header: readonly string[]
  readonly rows: readonly CsvRow[]
  /** What each column fills. */
  readonly columns: readonly string[]
}

/** What became of a row: the pass, what is wrong with it, or neither: it was not asked for, or nobody knows. */
export interface RowOutcome {
  readonly row: CsvRow
  readonly passId?: string
  readonly fault?: string
}

export interface BatchReport {
  readonly outcomes: readonly RowOutcome[]
  /** Why it stopped before the end. */
  readonly stopped?: string
}

const HOLDER = ['name', 'email']

/** @returns a sentence where the text is no table of passes of the template. */
export function readTable(text: string, { fields }: TemplateObject): PassTable | string {
  const parsed = parseCsv(text)
  if (typeof parsed === 'string') return parsed
  const [header, ...rows] = parsed
  if (!header || rows.length === 0)
    return 'The table needs a line that names its columns, and a line for each pass.'
  if (rows.length > MAX_ROWS)
    return `The table has ${rows.length} passes; ${MAX_ROWS} go at once. Cut it into parts.`
  const names = header.cells.map((cell) => cell.toLowerCase().replace(/^(?:holder|fields)[._]/, ''))
  const keys = fields.map(({ key }) => key)
  const columns = names.map((name, index) => {
    const isField = /^fields\./i.test(header.cells[index]!)
    if (!isField && (HOLDER.includes(name) || name === 'expires_at')) return name
    return keys.includes(name) ? `fields.${name}` : ''
  })
  const unknown = header.cells.filter((_, index) => columns[index] === '')
  if (unknown.length > 0)
    return `There is no column ${unknown.map((each) => `“${each}”`).join(', ')} here. There are: ${[...HOLDER, 'expires_at', ...keys].join(', ')}.`
  const twice = header.cells.find((_, index) => columns.indexOf(columns[index]!) < index)
  if (twice !== undefined) return `The column “${twice}” stands there twice.`
  return { header: header.cells, rows, columns }
}

/** @param round tells apart what is sent anew on purpose; empty for what is sent first. */
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
      if (!given.includes(row)) outcomes.push({ row, fault: 'It has more cells than there are columns.' })
      else if (result?.status === 'succeeded') outcomes.push({ row, passId: result.pass.id })
      else outcomes.push({ row, ...(result && { fault: faultOf(result.error) }) })
    }
  }
  return { outcomes, ...(stopped !== undefined && { stopped }) }
}

/** Of one row: no more than what is wrong with it. */
function faultOf({ message, details = [] }: ErrorBody): string {
  return details.length === 0
    ? message
    : `${details.map(({ field, issue }) => `${field} ${issue}`).join('; ')}.`
}

type BatchRowResult = components['schemas']['PassBatchResult']

/** @returns why none of them was asked for, or what is not known of them. */
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

/** A UUID that follows from the text (RFC 9562, version 8). */
function keyOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
