import { STATUS_CODES } from 'node:http'
import type { Database, Statement } from '../database/database.ts'
import {
  ALL_ROWS,
  BoundValues,
  type CreatedRange,
  type IndexWalk,
  type Records,
  type RequestedPage,
  readPage,
} from '../database/page.ts'
import { sweepOldest } from '../database/sweep.ts'
import { toTimestamp } from '../database/types.ts'

/** A request as the log shows it. Instants in milliseconds since the epoch. */
export interface LoggedRequest {
  readonly id: string
  /** Service time at which it came. */
  readonly created: number
  readonly method: string
  /** Undecoded, with its query. */
  readonly target: string
  /** Of the target. */
  readonly path: string
  readonly operation: string | null
  readonly version: string
  readonly status: string
  /** Of the error that it was answered with. */
  readonly code: string | null
  readonly key_id: string
  readonly address: string
  readonly ms: number
}

export interface WholeRequest extends LoggedRequest {
  readonly request_body: string | null
  readonly response_body: string | null
}

export interface RequestToLog extends WholeRequest {
  /** Where its tenant has its data. */
  readonly space: string
}

const COLUMNS =
  'id, created, method, target, path, operation, version, status, code, key_id, address, ms, request_body, response_body'

// The same request is never written twice: a batch that may have arrived goes again.
const ADD: Statement = {
  name: 'requests_add',
  text: `INSERT INTO request_log (tenant_id, written, ${COLUMNS})
         SELECT line.space, $1, ${COLUMNS.split(', ')
           .map((column) => `line.${column}`)
           .join(', ')}
           FROM json_to_recordset($2) AS line (space text, id text, created timestamptz, method text, target text, path text,
                operation text, version text, status text, code text, key_id text, address text, ms real,
                request_body text, response_body text)
         ON CONFLICT (tenant_id, id) DO NOTHING`,
}

/** Writes requests of any tenants. @param now machine time. */
export function addRequests(db: Database, requests: readonly RequestToLog[], now: number): Promise<unknown> {
  const rows = requests.map((each) => ({ ...each, created: toTimestamp(each.created) }))
  return db.query(ADD, [toTimestamp(now), JSON.stringify(rows)])
}

const LISTED = {
  table: 'request_log',
  alias: 'r',
  columns:
    'r.id, r.created, r.method, r.target, r.path, r.operation, r.version, r.status, r.code, r.key_id, r.address, r.ms',
}

/** What requests to look for: each list holds alternatives, and a request must match every list that is given. */
export interface RequestFilter {
  readonly created: CreatedRange
  readonly ids?: readonly string[] | undefined
  readonly paths?: readonly string[] | undefined
  readonly statuses?: readonly string[] | undefined
  readonly keyIds?: readonly string[] | undefined
  readonly operations?: readonly string[] | undefined
  readonly methods?: readonly string[] | undefined
}

const STATUSES = Object.keys(STATUS_CODES).filter((status) => status >= '200')

/** The statuses that a status such as `404`, or a class such as `4xx`, means; none for any other text. */
export function statusesOf(text: string): readonly string[] {
  return STATUSES.filter((each) => each === text || `${each[0]}xx` === text)
}

export interface FoundRequests extends Records<LoggedRequest> {
  /** The last one that was looked at, from which a further page goes on: of several filters some may not have fitted. */
  readonly last?: Pick<LoggedRequest, 'id' | 'created'> | undefined
}

type FilteredColumn = 'id' | 'status' | 'path' | 'key_id' | 'operation' | 'method'

/** A column and the values of which it must have one. */
type ColumnFilter = readonly [column: FilteredColumn, values: readonly string[]]

/** Columns of which the table has an index. */
const INDEXED: ReadonlySet<FilteredColumn> = new Set(['id', 'status', 'path', 'key_id'])

/** The filters that were given, first the one that probably leaves the fewest requests, last those without an index. */
function filtersOf({ ids, statuses, paths, keyIds, operations, methods }: RequestFilter): ColumnFilter[] {
  // Most requests succeed.
  const isRare = statuses?.every((status) => status >= '300')
  const filters: readonly (readonly [FilteredColumn, readonly string[] | undefined])[] = [
    ['id', ids],
    ...(isRare ? [['status', statuses] as const] : []),
    ['path', paths],
    ['key_id', keyIds],
    ...(isRare ? [] : [['status', statuses] as const]),
    ['operation', operations],
    ['method', methods],
  ]
  return filters.filter((filter): filter is ColumnFilter => filter[1] !== undefined)
}

/** The index to go along, and the filters that are left to check in each of its requests. */
function planOf(filter: RequestFilter): { walk: IndexWalk; others: readonly ColumnFilter[] } {
  const filters = filtersOf(filter)
  const [first, ...others] = filters
  if (!first || !INDEXED.has(first[0])) return { walk: ALL_ROWS, others: filters }
  const [column, values] = first
  return { walk: { columns: [column], keys: values.map((value) => [value]) }, others }
}

