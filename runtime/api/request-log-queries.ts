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

/** A request in the request log. Instants are in milliseconds since the epoch. */
export interface LoggedRequest {
  readonly id: string
  /** Service time of arrival. */
  readonly created: number
  readonly method: string
  /** Path and query, undecoded. */
  readonly target: string
  readonly path: string
  readonly operation: string | null
  readonly version: string
  readonly status: string
  readonly code: string | null
  readonly key_id: string
  readonly address: string
  readonly ms: number
}

export interface WholeRequest extends LoggedRequest {
  readonly request_body: string | null
  readonly response_body: string | null
  /** Null if the trace was not recorded. */
  readonly trace_id: string | null
}

export interface RequestToLog extends WholeRequest {
  readonly space: string
}

const COLUMNS =
  'id, created, method, target, path, operation, version, status, code, key_id, address, ms, request_body, response_body, trace_id'

// A batch whose result is unknown is sent again, so rows that already exist are skipped.
const ADD: Statement = {
  name: 'requests_add',
  text: `INSERT INTO request_log (tenant_id, written, ${COLUMNS})
         SELECT line.space, $1, ${COLUMNS.split(', ')
           .map((column) => `line.${column}`)
           .join(', ')}
           FROM json_to_recordset($2) AS line (space text, id text, created timestamptz, method text, target text, path text,
                operation text, version text, status text, code text, key_id text, address text, ms real,
                request_body text, response_body text, trace_id text)
         ON CONFLICT (tenant_id, id) DO NOTHING`,
}

/** Writes requests of several tenants. @param now machine time. */
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

/** A filter for requests. Each list holds alternatives, and a request must match every list that is present. */
export interface RequestFilter {
  readonly created: CreatedRange
  readonly ids?: readonly string[] | undefined
  readonly paths?: readonly string[] | undefined
  readonly statuses?: readonly string[] | undefined
  readonly keyIds?: readonly string[] | undefined
  readonly operations?: readonly string[] | undefined
  readonly methods?: readonly string[] | undefined
  /** Error codes. */
  readonly codes?: readonly string[] | undefined
}

const STATUSES = Object.keys(STATUS_CODES).filter((status) => status >= '200')

/** Returns the statuses that `404` or a class such as `4xx` includes; an empty list for any other text. */
export function statusesOf(text: string): readonly string[] {
  return STATUSES.filter((each) => each === text || `${each[0]}xx` === text)
}

export interface FoundRequests extends Records<LoggedRequest> {
  /** The last request that was examined, from which the next page continues. It may not match all filters. */
  readonly last?: Pick<LoggedRequest, 'id' | 'created'> | undefined
}

type FilteredColumn = 'id' | 'status' | 'path' | 'key_id' | 'operation' | 'method' | 'code'

type ColumnFilter = readonly [column: FilteredColumn, values: readonly string[]]

const INDEXED: ReadonlySet<FilteredColumn> = new Set(['id', 'status', 'path', 'key_id'])

/** Returns the filters that are present. */
function filtersOf({
  ids,
  statuses,
  paths,
  keyIds,
  operations,
  methods,
  codes,
}: RequestFilter): ColumnFilter[] {
  const filters: readonly (readonly [FilteredColumn, readonly string[] | undefined])[] = [
    ['id', ids],
    ['path', paths],
    ['key_id', keyIds],
    ['status', statuses],
    ['operation', operations],
    ['method', methods],
    ['code', codes],
  ]
  return filters.filter((filter): filter is ColumnFilter => filter[1] !== undefined)
}

/** A scan of the index of one filter, and the filters that each row must be checked against. */
interface RequestScan {
  readonly walk: IndexWalk
  readonly others: readonly ColumnFilter[]
}

/** Returns a scan for each filter that has an index. Identifiers leave the fewest requests, so no other filter is considered. */
function scansOf(filter: RequestFilter): RequestScan[] {
  const filters = filtersOf(filter)
  const indexed = filters.filter(([column]) => INDEXED.has(column))
  if (indexed.length === 0) return [{ walk: ALL_ROWS, others: filters }]
  const scans = indexed.map((each) => ({
    walk: { columns: [each[0]], keys: each[1].map((value) => [value]) },
    others: filters.filter((other) => other !== each),
  }))
  return filter.ids ? scans.slice(0, 1) : scans
}

/** Maximum number of rows that one page examines if filters must be checked without an index. */
export const MAX_LOOKED = 5000

/** Rows of the first statement, which are often enough, and of each further one. */
const FEW = 200
const MANY = 1000

