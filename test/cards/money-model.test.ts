/**
 * Random sequences of operations on card transactions and disputes, over HTTP on a real database: by one client, each held
 * against a plain model; by several at once, after which everything adds up. `npm run prove:ledger` does more of them.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { findFault } from '../../runtime/ledger/verify.ts'
import { makeKey, makeTenant, startTestService, type TestService } from '../support/service.ts'
import {
  LIMITS,
  type ModelDispute,
  type ModelTransaction,
  MoneyModel,
  type Operation,
} from './money-model.ts'

/** Commands of all runs together. */
const COMMANDS = Number(process.env.LEDGER_COMMANDS ?? 240)
const LENGTH = 40
const CLIENTS = 8
const RUNS = Math.ceil(COMMANDS / LENGTH / 2)

let service: TestService
beforeAll(async () => {
  service = await startTestService({ poolSize: 12, guarded: false })
})
afterAll(() => service.stop())

interface Answered {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the operation
  readonly body: any
}

/** A tenant with a card for each limit, and what was made of it. */
interface Account {
  readonly tenantId: string
  readonly cards: readonly string[]
  readonly transactions: string[]
  readonly disputes: string[]
  send(path: string, body?: object, key?: string): Promise<Answered>
}

async function openAccount(): Promise<Account> {
  const tenantId = await makeTenant(service)
  const { secret } = await makeKey(service, tenantId)
  const send: Account['send'] = async (path, body, key = crypto.randomUUID()) => {
    service.clock.monotonic += 10_000
    const headers = {
      Authorization: `Bearer ${secret}`,
      'Service-Version': current,
      'Content-Type': 'application/json',
    }
    const response = await fetch(service.urls.sandbox + path, {
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...(body && { 'Idempotency-Key': key }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) }
  }
  const { body: cardholder } = await send('/v1/cardholders', { name: 'Ada Moreau' })
  const cards: string[] = []
  for (const amount of LIMITS) {
    const spending_controls = { spending_limits: amount === undefined ? [] : [{ amount, interval: 'daily' }] }
    const order = { cardholder_id: cardholder.id, type: 'virtual', spending_controls }
    cards.push((await send('/v1/cards', order)).body.id)
  }
  return { tenantId, cards, transactions: [], disputes: [], send }
}

const MERCHANT = { name: 'A', category_code: '5812' }
const at = (all: readonly string[], pick: number) => all[pick % all.length]

/** An operation as a request; undefined where there is nothing to do it to. */
function requestOf(account: Account, operation: Operation): { path: string; body: object } | undefined {
  const { cards, transactions, disputes } = account
  switch (operation.kind) {
    case 'fund':
      return { path: '/v1/test/funding', body: { amount: operation.amount } }
    case 'authorize':
    case 'force_post': {
      const name = operation.kind === 'authorize' ? 'authorization' : 'force_post'
      const body = { card_id: cards[operation.card]!, amount: operation.amount, merchant: MERCHANT }
      return { path: `/v1/test/cards/simulate_${name}`, body }
    }
    case 'submit':
    case 'withdraw': {
      const id = at(disputes, operation.pick)
      return id === undefined ? undefined : { path: `/v1/disputes/${id}/${operation.kind}`, body: {} }
    }
    case 'under_review':
    case 'won':
    case 'lost': {
      const dispute_id = at(disputes, operation.pick)
      const body = { dispute_id, outcome: operation.kind }
      return dispute_id === undefined ? undefined : { path: '/v1/test/disputes/simulate_outcome', body }
    }
    default: {
      const card_transaction_id = at(transactions, operation.pick)
      if (card_transaction_id === undefined) return undefined
      if (operation.kind === 'release') {
        return { path: `/v1/card_transactions/${card_transaction_id}/release`, body: {} }
      }
      const { kind, pick: _, ...more } = operation
      if (kind === 'dispute')
        return { path: '/v1/disputes', body: { card_transaction_id, reason: 'other', ...more } }
      return { path: `/v1/test/cards/simulate_${kind}`, body: { card_transaction_id, ...more } }
    }
  }
}

interface Sent {
  readonly path: string
  readonly body: object
  readonly key: string
  readonly text: string
}

async function perform(account: Account, operation: Operation, sent: Sent[]): Promise<Answered | undefined> {
  const request = requestOf(account, operation)
  if (!request) return undefined
  const key = crypto.randomUUID()
  const answer = await account.send(request.path, request.body, key)
  sent.push({ ...request, key, text: answer.text })
  if (answer.status === 201 && 'id' in answer.body) {
    const all = answer.body.object === 'dispute' ? account.disputes : account.transactions
    all.push(answer.body.id)
  }
  return answer
}

const amount = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 3000 }))
const pick = fc.nat({ max: 1000 })
const card = fc.nat({ max: LIMITS.length - 1 })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fund' as const), amount }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('authorize' as const), card, amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('force_post' as const), card, amount }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('increment' as const, 'reversal' as const), pick, amount }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('clearing' as const), pick, amount, final: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('refund' as const, 'dispute' as const), pick, amount }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('expiry' as const, 'release' as const), pick }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'submit' as const,
        'withdraw' as const,
        'under_review' as const,
        'won' as const,
        'lost' as const,
      ),
      pick,
    }),
  },
)
const sequence = fc.array(operation, { minLength: LENGTH, maxLength: LENGTH, size: 'max' })

