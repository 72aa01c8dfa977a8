/** Every statement that requests and the background send reaches rows of one tenant, the one it is for. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TOTP } from 'otpauth'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { createSeals } from '../../runtime/auth/secrets.ts'
import { readPin } from '../../runtime/control/pins.ts'
import { createUser } from '../../runtime/control/users.ts'
import type { Database } from '../../runtime/db/database.ts'
import { readAnswer } from '../../runtime/db/idempotency.ts'
import { retain } from '../../runtime/delivery/retention.ts'
import { createWorker } from '../../runtime/delivery/worker.ts'
import { expirePasses } from '../../runtime/expiry.ts'
import { sweep } from '../../runtime/sweeper.ts'
import { createUsageMeter } from '../../runtime/usage.ts'
import { createWiper } from '../../runtime/wiper.ts'
import { makeTemplate, TEMPLATE } from '../api/fixtures.ts'
import { makeEndpoint, POSTS } from '../faults/posts.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/programs.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { openPlanner } from './plans.ts'
import { type Recorded, type Recorder, recordStatements } from './recorder.ts'

/** Statements that start without a tenant, or are for all of them. Exactly these, each by how it begins. */
const LOCATORS: readonly (readonly [begins: string, why: string])[] = [
  ['SELECT k.tenant_id, t.name, t.plan', 'a request starts with a key: its digest locates the tenant'],
  ['DELETE FROM idempotency_answers WHERE created <=', 'what has run out is swept for everybody'],
  ['SELECT tenant_id, id FROM passes p WHERE status IN', 'passes whose time is over are found for everybody'],
  ['SELECT tenant_id, wiped_at FROM wiped_spaces', 'workers empty whatever space was wiped'],
  ['WITH RECURSIVE tenant AS ( SELECT', 'workers claim for whatever tenant is next'],
  ['WITH due AS MATERIALIZED ( SELECT w.ctid', 'attempts become due whoever they are of'],
  [
    'WITH outcome AS ( SELECT * FROM json_to_recordset',
    'outcomes are written in batches; each names its tenant',
  ],
  ['WITH reaction AS ( SELECT * FROM json_to_recordset', 'so are reactions'],
  ['DELETE FROM live.events_default', 'what has been kept long enough goes, whoever it is of'],
  ['DELETE FROM live.webhook_attempts_default', 'so do attempts'],
  ['DELETE FROM control.challenges', 'what has run out is swept for everybody'],
  ['DELETE FROM control.totp_uses', 'what has run out is swept for everybody'],
  ['DELETE FROM control.wrong_codes', 'what has run out is swept for everybody'],
  ['WITH batch AS ( INSERT INTO usage_batches', 'use is added up in batches; each line names its tenant'],
  ['UPDATE control.keys k SET last_used_at', 'uses of keys are noted in batches; each line names its tenant'],
]

let recorder: Recorder
let service: TestService
let url: string

beforeAll(async () => {
  const database = await openTestDatabase({ poolSize: 6 })
  url = database.url
  recorder = recordStatements(database)
  service = await startTestService({ database: recorder.database, guarded: false })
})
afterAll(() => service.stop())

/** Lists with every filter that has a condition of its own. */
const LISTS = [
  '/v1/passes?limit=1&order=asc&status=issued&include_archived=true',
  '/v1/passes?status=expired&created[gte]=2026-01-01&created[lt]=2027-01-01',
  '/v1/passes/count?status=active',
  '/v1/pass_templates?kind=loyalty&status=active&created_after=2026-01-01',
  '/v1/audit_log?limit=2&action=pass.created&actor_id=key&target_id=x',
  '/v1/events?type=pass.created&created[gte]=2026-01-01',
  '/v1/webhook-endpoints?status=enabled&created[lt]=2027-01-01',
  '/v1/me',
]

/** Where the data of those tenants is whose sandbox was wiped. */
const spaces = new Map<string, string>()

/** What is of the tenant whatever its space is. */
const OF_THE_TENANT = /^(control\.|(sandbox\.|live\.)?audit_)/

