/**
 * Partitions of tables with limited retention. They are ranges of identifiers, which begin with a time. All functions
 * run as the database owner.
 */
import type { Environment } from '../../platform/environment.ts'
import { firstIdAt, type IdPrefix } from '../../platform/ids.ts'
import type { Database } from '../database.ts'
import { inSteps, sendSteps } from '../steps.ts'
import { ONE_BY_ONE } from './distribute.ts'

/** A table partitioned by ranges of its identifiers. */
export interface Partitioned {
  readonly environment: Environment
  readonly table: 'events' | 'webhook_attempts' | 'scans'
  readonly prefix: IdPrefix
}

/** For example, `events_20260528`, after the UTC day on which the partition begins. */
export function partitionName({ table }: Partitioned, from: number): string {
  return `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll('-', '')}`
}

/**
 * The lock lets only one node change partitions. The timeouts bound how long other statements queue behind a change
 * that waits for its lock.
 */
const BEGIN_CHANGE = inSteps(
  undefined,
  `SET LOCAL ${ONE_BY_ONE}`,
  `SET LOCAL lock_timeout = '1s'`,
  `SET LOCAL statement_timeout = '20s'`,
  `SELECT pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) AS mine`,
)

/** Whether this transaction may change partitions: false if a different node is changing them. */
export async function beginChange(tx: Database): Promise<boolean> {
  const { rows } = await sendSteps<{ mine: boolean }>(tx, BEGIN_CHANGE, [])
  return rows[0]?.mine ?? false
}

/**
 * Returns the start times of the partitions, in milliseconds since the epoch, ascending, without the default partition.
 */
export async function listPartitions(db: Database, of: Partitioned): Promise<number[]> {
  const text = `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                 WHERE i.inhparent = $1::regclass AND c.relname ~ '_[0-9]{8}$' ORDER BY 1`
  const { rows } = await db.query<{ name: string }>({ text }, [`${of.environment}.${of.table}`])
  return rows.map(({ name }) => Date.parse(name.slice(-8).replace(/(....)(..)/, '$1-$2-')))
}

/**
 * Adds the partition for identifiers in [from, to). It is created as a table and then attached, which locks the parent
 * only briefly. Fails with a check violation if the default partition holds rows of that range.
 */
export async function addPartition(tx: Database, of: Partitioned, from: number, to: number): Promise<void> {
  const { environment, table, prefix } = of
  const name = `${environment}.${partitionName(of, from)}`
  await tx.query({
    text: `CREATE TABLE ${name} (LIKE ${environment}.${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
  })
  // As in every tenant table, statements are planned for a large tenant. Citus allows this only before the table is
  // attached.
  await tx.query({ text: `ALTER TABLE ${name} ALTER COLUMN tenant_id SET (n_distinct = 20)` })
  await tx.query({
    text: `ALTER TABLE ${environment}.${table} ATTACH PARTITION ${name}
           FOR VALUES FROM ('${firstIdAt(prefix, from)}') TO ('${firstIdAt(prefix, to)}')`,
  })
}

export async function dropPartition(tx: Database, of: Partitioned, from: number): Promise<void> {
  await tx.query({ text: `DROP TABLE ${of.environment}.${partitionName(of, from)}` })
}

/**
 * Deletes about `limit` rows of the default partition whose identifiers are older than `until`. Returns the number of
 * deleted rows.
 */
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
    [firstIdAt(prefix, until), limit],
  )
  return count
}
