/** The steps of docs/operations/upgrade.md that move the data of the service to a new PostgreSQL server. */
import type pg from 'pg'
import { until } from '../support/programs.ts'
import type { RunningCluster } from './cluster.ts'

const SCHEMAS = ['control', 'sandbox', 'live']

/** A slow machine takes this long to copy the tables. */
const PATIENCE_MS = 300_000

/** Returns the tables of the service, without partitions, whose rows belong to their parents. */
async function tablesOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
    [SCHEMAS],
  )
  return rows.map(({ name }) => name)
}

/** Publishes every table of the old server. Tables without a primary key identify a row by all columns. */
export async function publish({ client }: RunningCluster): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p')
        AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`,
    [SCHEMAS],
  )
  for (const { name } of rows) await client.query(`ALTER TABLE ${name} REPLICA IDENTITY FULL`)
  await client.query(
    `CREATE PUBLICATION upgrade FOR TABLES IN SCHEMA ${SCHEMAS.join(', ')} WITH (publish_via_partition_root = true)`,
  )
}

/**
 * Copies the tables to the new server, whose migrations are applied, and follows the changes. Resolves when all tables
 * are copied.
 */
export async function subscribe(from: RunningCluster, { client }: RunningCluster): Promise<number> {
  const tables = await tablesOf(client)
  await client.query(`TRUNCATE ${tables.join(', ')}`)
  await client.query(`CREATE SUBSCRIPTION upgrade CONNECTION '${from.url}' PUBLICATION upgrade`)
  await until(
    'all tables to be copied',
    async () => {
      const { rows } = await client.query<{ left: number; copied: number }>(
        `SELECT count(*) FILTER (WHERE srsubstate <> 'r')::int AS left, count(*)::int AS copied FROM pg_subscription_rel`,
      )
      return rows[0]!.left === 0 && rows[0]!.copied === tables.length
    },
    PATIENCE_MS,
  )
  return tables.length
}

/** Ends the sessions of the service on the old server, and waits until the new server has every change. */
export async function catchUp({ client }: RunningCluster): Promise<void> {
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND application_name LIKE 'svc %'`,
  )
  const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn')
  await until('the new server to have every change', async () => {
    const { rows: slots } = await client.query<{ done: boolean }>(
      `SELECT confirmed_flush_lsn >= $1::pg_lsn AS done FROM pg_replication_slots WHERE slot_name = 'upgrade'`,
      [rows[0]!.lsn],
    )
    return slots[0]?.done
  })
}

/** Ends the replication, and continues the sequences, which it does not carry. */
export async function detach({ client: old }: RunningCluster, { client }: RunningCluster): Promise<void> {
  const { rows } = await old.query<{ name: string; value: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS value FROM pg_sequences
      WHERE schemaname = ANY($1) AND last_value IS NOT NULL`,
    [SCHEMAS],
  )
  for (const { name, value } of rows) await client.query('SELECT setval($1::regclass, $2)', [name, value])
  await client.query('DROP SUBSCRIPTION upgrade')
}

export interface Contents {
  readonly rows: number
  readonly hash: string
}

/** Counts and hashes the rows of every table, in one statement, because writes are stopped. */
export async function contentsOf({ client }: RunningCluster): Promise<ReadonlyMap<string, Contents>> {
  const selects = (await tablesOf(client)).map(
    (table) => `SELECT '${table}' AS name, count(*)::int AS rows,
      md5(coalesce(string_agg(md5(t::text), '' ORDER BY md5(t::text)), '')) AS hash FROM ${table} t`,
  )
  const { rows } = await client.query<Contents & { name: string }>(selects.join(' UNION ALL '))
  return new Map(rows.map(({ name, ...contents }) => [name, contents]))
}
