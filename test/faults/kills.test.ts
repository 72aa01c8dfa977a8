/**
 * A service that does all of its work at once, for tenants who repeat what was not answered, and loses one connection to its
 * database after the other: the process stays, answers are the ones that were wanted or 503, and each effect is there once.
 */

import { randomBytes } from 'node:crypto'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { createUser } from '../../runtime/account/members/users.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { Browser, hiddenFields } from '../dashboard/support/dashboard.ts'
import { openReceiver, type Receiver } from '../events/delivery/receiver.ts'
import { bothCounts } from '../passes/counted.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'
import { type Send, speak } from '../support/service.ts'
import { persist } from './persist.ts'
import type { Post } from './post.ts'
import { POSTS } from './posts.ts'

/** Connections that are killed one after the other; `npm run prove:kills` takes more. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 4)

/** From which follows what each tenant does, and which connection is killed. */
const SEED = process.env.KILL_SEED ?? randomBytes(4).toString('hex')

const APPLICATION = 'service under fire'
const TENANTS = 6
/** Answers between two kills. */
const BETWEEN = 60

/** What a worker would be quicker with, what is sent to addresses of others, and what takes a second factor. */
const LEFT_OUT = new Set([
  ...['cancelPayout', 'simulatePayoutFailure', 'simulatePayoutReturn', 'retryDeliveryAttempt'],
  'cancelPassMessageBatch',
  'advanceSettlementClock', // a worker moves earlier settlements of the tenant meanwhile
  ...['createWebhookEndpoint', 'testWebhookEndpoint', 'rotateAuthorizationEndpointSecret'],
  ...['rotateCredentials', 'wipeSandbox', 'promoteSpendingControlDraft', 'rollBackSpendingControlDraft'],
])
const MIXED = POSTS.filter(({ operation }) => !LEFT_OUT.has(operation))

/** Numbers below 1 that follow from the words (xmur3 and mulberry32). */
function randomOf(words: string): () => number {
  let state = 1779033703 ^ words.length
  for (const letter of words) state = Math.imul(state ^ letter.charCodeAt(0), 3432918353)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Tenant {
  readonly id: string
  readonly send: Send
  /** With a second factor. */
  readonly confirm: Send
}

let database: TestDatabase
let receiver: Receiver
let program: Program
let addresses: { readonly sandbox: string; readonly console: string }
let tenants: readonly Tenant[]
let stopping = false
const counts = { answers: 0, repeated: 0, posts: 0, pages: 0, wipes: 0, compared: 0 }

beforeAll(async () => {
  ;[database, receiver] = await Promise.all([openTestDatabase({ poolSize: 4 }), openReceiver()])
  const env = {
    ...{ DATABASE_URL: `${database.url}?application_name=${encodeURIComponent(APPLICATION)}` },
    ...{ SVC_PEPPER: database.pepper, DATABASE_POOL_SIZE: '9', SVC_WEBHOOK_ALLOW: '127.0.0.0/8' },
  }
  program = startService(env, ['--json'])
  const { sandbox_base_url, console_url } = await program.ready()
  addresses = { sandbox: String(sandbox_base_url), console: String(console_url) }
  tenants = await Promise.all(Array.from({ length: TENANTS }, openTenant))
}, 120_000)
afterAll(async () => {
  await endPrograms()
  receiver.close()
  await database.close()
})

/** With an endpoint that wants all events, and room for more than a customer would ask for. */
async function openTenant(): Promise<Tenant> {
  const { operator } = database
  const { id: tenantId } = await createTenant(operator, { name: 'Crash', plan: 'enterprise' }, current)
  const email = `${tenantId}@example.com`
  const { totp_secret } = await createUser(operator, { tenantId, email, role: 'owner' })
  for (const bucket of ['read', 'passes_write', 'templates_write', 'cards_write', 'settlements_write']) {
    await liftLimit(operator, { tenantId, environment: 'sandbox', bucket, factor: 1000, hours: 1 })
  }
  const { secret } = await createKey(operator, { tenantId, environment: 'sandbox', scope: 'admin' })
  const speaks = speak(addresses.sandbox, { secret, version: current })
  const send = persist(speaks, counts)
  await send('/v1/webhook-endpoints', { body: { url: `${receiver.url}/${tenantId}`, enabled_events: ['*'] } })
  const confirm = persist(async (path, call = {}) => {
    // A code is good once, and the next comes in half a minute.
    for (const table of ['totp_uses', 'wrong_codes']) {
      await database.control.query({ text: `DELETE FROM control.${table} WHERE tenant_id = $1` }, [tenantId])
    }
    const code = new TOTP({ secret: totp_secret }).generate()
    return speaks(path, { ...call, headers: { ...call.headers, 'Service-Factor': code } })
  }, counts)
  return { id: tenantId, send, confirm }
}

const one = async (text: string, ...values: readonly unknown[]): Promise<number> =>
  (await database.control.query<{ count: number }>({ text }, values)).rows[0]!.count

/** Does one thing after the other, each of which has to have had its effect once when it is answered. */
async function work({ id: tenantId, send }: Tenant, random: () => number): Promise<void> {
  while (!stopping) {
    const post = MIXED[Math.floor(random() * MIXED.length)]!
    const name = [post.operation, post.about]
    const { path, body, id } = await post.prepare(send, { database, tenantId, space: tenantId })
    const key = crypto.randomUUID()
    const headers = { 'Idempotency-Key': key }
    const before = await placesOf(tenantId)
    const ask = () => send(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) })
    const first = await ask()
    expect([...name, first.status, first.text]).toEqual([...name, post.status, first.text])
    const again = await ask()
    expect([...name, again.text, again.headers.get('Idempotency-Replayed')]).toEqual([
      ...name,
      first.text,
      'true',
    ])
    expect([...name, await one(post.effect, tenantId, id)]).toEqual([...name, post.once])
    const { events, audit } = post
    expect([...name, await traceOf(post, tenantId, key, before)]).toEqual([
      ...name,
      { answers: 1, events, audit },
    ])
    counts.posts += 1
  }
}

