/** Counts how often version changes altered requests of a tenant. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { type Counter, createCounter } from './counter.ts'

/** A request that version changes altered. */
export interface TouchedRequest {
  readonly space: string
  readonly version: string
  /** Whether the request named its version in the header. */
  readonly named: boolean
  readonly id: string
  readonly operation: string
  /** Changes, each as `2026-05-19/block-categories`. */
  readonly changes: Iterable<string>
  /** Service time, milliseconds since the epoch. */
  readonly at: number
}

interface TouchLine {
  readonly space: string
  readonly version: string
  readonly day: string
  readonly change: string
  requests: number
  named: number
  last_at: number
  last_request: string
  last_operation: string
}

/** Maximum number of lines, of all tenants together, between two flushes. */
export const MAX_LINES = 10_000

const DAY_MS = 86_400_000

/** Days of service time for which counts are kept, including today. */
export const TOUCHED_DAYS = 30

/** Returns the first of these days. @param now service time, milliseconds since the epoch. */
export const firstTouchedDay = (now: number): string => dayOf(now - (TOUCHED_DAYS - 1) * DAY_MS)

/** Returns a date in service time, such as `2026-05-19`. */
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

export type TouchCounter = Counter<TouchLine>

export const createTouchCounter = (most = MAX_LINES): TouchCounter => createCounter<TouchLine>(most)

export function countTouches(counter: TouchCounter, request: TouchedRequest): void {
  const { space, version, at, id, operation } = request
  const named = request.named ? 1 : 0
  const day = Math.floor(at / DAY_MS)
  for (const change of request.changes) {
    counter.count(
      `${space} ${version} ${day} ${change}`,
      () => ({
        space,
        version,
        day: dayOf(at),
        change,
        requests: 1,
        named,
        last_at: at,
        last_request: id,
        last_operation: operation,
      }),
      (line) => {
        line.requests += 1
        line.named += named
        if (at < line.last_at) return
        line.last_at = at
        line.last_request = id
        line.last_operation = operation
      },
    )
  }
}

// Rows are in a fixed order, to avoid deadlocks between nodes. A batch that was already added is skipped.
const ADD: Statement = {
  text: `WITH batch AS (
           INSERT INTO usage_batches (id, added) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id
         )
         INSERT INTO touched_changes AS t
                (tenant_id, version, day, change, requests, named, last_at, last_request, last_operation)
         SELECT line.space, line.version, line.day, line.change, line.requests, line.named, line.last_at,
                line.last_request, line.last_operation
           FROM batch, json_to_recordset($3) AS line (space text, version text, day date, change text, requests bigint,
                named bigint, last_at timestamptz, last_request text, last_operation text)
          ORDER BY line.space COLLATE "C", line.version COLLATE "C", line.day, line.change COLLATE "C"
         ON CONFLICT (tenant_id, version, day, change) DO UPDATE
            SET requests = t.requests + excluded.requests,
                named = t.named + excluded.named,
                last_request = CASE WHEN excluded.last_at >= t.last_at THEN excluded.last_request ELSE t.last_request END,
                last_operation = CASE WHEN excluded.last_at >= t.last_at THEN excluded.last_operation ELSE t.last_operation END,
                last_at = greatest(t.last_at, excluded.last_at)`,
}

/** Adds a batch to the table, once for each ID. @param now machine time, milliseconds since the epoch. */
export function addTouches(
  db: Database,
  id: string,
  lines: readonly TouchLine[],
  now: number,
): Promise<unknown> {
  const rows = lines.map((each) => ({ ...each, last_at: toTimestamp(each.last_at) }))
  return db.query(ADD, [id, toTimestamp(now), JSON.stringify(rows)])
}

/** Counts of the requests that a change altered since a day. */
export interface Touches {
  readonly change: string
  readonly requests: number
  /** Number of these requests that named their version. */
  readonly named: number
  /** Time of the last of these requests; service time, milliseconds since the epoch. */
  readonly last_at: number
  readonly last_request: string
  readonly last_operation: string
}

const READ: Statement = {
  text: `SELECT DISTINCT ON (change) change,
                (sum(requests) OVER same)::float8 AS requests, (sum(named) OVER same)::float8 AS named,
                last_at, last_request, last_operation
           FROM touched_changes
          WHERE tenant_id = $1 AND version = $2 AND day >= $3
         WINDOW same AS (PARTITION BY change)
          ORDER BY change, last_at DESC`,
}

/**
 * Reads the counts by change. @param version of the answers. @param since date in service time, such as `2026-05-19`.
 */
export async function readTouches(
  db: Database,
  space: string,
  version: string,
  since: string,
): Promise<readonly Touches[]> {
  return (await db.query<Touches>(READ, [space, version, since])).rows
}

const SWEEP: Statement = { text: 'DELETE FROM touched_changes WHERE day < $1' }

/** Deletes the counts before a date in service time. */
export function sweepTouches(db: Database, before: string): Promise<unknown> {
  return db.query(SWEEP, [before])
}