/**
 * Reads a page of the log. A single filter with an index is read from that index. Otherwise this scans the index of one
 * filter, or of time, and checks the other filters in at most `most` rows. Such a page may have fewer requests than its
 * limit, even if more follow.
 *
 * If several filters have an index, the rarest one is scanned. A few rows of each index show which one that is: the one
 * whose rows end, or reach furthest in time.
 */
export async function listRequests(
  db: Database,
  space: string,
  filter: RequestFilter,
  page: RequestedPage,
  most = MAX_LOOKED,
): Promise<FoundRequests> {
  const read = ({ walk }: RequestScan, part: RequestedPage) =>
    readPage<LoggedRequest>(db, LISTED, new BoundValues(space), [walk], filter.created, part)
  const endOf = (rows: readonly LoggedRequest[]) => (page.backward ? rows[0] : rows.at(-1))
  const scans = scansOf(filter)
  const [only] = scans
  if (only && scans.length === 1 && only.others.length === 0) {
    const found = await read(only, page)
    return { ...found, last: endOf(found.rows) }
  }
  const few = Math.min(FEW, most)
  const begun = await Promise.all(
    scans.map(async (scan) => ({ scan, ...(await read(scan, { ...page, limit: few })) })),
  )
  const isAscending = (page.order === 'asc') !== page.backward
  const reachOf = ({ rows, hasMore }: Records<LoggedRequest>) => {
    const end = endOf(rows)
    return hasMore && end ? end.created * (isAscending ? 1 : -1) : Number.POSITIVE_INFINITY
  }
  const rarest = begun.reduce((one, other) => (reachOf(other) > reachOf(one) ? other : one))
  const { scan } = rarest
  let { rows, hasMore } = rarest
  let found: readonly LoggedRequest[] = []
  for (let looked = few; ; ) {
    const fitting = rows.filter((request) =>
      scan.others.every(([column, values]) => values.includes(request[column] ?? '')),
    )
    found = page.backward ? [...fitting, ...found] : [...found, ...fitting]
    if (found.length > page.limit) {
      const rowsOfPage = page.backward ? found.slice(-page.limit) : found.slice(0, page.limit)
      return { rows: rowsOfPage, hasMore: true, last: endOf(rowsOfPage) }
    }
    const last = endOf(rows)
    if (!hasMore || !last || looked >= most) return { rows: found, hasMore, last }
    const limit = Math.min(MANY, most - looked)
    const boundary = { created: last.created, id: last.id, side: page.backward ? 'before' : 'after' } as const
    ;({ rows, hasMore } = await read(scan, { ...page, limit, boundary }))
    looked += limit
  }
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

/** Requests with the same method, target and body. */
export interface RepeatedRequest {
  readonly method: string
  /** Path and query as sent, truncated to 500 characters. */
  readonly target: string
  readonly request_body: string | null
  /** Number of these requests among those examined. */
  readonly requests: number
}

const LAST_DISTINCT: Statement = {
  text: `SELECT r.method, r.target, r.request_body, count(*)::integer AS requests
           FROM (SELECT method, target, request_body, operation, version, created FROM request_log
                  WHERE tenant_id = $1 ORDER BY created DESC, id DESC LIMIT $2) AS r
          WHERE r.operation IS NOT NULL AND r.version = $3
          GROUP BY r.method, r.target, r.request_body ORDER BY max(r.created) DESC, r.method, r.target`,
}

/**
 * Returns the distinct requests in a version among the latest requests, latest first. @param most maximum number of requests
 * examined.
 */
export async function listLastDistinct(
  db: Database,
  space: string,
  most: number,
  version: string,
): Promise<readonly RepeatedRequest[]> {
  return (await db.query<RepeatedRequest>(LAST_DISTINCT, [space, most, version])).rows
}

const SWEEP = sweepOldest('request_log', 'written')

/** Deletes up to about `limit` requests written at or before `writtenBy` (machine time). Returns the number. */
export async function sweepRequests(db: Database, writtenBy: number, limit: number): Promise<number> {
  return (await db.query(SWEEP, [toTimestamp(writtenBy), limit])).count
}

/** Counts of requests within one hour. */
export interface RequestHour {
  /** Start of the hour, milliseconds since the epoch. */
  readonly hour: number
  readonly requests: number
  /** Requests answered with 4xx (`refused`) and 5xx (`failed`). */
  readonly refused: number
  readonly failed: number
  /** 95th percentile of the response time, in milliseconds. */
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

/** Counts the latest requests since an instant, by hour. @param most maximum number of requests that are read. */
export async function countRequestsByHour(
  db: Database,
  tenantId: string,
  since: number,
  most: number,
): Promise<readonly RequestHour[]> {
  return (await db.query<RequestHour>(BY_HOUR, [tenantId, toTimestamp(since), most])).rows
}