/** Everything that requests can do, in both environments, by a tenant of its own; in the sandbox by one that wiped it before. */
async function tour(environment: 'sandbox' | 'live', plan: 'enterprise' | 'trial'): Promise<void> {
  const tenantId = await makeTenant(service, plan)
  const { secret } = await makeKey(service, tenantId, { environment, scope: 'admin' })
  const user = await createUser(service.operator, { tenantId, email: 'ada@example.com', role: 'owner' })
  const send = speak(service.urls[environment], { secret, version: current })
  if (environment === 'sandbox') {
    await makeTemplate(send)
    await makeEndpoint(send)
    const code = new TOTP({ secret: user.totp_secret }).generate()
    const call = { body: { confirm: 'wipe' }, headers: { 'Service-Factor': code } }
    expect((await send('/v1/account/wipe_sandbox', call)).status).toBe(200)
    spaces.set(tenantId, `${tenantId}.1`)
  }
  recorder.actFor(tenantId)
  for (const { prepare, status, factor } of POSTS.filter(({ operation }) => operation !== 'wipeSandbox')) {
    recorder.actFor(undefined)
    await service.database.control.query({ text: 'DELETE FROM control.totp_uses' })
    recorder.actFor(tenantId)
    const { path, body } = await prepare(send, { database: recorder.database, tenantId })
    const code = new TOTP({ secret: user.totp_secret }).generate()
    const headers = { 'Idempotency-Key': crypto.randomUUID(), ...(factor && { 'Service-Factor': code }) }
    const call = { method: 'POST', headers, ...(body === undefined ? {} : { body }) }
    expect([path, (await send(path, call)).status]).toEqual([path, status])
    await send(path, call)
    await send(path, { ...call, headers: { ...headers, 'Idempotency-Key': crypto.randomUUID() } })
  }
  await lookAround(send)
  const expires_at = new Date(service.clock.now + 60_000).toISOString()
  await send('/v1/passes', { body: { template_id: await makeTemplate(send), expires_at } })
  if (environment === 'sandbox') await watchEvents(secret)
  await comeBackLater(send, spaces.get(tenantId) ?? tenantId, service.database[environment])
  recorder.actFor(undefined)
}

async function lookAround(send: Send): Promise<void> {
  for (const path of LISTS) expect([path, (await send(path)).status]).toEqual([path, 200])
  for (const path of ['/v1/passes', '/v1/pass_templates', '/v1/webhook-endpoints', '/v1/audit_log']) {
    const { next_cursor, data } = (await send(`${path}?limit=1`)).body
    if (next_cursor === null) continue
    await send(`${path}?starting_after=${next_cursor}`)
    await send(`${path}?ending_before=${next_cursor}`)
    if (path === '/v1/audit_log') continue
    await send(`${path}/${data[0].id}`)
    await send(`${path}/${data[0].id}`, { method: 'PATCH', body: { metadata: { a: '1' } } })
  }
  const endpoint = `/v1/webhook-endpoints/${(await send('/v1/webhook-endpoints')).body.data[0].id}`
  const [attempt] = (await send(`${endpoint}/delivery-attempts`)).body.data
  await send(`${endpoint}/delivery-attempts?status=pending&event_id=${attempt.event_id}`)
  await send(`${endpoint}/delivery-attempts/${attempt.id}`)
  await send(`/v1/events/${attempt.event_id}`)
  await send(endpoint, { method: 'DELETE' })
  await send('/v1/account/billing', { method: 'PATCH', body: { billing_email: 'a@example.com' } })
}

/** Opens a stream and closes it when it has looked for events. */
async function watchEvents(secret: string): Promise<void> {
  const closing = new AbortController()
  await fetch(`${service.urls.sandbox}/v1/events/stream`, {
    headers: { Authorization: `Bearer ${secret}` },
    signal: closing.signal,
  })
  await until('a look', () => recorder.recorded.some(({ statement }) => statement.name === 'events_after'))
  closing.abort()
}

/** A key whose answer has run out, and the answer that another node has stored meanwhile. */
async function comeBackLater(send: Send, space: string, db: Database): Promise<void> {
  const key = crypto.randomUUID()
  const call = { body: TEMPLATE, headers: { 'Idempotency-Key': key } }
  const first = await send('/v1/pass_templates', call)
  service.clock.now += 25 * 3_600_000
  expect((await send('/v1/pass_templates', call)).body.id).not.toBe(first.body.id)
  expect((await readAnswer(db, space, key))?.status).toBe(201)
  service.clock.now -= 25 * 3_600_000
}

