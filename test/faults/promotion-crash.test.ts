/**
 * A service that is killed in the middle of a promotion, at every statement that live's role sends and every answer that it
 * waits for: live has all of it or nothing, and the same request to the next service has one effect.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { createTenant, verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { ENDPOINT, make, PROGRAM, TEMPLATE } from '../account/promotions/setup.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'
import { speak } from '../support/service.ts'
import { persist } from './persist.ts'
import { openWire, type Point, STEP, transactionPoints, type Wire } from './wire.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await openTestDatabase({ poolSize: 4 })
})
afterAll(async () => {
  await endPrograms()
  await database.close()
})

/** A service in a process of its own, on a wire that stops live's role. */
interface Node {
  readonly program: Program
  readonly wire: Wire
  readonly urls: { readonly sandbox: string; readonly live: string }
}

async function liveRole(): Promise<string> {
  const { rows } = await database.live.query<{ role: string }>({ text: 'SELECT current_user AS role' })
  return rows[0]!.role
}

async function startNode(): Promise<Node> {
  const wire = await openWire(database.url, { [await liveRole()]: ['transaction', 'single'] })
  const env = { DATABASE_URL: wire.url, SVC_PEPPER: database.pepper }
  const program = startService(env, ['--json', '--role', 'api'])
  const { sandbox_base_url, live_base_url } = await program.ready()
  return { program, wire, urls: { sandbox: String(sandbox_base_url), live: String(live_base_url) } }
}

/** Two objects of a type, of a tenant of their own, and the request that promotes them. */
interface Attempt {
  readonly tenantId: string
  readonly liveSecret: string
  readonly body: object
  readonly type: string
  readonly headers: Readonly<Record<string, string>>
}

const TYPES = [
  ['pass_template', '/v1/pass_templates', TEMPLATE],
  ['card_program', '/v1/card_programs', PROGRAM],
  ['webhook_endpoint', '/v1/webhook-endpoints', ENDPOINT],
] as const

async function prepare(node: Node, [type, path, content]: (typeof TYPES)[number]): Promise<Attempt> {
  const { id: tenantId } = await createTenant(
    database.operator,
    { name: 'Crash', plan: 'enterprise' },
    current,
  )
  await verifyTenant(database.operator, tenantId)
  const key = await createKey(database.operator, { tenantId, environment: 'sandbox', scope: 'admin' })
  const live = await createKey(database.operator, { tenantId, environment: 'live', scope: 'admin' })
  const send = persist(speak(node.urls.sandbox, { secret: key.secret, version: current }))
  const sandbox_ids = [await make(send, path, content), await make(send, path, content)]
  const headers = {
    'Idempotency-Key': randomUUID(),
    'Service-Sandbox-Authorization': `Bearer ${key.secret}`,
  }
  return { tenantId, liveSecret: live.secret, body: { resource_type: type, sandbox_ids }, type, headers }
}

const ask = (node: Node, { liveSecret, body, headers }: Attempt) =>
  persist(speak(node.urls.live, { secret: liveSecret, version: current }))('/v1/promotions', {
    body,
    headers,
  })

/** What live has of an attempt, table by table. */
async function stateOf({ tenantId, type }: Attempt): Promise<Record<string, number>> {
  const counts = {
    objects: `${type}s`,
    copies: 'promoted_objects',
    promotions: 'promotions',
    answers: 'idempotency_answers',
    entries: `audit_log WHERE actor_type = 'key' AND`,
    told: `events WHERE type = 'promotion.created' AND`,
  }
  const columns = Object.entries(counts).map(([name, table]) => {
    const where = table.endsWith(' AND') ? table : `${table} WHERE`
    return `(SELECT count(*) FROM live.${where} tenant_id = $1) AS ${name}`
  })
  const { rows } = await database.control.query<Record<string, number>>(
    { text: `SELECT ${columns.join(', ')}` },
    [tenantId],
  )
  return rows[0]!
}

const NOTHING = { objects: 0, copies: 0, promotions: 0, answers: 0, entries: 0, told: 0 }
const WHOLE = { objects: 2, copies: 2, promotions: 1, answers: 1, entries: 3, told: 2 }

/** Asks, kills the service when it has stopped or answered, and tells which. */
async function killAt(node: Node, point: Point, attempts: readonly Attempt[]): Promise<Attempt[]> {
  const answered = new Set<Attempt>()
  const failed: unknown[] = []
  node.wire.stopAt(point)
  const asked = attempts.map((attempt) =>
    ask(node, attempt).then(
      () => answered.add(attempt),
      (error: unknown) => failed.push(error),
    ),
  )
  await until('each to stop', () => {
    // Before the kill none of them fails.
    if (failed.length > 0) throw failed[0]
    const stopped = node.wire.stopped()
    return attempts.every(
      (attempt) => answered.has(attempt) || stopped.some((sent) => sent.includes(attempt.tenantId)),
    )
  })
  await node.program.end('SIGKILL')
  node.wire.end()
  await Promise.all(asked)
  return attempts.filter((attempt) => !answered.has(attempt))
}

/** The killed service's transactions end when the server notices. */
async function forgotten(): Promise<void> {
  const text = `SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND usename = $1 AND (state <> 'idle' OR xact_start IS NOT NULL)`
  const role = await liveRole()
  await until('the transactions to end', async () => {
    const { rows } = await database.control.query<{ count: number }>({ text }, [role])
    return rows[0]!.count === 0
  })
}

/** Live has all of it or nothing; asked again it has all of it, once, and asked again it answers the same. */
async function expectOneEffect(node: Node, attempt: Attempt): Promise<void> {
  const { type, tenantId } = attempt
  const before = await stateOf(attempt)
  const isDone = before.promotions !== 0
  expect([type, before]).toEqual([type, isDone ? WHOLE : NOTHING])
  const retried = await ask(node, attempt)
  const replayed = isDone ? 'true' : null
  expect([type, retried.status, retried.headers.get('Idempotency-Replayed')]).toEqual([type, 201, replayed])
  expect((await ask(node, attempt)).text).toBe(retried.text)
  expect([type, await stateOf(attempt)]).toEqual([type, WHOLE])
  await verifyAudit(database.operator, tenantId, 'live')
}

test('a promotion killed at its statements is whole or not there at all, once', {
  timeout: 300_000,
}, async () => {
  let node = await startNode()
  let types: readonly (typeof TYPES)[number][] = TYPES
  const killed: Record<string, number> = {}
  for (const point of transactionPoints()) {
    const attempts = await Promise.all(types.map((type) => prepare(node, type)))
    const next = startNode()
    const stopped = await killAt(node, point, attempts)
    node = await next
    await forgotten()
    for (const attempt of attempts) await expectOneEffect(node, attempt)
    for (const { type } of stopped) killed[type] = (killed[type] ?? 0) + 1
    // Whoever has no such statement has none behind it.
    types = types.filter(([type]) => stopped.some((attempt) => attempt.type === type))
    if (types.length === 0) break
  }
  console.log('killed at so many points:', killed)
  // BEGIN, claim, lock, copies, two objects with their copies, the promotion, what is kept and COMMIT.
  for (const [type] of TYPES) expect([type, (killed[type] ?? 0) * STEP >= 10]).toEqual([type, true])
})