const rowsOf = async <Row>(text: string, tenantId: string) =>
  (await service.database.control.query<Row>({ text }, [tenantId])).rows

interface Step {
  readonly type: string
  readonly amount: number
}

interface TransactionRow
  extends Record<
    'requested' | 'authorized' | 'held' | 'cleared' | 'refunded' | 'reversed' | 'disputed',
    number
  > {
  readonly id: string
  readonly card_id: string
  readonly status: string
  readonly history: readonly Step[]
  readonly open: number
  readonly contested: number
}

/** The amounts of a transaction, from what has happened to it alone. */
function replay(history: readonly Step[]) {
  const sums = { requested: 0, authorized: 0, held: 0, cleared: 0, refunded: 0, reversed: 0 }
  for (const { type, amount: moved } of history) {
    if (['authorization', 'increment', 'decline', 'force_post'].includes(type)) sums.requested += moved
    if (type === 'authorization' || type === 'increment') {
      sums.authorized += moved
      sums.held += moved
    }
    if (type === 'reversal' || type === 'expiry' || type === 'release') {
      sums.reversed += moved
      sums.held -= moved
    }
    if (type === 'clearing' || type === 'force_post') {
      sums.cleared += moved
      sums.held -= Math.min(moved, sums.held)
    }
    if (type === 'refund') sums.refunded += moved
  }
  return sums
}

