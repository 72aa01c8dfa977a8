import type { Database, Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'
import type { Environment } from '../platform/environment.ts'

/** A stored row that was set aside. Times are machine time, in milliseconds since the epoch. */
export interface SetAsideRow {
  readonly environment: Environment
  /** Name of the work, as the worker declares it. */
  readonly work: string
  readonly tenant_id: string
  readonly subject_id: string
  /** Message of the last failure. */
  readonly reason: string
  readonly tries: number
  readonly since: number
  readonly failed_at: number
  readonly retry_at: number
}

interface RowName {
  readonly environment: Environment
  readonly work: string
  readonly space: string
  readonly id: string
}

const READ: Statement = {
  name: 'set_aside_read',
  text: `SELECT tenant_id, subject_id, retry_at FROM control.set_aside_work WHERE environment = $1 AND work = $2`,
}

/** Reads the rows set aside for one worker and environment. */
export async function readRows(
  control: Database,
  environment: Environment,
  work: string,
): Promise<readonly Pick<SetAsideRow, 'tenant_id' | 'subject_id' | 'retry_at'>[]> {
  return (await control.query<SetAsideRow>(READ, [environment, work])).rows
}

// The next attempt follows a minute after the first failure. The delay doubles with each further failure, up to six
// hours.
const NOTE: Statement = {
  name: 'set_aside_note',
  text: `INSERT INTO control.set_aside_work AS s
                (environment, work, tenant_id, subject_id, reason, tries, since, failed_at, retry_at)
         VALUES ($1, $2, $3, $4, $5, 1, $6, $6, $6::timestamptz + interval '1 minute')
         ON CONFLICT (environment, work, tenant_id, subject_id)
         DO UPDATE SET reason = excluded.reason, tries = s.tries + 1, failed_at = excluded.failed_at,
                       retry_at = excluded.failed_at + least(interval '6 hours', interval '1 minute' * 2 ^ least(s.tries, 10))
         RETURNING tries, retry_at`,
}

/** Records that the work for a row failed. @param now machine time. */
export async function noteRow(
  control: Database,
  { environment, work, space, id, reason }: RowName & Pick<SetAsideRow, 'reason'>,
  now: number,
): Promise<Pick<SetAsideRow, 'tries' | 'retry_at'>> {
  const values = [environment, work, space, id, reason, toTimestamp(now)]
  return (await control.query<SetAsideRow>(NOTE, values)).rows[0]!
}

const FORGET: Statement = {
  name: 'set_aside_forget',
  text: `DELETE FROM control.set_aside_work WHERE environment = $1 AND work = $2 AND tenant_id = $3 AND subject_id = $4`,
}

/** Removes a row after its work has succeeded. */
export async function forgetRow(control: Database, { environment, work, space, id }: RowName): Promise<void> {
  await control.query(FORGET, [environment, work, space, id])
}

/**
 * If an attempt has been due for this long, the worker no longer finds the row: it was deleted, or its work is done.
 */
const FORGOTTEN_AFTER_MS = 3_600_000

const SWEEP: Statement = {
  name: 'set_aside_sweep',
  text: 'DELETE FROM control.set_aside_work WHERE retry_at < $1',
}

/** Deletes rows that their workers no longer find. @param now machine time. */
export async function sweepSetAside(control: Database, now: number): Promise<void> {
  await control.query(SWEEP, [toTimestamp(now - FORGOTTEN_AFTER_MS)])
}

const COUNT: Statement = {
  name: 'set_aside_count',
  text: 'SELECT environment, work, count(*)::integer AS rows FROM control.set_aside_work GROUP BY environment, work',
}

export interface SetAsideCount extends Pick<SetAsideRow, 'environment' | 'work'> {
  readonly rows: number
}

/** Counts the rows set aside, by environment and work. */
export async function countSetAside(control: Database): Promise<readonly SetAsideCount[]> {
  return (await control.query<SetAsideCount>(COUNT)).rows
}
