/** Migrations of a database that others use: what waits, what goes on meanwhile, and what a kill leaves. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'
import { addPartition } from '../../runtime/database/migrate/partitions.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, startService, until } from '../support/programs.ts'

let db: TestDatabase
let folder: string
/** The session of somebody else. */
let other: pg.Client
let said: string[]

beforeEach(async () => {
  db = await openTestDatabase()
  folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  cpSync(MIGRATIONS, folder, { recursive: true })
  other = new pg.Client({ connectionString: db.url, application_name: 'somebody else' })
  await other.connect()
  said = []
})

afterEach(async () => {
  await endPrograms()
  await other.end()
  await db.close()
  rmSync(folder, { recursive: true })
})

const add = (name: string, text: string) => writeFileSync(join(folder, name), text)

const run = () =>
  migrate({ connectionString: db.url }, db.pepper, { directory: folder, say: (line) => said.push(line) })

async function rowsOf<Row>(text: string): Promise<Row[]> {
  return (await db.control.query<Row>({ text })).rows
}

const indexes = (pattern: string) =>
  rowsOf<{ name: string; valid: boolean; oid: number }>(
    `SELECT indexrelid::regclass::text AS name, indisvalid AS valid, indexrelid::int AS oid FROM pg_index
      WHERE indexrelid::regclass::text ~ '${pattern}' ORDER BY 1`,
  )

const isFinished = async (name: string) =>
  (await rowsOf(`SELECT FROM control.migration_checksums WHERE name = '${name}' AND NOT pending`)).length ===
  1

const TWO_INDEXES = `-- each environment, concurrently
-- Two indexes.
CREATE INDEX pass_templates_by_its_name ON pass_templates (tenant_id, name);
CREATE INDEX passes_by_own_holder ON passes (tenant_id, holder_email);
`

/** Which index a build that waits for somebody is at: the one that is not valid yet. */
const underWay = () =>
  until('a build to wait', async () => (await indexes('^sandbox')).find(({ valid }) => !valid)?.name)

