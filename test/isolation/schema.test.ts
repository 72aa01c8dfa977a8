/** Rules of a schema that can be spread over machines by tenant, and of roles that see one environment. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLAIN_BYTES, secretColumnsOf } from '../../runtime/operator/moves/sealed-columns.ts'
import { INSTALLATION_TABLES, listMovedTables } from '../../runtime/operator/moves/tables.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

async function rowsOf<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  return (await db.control.query<Row>({ text }, values)).rows
}

/** Tables of an environment that belong to no tenant, and why. */
const TENANTLESS = ['usage_batches'] // names of batches that were added, whoever's lines stand in them

const TABLES = `SELECT c.relname AS name FROM pg_class c
                WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`

describe.each(['sandbox', 'live'] as const)('the tables of %s', (environment) => {
  test('begin with tenant_id, of one type', async () => {
    const tables = await rowsOf<{ name: string }>(TABLES, [environment])
    const columns = await rowsOf<{
      name: string
      column: string
      type: string
      required: boolean
      collation: string
    }>(
      `SELECT c.relname AS name, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
              l.collname AS collation
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
         LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`,
      [environment],
    )
    expect(columns.filter(({ name }) => !TENANTLESS.includes(name))).toEqual(
      tables
        .filter(({ name }) => !TENANTLESS.includes(name))
        .map(({ name }) => ({ name, column: 'tenant_id', type: 'text', required: true, collation: 'C' })),
    )
    expect(tables.length).toBeGreaterThan(4)
  })

  test('every table has the tenant first in every key, unique index and reference', async () => {
    const wrong = await rowsOf(
      `SELECT c.relname, i.indexrelid::regclass::text AS index FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE c.relnamespace = $1::regnamespace AND i.indisunique AND i.indkey[0] <> 1 AND NOT c.relname = ANY ($2)
        UNION ALL
       SELECT c.relname, f.conname FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid
        WHERE c.relnamespace = $1::regnamespace AND f.contype = 'f' AND (f.conkey[1] <> 1 OR f.confkey[1] <> 1)`,
      [environment, TENANTLESS],
    )
    expect(wrong).toEqual([])
  })

  test('no table of the environment has a trigger', async () => {
    const text = `SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                  WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal`
    expect(await rowsOf(text, [environment])).toEqual([])
  })

  test('every table is open to the role of its environment and to no other', async () => {
    const other = environment === 'sandbox' ? 'live' : 'sandbox'
    const roleOf = async (own: 'sandbox' | 'live') =>
      (await db[own].query<{ role: string }>({ text: 'SELECT current_user AS role' })).rows[0]!.role
    const rights = await rowsOf<{ name: string; mine: boolean; theirs: string[] }>(
      `SELECT c.relname AS name, has_table_privilege($2, c.oid, 'SELECT') AS mine,
              array(SELECT p FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
                     WHERE has_table_privilege($3, c.oid, p)) AS theirs
         FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')`,
      [environment, await roleOf(environment), await roleOf(other)],
    )
    expect(rights.filter(({ theirs }) => theirs.length > 0)).toEqual([])
    expect(rights.filter(({ mine }) => !mine).map(({ name }) => name)).toEqual(['card_numbers'])
    await expect(db[other].query({ text: `SELECT 1 FROM ${environment}.passes` })).rejects.toMatchObject({
      code: '42501',
    })
    const [schema] = await rowsOf<{ usage: boolean }>(
      `SELECT has_schema_privilege($1, $2, 'USAGE') AS usage`,
      [await roleOf(other), environment],
    )
    expect(schema?.usage).toBe(false)
  })

  test('keep the audit log as it was written', async () => {
    for (const text of [
      'DELETE FROM audit_log',
      'UPDATE audit_log SET action = $$x$$',
      'TRUNCATE audit_log',
    ]) {
      await expect(db[environment].query({ text })).rejects.toMatchObject({ code: '42501' })
    }
  })
})

test('the roles of the environments see nothing of control', async () => {
  const rights = await rowsOf(
    `SELECT c.relname, r.rolname FROM pg_class c, pg_roles r
      WHERE c.relnamespace = 'control'::regnamespace AND c.relkind IN ('r', 'p') AND r.rolname ~ '^svc_(sandbox|live)'
        AND NOT r.rolsuper AND has_table_privilege(r.oid, c.oid, 'SELECT')`,
  )
  expect(rights).toEqual([])
})

test('a move knows each table as one of a tenant or of the installation, and an export each column with bytes', async () => {
  const { copied } = await listMovedTables(db.control)
  const control = await rowsOf<{ name: string }>(TABLES, ['control'])
  const partitions = ['card_directory_live', 'card_directory_sandbox']
  const known = [
    ...copied.flatMap(({ schema, name }) => (schema === 'control' ? name : [])),
    ...INSTALLATION_TABLES,
  ]
  expect(control.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual(partitions)
  const bytes = copied.flatMap((table) =>
    table.columns.flatMap(({ name, type }) => (type === 'bytea' ? [{ table, column: name }] : [])),
  )
  const isKnown = ({ table, column }: (typeof bytes)[number]) =>
    secretColumnsOf(table).includes(column) || PLAIN_BYTES[table.name]?.includes(column)
  expect(
    bytes.filter((each) => !isKnown(each)).map(({ table, column }) => `${table.name}.${column}`),
  ).toEqual([])
  const named = copied.flatMap(({ name, columns, own }) =>
    [...secretColumnsOf({ name }), ...Object.keys(own)].filter(
      (each) => !columns.some((column) => column.name === each),
    ),
  )
  expect(named).toEqual([])
})
