/** The whole service behind PgBouncer in transaction mode: no session is its own. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rolePassword } from '../../../runtime/database/migrate/roles.ts'
import { createPool, type Pool } from '../../../runtime/database/pool/pool.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import { revokeKey } from '../../../runtime/tenants/admin/keys.ts'
import { issuePass, makeTemplate } from '../../api/fixtures.ts'
import { type DemoDatabase, openDemoDatabase } from '../../support/database.ts'
import { startPooler, type TestPooler } from '../../support/pgbouncer.ts'
import { endPrograms, startService, until } from '../../support/programs.ts'
import { type Send, speak } from '../../support/service.ts'

let db: DemoDatabase
let pooler: TestPooler
let sink: Server
let send: Send
let url: string
const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []

beforeAll(async () => {
  db = await openDemoDatabase('2026-05-19')
  const { rows } = await db.control.query<{ name: string }>({ text: 'SELECT name FROM control.roles' })
  pooler = await startPooler(
    db.url,
    Object.fromEntries(rows.map(({ name }) => [name, rolePassword(db.pepper, name)])),
  )
  sink = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
  const env = {
    DATABASE_URL: pooler.url,
    SVC_PEPPER: db.pepper,
    SVC_PREPARED_STATEMENTS: 'off',
    SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
  }
  const [api] = await Promise.all([
    startService(env, ['--json', '--role', 'api']).ready(),
    startService(env, ['--json', '--role', 'worker']).ready(),
  ])
  url = String(api.sandbox_base_url)
  send = speak(url, { secret: db.keys.sandbox_secret })
})
afterAll(async () => {
  await endPrograms()
  sink.close()
  await pooler.stop()
  await db.close()
})

test('a service behind PgBouncer writes, reads and repeats as elsewhere', async () => {
  const templateId = await makeTemplate(send)
  const call = { body: { template_id: templateId }, headers: { 'Idempotency-Key': crypto.randomUUID() } }
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('/v1/passes', call)))
  const kept = answers.filter(({ status }) => status === 201)
  expect(new Set(kept.map(({ body }) => body.id)).size).toBe(1)
  expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
  await Promise.all(Array.from({ length: 40 }, () => issuePass(send, templateId)))
  expect((await send('/v1/passes/count')).body.count).toBe(41)
  await verifyAudit(db.operator, db.tenantId, 'sandbox')
})

test('each transaction waits for the disk by itself: nobody knows which server would wait for others', async () => {
  const open = (connectionString: string) =>
    createPool({
      connection: () => ({ connectionString }),
      max: 4,
      prepared: false,
      applicationName: 'pooled',
      flushTogether: true,
    })
  const SOURCE = { text: `SELECT source FROM pg_settings WHERE name = 'synchronous_commit'` }
  const isLeftToOthers = async (pool: Pool) => {
    const { rows } = await pool.transaction((tx) => tx.query<{ source: string }>(SOURCE))
    return rows[0]?.source === 'session'
  }
  const [pooled, direct] = [open(pooler.url), open(db.url)]
  expect(await isLeftToOthers(pooled)).toBe(false)
  await until('the session of the direct one', () => isLeftToOthers(direct))
  for (let round = 0; round < 20; round += 1) expect(await isLeftToOthers(pooled)).toBe(false)
  await Promise.all([pooled.end(), direct.end()])
})

test('an event reaches its endpoint by another process, although no hint does', async () => {
  const { port } = sink.address() as AddressInfo
  const endpoint = { url: `http://127.0.0.1:${port}/`, enabled_events: ['pass_template.created'] }
  expect((await send('/v1/webhook-endpoints', { body: endpoint })).status).toBe(201)
  const ids = await Promise.all(Array.from({ length: 20 }, () => makeTemplate(send)))
  await until('all deliveries', () => received.length >= 20)
  const told = received.map(({ body }) => JSON.parse(body).data.pass_template.id)
  expect(told.toSorted()).toEqual(ids.toSorted())
})

test('a revoked key is refused within a second, although no hint comes', async () => {
  const { keys } = db
  const { rows } = await db.control.query<{ id: string }>({
    text: `SELECT id FROM control.keys WHERE environment = 'sandbox' AND kind = 'secret'`,
  })
  const by = speak(url, { secret: keys.sandbox_secret })
  expect((await by('/v1/me')).status).toBe(200)
  await revokeKey(db.operator, rows[0]!.id)
  await until('the refusal', async () => (await by('/v1/me')).status === 401, 1500)
})
