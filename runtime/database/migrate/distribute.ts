/** Distributes tenant tables with Citus. All rows of one tenant are on one machine. */

import type pg from 'pg'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { messageOf } from '../errors.ts'
import { TWO_PHASE_TABLE } from '../two-phase.ts'
import { MigrationError } from './migration-files.ts'
import { type Say, withShortLocks } from './migration-locks.ts'

interface TenantTable {
  /** Name with schema, such as `live.passes`. */
  readonly name: string
  readonly distributed: boolean
  /** Tables that its foreign keys reference. */
  readonly references: readonly string[]
}

/**
 * Every table of an environment that has a `tenant_id`. Partitions follow their parent. Tables of `control` stay on the
 * coordinator.
 */
const TENANT_TABLES = `
  SELECT c.oid::regclass::text AS name,
         EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid) AS distributed,
         array(SELECT f.confrelid::regclass::text FROM pg_constraint f
                WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS "references"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
   WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   ORDER BY 1`

/**
 * Makes Citus change the shards of a machine one after the other. In parallel, it uses several connections, and indexes
 * whose generated names collide then wait for each other until PostgreSQL reports a deadlock.
 */
export const ONE_BY_ONE = `citus.multi_shard_modify_mode = 'sequential'`

export async function hasCitus(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('pg_dist_partition') IS NOT NULL AS made`,
  )
  return rows[0]?.made ?? false
}

async function listTables(client: pg.Client): Promise<readonly TenantTable[]> {
  return (await client.query<TenantTable>(TENANT_TABLES, [ENVIRONMENTS])).rows
}

/**
 * Returns whether all, some or none of the tenant tables are distributed. A database that was distributed stays so
 * without `SVC_CITUS`.
 *
 * @param wanted whether `SVC_CITUS` is set. If it is and Citus is not installed, throws `MigrationError`.
 */
export async function readDistribution(client: pg.Client, wanted: boolean): Promise<'none' | 'some' | 'all'> {
  if (!(await hasCitus(client))) {
    if (!wanted) return 'none'
    throw new MigrationError(
      'SVC_CITUS: the Citus extension is not installed in this database: run CREATE EXTENSION citus as superuser',
    )
  }
  const tables = await listTables(client)
  const count = tables.filter(({ distributed }) => distributed).length
  if (count === 0) return 'none'
  return count === tables.length && (await commitsInTwoPhases(client)) ? 'all' : 'some'
}

async function commitsInTwoPhases(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ known: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('${TWO_PHASE_TABLE}')) AS known`,
  )
  return rows[0]?.known ?? false
}

async function makeTwoPhase(client: pg.Client, say: Say): Promise<void> {
  if (await commitsInTwoPhases(client)) return
  await withShortLocks(client, { what: `making ${TWO_PHASE_TABLE}`, say }, async () => {
    await client.query(`CREATE TABLE IF NOT EXISTS ${TWO_PHASE_TABLE} (nothing boolean CHECK (false))`)
    await client
      .query('SELECT citus_add_local_table_to_metadata($1::regclass)', [TWO_PHASE_TABLE])
      .catch((cause) => {
        throw new MigrationError(
          `SVC_CITUS: ${messageOf(cause)}: the coordinator must be a node of the cluster: as superuser, run SELECT citus_set_coordinator_host('host name that the workers use')`,
          { cause },
        )
      })
  })
}

/**
 * Distributes the tables that are not distributed yet, all in one colocation group. A table follows the tables that it
 * references, because Citus creates no foreign key from a distributed table to a local one.
 */
export async function distribute(client: pg.Client, say: Say): Promise<void> {
  const tables = await listTables(client)
  const done = new Set(tables.filter(({ distributed }) => distributed).map(({ name }) => name))
  let waiting = tables.filter(({ name }) => !done.has(name))
  let [group = 'none'] = done
  while (waiting.length > 0) {
    const next = waiting.find(({ references }) => references.every((name) => done.has(name)))
    if (!next) {
      const names = waiting.map(({ name }) => name).join(', ')
      throw new MigrationError(`foreign keys of ${names} form a cycle or reference a table without tenant_id`)
    }
    await withShortLocks(client, { what: `distributing ${next.name}`, say }, async () => {
      await client.query(`SELECT create_distributed_table($1::regclass, 'tenant_id', colocate_with => $2)`, [
        next.name,
        group,
      ])
    })
    done.add(next.name)
    waiting = waiting.filter((table) => table !== next)
    if (group === 'none') group = next.name
  }
  await makeTwoPhase(client, say)
}
