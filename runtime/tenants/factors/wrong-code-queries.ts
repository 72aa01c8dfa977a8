import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

/**
 * Statements that count wrong codes, on the control schema. Times are machine time in milliseconds. The column `member_id`
 * names the sender: a member at sign-in, a session, a key or an authorization.
 */

const ADMIT: Statement = {
  text: `INSERT INTO control.wrong_codes AS w (tenant_id, member_id, recent) VALUES ($1, $2, ARRAY[$3::timestamptz])
         ON CONFLICT (tenant_id, member_id) DO UPDATE SET
           recent = ARRAY(SELECT at FROM unnest(w.recent) AS at WHERE at > $4) || $3::timestamptz
         WHERE (w.paused_until IS NULL OR w.paused_until <= $3)
           AND (SELECT count(*) FROM unnest(w.recent) AS at WHERE at > $4) < $5`,
}

/**
 * Counts a code as wrong before it is looked at, so that codes tried at once cannot outrun the count.
 *
 * @param since codes from then and before do not count any more. @param max codes that may be tried in that time.
 * @returns false where the sender is paused.
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

/** The code was right: the wrong ones before it are forgotten. */
export function forgetWrongCodes(db: Database, tenantId: string, sender: string): Promise<unknown> {
  return db.query(FORGET, [tenantId, sender])
}

const TAKE_BACK: Statement = {
  text: `UPDATE control.wrong_codes SET recent = trim_array(recent, least(1, cardinality(recent)))
         WHERE tenant_id = $1 AND member_id = $2`,
}

/** The code was not a try at the sender's own: it is not counted. */
export function takeBackCode(db: Database, tenantId: string, sender: string): Promise<unknown> {
  return db.query(TAKE_BACK, [tenantId, sender])
}

// Read where it is locked: the rest of the statement still sees the row as it was before it waited for the lock.
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
 * Begins a pause where the sender's wrong codes have become too many, twice as long as the one before.
 *
 * @param firstMs how long the first pause takes. @param longestMs the longest; after as long without one, the next is a first.
 * @returns when the pause ends; undefined where none has begun.
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

/** Deletes what counts for nothing any more, of all tenants. */
export function sweepWrongCodes(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}
