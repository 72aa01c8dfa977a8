/** What `SVC_CITUS=1` asks of Citus, and when: of a stand-in, as Debian has no package of it. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'
import { TWO_PHASE_TABLE } from '../../runtime/database/two-phase.ts'
import { type BareDatabase, createEmptyDatabase } from '../support/database.ts'
import { STAND_IN } from '../support/stand-in.ts'

const TENANT_TABLES = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
   WHERE c.relnamespace IN ('sandbox'::regnamespace, 'live'::regnamespace) AND c.relkind IN ('r', 'p')
     AND NOT c.relispartition ORDER BY 1`

let database: BareDatabase
let client: pg.Client
let folder: string

beforeEach(async () => {
  database = await createEmptyDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  cpSync(MIGRATIONS, folder, { recursive: true })
})

afterEach(async () => {
  await client.end()
  await database.drop()
  rmSync(folder, { recursive: true })
})

const run = (citus = true) =>
  migrate({ connectionString: database.url }, database.pepper, { directory: folder, citus })

const names = async (text: string) =>
  (await client.query<{ name: string }>(text)).rows.map(({ name }) => name)

const distributed = () =>
  names('SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partkey IS NOT NULL ORDER BY 1')

/** Of tables that were distributed: by what, in how many groups, with how many rows in them. */
const summary = async () =>
  (
    await client.query(
      `SELECT array_agg(DISTINCT partkey) AS keys, count(DISTINCT colocation)::int AS groups, sum(rows)::int AS rows
         FROM pg_dist_partition WHERE partkey IS NOT NULL`,
    )
  ).rows[0]

test('each tenant table is distributed once, colocated, before it has rows, after those that it references', async () => {
  await client.query(STAND_IN)
  await run()
  const tables = await names(TENANT_TABLES)
  expect(await distributed()).toEqual(tables)
  expect(tables.length).toBeGreaterThanOrEqual(28)
  expect(await summary()).toEqual({ keys: ['tenant_id'], groups: 1, rows: 0 })
  await run()
  expect(await distributed()).toEqual(tables)
})

test('a table that comes later joins the others, without anybody listing it', async () => {
  await client.query(STAND_IN)
  await run()
  writeFileSync(
    join(folder, '9001_later.sql'),
    `-- each environment
-- Two that refer to each other by name, in the order that is wrong for Citus.
CREATE TABLE z_parents (tenant_id text COLLATE "C", id text, PRIMARY KEY (tenant_id, id));
CREATE TABLE a_children (tenant_id text COLLATE "C", id text, parent_id text, PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, parent_id) REFERENCES z_parents (tenant_id, id));
CREATE TABLE of_nobody (id text PRIMARY KEY);
`,
  )
  await run()
  expect(await distributed()).toEqual(await names(TENANT_TABLES))
  expect(await distributed()).toContain('live.a_children')
  expect(await summary()).toMatchObject({ groups: 1 })
})

test('a start that was killed before it had distributed all is made good by the next, though no file is missing', async () => {
  await run(false)
  await client.query(STAND_IN)
  await run()
  await client.query(`DELETE FROM pg_dist_partition WHERE logicalrelid = 'sandbox.passes'::regclass`)
  await run()
  expect(await distributed()).toEqual(await names(TENANT_TABLES))
  expect(await summary()).toMatchObject({ groups: 1 })
})

describe('a table of the coordinator that Citus knows', () => {
  const known = () => names('SELECT logicalrelid::text AS name FROM pg_dist_partition WHERE partkey IS NULL')

  test('a table of the coordinator that Citus knows is made once, where all is distributed already too', async () => {
    await client.query(STAND_IN)
    await run()
    expect(await known()).toEqual([TWO_PHASE_TABLE])
    await client.query(`DROP TABLE ${TWO_PHASE_TABLE}; DELETE FROM pg_dist_partition WHERE partkey IS NULL`)
    await run(false)
    expect(await known()).toEqual([TWO_PHASE_TABLE])
    await run()
  })

  test('wants the coordinator among the nodes, and says how that is done', async () => {
    await client.query(STAND_IN)
    await client.query(`CREATE OR REPLACE FUNCTION citus_add_local_table_to_metadata(table_name regclass) RETURNS void
      LANGUAGE plpgsql AS $$ BEGIN RAISE 'operation is not allowed when coordinator is not added into metadata'; END $$`)
    await expect(run()).rejects.toThrow(/coordinator is not added.+ citus_set_coordinator_host/)
  })
})

test('a reference to a table without a tenant is refused by name', async () => {
  await client.query(STAND_IN)
  writeFileSync(
    join(folder, '9001_reference.sql'),
    `-- each environment
-- Citus makes no such reference.
CREATE TABLE of_nobody (id text PRIMARY KEY);
CREATE TABLE referring (tenant_id text COLLATE "C", id text REFERENCES of_nobody (id));
`,
  )
  await expect(run()).rejects.toThrow(/foreign keys of live\.referring, sandbox\.referring form a cycle/)
})

test('a database without Citus is refused before anything is made', async () => {
  await expect(run()).rejects.toThrow(/SVC_CITUS: the Citus extension is not installed in this database/)
  expect(await names(`SELECT nspname AS name FROM pg_namespace WHERE nspname = 'control'`)).toEqual([])
})
