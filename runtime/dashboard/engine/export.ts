/** Exports of lists as CSV and JSON files: all records that match the filters, read page by page through the API. */
import { setTimeout as wait } from 'node:timers/promises'
import { documents } from '../../../generated/documents.js'
import { current } from '../../../generated/versions.ts'
import { findOperation, type OperationId } from '../../api/operate.ts'
import { writeCell } from '../../money/reports/files.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { icon } from '../html/icons.ts'
import { type AskedFilters, filtersOf, queryOf, readFilters, writeQuery } from './filters.ts'
import { operatePatiently } from './patience.ts'
import type { DashboardRoute } from './routes.ts'
import type { ApiPage, DashboardResource, Identified } from './shapes.ts'
import { sendTexts } from './streaming.ts'
import { ApiRefused, type DashboardVisit, roleFor } from './visit.ts'

const FORMATS = ['csv', 'json'] as const
type ExportFormat = (typeof FORMATS)[number]

/** Members whose exports are running on this node. */
export type Exports = Set<string>

export interface ExportedList {
  /** Name of the file, without date and extension. */
  readonly name: string
  readonly operation: OperationId
  /** Path parameters of the operation. */
  readonly of?: Readonly<Record<string, string>> | undefined
  readonly query: Readonly<Record<string, string>>
}

/** Writes the links to the exports of a list with its filters. @param path of the list, below the environment. */
export function writeExports({ environment }: DashboardVisit, path: string, asked: AskedFilters): Html {
  const query = writeQuery(asked)
  return html`<details class="pops export"><summary>${icon('download')}Export</summary>
<ul>${FORMATS.map(
    (format) =>
      html`<li><a href="/${environment}/${path}/export.${format}${query}" download data-export="${format}">${format.toUpperCase()}</a></li>`,
  )}</ul></details>`
}

/** Returns the routes that export the lists. */
export function exportRoutes(
  resources: readonly DashboardResource<Identified>[],
  exports: Exports,
): DashboardRoute[] {
  return resources.flatMap(({ path, list, environment: only }) =>
    exportRoutesOf(path, list.operation, exports, (visit) => {
      const asked = readFilters(visit, filtersOf(list))
      return { name: path, operation: list.operation, query: queryOf(visit, asked) }
    }).filter(({ environment }) => environment === (only ?? environment)),
  )
}

/** Returns the routes that export one list in each environment and format. @param path of the list, below the environment. */
export function exportRoutesOf(
  path: string,
  operation: OperationId,
  exports: Exports,
  listOf: (visit: DashboardVisit, id: string) => ExportedList,
): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) =>
    FORMATS.map((format) => ({
      method: 'GET' as const,
      path: `/${environment}/${path}/export.${format}`,
      environment,
      needs: roleFor(operation),
      handle: (visit: DashboardVisit, id: string) => exportList(visit, exports, format, listOf(visit, id)),
    })),
  )
}

const TYPES = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' } as const

/** @throws `ApiRefused` 429 if an export of the member is running on this node, or with the API's error for the first page. */
async function exportList(
  visit: DashboardVisit,
  exports: Exports,
  format: ExportFormat,
  list: ExportedList,
): Promise<void> {
  const { response, member, environment, operator } = visit
  if (exports.has(member.memberId))
    throw new ApiRefused(
      429,
      'Another export of yours is running. Wait until it ends or cancel it in your browser.',
    )
  exports.add(member.memberId)
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  try {
    const first = await visit.read<ApiPage<object>>(list.operation, inputOf(list, null))
    const day = new Date(operator.clock.service(environment)).toISOString().slice(0, 10)
    response.status(200).set({
      'Cache-Control': 'no-store',
      'Content-Disposition': `attachment; filename="${list.name}-${environment}-${day}.${format}"`,
      'Content-Type': TYPES[format],
      'X-Content-Type-Options': 'nosniff',
    })
    const rows = readAll(visit, list, first, leaving.signal)
    const texts = format === 'csv' ? writeCsv(await columnsOf(list.operation), rows) : writeJson(rows)
    await sendTexts(response, texts)
  } finally {
    exports.delete(member.memberId)
  }
}

