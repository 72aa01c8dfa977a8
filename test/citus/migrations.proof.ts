/** Databases that Citus comes to at another time: before the first migration, after rows were written, between two files. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { makeKey, makeTenant, speak, startTestService } from '../support/service.ts'
import { ask, createClusterDatabase } from './cluster.ts'

const { servers, pepper } = inject('testServer')

let url: string
let folder: string
let count = 0

beforeEach(async () => {
  count += 1
  url = await createClusterDatabase(servers, `svc_migrations_${process.pid}_${count}`)
  folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
})

afterEach(async () => {
  const name = new URL(url).pathname.slice(1)
  for (const server of servers) await ask(server, `DROP DATABASE ${name} WITH (FORCE)`)
  rmSync(folder, { recursive: true })
})

const run = (citus: boolean) => migrate({ connectionString: url }, pepper, { directory: folder, citus })

/** Puts the files into the folder whose number is in the range. */
function takeFiles(from: string, to: string): void {
  for (const file of readdirSync(MIGRATIONS).filter((name) => name >= from && name < to)) {
    cpSync(join(MIGRATIONS, file), join(folder, file))
  }
}

/** Tables of tenants that are not distributed, and how many are, in how many groups. */
async function layout() {
  const [row] = await ask<{ left: string[]; groups: number }>(
    url,
    `SELECT array_agg(c.oid::regclass::text) FILTER (WHERE d.logicalrelid IS NULL) AS left,
            count(DISTINCT d.colocationid)::int AS groups
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
       LEFT JOIN pg_dist_partition d ON d.logicalrelid = c.oid
      WHERE c.relnamespace IN ('sandbox'::regnamespace, 'live'::regnamespace) AND c.relkind IN ('r', 'p')`,
  )
  return row
}

const DONE = { left: null, groups: 1 }

async function serve(citus: boolean) {
  const settings = {
    databaseUrl: url,
    pepper,
    dataDir: '/nowhere',
    poolSize: 4,
    preparedStatements: true,
    citus,
  }
  const opened = await openDatabase(settings)
  const clock = createClock()
  return startTestService({
    database: { ...opened, url, clock, operator: { control: opened.control, clock, pepper } },
  })
}

test('all files, then distributed, and nothing to do the second time', async () => {
  takeFiles('0', '9')
  expect((await run(true)).distributed).toBe(true)
  expect(await layout()).toEqual(DONE)
  expect((await run(true)).distributed).toBe(true)
  expect((await run(false)).distributed).toBe(true)
})

test('a database with rows is distributed with them, and goes on', async () => {
  takeFiles('0', '9')
  const plain = await serve(false)
  const tenants = await Promise.all(Array.from({ length: 5 }, () => makeTenant(plain)))
  const keys = new Map<string, string>()
  for (const tenantId of tenants) {
    const { secret } = await makeKey(plain, tenantId, { scope: 'admin' })
    keys.set(tenantId, secret)
    const send = speak(plain.urls.sandbox, { secret, version: current })
    await issuePass(send, await makeTemplate(send))
  }
  await plain.stop()
  const service = await serve(true)
  try {
    expect(await layout()).toEqual(DONE)
    for (const [tenantId, secret] of keys) {
      const send = speak(service.urls.sandbox, { secret, version: current })
      expect((await send('/v1/passes')).body.data).toHaveLength(1)
      await issuePass(send, await makeTemplate(send))
      expect((await send('/v1/passes')).body.data).toHaveLength(2)
      const chain = await verifyAudit(service.operator, tenantId, 'sandbox')
      expect(chain.entries).toBe(4 + 2) // two templates, two passes, the tenant and its key
    }
  } finally {
    await service.stop()
  }
})

test('files that come later find the tables distributed, and new tables are distributed without being told', async () => {
  // From here on the rules for migrations hold.
  takeFiles('0', '0013')
  await run(true)
  takeFiles('0013', '9')
  await run(false)
  expect(await layout()).toEqual(DONE)
})
