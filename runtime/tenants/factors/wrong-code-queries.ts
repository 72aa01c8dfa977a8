import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

/**
 * Statements that count wrong codes, on the control schema. Times are machine time in milliseconds. The column
 * `member_id` holds the sender: a member at sign-in, a session, a key or an authorization.
 */

const ADMIT: Statement = {
  text: `INSERT INTO control.wrong_codes AS w (tenant_id, member_id, recent) VALUES ($1, $2, ARRAY[$3::timestamptz])
         ON CONFLICT (tenant_id, member_id) DO UPDATE SET
           recent = ARRAY(SELECT at FROM unnest(w.recent) AS at WHERE at > $4) || $3::timestamptz
         WHERE (w.paused_until IS NULL OR w.paused_until <= $3)
           AND (SELECT count(*) FROM unnest(w.recent) AS at WHERE at > $4) < $5`,
}

/**
 * Counts a code as wrong before it is checked, so that concurrent attempts cannot exceed the limit.
 *
 * @param since codes at or before this time no longer count.
 * @param max number of codes allowed since then.
 * @returns false if the sender is paused.
 */
export async function admitCode(
  db: Database,
  tenantId: string,
  sender: string,
  { now, since, max }: { readonly now: number; readonly since: number; readonly max: number },
): Promise<boolean> {
  const values = [tenantId, sender, toTimestamp(now), toTimestamp(since), max]
  return (await db.query(ADMIT, values)).count === 1
}

const FORGET: Statement = { text: 'DELETE FROM control.wrong_codes WHERE tenant_id = $1 AND member_id = $2' }

/** Resets the count after a correct code. */
export function forgetWrongCodes(db: Database, tenantId: string, sender: string): Promise<unknown> {
  return db.query(FORGET, [tenantId, sender])
}

const TAKE_BACK: Statement = {
  text: `UPDATE control.wrong_codes SET recent = trim_array(recent, least(1, cardinality(recent)))
         WHERE tenant_id = $1 AND member_id = $2`,
}

/** Removes a code from the count, because it was not an attempt at the sender's own code. */
export function takeBackCode(db: Database, tenantId: string, sender: string): Promise<unknown> {
  return db.query(TAKE_BACK, [tenantId, sender])
}

// Reads the row in the locking subquery: the rest of the statement would see the row as it was before the wait for
// the lock.
const PAUSE: Statement = {
  text: `WITH locked AS MATERIALIZED (
           SELECT recent, pauses, paused_until FROM control.wrong_codes
           WHERE tenant_id = $1 AND member_id = $2 FOR UPDATE
         ), level AS (
           SELECT CASE WHEN paused_until > $3::timestamptz - $6 * interval '1 ms' THEN pauses ELSE 0 END AS pauses
           FROM locked WHERE cardinality(recent) >= $4 AND (paused_until IS NULL OR paused_until <= $3)
         )
         UPDATE control.wrong_codes w SET
           recent = '{}',
           pauses = level.pauses + 1,
           paused_until = $3::timestamptz + least($6, $5 * 2 ^ least(level.pauses, 30)) * interval '1 ms'
         FROM level WHERE w.tenant_id = $1 AND w.member_id = $2
         RETURNING w.paused_until`,
}

/**
 * Starts a pause if the sender had too many wrong codes. Each pause is twice as long as the previous one.
 *
 * @param firstMs length of the first pause.
 * @param longestMs length of the longest pause. After the same time without a pause, the next pause is a first one.
 * @returns end of the pause; undefined if none started.
 */
export async function beginPause(
  db: Database,
  tenantId: string,
  sender: string,
  limits: {
    readonly now: number
    readonly max: number
    readonly firstMs: number
    readonly longestMs: number
  },
): Promise<number | undefined> {
  const { now, max, firstMs, longestMs } = limits
  const values = [tenantId, sender, toTimestamp(now), max, firstMs, longestMs]
  return (await db.query<{ paused_until: number }>(PAUSE, values)).rows[0]?.paused_until
}

const SWEEP: Statement = {
  text: `DELETE FROM control.wrong_codes
         WHERE (paused_until IS NULL OR paused_until <= $1) AND NOT EXISTS (SELECT FROM unnest(recent) AS at WHERE at > $1)`,
}

/** Deletes expired counts of all tenants. */
export function sweepWrongCodes(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}