/** What is kept of a POST: its answer, and what was told and entered of it behind the places where both lists ended before. */
async function traceOf({ events, audit }: Post, tenantId: string, key: string, [told, entered]: Places) {
  const kept =
    'SELECT count(*) AS count FROM sandbox.idempotency_answers WHERE tenant_id = $1 AND key = $2::uuid'
  // Workers tell and enter other things meanwhile.
  const list = async (table: string, column: string, after: number, among: readonly string[]) => {
    const text = `SELECT ${column} AS name FROM sandbox.${table}
                   WHERE tenant_id = $1 AND sequence > $2 AND ${column} = ANY ($3) ORDER BY sequence`
    const { rows } = await database.control.query<{ name: string }>({ text }, [tenantId, after, among])
    return rows.map(({ name }) => name)
  }
  return {
    answers: await one(kept, tenantId, key),
    events: await list('events', 'type', told, events),
    audit: await list('audit_log', 'action', entered, audit),
  }
}

type Places = readonly [events: number, audit: number]

const placesOf = async (tenantId: string): Promise<Places> => {
  const [events, audit] = await Promise.all(
    ['events', 'audit_log'].map((table) =>
      one(`SELECT coalesce(max(sequence), 0) AS count FROM sandbox.${table} WHERE tenant_id = $1`, tenantId),
    ),
  )
  return [events!, audit!]
}

/** Reads of every kind, the stream of events and long counts among them. */
async function read({ send }: Tenant, random: () => number): Promise<void> {
  const paths = [
    '/v1/me',
    '/v1/passes?limit=5',
    '/v1/passes/count',
    '/v1/balance',
    '/v1/events?limit=5',
    '/v1/audit_log',
  ]
  while (!stopping) {
    const path = paths[Math.floor(random() * paths.length)]!
    expect([path, (await send(path)).status]).toEqual([path, 200])
  }
}

/** Compares the kept pass counts with the passes while the tenant writes. */
async function compareCounts({ id }: Tenant): Promise<void> {
  while (!stopping) {
    const { kept, counted } = await bothCounts(database.sandbox, id)
    if (kept) counts.compared += 1
    expect([id, kept ?? counted]).toEqual([id, counted])
  }
}

