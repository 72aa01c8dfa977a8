import type { Database, Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'

/**
 * Statements that count wrong codes of members, on the control schema. Times are machine time in milliseconds. All lock
 * the members' rows in the order of their ids, so that no two of them wait for each other.
 */

const ADMIT: Statement = {
  text: `INSERT INTO control.wrong_codes AS w (tenant_id, member_id, recent)
         SELECT $1, member_id, ARRAY[$3::timestamptz] FROM unnest($2::text[]) AS member_id ORDER BY member_id
         ON CONFLICT (tenant_id, member_id) DO UPDATE SET
           recent = ARRAY(SELECT at FROM unnest(w.recent) AS at WHERE at > $4) || $3::timestamptz
         WHERE (w.paused_until IS NULL OR w.paused_until <= $3)
           AND (SELECT count(*) FROM unnest(w.recent) AS at WHERE at > $4) < $5
         RETURNING member_id`,
}

/**
 * Counts a code as wrong before it is looked at, so that codes tried at once cannot outrun the count.
 *
 * @param since codes from then and before do not count any more. @param max so many may be tried in that time.
 * @returns the members against whose secrets it may be checked: those that are not paused.
 */
export async function admitCode(
  db: Database,
  tenantId: string,
  memberIds: readonly string[],
  { now, since, max }: { readonly now: number; readonly since: number; readonly max: number },
): Promise<ReadonlySet<string>> {
  const values = [tenantId, memberIds, toTimestamp(now), toTimestamp(since), max]
  const { rows } = await db.query<{ member_id: string }>(ADMIT, values)
  return new Set(rows.map(({ member_id }) => member_id))
}

// Read where it is locked: the rest of the statement still sees the rows as they were before it waited for the lock.
const LOCKED = `locked AS MATERIALIZED (
           SELECT member_id, recent, pauses, paused_until FROM control.wrong_codes
           WHERE tenant_id = $1 AND member_id = ANY ($2) ORDER BY member_id FOR UPDATE
         )`

const FORGET: Statement = {
  text: `WITH ${LOCKED}, forgotten AS (
           DELETE FROM control.wrong_codes w USING locked l
           WHERE w.tenant_id = $1 AND w.member_id = l.member_id AND w.member_id = $3
         )
         UPDATE control.wrong_codes w SET recent = trim_array(w.recent, least(1, cardinality(w.recent)))
         FROM locked l WHERE w.tenant_id = $1 AND w.member_id = l.member_id AND w.member_id <> $3`,
}

/** The code was one member's: all wrong ones of that member are forgotten, and it was no wrong one of the others. */
export function forgetWrongCodes(
  db: Database,
  tenantId: string,
  admitted: readonly string[],
  memberId: string,
): Promise<unknown> {
  return db.query(FORGET, [tenantId, admitted, memberId])
}

const PAUSE: Statement = {
  text: `WITH ${LOCKED}, level AS (
           SELECT member_id, CASE WHEN paused_until > $3::timestamptz - $6 * interval '1 ms' THEN pauses ELSE 0 END AS pauses
           FROM locked WHERE cardinality(recent) >= $4 AND (paused_until IS NULL OR paused_until <= $3)
         )
         UPDATE control.wrong_codes w SET
           recent = '{}',
           pauses = level.pauses + 1,
           paused_until = $3::timestamptz + least($6, $5 * 2 ^ least(level.pauses, 30)) * interval '1 ms'
         FROM level WHERE w.tenant_id = $1 AND w.member_id = level.member_id
         RETURNING w.member_id, w.paused_until`,
}

export interface Pause {
  readonly member_id: string
  readonly paused_until: number
}

/**
 * Begins a pause for those members whose wrong codes have become too many, twice as long as the one before.
 *
 * @param firstMs how long the first pause takes. @param longestMs the longest; after as long without one, the next is a first.
 */
export async function beginPauses(
  db: Database,
  tenantId: string,
  admitted: readonly string[],
  limits: {
    readonly now: number
    readonly max: number
    readonly firstMs: number
    readonly longestMs: number
  },
): Promise<readonly Pause[]> {
  const { now, max, firstMs, longestMs } = limits
  const values = [tenantId, admitted, toTimestamp(now), max, firstMs, longestMs]
  return (await db.query<Pause>(PAUSE, values)).rows
}

const SWEEP: Statement = {
  text: `DELETE FROM control.wrong_codes
         WHERE (paused_until IS NULL OR paused_until <= $1) AND NOT EXISTS (SELECT FROM unnest(recent) AS at WHERE at > $1)`,
}

/** Deletes what counts for nothing any more, of all tenants. */
export function sweepWrongCodes(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}
