/**
 * A service that is killed in the middle of its POSTs: before the first statement that it sends, and at each statement
 * when the database has done it and the service has not heard. To the database the moment before the next is the same.
 * What it holds agrees at once, and the same request to the next service has one effect.
 */

import { randomUUID } from 'node:crypto'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { createUser } from '../../runtime/account/members/users.ts'
import { readEventHead } from '../../runtime/events/emit/queries.ts'
import { handlers } from '../../runtime/process/handlers.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'
import { type Answer, type Send, speak } from '../support/service.ts'
import { persist } from './persist.ts'
import type { Post } from './post.ts'
import { POSTS, UNTOLD } from './posts.ts'
import { openWire, type Point, STEP, transactionPoints, type Wire } from './wire.ts'

/** Room for all POSTs at once, each on a connection of its own. */
const POOL_SIZE = String(POSTS.length * 4)

let database: TestDatabase
let tenants: readonly { readonly id: string; readonly secret: string; readonly totp: string | undefined }[]

/** A service in a process of its own, on a wire of its own. */
interface Node {
  readonly program: Program
  readonly wire: Wire
  readonly url: string
  readonly role: string
}

async function startNode(): Promise<Node> {
  const { rows } = await database.sandbox.query<{ role: string }>({ text: 'SELECT current_user AS role' })
  const role = rows[0]!.role
  const wire = await openWire(database.url, {
    [role]: ['transaction', 'single'],
    [decodeURIComponent(new URL(database.url).username)]: ['transaction'],
  })
  const env = { DATABASE_URL: wire.url, SVC_PEPPER: database.pepper, DATABASE_POOL_SIZE: POOL_SIZE }
  const program = startService(env, ['--json', '--role', 'api'])
  const { sandbox_base_url } = await program.ready()
  return { program, wire, url: String(sandbox_base_url), role }
}

beforeAll(async () => {
  database = await openTestDatabase({ poolSize: 8 })
  tenants = await Promise.all(
    POSTS.map(async (post) => {
      const { id } = await createTenant(database.operator, { name: 'Crash', plan: 'enterprise' }, current)
      const { secret } = await createKey(database.operator, {
        tenantId: id,
        environment: 'sandbox',
        scope: 'admin',
      })
      if (!post.factor) return { id, secret, totp: undefined }
      const user = await createUser(database.operator, {
        tenantId: id,
        email: 'ada@example.com',
        role: 'owner',
      })
      return { id, secret, totp: user.totp_secret }
    }),
  )
})
afterAll(async () => {
  await endPrograms()
  await database.close()
})

/** One POST of one round. */
interface Attempt {
  readonly post: Post
  readonly tenantId: string
  readonly secret: string
  readonly totp: string | undefined
  readonly key: string
  readonly id: string
  readonly path: string
  readonly body: unknown
  readonly audited: number
  /** Number of the tenant's newest event before. */
  readonly told: number
}

const sender = (node: Node, secret: string): Send => persist(speak(node.url, { secret, version: current }))

async function count(text: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await database.control.query<{ count: number }>({ text }, values)
  return rows[0]!.count
}

/** What the tenant's audit log tells, in its order. */
async function auditOf(tenantId: string): Promise<string[]> {
  const text = 'SELECT action FROM sandbox.audit_log WHERE tenant_id = $1 ORDER BY sequence'
  const { rows } = await database.control.query<{ action: string }>({ text }, [tenantId])
  return rows.map(({ action }) => action)
}

/** Types of the tenant's events with a number above `after`, which must follow on it without a gap. */
async function eventsOf(tenantId: string, after: number): Promise<string[]> {
  const text =
    'SELECT sequence, type FROM sandbox.events WHERE tenant_id = $1 AND sequence > $2 ORDER BY sequence'
  const { rows } = await database.control.query<{ sequence: number; type: string }>({ text }, [
    tenantId,
    after,
  ])
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => after + 1 + index))
  return rows.map(({ type }) => type)
}

async function prepare(node: Node, posts: readonly Post[]): Promise<Attempt[]> {
  return Promise.all(
    posts.map(async (post) => {
      const { id: tenantId, secret, totp } = tenants[POSTS.indexOf(post)]!
      const { path, body, id } = await post.prepare(sender(node, secret), {
        database,
        tenantId,
        space: tenantId,
      })
      const audited = (await auditOf(tenantId)).length
      const { sequence: told } = await readEventHead(database.sandbox, tenantId)
      return { post, tenantId, secret, totp, key: randomUUID(), id, path, body, audited, told }
    }),
  )
}

/** A client takes 503 as it takes no answer: as a request that it repeats. */
async function ask(node: Node, { tenantId, secret, totp, key, path, body }: Attempt): Promise<Answer> {
  const send = speak(node.url, { secret, version: current })
  const confirm: Send = async (to, call = {}) => {
    if (totp === undefined) return send(to, call)
    // A code is good once, and the next comes in half a minute.
    for (const table of ['totp_uses', 'wrong_codes']) {
      await database.control.query({ text: `DELETE FROM control.${table} WHERE tenant_id = $1` }, [tenantId])
    }
    const code = new TOTP({ secret: totp }).generate()
    return send(to, { ...call, headers: { ...call.headers, 'Service-Factor': code } })
  }
  const headers = { 'Idempotency-Key': key }
  return persist(confirm)(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) })
}

