/** Audit entries from before there was a chain. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { MIGRATIONS } from '../../runtime/database/migrate/migration-files.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { type BareDatabase, createEmptyDatabase } from '../support/database.ts'
import { administer } from '../support/server.ts'

let bare: BareDatabase
let before: string

beforeAll(async () => {
  bare = await createEmptyDatabase()
  before = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  for (const file of readdirSync(MIGRATIONS)) {
    if (file < '0003') copyFileSync(join(MIGRATIONS, file), join(before, file))
  }
})
afterAll(async () => {
  rmSync(before, { recursive: true })
  await bare.drop()
})

test('audit entries from before the chain are linked as if they had been written with it', async () => {
  await migrate({ connectionString: bare.url }, bare.pepper, { directory: before })
  const entry = (tenant: string, n: number, action: string, target: string, outcome: string, ip: string) =>
    `INSERT INTO sandbox.audit_log VALUES ('${tenant}', 'aud_${n}', 'key_1', '${action}', ${target}, '${outcome}', 'req_${n}', '${ip}',
       '2026-05-19', '2026-06-01T12:00:00.00${n}Z')`
  await administer(
    bare.url,
    `INSERT INTO control.tenants (id, name, plan, created) VALUES ('ten_1', 'T', 'trial', now()), ('ten_2', 'T', 'trial', now())`,
    entry('ten_1', 2, 'revokePass', `'pass_"1"'`, 'not_found', '::ffff:0:1'),
    entry('ten_1', 1, 'createPass', `'pass_1'`, '201', '127.0.0.1'),
    entry('ten_2', 3, 'updatePassBatch', 'NULL', '200', '2001:db8::1'),
  )
  const database = await openDatabase({
    databaseUrl: bare.url,
    pepper: bare.pepper,
    dataDir: '/nowhere',
    poolSize: 2,
    preparedStatements: true,
  })
  try {
    const clock = { machine: Date.now, service: Date.now }
    const operator = { control: database.control, clock, pepper: bare.pepper }
    expect(await verifyAudit(operator, 'ten_1', 'sandbox')).toMatchObject({ entries: 2 })
    expect(await verifyAudit(operator, 'ten_2', 'sandbox')).toMatchObject({ entries: 1 })
    const text = 'SELECT action, outcome, environment FROM sandbox.audit_log ORDER BY tenant_id, sequence'
    expect((await database.control.query({ text })).rows).toEqual([
      { action: 'pass.created', outcome: 'succeeded', environment: 'sandbox' },
      { action: 'pass.revoked', outcome: 'failed', environment: 'sandbox' },
      { action: 'pass_batch.updated', outcome: 'succeeded', environment: 'sandbox' },
    ])
  } finally {
    await database.close()
  }
})