const inputOf = ({ of, query }: ExportedList, after: string | null) => ({
  ...(of && { path: of }),
  query: { ...query, limit: '100', ...(after !== null && { starting_after: after }) },
})

/** After some pages, an export reads at most 5 pages a second, so that it leaves most of the rate limit to the tenant's requests. */
const FAST_PAGES = 20
const PAUSE_MS = 200

async function* readAll(
  visit: DashboardVisit,
  list: ExportedList,
  first: ApiPage<object>,
  signal: AbortSignal,
): AsyncGenerator<readonly object[]> {
  let page = first
  for (let count = 1; ; count += 1) {
    yield page.data
    if (!page.has_more) return
    if (count >= FAST_PAGES) await wait(PAUSE_MS, undefined, { signal })
    if (!(await visit.isSignedIn()))
      throw new Error('an export ended early: the member is no longer signed in')
    const input = inputOf(list, page.next_cursor)
    const answer = await operatePatiently(visit, list.operation, input, signal)
    if (!answer.ok) throw new Error(`an export ended early: ${answer.error.message}`)
    page = answer.body as ApiPage<object>
  }
}

async function* writeJson(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let before = '[\n'
  for await (const rows of pages) {
    if (rows.length === 0) continue
    yield `${before}${rows.map((row) => JSON.stringify(row)).join(',\n')}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

async function* writeCsv(
  columns: readonly CsvColumn[],
  pages: AsyncIterable<readonly object[]>,
): AsyncGenerator<string> {
  yield `${columns.map((path) => writeCell(path.join('.'))).join(',')}\r\n`
  for await (const rows of pages)
    yield rows.map((row) => `${columns.map((path) => cellOf(row, path)).join(',')}\r\n`).join('')
}

/** Path of a member in the records. */
type CsvColumn = readonly string[]

/** Lists and maps are JSON. */
function cellOf(row: unknown, path: CsvColumn): string {
  const value = path.reduce<unknown>((at, name) => memberOf(at, name), row)
  if (value === null || value === undefined) return ''
  if (typeof value === 'string' || typeof value === 'number') return writeCell(value)
  return writeCell(JSON.stringify(value))
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** Returns the members of the records of a list operation, as the OpenAPI document defines them. */
async function columnsOf(operationId: OperationId): Promise<readonly CsvColumn[]> {
  const document = await documents[current]?.()
  const { path, method } = findOperation(operationId)
  const at = (value: unknown, ...names: readonly string[]) =>
    names.reduce<unknown>((found, name) => memberOf(resolve(document, found), name), value)
  const items = at(
    document,
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    '200',
    'content',
    'application/json',
    'schema',
    'properties',
    'data',
    'items',
  )
  const membersOf = (schema: unknown, above: CsvColumn): CsvColumn[] => {
    const found = resolve(document, schema)
    const properties = memberOf(found, 'properties')
    if (typeof properties !== 'object' || properties === null) return [above]
    return Object.entries(properties).flatMap(([name, each]) => membersOf(each, [...above, name]))
  }
  return membersOf(items, [])
}

/** Follows a reference, and leaves out `null` among alternatives. */
function resolve(document: unknown, schema: unknown): unknown {
  const reference = memberOf(schema, '$ref')
  if (typeof reference === 'string')
    return resolve(document, reference.slice(2).split('/').reduce(memberOf, document))
  const alternatives = memberOf(schema, 'oneOf')
  if (!Array.isArray(alternatives)) return schema
  const others = alternatives.filter((each) => memberOf(each, 'type') !== 'null')
  return others.length === 1 ? resolve(document, others[0]) : schema
}
