import type { Database, Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'
import type { Environment } from '../platform/environment.ts'

/** A row that is set aside, as it is stored. Times are machine time, in milliseconds since the epoch. */
export interface SetAsideRow {
  readonly environment: Environment
  /** The worker's name for its work. */
  readonly work: string
  readonly tenant_id: string
  readonly subject_id: string
  /** The message of the last failure. */
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

/** The rows of one worker and environment that are set aside. */
export async function readRows(
  control: Database,
  environment: Environment,
  work: string,
): Promise<readonly Pick<SetAsideRow, 'tenant_id' | 'subject_id' | 'retry_at'>[]> {
  return (await control.query<SetAsideRow>(READ, [environment, work])).rows
}

// A minute after the first failure, and twice the time after each further one, up to six hours.
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

/** Notes that the work for a row failed. @param now machine time. */
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

/** The work for a row was done. */
export async function forgetRow(control: Database, { environment, work, space, id }: RowName): Promise<void> {
  await control.query(FORGET, [environment, work, space, id])
}

/** A row whose attempt was due this long ago is not found by its worker any more: it was deleted, or its work was done. */
const FORGOTTEN_AFTER_MS = 3_600_000

const SWEEP: Statement = {
  name: 'set_aside_sweep',
  text: 'DELETE FROM control.set_aside_work WHERE retry_at < $1',
}

/** Deletes the rows that their workers do not find any more. @param now machine time. */
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

/** The number of rows that are set aside, by environment and work. */
export async function countSetAside(control: Database): Promise<readonly SetAsideCount[]> {
  return (await control.query<SetAsideCount>(COUNT)).rows
}