/** What no request does: counting, sweeping. */
async function runBackground(): Promise<void> {
  const { database, clock } = service
  const meter = createUsageMeter(database, clock)
  meter.count('sandbox', 'ten_x', 'key_x', 'read', clock.now)
  meter.count('live', 'ten_x', 'key_x', 'read', clock.now)
  await meter.flush()
  await sweep(database, clock)
  await createWiper({ database, clock, batch: 2, graceMs: 0 }).look()
  clock.now += 3_600_000
  await expirePasses({
    database,
    clock,
    baseUrls: { ...service.urls, console: '' },
    notices: { post: () => {} },
  })
  clock.now -= 3_600_000
  await retain({ control: database.control, clock, log: pino({ level: 'silent' }) })
}

/** An endpoint that never answers in time, until its last attempt disables it; the clock hurries on. */
async function runWorker(environment: 'sandbox' | 'live'): Promise<void> {
  const { database, clock } = service
  const began = clock.now
  const worker = createWorker({
    environment,
    pool: database[environment],
    clock,
    outbound: {
      judge: async () => undefined,
      post: async () => ({ error: 'late', kind: 'timeout', durationMs: 10_000 }),
      close: () => {},
    },
    seals: createSeals(database.pepper),
    log: pino({ level: 'silent' }),
    readPin: (tenantId) => readPin(database.control, tenantId, environment),
    pollMs: 10,
  })
  await until('the endpoint to be disabled', () => {
    clock.now += 600_000
    return worker.stats().attempts.disabled > 0
  })
  await worker.stop()
  clock.now = began
}

const plainText = ({ statement }: Recorded) => statement.text.replaceAll(/\s+/g, ' ').trim()

test('names its tenant in the plan of every access, and binds the one it is for', {
  timeout: 60_000,
}, async () => {
  await tour('sandbox', 'enterprise')
  await tour('live', 'trial')
  await runBackground()
  await runWorker('sandbox')
  await runWorker('live')
  const planner = await openPlanner(url)
  const used = new Set<string>()
  const wrong: unknown[] = []
  const judged = new Map<string, Awaited<ReturnType<typeof planner.accessesOf>>>()
  try {
    for (const recorded of recorder.recorded) {
      const text = plainText(recorded)
      // What defines a table reads no row of it.
      if (/^(CREATE|ALTER) TABLE /.test(text)) continue
      const locator = LOCATORS.find(([begins]) => text.startsWith(begins))
      if (locator) {
        used.add(locator[0])
        continue
      }
      const key = `${recorded.role} ${text}`
      const accesses = judged.get(key) ?? (await planner.accessesOf(recorded))
      judged.set(key, accesses)
      for (const { table, node, parameter } of accesses) {
        const bound = parameter === undefined ? 'nobody' : recorded.values[parameter - 1]
        // What no request asks for names a tenant all the same.
        const { tenantId } = recorded
        const space = OF_THE_TENANT.test(table) ? undefined : spaces.get(String(tenantId))
        if (bound !== (space ?? tenantId ?? (parameter && bound))) wrong.push({ table, node, bound, text })
      }
    }
  } finally {
    await planner.end()
  }
  expect(wrong).toEqual([])
  expect(LOCATORS.map(([begins]) => begins).filter((begins) => !used.has(begins))).toEqual([])
  const accesses = [...judged.values()].flat()
  console.log(
    `${recorder.recorded.length} statements of ${judged.size} texts, ${accesses.length} accesses to tenant tables`,
  )
  expect(accesses.length).toBeGreaterThan(60)
})

test('no statement moves a row to another tenant', () => {
  const setters = recorder.recorded
    .map(plainText)
    .flatMap((text) => [...text.matchAll(/\bSET (.*?)(?: FROM | WHERE | RETURNING |$)/g)])
    .map(([, assignments]) => assignments!)
  expect(setters.length).toBeGreaterThan(10)
  expect(setters.filter((assignments) => /\btenant_id\s*=/.test(assignments))).toEqual([])
})

test('every named statement of the environments was sent', () => {
  const directory = join(import.meta.dirname, '../../runtime/db')
  const named = readdirSync(directory)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(directory, file), 'utf8').matchAll(/\bname: '(\w+)',\n\s+text/g),
    ])
    .map(([, name]) => name!)
  const sent = new Set(recorder.recorded.map(({ statement }) => statement.name))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !sent.has(name))).toEqual([])
})
