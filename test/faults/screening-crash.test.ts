/** Workers are killed while they hold cardholders against a new list: the others end it, with one alert and one event each. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, startService, until } from '../support/programs.ts'

const CARDHOLDERS = 6000
/** Each so manieth is on the new list. */
const EVERY = 20

const folder = mkdtempSync(join(tmpdir(), 'svc-sanctions-'))
let database: TestDatabase
let tenantId: string

beforeAll(async () => {
  writeFileSync(
    join(folder, 'sdn.csv'),
    '1,"PETROV, Ivan",individual,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n',
  )
  database = await openTestDatabase({ poolSize: 4 })
  tenantId = (await createTenant(database.operator, { name: 'Crash', plan: 'enterprise' }, current)).id
  const fill = `INSERT INTO sandbox.cardholders (tenant_id, id, type, name, status, sanctions_status, metadata, created, updated)
                SELECT $1, 'chd_' || lpad(n::text, 26, '0'), 'individual',
                       CASE WHEN n % ${EVERY} = 0 THEN 'Ivan Petrov' ELSE 'Ada Moreau' END, 'active', 'clear', '{}', now(), now()
                  FROM generate_series(1, ${CARDHOLDERS}) n`
  await database.control.query({ text: fill }, [tenantId])
  const text = `INSERT INTO sandbox.screenings (tenant_id, list_number, look_at) VALUES ($1, 0, 'epoch')`
  await database.control.query({ text }, [tenantId])
})
afterAll(async () => {
  await endPrograms()
  await database.close()
  rmSync(folder, { recursive: true })
})

const startWorker = () =>
  startService({ DATABASE_URL: database.url, SVC_PEPPER: database.pepper, SVC_SANCTIONS_LIST: folder }, [
    '--json',
    '--role',
    'worker',
    '--role',
    'api',
  ])

async function count(what: string): Promise<number> {
  const text = `SELECT count(*) AS count FROM sandbox.${what} AND tenant_id = $1`
  return (await database.control.query<{ count: number }>({ text }, [tenantId])).rows[0]!.count
}

const screened = () => count('cardholders WHERE list_number > 0')

test('each cardholder is screened, and each match raised once', { timeout: 120_000 }, async () => {
  const first = startWorker()
  await first.ready()
  await until('some to be screened', async () => (await screened()) > 0)
  await first.end('SIGKILL')
  expect(await screened()).toBeLessThan(CARDHOLDERS)
  const others = [startWorker(), startWorker()]
  await Promise.all(others.map((other) => other.ready()))
  await until('a third to be screened', async () => (await screened()) > CARDHOLDERS / 3)
  await others[0]!.end('SIGKILL')
  await until('all to be screened', async () => (await screened()) === CARDHOLDERS)
  await until('the tenant to be done', async () => (await count('screenings WHERE list_number > 0')) === 1)
  const matches = CARDHOLDERS / EVERY
  expect(await count(`cardholders WHERE sanctions_status = 'potential_match'`)).toBe(matches)
  expect(await count('sanctions_alerts WHERE true')).toBe(matches)
  expect(await count(`events WHERE type = 'cardholder.sanctions.alert'`)).toBe(matches)
  expect(await count(`audit_log WHERE action = 'sanctions_alert.raised'`)).toBe(matches)
  await verifyAudit(database.operator, tenantId, 'sandbox')
})
