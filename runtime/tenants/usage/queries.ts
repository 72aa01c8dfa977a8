import type { Database, Statement } from '../../database/database.ts'
import { sweepOldest } from '../../database/sweep.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'

export interface UsageLine {
  readonly tenantId: string
  /** Date in service time, such as `2026-05-19`. */
  readonly day: string
  readonly bucket: string
  readonly requests: number
}

// Rows are in a fixed order, to avoid deadlocks between nodes. A batch that was already added is skipped.
const ADD: Statement = {
  name: 'usage_add',
  text: `WITH batch AS (
           INSERT INTO usage_batches (id, added) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id
         )
         INSERT INTO usage_counters AS u (tenant_id, day, bucket, requests)
         SELECT line.tenant_id, line.day, line.bucket, line.requests
           FROM batch, unnest($3::text[], $4::date[], $5::text[], $6::bigint[]) AS line (tenant_id, day, bucket, requests)
          ORDER BY 1, 2, 3
         ON CONFLICT (tenant_id, day, bucket) DO UPDATE SET requests = u.requests + excluded.requests`,
}

/** Adds a batch to the counters, once for each ID. @param now machine time, milliseconds since the epoch. */
export function addUsage(
  db: Database,
  id: string,
  lines: readonly UsageLine[],
  now: number,
): Promise<unknown> {
  return db.query(ADD, [
    id,
    toTimestamp(now),
    lines.map(({ tenantId }) => tenantId),
    lines.map(({ day }) => day),
    lines.map(({ bucket }) => bucket),
    lines.map(({ requests }) => requests),
  ])
}

/** Returns the tenant's counters of a range of days, both included. Needs the owner's connection. */
export async function readUsage(
  db: Database,
  environment: Environment,
  tenantId: string,
  from: string,
  to: string,
): Promise<readonly Omit<UsageLine, 'tenantId'>[]> {
  const text = `SELECT day, bucket, requests FROM ${environment}.usage_counters
                WHERE tenant_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, bucket`
  const { rows } = await db.query<Omit<UsageLine, 'tenantId'>>({ text }, [tenantId, from, to])
  return rows
}

const SWEEP_COUNTERS = sweepOldest('usage_counters', 'day')

/** Deletes up to about `limit` counters of days up to `lastDay`. Returns the number. */
export async function sweepUsage(db: Database, lastDay: string, limit: number): Promise<number> {
  return (await db.query(SWEEP_COUNTERS, [lastDay, limit])).count
}

const SWEEP: Statement = { text: 'DELETE FROM usage_batches WHERE added <= $1' }

export function sweepBatches(db: Database, addedBy: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(addedBy)])
}

export interface KeyUse {
  readonly id: string
  readonly tenantId: string
  /** Service time, milliseconds since the epoch. */
  readonly at: number
}

const NOTE: Statement = {
  name: 'keys_note_use',
  text: `UPDATE control.keys k SET last_used_at = greatest(k.last_used_at, used.at)
           FROM (SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS each (tenant_id, id, at)) AS used
          WHERE k.tenant_id = used.tenant_id AND k.id = used.id AND k.last_used_at IS DISTINCT FROM used.at`,
}

/** Records when keys were last used. This needs no notification, because no node caches it. */
export function noteKeyUses(control: Database, uses: readonly KeyUse[]): Promise<unknown> {
  const sorted = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return control.query(NOTE, [
    sorted.map(({ tenantId }) => tenantId),
    sorted.map(({ id }) => id),
    sorted.map(({ at }) => toTimestamp(at)),
  ])
}
