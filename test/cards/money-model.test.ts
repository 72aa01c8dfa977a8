/**
 * Random sequences of operations on cards, disputes, decisions, settlements, destinations and payouts, over HTTP on a real
 * database: by one client, each held against a plain model; by several at once, after which everything adds up.
 * `npm run prove:ledger` does more of them.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useService } from '../support/service.ts'
import { type Account, type Endpoint, openAccount, openEndpoint, perform } from './money-account.ts'
import { type DefaultAction, isModelDispute, MoneyModel, type Operation } from './money-model.ts'
import { MERCHANT, operations } from './money-operations.ts'
import { expectReplays, expectSound, expectTold } from './money-properties.ts'
import { endOf, walkAtOnce, walkByWorkers, walkInSteps } from './money-walks.ts'

/** Commands of all runs together. */
const COMMANDS = Number(process.env.LEDGER_COMMANDS ?? 200)
const LENGTH = 50
const CLIENTS = 8
const RUNS = Math.ceil(COMMANDS / LENGTH / 2)

const service = useService({
  poolSize: 12,
  guarded: false,
  env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' },
  keepsTime: true,
})
let endpoint: Endpoint
beforeAll(async () => {
  endpoint = await openEndpoint()
})
afterAll(() => endpoint.stop())

const sequence = operations(LENGTH)

/** What is done where an endpoint decides and does not say; undefined: none does. */
const deciding = fc.constantFrom<DefaultAction | undefined>(undefined, 'approve', 'decline')

const open = (byDefault?: DefaultAction) =>
  openAccount(service, { decides: byDefault && { endpoint, byDefault } })

async function expectAsModelled(
  drawn: readonly Operation[],
  byDefault: DefaultAction | undefined,
): Promise<void> {
  const account = await open(byDefault)
  const model = new MoneyModel(service.clock.now, byDefault)
  for (const each of drawn) {
    const target = model.target(each)
    const expected = model.apply(each)
    const answer = await perform(account, each)
    if (!answer || expected === undefined) {
      expect([each, answer]).toEqual([each, undefined])
      continue
    }
    const { status, text, body } = answer
    expect([each, text, status < 300 ? 'done' : status]).toEqual([each, text, expected])
    if (expected !== 'done') continue
    if (target && isModelDispute(target)) expect([each, body.status]).toEqual([each, target.status])
    if (body.object === 'list') expect([each, body.data.length]).toEqual([each, model.moved])
    if (body.object === 'card_transaction') {
      const row = target && !isModelDispute(target) ? target : model.transactions.at(-1)!
      const { requested, authorized, held, cleared, refunded, reversed, declined } = row
      const amounts = { requested, authorized, held, cleared, refunded, reversed }
      expect([each, body.amounts, body.status === 'declined']).toEqual([each, amounts, declined])
    }
  }
  await expectEnd(account, model)
  await expectSound(account, true)
  await expectTold(account)
  await expectReplays(account)
}

/** Whatever the clock has moved meanwhile, too. */
async function expectEnd({ send, list }: Account, model: MoneyModel): Promise<void> {
  const { body: clock } = await send('/v1/test/settlements/advance_clock', { seconds: 1 })
  model.apply({ kind: 'seconds', seconds: 1 })
  expect([clock.data.length, Date.parse(clock.now)]).toEqual([model.moved, model.time])
  const { body } = await send('/v1/balance')
  expect([body.available, body.held, body.payable]).toEqual([
    model.funds - model.held,
    model.held,
    model.payable,
  ])
  const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).toSorted()
  const settlements = await list('/v1/settlements')
  expect(settlements).toMatchObject(
    model.settlements.map(({ due: _, period_end, isPaid, ...row }) => ({
      ...row,
      period_end: new Date(period_end).toISOString(),
      payout_id: isPaid ? expect.any(String) : null,
    })),
  )
  const destinations = await list('/v1/payout_destinations')
  expect(sorted(destinations.map(({ status, default: isDefault }) => ({ status, isDefault })))).toEqual(
    sorted(model.destinations.map(({ status, default: isDefault }) => ({ status, isDefault }))),
  )
  const payouts = await list('/v1/payouts')
  expect(sorted(payouts.map(({ status, amount }) => ({ status, amount })))).toEqual(sorted(model.payouts))
}

/** Takes no more than was authorized, so that nothing but authorizations draws on the balance. */
const isBounded = ({ kind }: Operation) => kind !== 'force_post' && kind !== 'clearing'

async function expectSoundAtOnce(
  drawn: readonly Operation[],
  bounded: boolean,
  byDefault: DefaultAction | undefined,
): Promise<void> {
  const account = await open(byDefault)
  const left = drawn.filter((each) => !bounded || isBounded(each))
  const client = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const answer = await perform(account, next)
      expect([next, answer?.text, [undefined, 200, 201, 409].includes(answer?.status)]).toEqual([
        ...[next, answer?.text, true],
      ])
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  await expectSound(account, !bounded)
  await expectTold(account)
  await expectReplays(account)
}

const LONG = 3_600_000
const options = { numRuns: RUNS, endOnFailure: process.env.LEDGER_SHRINK === undefined }

test('each answer to one client is what the model says', { timeout: LONG }, async () => {
  await fc.assert(fc.asyncProperty(sequence, deciding, expectAsModelled), options)
})

test(`${CLIENTS} clients at once: everything adds up`, { timeout: LONG }, async () => {
  await fc.assert(fc.asyncProperty(sequence, fc.boolean(), deciding, expectSoundAtOnce), options)
})

test('time ends the same in single steps, all at once and by workers', { timeout: LONG }, async () => {
  const endsSame = async (drawn: readonly Operation[]) => {
    const openUsed = async () => {
      const account = await open()
      for (const each of drawn) {
        await perform(account, each)
        await perform(account, { kind: 'seconds', seconds: 1 }) // no two things are due at once
      }
      return account
    }
    const walked = async (account: Account, walk: (account: Account) => Promise<void>) => {
      await walk(account)
      await expectSound(account, true)
      return endOf(account)
    }
    const [first, second, third] = await Promise.all([openUsed(), openUsed(), openUsed()])
    const [inSteps, atOnce] = await Promise.all([walked(first, walkInSteps), walked(second, walkAtOnce)])
    const byWorkers = await walked(third, walkByWorkers) // which find other tenants, too
    expect(atOnce).toEqual(inSteps)
    // Workers of holds, destinations and settlements tell of what they do each on their own.
    const untimed = ({ told, ...end }: typeof inSteps) => ({ ...end, told: told.toSorted() })
    expect(untimed(byWorkers)).toEqual(untimed(inSteps))
  }
  await fc.assert(fc.asyncProperty(operations(LENGTH / 2), endsSame), {
    ...options,
    numRuns: Math.ceil(RUNS / 2),
  })
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
    const account = await open()
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
          const request = [
            `/v1/test/cards/simulate_${what}`,
            { card_transaction_id, ...more },
            { key },
          ] as const
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