/** How many requests one page looks at when it has to check some filters without an index. */
export const MAX_LOOKED = 5000

/** Looked at with one statement: first a few, because often they are enough. */
const FEW = 200
const MANY = 1000

/**
 * A page of the log. With one filter that has an index, the page is read from it. Otherwise this goes along the index of the
 * first filter, or of time, and checks the other filters in at most `most` requests: such a page may have fewer requests than
 * its limit although others follow.
 */
export async function listRequests(
  db: Database,
  space: string,
  filter: RequestFilter,
  page: RequestedPage,
  most = MAX_LOOKED,
): Promise<FoundRequests> {
  const { walk, others } = planOf(filter)
  const read = (part: RequestedPage) =>
    readPage<LoggedRequest>(db, LISTED, new BoundValues(space), [walk], filter.created, part)
  const endOf = (rows: readonly LoggedRequest[]) => (page.backward ? rows[0] : rows.at(-1))
  if (others.length === 0) {
    const found = await read(page)
    return { ...found, last: endOf(found.rows) }
  }
  let found: readonly LoggedRequest[] = []
  let { boundary } = page
  let last: FoundRequests['last']
  for (let looked = 0, step = FEW; looked < most; looked += step, step = MANY) {
    const limit = Math.min(step, most - looked)
    const { rows, hasMore } = await read({ ...page, limit, ...(boundary && { boundary }) })
    const fitting = rows.filter((request) =>
      others.every(([column, values]) => values.includes(request[column] ?? '')),
    )
    found = page.backward ? [...fitting, ...found] : [...found, ...fitting]
    if (found.length > page.limit) {
      const rowsOfPage = page.backward ? found.slice(-page.limit) : found.slice(0, page.limit)
      return { rows: rowsOfPage, hasMore: true, last: endOf(rowsOfPage) }
    }
    last = endOf(rows)
    if (!hasMore || !last) return { rows: found, hasMore: false, last }
    boundary = { created: last.created, id: last.id, side: page.backward ? 'before' : 'after' }
  }
  return { rows: found, hasMore: true, last }
}

const READ: Statement = {
  name: 'requests_read',
  text: `SELECT ${COLUMNS} FROM request_log WHERE tenant_id = $1 AND id = $2`,
}

export async function readRequest(
  db: Database,
  space: string,
  id: string,
): Promise<WholeRequest | undefined> {
  return (await db.query<WholeRequest>(READ, [space, id])).rows[0]
}

/** A read that was made, by its target. */
export interface LoggedRead {
  /** With its query, as sent; cut where it is long. */
  readonly target: string
  readonly operation: string
  /** How often, of the requests that were looked at. */
  readonly requests: number
}

const LAST_READS: Statement = {
  text: `SELECT r.target, min(r.operation) AS operation, count(*)::integer AS requests
           FROM (SELECT target, method, operation, created FROM request_log
                  WHERE tenant_id = $1 ORDER BY created DESC, id DESC LIMIT $2) AS r
          WHERE r.method = 'GET' AND r.operation IS NOT NULL
          GROUP BY r.target ORDER BY max(r.created) DESC, r.target`,
}

/** Distinct reads among the last requests, the last first. @param most so many requests are looked at. */
export async function listLastReads(
  db: Database,
  space: string,
  most: number,
): Promise<readonly LoggedRead[]> {
  return (await db.query<LoggedRead>(LAST_READS, [space, most])).rows
}

const SWEEP = sweepOldest('request_log', 'written')

/** Deletes some of what was written by then; gives how many. @param writtenBy machine time. */
export async function sweepRequests(db: Database, writtenBy: number, limit: number): Promise<number> {
  return (await db.query(SWEEP, [toTimestamp(writtenBy), limit])).count
}

/** Requests of an hour, of those that were looked at. */
export interface RequestHour {
  /** Its beginning. */
  readonly hour: number
  readonly requests: number
  /** Answered with 4xx, and with 5xx. */
  readonly refused: number
  readonly failed: number
  /** Of the time that answers took, in milliseconds. */
  readonly p95: number
}

const BY_HOUR: Statement = {
  text: `SELECT date_trunc('hour', r.created) AS hour, count(*)::integer AS requests,
                count(*) FILTER (WHERE r.status LIKE '4%')::integer AS refused,
                count(*) FILTER (WHERE r.status LIKE '5%')::integer AS failed,
                percentile_disc(0.95) WITHIN GROUP (ORDER BY r.ms)::float8 AS p95
           FROM (SELECT created, status, ms FROM request_log
                  WHERE tenant_id = $1 AND created >= $2 ORDER BY created DESC, id DESC LIMIT $3) AS r
          GROUP BY 1 ORDER BY 1`,
}

/** The last requests since an instant, by hour. @param most so many are looked at. */
export async function countRequestsByHour(
  db: Database,
  tenantId: string,
  since: number,
  most: number,
): Promise<readonly RequestHour[]> {
  return (await db.query<RequestHour>(BY_HOUR, [tenantId, toTimestamp(since), most])).rows
}
