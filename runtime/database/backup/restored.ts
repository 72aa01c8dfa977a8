/**
 * Knows whether the database was restored, or promoted from a standby: then the server follows a different timeline
 * (PostgreSQL documentation, section 25.3.6), and recent transactions may be lost. Payouts wait until an operator has
 * reconciled the database with the chain and the bank. `control.restores` has a row for each timeline that was reconciled,
 * so an unknown timeline holds payouts also if it was restored by a different tool.
 */
import type pg from 'pg'
import type { Database, Statement } from '../database.ts'

const TIMELINE = `('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer`

/**
 * Records that the database of this connection was restored. Returns its timeline.
 * @param restoredTo machine time of the last restored change.
 */
export async function recordRestore(client: pg.Client, restoredTo: number): Promise<number> {
  const { rows } = await client.query<{ timeline: number }>(RECORD, [new Date(restoredTo)])
  return rows[0]!.timeline
}

const RECORD = `
  INSERT INTO control.restores AS r (timeline, restored_to, restored_at) VALUES (${TIMELINE}, $1, clock_timestamp())
  ON CONFLICT (timeline) DO UPDATE
     SET restored_to = excluded.restored_to, restored_at = excluded.restored_at, reconciled_at = NULL
  RETURNING timeline`

/** The timeline that a database follows, and what is known about it. Times are machine time. */
export interface CurrentTimeline {
  readonly timeline: number
  /** Null if a different tool restored the database, or a standby was promoted. */
  readonly restored_to: number | null
  readonly restored_at: number | null
  /** Null until the database was reconciled. */
  readonly reconciled_at: number | null
}

/** SQL for the current timeline, also for connections without a pool. */
export const CURRENT_TIMELINE = `
  SELECT t.timeline, r.restored_to, r.restored_at, r.reconciled_at
    FROM (SELECT ${TIMELINE} AS timeline) AS t LEFT JOIN control.restores r USING (timeline)`

const CURRENT: Statement = { text: CURRENT_TIMELINE }

/** Reads the timeline that the database follows. */
export async function readTimeline(control: Database): Promise<CurrentTimeline> {
  return (await control.query<CurrentTimeline>(CURRENT)).rows[0]!
}

/** Returns whether payouts wait, because the database was restored and not reconciled yet. */
export async function arePayoutsHeld(control: Database): Promise<boolean> {
  return (await readTimeline(control)).reconciled_at === null
}

const RECONCILED: Statement = {
  text: `INSERT INTO control.restores AS r (timeline, reconciled_at) VALUES (${TIMELINE}, clock_timestamp())
         ON CONFLICT (timeline) DO UPDATE SET reconciled_at = excluded.reconciled_at`,
}

/** Records that the database was reconciled, which lets payouts continue. */
export async function recordReconciled(control: Database): Promise<void> {
  await control.query(RECONCILED)
}