/** A tenant who begins anew all the time: in tables of the account too. */
async function wipe({ send, confirm }: Tenant): Promise<void> {
  while (!stopping) {
    const { body: template } = await send('/v1/pass_templates', { body: TEMPLATE })
    await send('/v1/passes', { body: { template_id: template.id } })
    expect((await send('/v1/passes/count')).body.count).toBe(1)
    const { status, text } = await confirm('/v1/account/wipe_sandbox', { body: { confirm: 'wipe' } })
    expect([status, text]).toEqual([200, text])
    counts.wipes += 1
  }
}

const TEMPLATE = {
  name: 'Coffee loyalty',
  kind: 'loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [],
}

/** Somebody who does not know the password, and looks at what is answered. */
async function signIn(): Promise<void> {
  const browser = new Browser(addresses.console, '')
  while (!stopping) {
    const { status, text } = await browser.get('/sign-in')
    if (status !== 503) {
      const fields = { ...hiddenFields(text, '/sign-in'), email: 'a@example.com', password: 'p', code: '1' }
      const answer = await browser.post('/sign-in', fields)
      expect([answer.status < 500 || answer.status === 503, answer.text]).toEqual([true, answer.text])
    }
    counts.pages += 1
  }
}

/** Ends a connection of the service; gives what it was in the middle of. */
async function kill(random: () => number): Promise<string> {
  const text = `SELECT pid, state, coalesce(substring(query, 1, 60), '') AS query FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = $1 ORDER BY backend_start, pid`
  const { rows } = await database.control.query<{ pid: number; state: string; query: string }>({ text }, [
    APPLICATION,
  ])
  // Half of the time one that is in the middle of something.
  const busy = rows.filter(({ state }) => state !== 'idle')
  const among = busy.length > 0 && random() < 0.5 ? busy : rows
  const victim = among[Math.floor(random() * among.length)]!
  await database.control.query({ text: 'SELECT pg_terminate_backend($1)' }, [victim.pid])
  return `${victim.state}: ${victim.query}`
}

const DELIVERED = `SELECT count(*) AS count FROM sandbox.events e
  WHERE e.tenant_id = $1 AND e.audience = 'subscribed' AND NOT EXISTS (
    SELECT FROM sandbox.webhook_attempts a WHERE a.tenant_id = $1 AND a.event_id = e.id AND a.status = 'succeeded')`

const GAPS = `SELECT count(*) AS count FROM (
  SELECT e.sequence - row_number() OVER (PARTITION BY e.tenant_id ORDER BY e.sequence) AS shift, e.tenant_id
    FROM sandbox.events e WHERE e.tenant_id = $1) AS numbered WHERE shift <> 0`

test(`the service survives ${ROUNDS} killed connections`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const random = randomOf(SEED)
  console.log(`seed ${SEED}`)
  const [wiping, ...working] = tenants
  const load = Promise.all([
    wipe(wiping!),
    signIn(),
    ...working.map((tenant, index) => work(tenant, randomOf(`${SEED} ${index}`))),
    compareCounts(working[0]!),
    ...working.slice(0, 2).map((tenant, index) => read(tenant, randomOf(`${SEED} reads ${index}`))),
  ]).finally(() => {
    stopping = true
  })
  for (let round = 0; round < ROUNDS && !stopping; round += 1) {
    const { answers } = counts
    await until('answers', () => stopping || counts.answers > answers + BETWEEN, 60_000)
    console.log(`round ${round}: ${await kill(random)}`)
  }
  const { answers } = counts
  await until('it to go on', () => stopping || counts.answers > answers + BETWEEN, 60_000)
  stopping = true
  await load
  expect([program.child.exitCode, program.child.signalCode]).toEqual([null, null])
  const ready = await fetch(`${addresses.console}/readyz`)
  expect(ready.status).toBe(200)
  for (const { id } of working) {
    await until('all to be delivered', async () => (await one(DELIVERED, id)) === 0, 60_000)
    expect([id, await one(GAPS, id)]).toEqual([id, 0])
    const { kept, counted } = await bothCounts(database.sandbox, id)
    expect([id, kept]).toEqual([id, counted])
    await verifyLedger(database.operator, id)
  }
  for (const { id } of tenants) await verifyAudit(database.operator, id, 'sandbox')
  console.log(counts)
})
