/** Authorizations of nothing, by which merchants find out whether a card is good: they hold nothing, and end all the same. */
import { beforeEach, describe, expect, test } from 'vitest'
import { holdExpiryWorker } from '../../runtime/cards/transactions/expiry-job.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { firstFault, refusal } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { type Answer, makeTenant, type Send, START, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { CARD_VERSIONS, type CardVersion, make, makeCard, speakAll } from './fixtures.ts'

type Body = Answer['body']

const DAY = 86_400_000

const service = useService()
let tenantId: string
let send: Send
let speaking: Record<CardVersion, Send>

async function begin(version: CardVersion = '2026-05-19'): Promise<void> {
  service.clock.now = START
  service.clock.monotonic += 120_000
  tenantId = await makeTenant(service, 'enterprise', version)
  speaking = await speakAll(service, tenantId)
  send = speaking['2026-05-19']
}
beforeEach(() => begin())

const MERCHANT = { name: 'Harbor Diner', category_code: '5812' }
const NOTHING = { requested: 0, authorized: 0, held: 0, cleared: 0, refunded: 0, reversed: 0 }

const authorize = (card_id: string, amount: number, more: object = {}): Promise<Body> =>
  make(send, '/v1/test/cards/simulate_authorization', { card_id, amount, merchant: MERCHANT, ...more })
const verify = (card_id: string, more: object = {}) => authorize(card_id, 0, more)
const simulate = (what: string, { id }: Body, more: object = {}) =>
  send(`/v1/test/cards/simulate_${what}`, { body: { card_transaction_id: id, ...more } })
const read = async ({ id }: Body): Promise<Body> => (await send(`/v1/card_transactions/${id}`)).body
const balance = async () => {
  const { available, held } = (await send('/v1/balance')).body
  return [available, held]
}

/** Events about transactions, oldest first, each as its document says. */
async function told(): Promise<string[]> {
  const { data } = (await send('/v1/events?order=asc&limit=100')).body
  expect(data.flatMap(checkEvent)).toEqual([])
  return data.map(({ type }: Body) => type).filter((type: string) => type.startsWith('card.transaction.'))
}

