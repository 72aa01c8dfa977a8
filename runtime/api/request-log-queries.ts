import type { Database, Statement } from '../platform/database/database.ts'
import {
  ALL_ROWS,
  Bindings,
  type CreatedRange,
  type Page,
  type Records,
  readPage,
  type Walk,
} from '../platform/database/page.ts'
import { inSteps } from '../platform/database/steps.ts'
import { toTimestamp } from '../platform/database/types.ts'

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

export interface RequestFilter {
  readonly created: CreatedRange
  /** Of these only one is given: each has an index of its own. */
  readonly path?: string | undefined
  /** Any of them. */
  readonly statuses?: readonly string[] | undefined
  readonly keyId?: string | undefined
}

export async function listRequests(
  db: Database,
  space: string,
  { created, path, statuses, keyId }: RequestFilter,
  page: Page,
): Promise<Records<LoggedRequest>> {
  const walk: Walk =
    path !== undefined
      ? { columns: ['path'], keys: [[path]] }
      : keyId !== undefined
        ? { columns: ['key_id'], keys: [[keyId]] }
        : statuses
          ? { columns: ['status'], keys: statuses.map((status) => [status]) }
          : ALL_ROWS
  return readPage<LoggedRequest>(db, LISTED, new Bindings(space), [walk], created, page)
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

const SWEEP: Statement = {
  text: `DELETE FROM request_log
         WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM request_log WHERE written <= $1 ORDER BY written LIMIT $2 FOR UPDATE SKIP LOCKED))`,
  long: true,
  // A ctid is one in each shard, and no lock is over all of them: deletes up to the time when the oldest were written.
  steps: inSteps(
    undefined,
    `DELETE FROM request_log WHERE written <= (
       SELECT max(oldest.written) FROM (
         SELECT written FROM request_log WHERE written <= $1 ORDER BY written LIMIT $2) AS oldest)`,
  ),
}

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
