/** Tenants that decide on authorizations themselves: what they are asked, and what comes of each kind of answer. */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { abandonedDecisionWorker } from '../../runtime/cards/decisions/abandoned-job.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { refusal } from '../api/fixtures.ts'
import { checkEvent, checkQuestion } from '../support/contract.ts'
import { endPrograms, startService, until } from '../support/programs.ts'
import { type Answer, makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { CARD_VERSIONS, make, makeCard, patch } from './fixtures.ts'

type Body = Answer['body']

/** A request to the tenant's endpoint, to be answered. */
interface Asked {
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly body: Body
  readonly response: ServerResponse
  answer(body: unknown, status?: number): void
}

const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' } })
let endpoint: Server
let url: string
const asked: Asked[] = []
/** How the endpoint answers; undefined: it holds the question. */
let reply: ((question: Asked) => void) | undefined

beforeAll(async () => {
  endpoint = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const question: Asked = {
      headers: request.headers,
      text,
      body: JSON.parse(text),
      response,
      answer: (body, status = 200) => response.writeHead(status).end(JSON.stringify(body)),
    }
    asked.push(question)
    reply?.(question)
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/authorizations`
})
afterAll(async () => {
  await endPrograms()
  endpoint.closeAllConnections()
  endpoint.close()
})
beforeEach(() => {
  asked.length = 0
  reply = (question) => question.answer({ approved: true })
})

interface Tenant {
  readonly id: string
  readonly send: Send
  readonly secret: string
  readonly signing: string
  readonly card: string
}

/** A tenant with a card, 100 dollars and an endpoint. */
async function tenantWith(setting: object = {}, version = '2026-05-19'): Promise<Tenant> {
  const id = await makeTenant(service, 'enterprise', version)
  const { secret } = await makeKey(service, id, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret, version: '2026-05-19' })
  const put = await send('/v1/authorization_endpoint', { method: 'PUT', body: { url, ...setting } })
  const signing = put.body.secret
  await send('/v1/test/funding', { body: { amount: 10_000 } })
  return { id, send, secret, signing, card: (await makeCard(send)).id }
}

const MERCHANT = { name: 'Harbor Diner', category_code: '5812', country: 'US' }
const PATH = '/v1/test/cards/simulate_authorization'
const use = (card: string, amount = 1000) => ({ card_id: card, amount, merchant: MERCHANT })

const authorize = ({ send, card }: Tenant, amount = 1000): Promise<Body> =>
  make(send, PATH, use(card, amount))
const decisionOf = async ({ send }: Tenant, { decision_id }: Body): Promise<Body> =>
  (await send(`/v1/authorization_decisions/${decision_id}`)).body
const available = async ({ send }: Tenant) => (await send('/v1/balance')).body.available

/** Types of events about decisions and transactions. */
async function told({ send }: Tenant): Promise<string[]> {
  const { data } = (await send('/v1/events?order=asc&limit=100')).body
  const about = data.filter(({ type }: Body) => /^(card\.transaction|authorization_decision)\./.test(type))
  expect(about.flatMap(checkEvent)).toEqual([])
  return about.map(({ type }: Body) => type)
}

describe('what is asked', () => {
  test.each(['2025-06-01', ...CARD_VERSIONS])(
    'the endpoint of a tenant pinned to %s is asked with a signature and in its version',
    async (version) => {
      const tenant = await tenantWith({}, version)
      // The rules and the shadow are newer than the old pins.
      const spending_controls = {
        allowed_entry_methods: ['contactless'],
        merchant_limits: [{ amount: 7000, interval: 'daily' }],
      }
      await patch(tenant.send, `/v1/cards/${tenant.card}`, { spending_controls })
      const draft = { name: 'Shadow', spending_controls: { blocked_entry_methods: ['contactless'] } }
      const { id } = await make(tenant.send, '/v1/spending_control_drafts', draft)
      await tenant.send(`/v1/spending_control_drafts/${id}/shadow`, { body: {} })
      const transaction = await make(tenant.send, PATH, {
        ...use(tenant.card),
        ...{ entry_method: 'contactless', checks: { cvc: 'match' } },
      })
      expect(transaction.shadow_decisions[0].outcome).toBe('would_decline')
      const [question] = asked
      const { text, headers, body } = question!
      const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
        String(headers['service-signature'] ?? headers['svc-signature']),
      )!
      expect(createHmac('sha256', tenant.signing).update(`${seconds}.${text}`).digest('hex')).toBe(signature)
      expect(Math.abs(Number(seconds) * 1000 - Date.now())).toBeLessThan(60_000)
      expect(body).toMatchObject({
        id: transaction.decision_id,
        object: 'authorization_decision',
        version: version < '2026-02-01' ? '2026-02-01' : version,
        data: { card_transaction: { id: transaction.id, status: 'authorized', merchant: MERCHANT } },
      })
      expect(checkQuestion(body)).toEqual([])
    },
  )

  test('no endpoint is asked when the rules decline or there is none', async () => {
    const tenant = await tenantWith()
    expect((await authorize(tenant, 10_001)).decline_reason.code).toBe('insufficient_funds')
    await tenant.send('/v1/authorization_endpoint', { method: 'DELETE' })
    expect((await authorize(tenant)).status).toBe('authorized')
    expect(asked).toEqual([])
    expect((await tenant.send('/v1/authorization_decisions')).body.data).toEqual([])
  })

  test('the question to an endpoint is also signed with the old secret for a day after its rotation', async () => {
    const tenant = await tenantWith()
    await tenant.send('/v1/authorization_endpoint/rotate_secret', { method: 'POST' })
    await authorize(tenant)
    expect(String(asked[0]!.headers['service-signature']).match(/v1=/g)).toHaveLength(2)
  })
})

describe('an answer in time', () => {
  test('an endpoint that answers in time approves an authorization', async () => {
    const tenant = await tenantWith()
    reply = (question) => question.answer({ approved: true, metadata: { rule: 'lunch' } })
    const transaction = await authorize(tenant)
    expect(transaction).toMatchObject({ status: 'authorized', amounts: { authorized: 1000, held: 1000 } })
    expect(transaction.rules.at(-1)).toEqual({ rule: 'decision', outcome: 'passed' })
    expect(await decisionOf(tenant, transaction)).toMatchObject({
      card_transaction_id: transaction.id,
      status: 'responded',
      approved: true,
      amount: null,
      decline_reason: null,
      duration_ms: expect.any(Number),
      default_action_used: false,
      metadata: { rule: 'lunch' },
    })
    expect(await available(tenant)).toBe(9000)
    expect(await told(tenant)).toEqual(['card.transaction.authorized'])
  })

  test('an endpoint that answers in time approves a part of an authorization', async () => {
    const tenant = await tenantWith()
    reply = (question) => question.answer({ approved: true, amount: 400 })
    const { amounts, id } = await authorize(tenant)
    expect(amounts).toMatchObject({ requested: 1000, authorized: 400, held: 400 })
    expect(await available(tenant)).toBe(9600)
    const clearing = { card_transaction_id: id }
    const cleared = await tenant.send('/v1/test/cards/simulate_clearing', { body: clearing })
    expect(cleared.body.amounts).toMatchObject({ cleared: 400, held: 0 })
  })

  test.each([
    [{ approved: false }, 'decision_declined'],
    [{ approved: false, decline_reason: 'suspected_fraud' }, 'suspected_fraud'],
  ])('an endpoint that answers in time declines an authorization: %j', async (given, code) => {
    const tenant = await tenantWith({ default_action: 'approve' })
    reply = (question) => question.answer(given)
    const transaction = await authorize(tenant)
    expect(transaction).toMatchObject({ status: 'declined', decline_reason: { code } })
    expect(await decisionOf(tenant, transaction)).toMatchObject({ status: 'responded', approved: false })
    expect(await available(tenant)).toBe(10_000)
    expect(await told(tenant)).toEqual(['card.transaction.declined'])
  })
})

test('while an endpoint is away, authorizations are approved up to its maximum', async () => {
  reply = ({ response }) => response.destroy()
  const tenant = await tenantWith({ default_action: 'approve', default_max_amount: 1000 })
  const [within, above] = [await authorize(tenant, 1000), await authorize(tenant, 1001)]
  expect(within.status).toBe('authorized')
  expect(above.decline_reason.code).toBe('decision_errored')
  const path = '/v1/authorization_decisions?stand_in_reason='
  expect((await tenant.send(`${path}connection_failed`)).body.data).toHaveLength(2)
  expect((await tenant.send(`${path}bad_status`)).body.data).toEqual([])
  const older = speak(service.urls.sandbox, { secret: tenant.secret, version: '2026-02-01' })
  expect((await older(`/v1/authorization_decisions/${above.decision_id}`)).body).not.toHaveProperty(
    'stand_in_reason',
  )
  // Versions that lack the maximum keep it.
  const setting = { url, default_action: 'approve' }
  const put = await older('/v1/authorization_endpoint', { method: 'PUT', body: setting })
  expect(put.body).not.toHaveProperty('default_max_amount')
  expect((await tenant.send('/v1/authorization_endpoint')).body.default_max_amount).toBe(1000)
  const lifted = { ...setting, default_max_amount: null }
  await tenant.send('/v1/authorization_endpoint', { method: 'PUT', body: lifted })
  expect((await authorize(tenant, 1001)).status).toBe('authorized')
})

describe('about an authorization of 0, which verifies the card', () => {
  test.each([{ approved: true }, { approved: true, amount: 0 }])(
    'an endpoint approves a verification of the card with %j',
    async (given) => {
      const tenant = await tenantWith({ default_action: 'decline' })
      reply = (question) => question.answer(given)
      const transaction = await authorize(tenant, 0)
      expect(transaction).toMatchObject({ status: 'authorized', amounts: { requested: 0, held: 0 } })
      expect(asked[0]!.body.data.card_transaction).toMatchObject({
        id: transaction.id,
        amounts: { requested: 0 },
      })
      expect(await decisionOf(tenant, transaction)).toMatchObject({
        ...{ status: 'responded', approved: true, amount: given.amount ?? null },
      })
      expect(await available(tenant)).toBe(10_000)
      const older = speak(service.urls.sandbox, { secret: tenant.secret, version: '2026-02-01' })
      const { status } = await older(`/v1/authorization_decisions/${transaction.decision_id}`)
      expect(status).toBe(200)
    },
  )

  test('an endpoint declines a verification of the card', async () => {
    const tenant = await tenantWith({ default_action: 'approve' })
    reply = (question) => question.answer({ approved: false })
    expect((await authorize(tenant, 0)).decline_reason.code).toBe('decision_declined')
  })

  test('an answer for more than 0 cannot be used for a verification of the card', async () => {
    const tenant = await tenantWith({ default_action: 'decline' })
    reply = (question) => question.answer({ approved: true, amount: 1 })
    expect((await authorize(tenant, 0)).decline_reason.code).toBe('decision_errored')
  })
})

describe('what cannot be used takes the default', () => {
  const unusable: readonly (readonly [string, string, (question: Asked) => void])[] = [
    ['500', 'bad_status', (question) => question.answer({ approved: true }, 500)],
    ['a redirect', 'bad_status', ({ response }) => response.writeHead(302, { Location: url }).end()],
    ['no JSON', 'bad_answer', ({ response }) => response.end('approved')],
    [
      '1 MB',
      'bad_answer',
      ({ response }) =>
        response.end(JSON.stringify({ approved: true, metadata: { a: 'a'.repeat(1 << 20) } })),
    ],
    ['an unknown member', 'bad_answer', (question) => question.answer({ approved: true, reason: 'x' })],
    ['no decision', 'bad_answer', (question) => question.answer({})],
    [
      'more than was asked for',
      'bad_answer',
      (question) => question.answer({ approved: true, amount: 1001 }),
    ],
    ['0', 'bad_answer', (question) => question.answer({ approved: true, amount: 0 })],
    ['nothing', 'connection_failed', ({ response }) => response.destroy()],
  ]
  test.each(unusable)(
    'an authorization takes the default action when the endpoint gives %s',
    async (_, stand_in_reason, how) => {
      reply = how
      const [approving, declining] = await Promise.all([
        tenantWith({ default_action: 'approve' }),
        tenantWith({ default_action: 'decline' }),
      ])
      const approved = await authorize(approving)
      expect(approved.status).toBe('authorized')
      expect(await decisionOf(approving, approved)).toMatchObject({
        status: 'errored',
        approved: null,
        default_action_used: true,
        stand_in_reason,
      })
      const listed = await approving.send(`/v1/authorization_decisions?stand_in_reason=${stand_in_reason}`)
      expect(listed.body.data).toHaveLength(1)
      const declined = await authorize(declining)
      expect(declined.decline_reason.code).toBe('decision_errored')
      expect(await told(declining)).toEqual(['card.transaction.declined', 'authorization_decision.errored'])
    },
  )

  test('an answer that is late is noted, and changes nothing', async () => {
    reply = undefined
    const tenant = await tenantWith({ timeout_ms: 100, default_action: 'decline' })
    const transaction = await authorize(tenant)
    expect(transaction.decline_reason.code).toBe('decision_timed_out')
    const expected = {
      ...{ status: 'timed_out', approved: null, default_action_used: true, stand_in_reason: 'timed_out' },
    }
    expect(await decisionOf(tenant, transaction)).toMatchObject(expected)
    asked[0]!.answer({ approved: true, amount: 700 })
    const late = await until('the late answer', async () => {
      const decision = await decisionOf(tenant, transaction)
      return decision.approved !== null && decision
    })
    expect(late).toMatchObject({ ...expected, approved: true, amount: 700, duration_ms: expect.any(Number) })
    expect((await tenant.send(`/v1/card_transactions/${transaction.id}`)).body).toEqual(transaction)
    expect(await told(tenant)).toEqual(['card.transaction.declined', 'authorization_decision.timed_out'])
    const { data } = (await tenant.send('/v1/authorization_decisions?status=timed_out')).body
    expect(data).toEqual([late])
  })
})

test('no transaction of the database is open, and the card is not locked, while a tenant is asked', async () => {
  reply = undefined
  const tenant = await tenantWith()
  const pending = authorize(tenant)
  await until('the question', () => asked.length > 0)
  const { rows } = await service.database.control.query({
    text: `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
              AND xact_start IS NOT NULL AND backend_type = 'client backend'`,
  })
  expect(rows).toEqual([])
  expect((await tenant.send(`/v1/cards/${tenant.card}/freeze`, { method: 'POST' })).status).toBe(200)
  asked[0]!.answer({ approved: true })
  // By the rules as they are when it is written.
  expect((await pending).decline_reason.code).toBe('card_frozen')
})

test('a tenant waits for many answers at once, also while others are there', async () => {
  reply = undefined
  const [other, tenant] = [await tenantWith(), await tenantWith()]
  const pending = Promise.all(Array.from({ length: 8 }, () => authorize(tenant)))
  await until('the questions', async () => {
    await other.send('/v1/balance')
    return asked.length === 8
  })
  for (const question of asked) question.answer({ approved: true })
  expect((await pending).map(({ status }) => status)).toEqual(Array(8).fill('authorized'))
})

test('concurrent decisions approve no more than the balance covers', async () => {
  const tenant = await tenantWith()
  const all = await Promise.all(Array.from({ length: 12 }, () => authorize(tenant, 3000)))
  expect(all.filter(({ status }) => status === 'authorized')).toHaveLength(3)
  expect(await available(tenant)).toBe(1000)
  await verifyLedger(service.operator, tenant.id)
})

describe('the same request again', () => {
  const call = ({ card }: Tenant, key: string, amount = 1000) => ({
    body: use(card, amount),
    headers: { 'Idempotency-Key': key },
  })

  test('a repeated authorization request waits for its question, and is not asked twice', async () => {
    reply = undefined
    const tenant = await tenantWith()
    const key = randomUUID()
    const first = tenant.send(PATH, call(tenant, key))
    await until('the question', () => asked.length > 0)
    const second = await tenant.send(PATH, call(tenant, key))
    expect(refusal(second)).toEqual([409, 'idempotency_error', 'idempotency_in_progress'])
    const other = await tenant.send(PATH, call(tenant, key, 1001))
    expect(refusal(other)).toEqual([422, 'idempotency_error', 'idempotency_key_reused'])
    asked[0]!.answer({ approved: true })
    const { text } = await first
    const replayed = await tenant.send(PATH, call(tenant, key))
    expect([replayed.text, replayed.headers.get('Idempotency-Replayed')]).toEqual([text, 'true'])
    expect(asked).toHaveLength(1)
  })

  test('a repeated authorization request is the same for an amount of minus zero, which is stored as 0', async () => {
    reply = undefined
    const tenant = await tenantWith()
    const raw = JSON.stringify(use(tenant.card, 0)).replace('"amount":0', '"amount":-0')
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }
    const ask = () => tenant.send(PATH, { method: 'POST', raw, headers })
    const first = ask()
    await until('the question', () => asked.length > 0)
    expect(refusal(await ask())).toEqual([409, 'idempotency_error', 'idempotency_in_progress'])
    asked[0]!.answer({ approved: true })
    expect((await first).body).toMatchObject({ status: 'authorized', amounts: { requested: 0 } })
  })

  test('a repeated authorization request may claim the key for a moment: the first one waits for that with its answer', async () => {
    reply = undefined
    const tenant = await tenantWith()
    const key = randomUUID()
    const first = tenant.send(PATH, call(tenant, key))
    await until('the question', () => asked.length > 0)
    await service.database.sandbox.transaction(async (db) => {
      const name = `sandbox:${tenant.id}:${key}`
      await db.query({ text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))' }, [name])
      asked[0]!.answer({ approved: true })
      await until('the wait for the key', async () => {
        const text = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
        return (await service.database.control.query({ text })).count > 0
      })
    })
    expect((await first).status).toBe(201)
  })

  test.each(['approve', 'decline'])(
    'a worker takes the default (%s) once, after kill -9 between question and answer',
    { timeout: 60_000 },
    async (default_action) => {
      reply = undefined
      const tenant = await tenantWith({ default_action })
      const program = startService(
        {
          DATABASE_URL: service.database.url,
          SVC_PEPPER: service.database.pepper,
          SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
        },
        ['--json', '--role', 'api'],
      )
      const { sandbox_base_url } = await program.ready()
      const other = speak(String(sandbox_base_url), { secret: tenant.secret, version: '2026-05-19' })
      const key = randomUUID()
      const killed = other(PATH, call(tenant, key)).catch(() => 'killed')
      await until('the question', () => asked.length > 0)
      await program.end('SIGKILL')
      expect(await killed).toBe('killed')
      const { data } = (await tenant.send('/v1/authorization_decisions?status=pending')).body
      expect(data).toHaveLength(1)
      const at = (later: number) => ({
        database: service.database,
        clock: { ...service.clock, machine: () => Date.now() + later },
        log: strictLog,
        wakeUpChannel: { publish: () => undefined },
      })
      await abandonedDecisionWorker(at(0)).runOnce()
      expect((await tenant.send('/v1/card_transactions')).body.data).toEqual([])
      await Promise.all([
        abandonedDecisionWorker(at(60_000)).runOnce(),
        abandonedDecisionWorker(at(60_000)).runOnce(),
      ])
      const status = default_action === 'approve' ? 'authorized' : 'declined'
      const transactions = (await tenant.send('/v1/card_transactions')).body.data
      expect(transactions).toMatchObject([
        { id: data[0].card_transaction_id, status, decision_id: data[0].id },
      ])
      const retried = await tenant.send(PATH, call(tenant, key))
      expect([retried.status, retried.body]).toEqual([201, transactions[0]])
      expect((await tenant.send(PATH, call(tenant, key, 1001))).status).toBe(422)
      expect(await told(tenant)).toEqual([`card.transaction.${status}`, 'authorization_decision.timed_out'])
      expect(asked).toHaveLength(1)
      await verifyLedger(service.operator, tenant.id)
    },
  )
})
