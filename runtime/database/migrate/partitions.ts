/** Partitions of tables whose rows are kept for a time: by identifier, that is, by time. As the owner. */
import type { Environment } from '../../platform/environment.ts'
import { type IdPrefix, newId } from '../../platform/ids.ts'
import type { Database } from '../database.ts'
import { inSteps, sendSteps } from '../steps.ts'
import { ONE_BY_ONE } from './distribute.ts'

/** A table partitioned by ranges of its identifiers. */
export interface Partitioned {
  readonly environment: Environment
  readonly table: 'events' | 'webhook_attempts' | 'scans'
  readonly prefix: IdPrefix
}

/** The least that an identifier of that millisecond can be: its prefix and its time. */
export function idBound(prefix: IdPrefix, ms: number): string {
  return newId(prefix, ms).slice(0, prefix.length + 11)
}

/** `events_20260528`: by the day with which it begins, UTC. */
export function partitionName({ table }: Partitioned, from: number): string {
  return `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** One node at a time, and no statement waits long behind a change that waits for a lock itself. */
const BEGIN_CHANGE = inSteps(
  undefined,
  `SET LOCAL ${ONE_BY_ONE}`,
  `SET LOCAL lock_timeout = '1s'`,
  `SET LOCAL statement_timeout = '20s'`,
  `SELECT pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) AS mine`,
)

/** Whether this transaction is the one that may change partitions now. */
export async function beginChange(tx: Database): Promise<boolean> {
  const { rows } = await sendSteps<{ mine: boolean }>(tx, BEGIN_CHANGE, [])
  return rows[0]?.mine ?? false
}

/** When the partitions that there are begin, milliseconds since the epoch, ascending; without the default one. */
export async function listPartitions(db: Database, of: Partitioned): Promise<number[]> {
  const text = `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                 WHERE i.inhparent = $1::regclass AND c.relname ~ '_[0-9]{8}$' ORDER BY 1`
  const { rows } = await db.query<{ name: string }>({ text }, [`${of.environment}.${of.table}`])
  return rows.map(({ name }) => Date.parse(name.slice(-8).replace(/(....)(..)/, '$1-$2-')))
}

/**
 * Adds the partition for identifiers of [from, to). Made apart and then attached, so that the table is hardly locked. Fails
 * with a check violation when the default partition has such rows already.
 */
export async function addPartition(tx: Database, of: Partitioned, from: number, to: number): Promise<void> {
  const { environment, table, prefix } = of
  const name = `${environment}.${partitionName(of, from)}`
  await tx.query({
    text: `CREATE TABLE ${name} (LIKE ${environment}.${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
  })
  // As every tenant table: statements are planned for a large tenant. Citus allows it as long as the table stands alone.
  await tx.query({ text: `ALTER TABLE ${name} ALTER COLUMN tenant_id SET (n_distinct = 20)` })
  await tx.query({
    text: `ALTER TABLE ${environment}.${table} ATTACH PARTITION ${name}
           FOR VALUES FROM ('${idBound(prefix, from)}') TO ('${idBound(prefix, to)}')`,
  })
}

export async function dropPartition(tx: Database, of: Partitioned, from: number): Promise<void> {
  await tx.query({ text: `DROP TABLE ${of.environment}.${partitionName(of, from)}` })
}

/** Deletes rows of the default partition with identifiers from before `until`, about `limit` of them; says how many. */
export async function sweepDefault(
  db: Database,
  { environment, table, prefix }: Partitioned,
  until: number,
  limit: number,
): Promise<number> {
  const { count } = await db.query(
    {
      text: `DELETE FROM ${environment}.${table}_default WHERE ctid = ANY (ARRAY(
               SELECT ctid FROM ${environment}.${table}_default WHERE id < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`,
      long: true,
      steps: inSteps(
        undefined,
        `DELETE FROM ${environment}.${table}_default WHERE id <= (
           SELECT max(oldest.id) FROM (
             SELECT id FROM ${environment}.${table}_default WHERE id < $1 ORDER BY id LIMIT $2) AS oldest)`,
      ),
    },
    [idBound(prefix, until), limit],
  )
  return count
}