describe('a concurrently file', () => {
  test('builds, on partitioned tables partition by partition, and drops', async () => {
    add(
      '9001_by_type.sql',
      `-- each environment, concurrently
-- Some; not all.
CREATE UNIQUE INDEX webhook_attempts_by_sending ON webhook_attempts
  (tenant_id, event_id, id) -- the tenant; first
  WHERE attempt = 1;
CREATE INDEX passes_by_own_holder ON passes(tenant_id, holder_email) INCLUDE (status);
DROP INDEX events_by_time;
DROP INDEX passes_shown;
`,
    )
    const table = { environment: 'sandbox', table: 'webhook_attempts', prefix: 'wdla' } as const
    const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1)]
    await db.control.transaction((tx) => addPartition(tx, table, from, to))
    await run()
    expect(
      (await indexes('webhook_attempts.*sending|by_own_holder')).map(({ name, valid }) => [name, valid]),
    ).toEqual([
      ['live.passes_by_own_holder', true],
      ['live.webhook_attempts_by_sending', true],
      ['live.webhook_attempts_default_by_sending', true],
      ['sandbox.passes_by_own_holder', true],
      ['sandbox.webhook_attempts_20260101_by_sending', true],
      ['sandbox.webhook_attempts_by_sending', true],
      ['sandbox.webhook_attempts_default_by_sending', true],
    ])
    expect(await indexes('events_by_time|passes_shown$')).toEqual([])
    await db.control.transaction((tx) => addPartition(tx, table, to, to + 86_400_000))
    expect(await indexes('webhook_attempts_20260201.*tenant_id_event_id_id')).toMatchObject([{ valid: true }])
  })

  test('a file of concurrent statements waits for old transactions while writes continue and nothing waits behind it', async () => {
    await run()
    add('9001_holder.sql', TWO_INDEXES)
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM sandbox.passes')
    const running = run()
    expect(await underWay()).toBe('sandbox.pass_templates_by_its_name')
    await db.sandbox.query({
      text: `INSERT INTO pass_templates VALUES ('ten_1', 'tpl_1', 'n', 'generic', 'active', '{}', '[]', '{}', '[]', '{}', now(), now());
             UPDATE passes SET updated = now()`,
    })
    expect(await isFinished('9001_holder')).toBe(false)
    await other.query('COMMIT')
    await running
    expect(await isFinished('9001_holder')).toBe(true)
  })

  test('a file of concurrent statements is built once by starts that come together: who waits for its turn holds no build up', async () => {
    add('9001_holder.sql', TWO_INDEXES)
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM sandbox.passes')
    const first = run()
    await underWay()
    const later = [run(), run()]
    await until(
      'both to wait for their turn',
      () => said.filter((line) => /another process/.test(line)).length === 2,
    )
    expect(said.at(-1)).toMatch(/is migrating this database \(server process \d+\); waiting/)
    await other.query('COMMIT')
    await Promise.all([first, ...later])
    expect((await indexes('templates_by_its_name|passes_by_own_holder')).map(({ valid }) => valid)).toEqual([
      true,
      true,
      true,
      true,
    ])
  })

  /** Starts a process that migrates, and kills it while it builds the second index; gives what its session is called. */
  async function killInSecondBuild(env: Record<string, string>): Promise<number> {
    // The first index is built past this lock, the second waits for it.
    await other.query('BEGIN; LOCK TABLE sandbox.passes IN ROW EXCLUSIVE MODE')
    const program = startService(env)
    await until('the second build to wait', async () => (await underWay()) === 'sandbox.passes_by_own_holder')
    await program.end('SIGKILL')
    const [session] = await rowsOf<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc migrate'`,
    )
    return session?.pid ?? 0
  }

  test('a file of concurrent statements goes on after a kill: what was finished stays, what was not is built anew', async () => {
    add('9001_two.sql', TWO_INDEXES)
    const env = { DATABASE_URL: db.url, SVC_PEPPER: db.pepper, SVC_MIGRATIONS_DIR: folder }
    const pid = await killInSecondBuild(env)
    // Its server process would build on; this is as if the server's machine had failed too.
    await rowsOf(`SELECT pg_terminate_backend(${pid}, 10000)`)
    const left = await indexes('templates_by_its_name|passes_by_own_holder')
    expect(left.map(({ name, valid }) => [name, valid])).toEqual([
      ['sandbox.pass_templates_by_its_name', true],
      ['sandbox.passes_by_own_holder', false],
    ])
    await other.query('COMMIT')
    const program = startService(env)
    await program.ready()
    expect(program.stderr()).toMatch(
      /9001_two in sandbox: passes_by_own_holder was left invalid by an earlier run; rebuilding it/,
    )
    const built = await indexes('templates_by_its_name|passes_by_own_holder')
    expect(built.map(({ valid }) => valid)).toEqual([true, true, true, true])
    const oid = (of: typeof left, name: string) => of.find((index) => index.name === name)?.oid
    expect(oid(built, 'sandbox.pass_templates_by_its_name')).toBe(
      oid(left, 'sandbox.pass_templates_by_its_name'),
    )
    expect(await isFinished('9001_two')).toBe(true)
  })

  test('a file of concurrent statements goes on after a kill that its server process outlives: what that builds is taken as it is', async () => {
    add('9001_two.sql', TWO_INDEXES)
    await killInSecondBuild({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper, SVC_MIGRATIONS_DIR: folder })
    const [begun] = await indexes('^sandbox.passes_by_own_holder')
    const running = run()
    await until('it to wait for its turn', () => said.some((line) => /another process/.test(line)))
    await other.query('COMMIT')
    await running
    expect(await indexes('^sandbox.passes_by_own_holder')).toEqual([{ ...begun, valid: true }])
    expect(await isFinished('9001_two')).toBe(true)
  })

  test('a file of concurrent statements that fails leaves no index that would refuse rows', async () => {
    await rowsOf(`INSERT INTO sandbox.trial_usage VALUES ('ten_1', 7), ('ten_2', 7)`)
    add(
      '9001_unique.sql',
      '-- each environment, concurrently\n-- One.\nCREATE UNIQUE INDEX trial_usage_once ON trial_usage (passes);\n',
    )
    await expect(run()).rejects.toThrow(
      /9001_unique\.sql:3: could not create unique index "trial_usage_once"/,
    )
    expect(await indexes('trial_usage_once')).toEqual([])
  })

  test('a file of concurrent statements leaves an index of the same name on another table alone', async () => {
    add(
      '9001_name.sql',
      '-- each environment, concurrently\n-- One.\nCREATE INDEX events_by_time ON passes (tenant_id, updated);\n',
    )
    const before = await indexes('events_by_time')
    await expect(run()).rejects.toThrow(/relation "events_by_time" already exists/)
    expect(await indexes('events_by_time')).toEqual(before)
  })

  test('edited after some of it was built is refused', async () => {
    add('9001_two.sql', `${TWO_INDEXES}CREATE INDEX nothing ON nothing (id);\n`)
    await expect(run()).rejects.toThrow(/9001_two\.sql:5: table nothing does not exist \(in schema sandbox\)/)
    add('9001_two.sql', TWO_INDEXES)
    await expect(run()).rejects.toThrow(/9001_two\.sql: was edited after it was applied to this database/)
  })

  test.each([
    ['CREATE INDEX CONCURRENTLY a ON passes (tenant_id);', 3],
    ['CREATE INDEX a ON sandbox.passes (tenant_id);', 3],
    ['CREATE INDEX a ON passes (tenant_id);\n\nALTER TABLE passes ADD COLUMN a text;', 5],
    ["CREATE INDEX a ON passes (tenant_id) WHERE holder_name = ';';", 3],
    ['CREATE INDEX ON passes (tenant_id);', 3],
  ])('a file of concurrent statements holds nothing else: %s', async (text, line) => {
    add('9001_other.sql', `-- each environment, concurrently\n-- Words.\n${text}\n`)
    await expect(run()).rejects.toThrow(
      new RegExp(`9001_other\\.sql:${line}: a concurrently file holds only`),
    )
  })
})

test('a change of a locked table gives way, says who holds it, and comes after', async () => {
  await run()
  add('9001_note.sql', '-- each environment\n-- A column.\nALTER TABLE passes ADD COLUMN note text;\n')
  await other.query('BEGIN; SELECT FROM sandbox.passes') // ACCESS SHARE until it ends
  let done = false
  const running = run().finally(() => {
    done = true
  })
  // Each waits for less than a second behind the change, and each is answered.
  for (let reads = 0; reads < 20 || said.length < 2; reads += 1) {
    await db.sandbox.query({ text: 'SELECT FROM passes' })
  }
  expect(done).toBe(false)
  expect(said[0]).toMatch(
    /^9001_note: a table that it changes is locked \(open transactions: \d+ 'somebody else' for \d+ s[,)]/,
  )
  await other.query('COMMIT')
  await running
  const columns = await rowsOf(
    `SELECT FROM pg_attribute WHERE attrelid = 'live.passes'::regclass AND attname = 'note'`,
  )
  expect(columns).toHaveLength(1)
})