const expire = () =>
  holdExpiryWorker({
    database: service.database,
    clock: service.clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()

test('a good card is approved, and nothing is held', async () => {
  const made = await verify((await makeCard(send)).id)
  expect(made).toMatchObject({
    status: 'authorized',
    amounts: NOTHING,
    decline_reason: null,
    expires_at: '2026-06-08T12:00:00.000Z',
    history: [{ type: 'authorization', amount: 0 }],
  })
  expect(await read(made)).toEqual(made)
  expect((await send('/v1/card_transactions?status=authorized')).body.data).toEqual([made])
  expect(await balance()).toEqual([0, 0])
  expect(await told()).toEqual(['card.transaction.authorized'])
  expect((await verifyLedger(service.operator, tenantId)).entries.sandbox).toBe(0)
})

test('a card that is not good is declined, by the rule that says so', async () => {
  const card = await makeCard(send)
  await send(`/v1/cards/${card.id}/freeze`, { method: 'POST' })
  expect(await verify(card.id)).toMatchObject({
    status: 'declined',
    amounts: NOTHING,
    decline_reason: { code: 'card_frozen' },
    expires_at: null,
    history: [{ type: 'decline', amount: 0 }],
  })
  expect(await told()).toEqual(['card.transaction.declined'])
})

describe('it ends', () => {
  test('a verification of a card ends when its time is over, as a hold does', async () => {
    const card = await makeCard(send)
    const [made, hotel] = [
      await verify(card.id),
      await verify(card.id, { merchant: { ...MERCHANT, category_code: '7011' } }),
    ]
    service.clock.now += 7 * DAY - 1
    await expire()
    expect((await read(made)).status).toBe('authorized')
    service.clock.now += 1
    await Promise.all([expire(), expire()])
    expect(await read(made)).toMatchObject({
      ...{ status: 'expired', amounts: NOTHING, expires_at: null },
      history: [{ type: 'authorization' }, { type: 'expiry', amount: 0 }],
    })
    expect((await read(hotel)).status).toBe('authorized')
    expect(await told()).toEqual([
      ...['card.transaction.authorized', 'card.transaction.authorized', 'card.transaction.expired'],
    ])
    await verifyLedger(service.operator, tenantId)
  })

  test('a verification of a card ends by the settlement clock, where that is ahead', async () => {
    const made = await verify((await makeCard(send)).id)
    const advanced = await send('/v1/test/settlements/advance_clock', { body: {} })
    expect([advanced.status, advanced.body.now]).toEqual([200, made.expires_at])
    expect((await read(made)).status).toBe('expired')
  })

  test.each([
    ['reversal', 'reversed'],
    ['expiry', 'expired'],
  ])('a verification of a card ends by a simulated %s', async (what, status) => {
    const made = await verify((await makeCard(send)).id)
    const { body } = await simulate(what, made)
    expect(body).toMatchObject({ status, amounts: NOTHING, expires_at: null })
    expect(body.history.slice(1)).toMatchObject([{ type: what, amount: 0 }])
    expect(refusal(await simulate(what, made))).toEqual([409, 'conflict', 'invalid_state'])
    expect(await told()).toEqual(['card.transaction.authorized', `card.transaction.${status}`])
  })

  test('a verification of a card ends by a release', async () => {
    const made = await verify((await makeCard(send)).id)
    const { body } = await send(`/v1/card_transactions/${made.id}/release`, { method: 'POST' })
    expect(body).toMatchObject({ status: 'reversed', amounts: NOTHING, expires_at: null })
  })

  test.each([undefined, true, false])(
    'a verification of a card ends by a clearing, which takes more than is held; final: %s',
    async (final) => {
      const made = await verify((await makeCard(send)).id)
      const { body } = await simulate('clearing', made, {
        amount: 500,
        ...(final !== undefined && { final }),
      })
      expect(body).toMatchObject({
        status: 'cleared',
        amounts: { ...NOTHING, cleared: 500 },
        expires_at: null,
      })
      expect((await simulate('refund', made)).body.amounts).toEqual({
        ...NOTHING,
        cleared: 500,
        refunded: 500,
      })
      expect(await balance()).toEqual([0, 0])
      await verifyLedger(service.operator, tenantId)
    },
  )
})

test('the table keeps no other open authorization that holds nothing', async () => {
  const { id } = await verify((await makeCard(send)).id)
  const change = (set: string) =>
    service.database.control.query({ text: `UPDATE sandbox.card_transactions SET ${set} WHERE id = $1` }, [
      id,
    ])
  await expect(change('requested = 1')).rejects.toThrow('card_transactions_open')
  await expect(change(`status = 'expired', held = 1, hold_id = 'h'`)).rejects.toThrow(
    'card_transactions_held',
  )
})

test('a simulation that makes no sense for a verification is refused, and changes nothing', async () => {
  const made = await verify((await makeCard(send)).id)
  const increment = await simulate('increment', made, { amount: 100 })
  expect(refusal(increment)).toEqual([409, 'conflict', 'invalid_state'])
  expect(increment.body.error.message).toBe(
    'An authorization of 0 only verifies the card and cannot be incremented. Create a new authorization for the amount.',
  )
  expect(refusal(await simulate('reversal', made, { amount: 1 }))).toEqual([409, 'conflict', 'invalid_state'])
  expect(refusal(await simulate('refund', made))).toEqual([409, 'conflict', 'invalid_state'])
  expect(firstFault(await simulate('clearing', made))).toEqual([
    422,
    'validation_failed',
    { field: 'amount', issue: 'is required because nothing is held' },
  ])
  expect(await read(made)).toEqual(made)
  await simulate('reversal', made)
  expect((await simulate('increment', made, { amount: 100 })).body.error.message).toBe(
    'The transaction no longer holds an amount: its status is reversed.',
  )
})

describe('limits', () => {
  const controls = {
    max_authorization_count: 1,
    spending_limits: [
      { amount: 10, interval: 'daily' },
      { amount: 10, interval: 'per_authorization' },
    ],
  }

  test('limits are neither used up by a verification nor keep it from a card that has used them up', async () => {
    await send('/v1/test/funding', { body: { amount: 100 } })
    const card = await makeCard(send, { spending_controls: controls })
    expect((await verify(card.id)).status).toBe('authorized')
    expect((await verify(card.id)).status).toBe('authorized')
    const paid = await authorize(card.id, 10)
    expect(paid.status).toBe('authorized')
    expect((await authorize(card.id, 1)).decline_reason.code).toBe('authorization_count_exceeded')
    await simulate('clearing', paid, { amount: 500 }) // beyond limit and balance
    expect(await balance()).toEqual([-400, 0])
    const made = await verify(card.id)
    expect(made.status).toBe('authorized')
    expect(made.rules.slice(-4)).toEqual([
      { rule: 'max_authorization_count', outcome: 'skipped' },
      { rule: 'spending_limit_daily', outcome: 'skipped' },
      { rule: 'spending_limit_per_authorization', outcome: 'skipped' },
      { rule: 'balance', outcome: 'passed', limit: '0', observed: '0' },
    ])
  })

  test('count what clears of it', async () => {
    await send('/v1/test/funding', { body: { amount: 100 } })
    const card = await makeCard(send, { spending_controls: { ...controls, max_authorization_count: null } })
    await simulate('clearing', await verify(card.id), { amount: 10 })
    expect((await authorize(card.id, 1)).decline_reason.code).toBe('spending_limit_exceeded')
  })
})

describe.each(CARD_VERSIONS)('%s', (version) => {
  const isNewest = version === CARD_VERSIONS.at(-1)
  const merchant = version === '2025-11-01' ? { ...MERCHANT, category_code: 'restaurants' } : MERCHANT

  test(`${isNewest ? 'has' : 'reads'} it, in answers, lists and events that are as the document says`, async () => {
    await begin(version)
    const own = speaking[version]
    const card_id = (await makeCard(send)).id
    const asked = await own('/v1/test/cards/simulate_authorization', {
      body: { card_id, amount: 0, merchant },
    })
    if (isNewest) expect(asked.status).toBe(201)
    else expect(firstFault(asked)).toMatchObject([422, 'validation_failed', { field: 'amount' }])
    const made = await verify(card_id)
    // The client of these tests holds each answer against the document of its version.
    const answer = await own(`/v1/card_transactions/${made.id}`)
    expect(answer.body).toMatchObject({ status: 'authorized', amounts: NOTHING, expires_at: made.expires_at })
    expect((await own('/v1/card_transactions?limit=1')).body.data).toEqual([answer.body])
    await simulate('expiry', made)
    expect((await own(`/v1/card_transactions/${made.id}`)).body).toMatchObject({ status: 'expired' })
    expect((await told()).slice(-2)).toEqual(['card.transaction.authorized', 'card.transaction.expired'])
  })
})