/** Properties 1–6 and 12 of the ledger, by SQL. @param overdrawn whether something may have taken more than was available. */
async function expectSound(account: Account, overdrawn: boolean): Promise<void> {
  const { tenantId } = account
  expect(await findFault(service.database.control, 'sandbox', tenantId)).toBeUndefined()
  const rows = await rowsOf<TransactionRow>(
    `SELECT t.*, (SELECT coalesce(sum(h.amount), 0)::bigint FROM sandbox.ledger_holds h
                   WHERE h.tenant_id = $1 AND h.id = t.hold_id AND NOT EXISTS (
                     SELECT FROM sandbox.ledger_resolutions r WHERE r.tenant_id = $1 AND r.hold_id = h.id)) AS open,
            (SELECT coalesce(sum(d.amount), 0)::bigint FROM sandbox.disputes d
              WHERE d.tenant_id = $1 AND d.card_transaction_id = t.id AND d.status IN ('unsubmitted', 'submitted', 'under_review', 'won')) AS contested
       FROM sandbox.card_transactions t WHERE t.tenant_id = $1`,
    tenantId,
  )
  for (const row of rows) {
    const { requested, authorized, held, cleared, refunded, reversed } = row
    expect({ requested, authorized, held, cleared, refunded, reversed }).toEqual(replay(row.history))
    expect([row.id, row.open, row.disputed]).toEqual([row.id, held, row.contested])
    expect(row.status === 'authorized').toBe(held > 0)
    expect(refunded + row.disputed).toBeLessThanOrEqual(cleared)
  }
  const [funds] = await rowsOf<{ balance: number; held: number; credited: number; disputes: number }>(
    `SELECT coalesce(sum(balance) FILTER (WHERE id = 'program_funds'), 0)::bigint AS balance,
            coalesce(sum(held) FILTER (WHERE id = 'program_funds'), 0)::bigint AS held,
            -coalesce(sum(balance) FILTER (WHERE id = 'dispute_receivable'), 0)::bigint AS credited,
            (SELECT coalesce(sum(provisional_credit), 0)::bigint FROM sandbox.disputes WHERE tenant_id = $1) AS disputes
       FROM sandbox.ledger_accounts WHERE tenant_id = $1`,
    tenantId,
  )
  expect(funds!.credited).toBe(funds!.disputes)
  if (!overdrawn) expect(funds!.balance - funds!.held).toBeGreaterThanOrEqual(0)
  const spent = await rowsOf<{ card_id: string; amount: number; granularity: string }>(
    `SELECT card_id, granularity, sum(amount)::bigint AS amount FROM sandbox.card_spending WHERE tenant_id = $1 GROUP BY 1, 2`,
    tenantId,
  )
  for (const [index, id] of account.cards.entries()) {
    const own = rows.filter(({ card_id }) => card_id === id)
    const sum = own.reduce((total, { held, cleared }) => total + held + cleared, 0)
    for (const each of spent.filter(({ card_id }) => card_id === id))
      expect([id, each.amount]).toEqual([id, sum])
    if (!overdrawn) expect(sum).toBeLessThanOrEqual(LIMITS[index] ?? Number.POSITIVE_INFINITY)
  }
}

/** Property 10: what was sent is sent again, all at once; the answers are the same and nothing has moved. */
async function expectReplays(account: Account, sent: readonly Sent[]): Promise<void> {
  const [before] = await rowsOf(
    'SELECT count(*) AS count FROM sandbox.audit_log WHERE tenant_id = $1',
    account.tenantId,
  )
  const texts = await Promise.all(
    sent.map(async ({ path, body, key }) => (await account.send(path, body, key)).text),
  )
  expect(texts).toEqual(sent.map(({ text }) => text))
  const [after] = await rowsOf(
    'SELECT count(*) AS count FROM sandbox.audit_log WHERE tenant_id = $1',
    account.tenantId,
  )
  expect(after).toEqual(before)
}

const isModelDispute = (target: ModelTransaction | ModelDispute): target is ModelDispute =>
  'transaction' in target

async function expectAsModelled(operations: readonly Operation[]): Promise<void> {
  const account = await openAccount()
  const model = new MoneyModel()
  const sent: Sent[] = []
  for (const each of operations) {
    const target = model.target(each)
    const expected = model.apply(each)
    const answer = await perform(account, each, sent)
    if (!answer || expected === undefined) {
      expect([each, answer]).toEqual([each, undefined])
      continue
    }
    const { status, text, body } = answer
    expect([each, text, status < 300 ? 'done' : status]).toEqual([each, text, expected])
    if (expected !== 'done') continue
    if (target && isModelDispute(target)) expect([each, body.status]).toEqual([each, target.status])
    const row = target ?? (each.kind === 'fund' ? undefined : model.transactions.at(-1))
    if (row && !isModelDispute(row) && each.kind !== 'dispute') {
      const { card: _, disputed: __, declined, ...amounts } = row
      expect([each, body.amounts, body.status === 'declined']).toEqual([each, amounts, declined])
    }
  }
  const { body } = await account.send('/v1/balance')
  expect([body.available, body.held]).toEqual([model.funds - model.held, model.held])
  await expectSound(account, true)
  await expectReplays(account, sent.slice(-20))
}

