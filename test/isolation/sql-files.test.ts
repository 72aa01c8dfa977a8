/** Statements that have a file of their own can be pasted into psql, and say what they take. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSqlFile } from '../../runtime/database/sql-file.ts'
import { forOneTenant } from '../../runtime/events/delivery/queries/visits.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

const RUNTIME = join(import.meta.dirname, '../../runtime')

/** But migrations: they have a test of their own. */
const files = globSync('**/*.sql', { cwd: RUNTIME }).filter((file) => !file.includes('/migrations/'))

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await openTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('SET search_path = sandbox')
})
afterAll(async () => {
  await client.end()
  await database.close()
})

/** Prepares the text; gives the types of its parameters. */
async function prepare(text: string): Promise<readonly string[]> {
  await client.query('DEALLOCATE ALL')
  await client.query(`PREPARE pasted AS ${text}`)
  const { rows } = await client.query<{ types: string[] }>(
    'SELECT parameter_types::text[] AS types FROM pg_prepared_statements',
  )
  return rows[0]!.types
}

const SHORT: Readonly<Record<string, string>> = { 'timestamp with time zone': 'timestamptz' }

test('the folder of statements has claim.sql and plan.sql', () => {
  expect(files.map((file) => basename(file))).toEqual(expect.arrayContaining(['claim.sql', 'plan.sql']))
})

test.each(files)('%s is a statement as it stands, and tells the types of its parameters', async (file) => {
  const text = readFileSync(join(RUNTIME, file), 'utf8')
  const types = (await prepare(text)).map((type) => SHORT[type] ?? type)
  const told = [...text.matchAll(/^-- \$(\d+) +(\S+) {2}/gm)].map(([, number, type]) => `${number} ${type}`)
  expect(told).toEqual(types.map((type, index) => `${index + 1} ${type}`))
})

test.each(files)('the statement %s is sent without its comments', async (file) => {
  const sent = readSqlFile(join(RUNTIME, dirname(file)), basename(file))
  expect(sent).toMatch(/^WITH /)
  expect(sent).not.toContain('--')
  await prepare(sent)
})

test.each([
  ['claim.sql', '$4'],
  ['plan.sql', '$4'],
  ['complete.sql', '$3'],
] as const)('the statement %s names its tenant for every table, place and new row', async (file, tenant) => {
  const text = forOneTenant(readSqlFile(join(RUNTIME, 'events/delivery/queries'), file), tenant)
  expect((await prepare(text))[Number(tenant.slice(1)) - 1]).toBe('text')
  const conditions =
    text.match(/\b(?:w|r|e|a|head)\.tenant_id = \S+|WHERE (?:\S+ = \S+ AND )?(?:w\.)?ctid = ANY/g) ?? []
  expect(conditions.length).toBeGreaterThan(4)
  expect(conditions.filter((each) => !each.includes(` = ${tenant}`))).toEqual([])
  const inserted = [...text.matchAll(/INSERT INTO [^()]+\([^()]+\)\s+SELECT ([^\s,]+),/g)].map(
    ([, value]) => value,
  )
  expect(inserted.filter((value) => value !== tenant)).toEqual([])
})
