import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'
import { asRole, type Roles } from '../../runtime/database/migrate/roles.ts'
import { type BareDatabase, createEmptyDatabase } from '../support/database.ts'
import { administer, trustsEverybody } from '../support/server.ts'

let database: BareDatabase
let folder: string

beforeEach(async () => {
  database = await createEmptyDatabase()
  folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  cpSync(MIGRATIONS, folder, { recursive: true })
})

afterEach(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

const run = (pepper = database.pepper) =>
  migrate({ connectionString: database.url }, pepper, { directory: folder })

const add = (name: string, text: string) => writeFileSync(join(folder, name), text)

async function ask(text: string, connection: pg.ClientConfig = { connectionString: database.url }) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const applied = async () =>
  (await ask('SELECT name FROM control.migration_checksums WHERE NOT pending ORDER BY name')).map(
    ({ name }) => name,
  )

const sqlFiles = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()

const schemasOf = async (table: string) =>
  (await ask(`SELECT schemaname FROM pg_tables WHERE tablename = '${table}' ORDER BY 1`)).map(
    ({ schemaname }) => schemaname,
  )

describe('migrations', () => {
  test('run once, in the order of their numbers', async () => {
    await run()
    const names = sqlFiles(folder).map((name) => name.replace('.sql', ''))
    expect(await applied()).toEqual(names)
    await run()
    expect(await applied()).toEqual(names)
  })

  test('run for each environment, or once', async () => {
    add('9001_things.sql', '-- each environment\nCREATE TABLE things (id int);\n')
    add('9002_switches.sql', '-- once: control\nCREATE TABLE control.switches (id int);\n')
    await run()
    expect(await schemasOf('things')).toEqual(['live', 'sandbox'])
    expect(await schemasOf('switches')).toEqual(['control'])
  })

  test('give each role the rows of its own schema, of later tables too', async () => {
    const { roles } = await run()
    add('9001_things.sql', '-- each environment\nCREATE TABLE things (id bigserial, word text);\n')
    await run()
    const own = asRole({ connectionString: database.url }, roles.sandbox, database.pepper)
    expect(await ask(`INSERT INTO things (word) VALUES ('x') RETURNING word`, own)).toEqual([{ word: 'x' }])
    await expect(ask('SELECT * FROM live.things', own)).rejects.toThrow(/permission denied/)
    await expect(ask('DELETE FROM audit_log', own)).rejects.toThrow(/permission denied/)
  })

  test('migrations of several starts at once run once', async () => {
    const all = await Promise.all([run(), run(), run()])
    expect(new Set(all.map((roles) => JSON.stringify(roles))).size).toBe(1)
    expect(await applied()).toHaveLength(sqlFiles(folder).length)
  })

  test('migrations that fail leave nothing, are named with their line, and keep what came before them', async () => {
    add('9001_good.sql', '-- each environment\nCREATE TABLE good (id int);\n')
    add(
      '9002_bad.sql',
      '-- once: control\nCREATE TABLE control.fine (id int);\n\nCREATE TABLE control.bad (id intt);\n',
    )
    await expect(run()).rejects.toThrow(/9002_bad\.sql:4: type "intt" does not exist \(in schema control\)/)
    expect(await schemasOf('good')).toEqual(['live', 'sandbox'])
    expect(await schemasOf('fine')).toEqual([])
    add('9002_bad.sql', '-- once: control\nCREATE TABLE control.fine (id int);\n') // never applied: no edit
    await run()
    expect(await schemasOf('fine')).toEqual(['control'])
  })

  test('migrations that were edited after they were applied are refused', async () => {
    add('9001_things.sql', '-- each environment\nCREATE TABLE things (id int);\n')
    await run()
    add('9001_things.sql', '-- each environment\nCREATE TABLE things (id bigint);\n')
    await expect(run()).rejects.toThrow(/9001_things\.sql: was edited after it was applied to this database/)
    add('9001_things.sql', '-- each environment\r\nCREATE TABLE things (id int);\r\n')
    await run() // line ends are no edit
  })

  test('migrations that would have come before applied ones are refused', async () => {
    add('9002_later.sql', '-- once: control\nSELECT 1;\n')
    await run()
    add('9001_earlier.sql', '-- once: control\nSELECT 1;\n')
    await expect(run()).rejects.toThrow(/9001_earlier/)
  })

  test.each([
    ['0009_no_header.sql', 'SELECT 1;\n', /0009_no_header\.sql:1: the first line must be/],
    ['9_short.sql', '-- once: control\n', /9_short\.sql: the file name must have the form/],
    ['0001_again.sql', '-- once: control\n', /also has the number 0001/],
  ])('named or headed wrongly are refused: %s', async (name, text, want) => {
    add(name, text)
    await expect(run()).rejects.toThrow(want)
  })
})

describe('the pepper', () => {
  test('the pepper of another deployment is refused', async () => {
    await run()
    await expect(run('another pepper')).rejects.toThrow(/SVC_PEPPER is not the pepper/)
  })

  test('decides the roles’ passwords, so another deployment on the server gets roles of its own', async ({
    skip,
  }) => {
    if (await trustsEverybody(database.url)) skip('the server asks for no passwords')
    const other = await createEmptyDatabase()
    let roles: Roles | undefined
    try {
      const first = await run()
      ;({ roles } = await migrate({ connectionString: other.url }, 'a pepper of its own', {
        directory: folder,
      }))
      expect(roles.sandbox).toMatch(/^svc_sandbox_[0-9a-f]{8}$/)
      expect(roles.sandbox).not.toBe(first.roles.sandbox)
      const connection = asRole({ connectionString: other.url }, roles.live, 'a pepper of its own')
      expect(await ask('SELECT current_schemas(false)::text AS path', connection)).toEqual([
        { path: '{live}' },
      ])
    } finally {
      await other.drop()
      if (roles) await administer(database.url, `DROP ROLE ${roles.sandbox}`, `DROP ROLE ${roles.live}`)
    }
  })
})

test('a database whose roles are missing gets them again, with their grants', async () => {
  await run()
  await administer(
    database.url,
    `UPDATE control.roles SET name = 'gone_' || environment`,
    'REVOKE ALL ON ALL TABLES IN SCHEMA sandbox FROM svc_sandbox',
  )
  const { roles } = await run()
  const own = asRole({ connectionString: database.url }, roles.sandbox, database.pepper)
  expect(await ask('SELECT count(*)::int AS n FROM passes', own)).toEqual([{ n: 0 }])
})

test('every file says what it is about in its second line', () => {
  const second = sqlFiles(MIGRATIONS).map(
    (name) => readFileSync(join(MIGRATIONS, name), 'utf8').split('\n')[1],
  )
  expect(second.filter((line) => !/^-- [A-Z].+/.test(line ?? ''))).toEqual([])
})