/** Takes no more than was authorized, so that nothing but authorizations draws on the balance. */
const isBounded = ({ kind }: Operation) => kind !== 'force_post' && kind !== 'clearing'

async function expectSoundAtOnce(operations: readonly Operation[], bounded: boolean): Promise<void> {
  const account = await openAccount()
  const sent: Sent[] = []
  await perform(account, { kind: 'fund', amount: 4000 }, sent)
  const left = operations.filter((each) => !bounded || isBounded(each))
  const client = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const answer = await perform(account, next, sent)
      expect([next, answer?.text, [undefined, 200, 201, 409].includes(answer?.status)]).toEqual([
        next,
        answer?.text,
        true,
      ])
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  await expectSound(account, !bounded)
  await expectReplays(account, sent.slice(-20))
}

const LONG = 3_600_000
const options = { numRuns: RUNS, endOnFailure: process.env.LEDGER_SHRINK === undefined }

test('one client: each answer is what the model says', { timeout: LONG }, async () => {
  await fc.assert(fc.asyncProperty(sequence, expectAsModelled), options)
})

test(`${CLIENTS} clients at once: everything adds up`, { timeout: LONG }, async () => {
  await fc.assert(fc.asyncProperty(sequence, fc.boolean(), expectSoundAtOnce), options)
})

const part = fc.integer({ min: 1, max: 120 })
const parts = fc.record({
  clearings: fc.array(part, { maxLength: 3 }),
  reversals: fc.array(part, { maxLength: 3 }),
  refunds: fc.array(part, { maxLength: 3 }),
})

test('clearings, reversals and refunds in any order, each retried, end the same', {
  timeout: LONG,
}, async () => {
  const converges = async (
    { clearings, reversals, refunds }: Record<'clearings' | 'reversals' | 'refunds', number[]>,
    seed: number,
  ) => {
    const account = await openAccount()
    await account.send('/v1/test/funding', { amount: 10_000 })
    const ends = await Promise.all(
      [0, 1].map(async (order) => {
        const body = { card_id: account.cards[0]!, amount: 1000, merchant: MERCHANT }
        const card_transaction_id = (await account.send('/v1/test/cards/simulate_authorization', body)).body
          .id
        const steps = [
          ...clearings.map((each) => ['clearing', { amount: each, final: false }] as const),
          ...reversals.map((each) => ['reversal', { amount: each }] as const),
        ]
        const shuffled =
          order === 0
            ? steps
            : steps.toSorted((a, b) => ((a[1].amount * seed) % 97) - ((b[1].amount * seed) % 97))
        const retried = async ([what, more]: readonly [string, object]) => {
          const key = crypto.randomUUID()
          const request = [`/v1/test/cards/simulate_${what}`, { card_transaction_id, ...more }, key] as const
          await Promise.all([account.send(...request), account.send(...request)])
        }
        for (const step of shuffled) await retried(step)
        const total = clearings.reduce((sum, each) => sum + each, 0)
        const fitting = refunds.filter(
          (each, index) => refunds.slice(0, index).reduce((sum, one) => sum + one, each) <= total,
        )
        for (const each of order === 0 ? fitting : fitting.toReversed())
          await retried(['refund', { amount: each }])
        return (await account.send(`/v1/card_transactions/${card_transaction_id}`)).body.amounts
      }),
    )
    expect(ends[1]).toEqual(ends[0])
    await expectSound(account, false)
  }
  await fc.assert(fc.asyncProperty(parts, fc.integer({ min: 2, max: 96 }), converges), {
    ...options,
    numRuns: Math.ceil(RUNS / 3),
  })
})