/** Statements of the service's own, which tell of many tenants: the request log and the counts of use. */
const OWN_WORK = /requests_add|usage_add|usage_batches/

/** Asks for everything at once, kills the service when each has stopped or is answered, and tells which had stopped. */
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
  const { wire, program } = node
  await until('each to stop', () => {
    // Before the kill none of them fails.
    if (failed.length > 0) throw failed[0]
    const stopped = wire.stopped().filter((sent) => !OWN_WORK.test(sent))
    return attempts.every(
      (attempt) => answered.has(attempt) || stopped.some((sent) => sent.includes(attempt.tenantId)),
    )
  })
  await program.end('SIGKILL')
  wire.end()
  await Promise.all(asked)
  return attempts.filter((attempt) => !answered.has(attempt))
}

/** The killed service's transactions end when the server notices. */
async function forgotten(role: string): Promise<void> {
  const text = `SELECT count(*) AS count FROM pg_stat_activity
                WHERE datname = current_database() AND usename = $1 AND (state <> 'idle' OR xact_start IS NOT NULL)`
  await until('the transactions to end', async () => (await count(text, [role])) === 0)
}

/** What the database holds of an attempt: its effect, its answer, its audit entry, its events. */
async function stateOf({ post, tenantId, key, id, audited, told }: Attempt) {
  return {
    effect: await count(post.effect, [tenantId, id]),
    answers: await count(
      `SELECT count(*) AS count FROM sandbox.idempotency_answers
        WHERE split_part(tenant_id, '.', 1) = $1 AND key = $2::uuid`,
      [tenantId, key],
    ),
    audited: (await auditOf(tenantId)).slice(audited),
    told: await eventsOf(tenantId, told),
  }
}

const nameOf = ({ operation, about }: Post) => (about === undefined ? operation : `${operation}, ${about}`)

/** Each attempt is whole or has not been; retried it is whole, once, and retried again it answers the same. */
async function expectOneEffect(node: Node, attempt: Attempt): Promise<void> {
  const { post } = attempt
  const done = { effect: post.once, answers: 1, audited: post.audit, told: post.events }
  const before = await stateOf(attempt)
  const about = nameOf(post)
  expect([about, before]).toEqual([
    about,
    before.answers === 0 ? { effect: 0, answers: 0, audited: [], told: [] } : done,
  ])
  const retried = await ask(node, attempt)
  const replayed = before.answers === 1 ? 'true' : null
  expect([about, retried.status, retried.headers.get('Idempotency-Replayed')]).toEqual([
    about,
    post.status,
    replayed,
  ])
  const again = await ask(node, attempt)
  expect([about, again.text, again.headers.get('Idempotency-Replayed')]).toEqual([
    about,
    retried.text,
    'true',
  ])
  expect([about, await stateOf(attempt)]).toEqual([about, done])
}

function* points(): Generator<Point> {
  for (const side of ['before', 'after'] as const) yield { kind: 'single', statement: 1, side }
  yield* transactionPoints()
}

/** Of so many starts as there are statements; whatever is waited for in them has a limit of its own. */
const ALL_STARTS_MS = 300_000

test('a service killed at the statements of every POST leaves one effect each', {
  timeout: ALL_STARTS_MS,
}, async () => {
  const killed = new Map<string, number>()
  let node = await startNode()
  let posts = POSTS
  for (const point of points()) {
    const attempts = await prepare(node, posts)
    const next = startNode()
    const stopped = await killAt(node, point, attempts)
    node = await next
    await forgotten(node.role)
    await Promise.all(attempts.map((attempt) => expectOneEffect(node, attempt)))
    for (const { post } of stopped) killed.set(nameOf(post), (killed.get(nameOf(post)) ?? 0) + 1)
    // Whoever has no such statement has none behind it.
    if (point.kind === 'transaction') posts = stopped.map(({ post }) => post)
    if (posts.length === 0) break
  }
  console.log('killed at so many points:', killed)
  for (const { id } of tenants) await verifyAudit(database.operator, id, 'sandbox')
  // BEGIN, claim, work, what is kept and COMMIT, and before all; of what is refused before it is begun, no claim and no work.
  for (const post of POSTS) {
    const points = killed.get(nameOf(post)) ?? 0
    expect([nameOf(post), points * STEP >= (post.about === undefined ? 6 : 4)]).toEqual([nameOf(post), true])
  }
})

test('the story tells of every POST that has a handler', () => {
  const posts = new Set(
    versions.flatMap(({ operations }) =>
      operations.filter(({ method }) => method === 'POST').map(({ id }) => id),
    ),
  )
  const written = Object.keys(handlers).filter((id) => posts.has(id))
  const told = new Set([...POSTS.map(({ operation }) => operation), ...Object.keys(UNTOLD)])
  expect(written.filter((id) => !told.has(id))).toEqual([])
})
