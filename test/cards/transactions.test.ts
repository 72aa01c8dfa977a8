/** What happens to card transactions over HTTP, and what it does to the balance, the ledger and limits. */
import { beforeEach, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { type Answer, makeTenant, type Send, useService } from '../support/service.ts'
import { CARD_VERSIONS, make, makeCard, patch } from './fixtures.ts'

const service = useService({ poolSize: 24 })
let tenantId: string
let send: Send
beforeEach(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

type Body = Answer['body']

const MERCHANT = { name: 'Harbor Diner', category_code: '5812', country: 'US', city: 'Oakland' }

const fund = (amount: number) => send('/v1/test/funding', { body: { amount } })
const authorize = async (card_id: string, amount: number, more: object = {}): Promise<Body> =>
  make(send, '/v1/test/cards/simulate_authorization', { card_id, amount, merchant: MERCHANT, ...more })
const simulate = (what: string, body: object) => send(`/v1/test/cards/simulate_${what}`, { body })
const act = async (what: string, id: string, more: object = {}): Promise<Body> => {
  const answer = await simulate(what, { card_transaction_id: id, ...more })
  expect([what, answer.status, answer.text]).toEqual([what, 200, answer.text])
  return answer.body
}
const balance = async () => {
  const { available, held } = (await send('/v1/balance')).body
  return [available, held]
}

/** Events about transactions, oldest first. */
async function told(): Promise<Body[]> {
  const { data } = (await send('/v1/events?order=asc&limit=100')).body
  const about = data.filter(({ type }: Body) => type.startsWith('card.transaction.'))
  expect(about.flatMap(checkEvent)).toEqual([])
  return about
}
const typesTold = async () => (await told()).map(({ type }) => type.slice('card.transaction.'.length))

const amounts = (given: object) => ({
  requested: 1000,
  authorized: 1000,
  held: 0,
  cleared: 0,
  refunded: 0,
  reversed: 0,
  ...given,
})

test('an authorization holds, a clearing collects, a refund gives back', async () => {
  const card = await makeCard(send)
  await fund(5000)
  const made = await authorize(card.id, 1000, { entry_method: 'contactless' })
  expect(made).toMatchObject({
    object: 'card_transaction',
    card_id: card.id,
    cardholder_id: card.cardholder_id,
    type: 'purchase',
    status: 'authorized',
    merchant: { ...MERCHANT, network_id: null },
    amounts: amounts({ held: 1000 }),
    entry_method: 'contactless',
    wallet: null,
    decline_reason: null,
    decision_id: null,
    expires_at: '2026-06-08T12:00:00.000Z',
    history: [{ type: 'authorization', amount: 1000, created: '2026-06-01T12:00:00.000Z' }],
  })
  expect((await send(`/v1/card_transactions/${made.id}`)).body).toEqual(made)
  expect(await balance()).toEqual([4000, 1000])
  const cleared = await act('clearing', made.id)
  expect(cleared).toMatchObject({ status: 'cleared', expires_at: null, amounts: amounts({ cleared: 1000 }) })
  expect(await balance()).toEqual([4000, 0])
  const refunded = await act('refund', made.id, { amount: 400 })
  expect(refunded).toMatchObject({ status: 'cleared', amounts: amounts({ cleared: 1000, refunded: 400 }) })
  expect(await balance()).toEqual([4400, 0])
  expect(await typesTold()).toEqual(['authorized', 'cleared', 'refunded'])
  await verifyLedger(service.operator, tenantId)
})

test('a decline moves nothing and says every rule', async () => {
  const card = await makeCard(send)
  await fund(999)
  const made = await authorize(card.id, 1000)
  expect(made).toMatchObject({
    status: 'declined',
    amounts: amounts({ authorized: 0 }),
    expires_at: null,
    decline_reason: { code: 'insufficient_funds', message: 'The balance does not cover the amount.' },
    history: [{ type: 'decline', amount: 1000 }],
  })
  expect(made.rules.at(-1)).toEqual({ rule: 'balance', outcome: 'failed', limit: '999', observed: '1000' })
  expect(await balance()).toEqual([999, 0])
  expect(await typesTold()).toEqual(['declined'])
  expect((await verifyLedger(service.operator, tenantId)).entries.sandbox).toBe(2)
  expect(refusal(await simulate('clearing', { card_transaction_id: made.id, amount: 1 }))[2]).toBe(
    'invalid_state',
  )
})

test('a decline is simulated for each reason', async () => {
  const card = await makeCard(send)
  for (const reason of ['suspected_fraud', 'incorrect_pin', 'account_disabled', 'decision_timed_out']) {
    const made = await make(send, '/v1/test/cards/simulate_decline', { card_id: card.id, amount: 5, reason })
    expect(made).toMatchObject({ status: 'declined', decline_reason: { code: reason } })
  }
})

interface Story {
  readonly about: string
  /** What happens after an authorization of 1000, and what is told of it. */
  readonly steps: readonly (readonly [what: string, more: object, event: string])[]
  readonly status: string
  readonly amounts: object
  /** Available of 5000, and held. */
  readonly balance: readonly [number, number]
  readonly history: readonly string[]
}

const STORIES: readonly Story[] = [
  {
    about: 'an increment',
    steps: [['increment', { amount: 500 }, 'updated']],
    status: 'authorized',
    amounts: { requested: 1500, authorized: 1500, held: 1500 },
    balance: [3500, 1500],
    history: ['increment 500'],
  },
  {
    about: 'an increment beyond the balance',
    steps: [['increment', { amount: 4001 }, 'updated']],
    status: 'authorized',
    amounts: { requested: 5001, held: 1000 },
    balance: [4000, 1000],
    history: ['decline 4001'],
  },
  {
    about: 'part of it reversed, then the rest',
    steps: [
      ['reversal', { amount: 300 }, 'reversed'],
      ['reversal', {}, 'reversed'],
    ],
    status: 'reversed',
    amounts: { reversed: 1000 },
    balance: [5000, 0],
    history: ['reversal 300', 'reversal 700'],
  },
  {
    about: 'part of it cleared, the rest reversed',
    steps: [
      ['clearing', { amount: 400 }, 'cleared'],
      ['reversal', {}, 'reversed'],
    ],
    status: 'cleared',
    amounts: { cleared: 400, reversed: 600 },
    balance: [4600, 0],
    history: ['clearing 400', 'reversal 600'],
  },
  {
    about: 'part of it cleared for the last time',
    steps: [['clearing', { amount: 400, final: true }, 'cleared']],
    status: 'cleared',
    amounts: { cleared: 400, reversed: 600 },
    balance: [4600, 0],
    history: ['clearing 400', 'reversal 600'],
  },
  {
    about: 'cleared in two parts',
    steps: [
      ['clearing', { amount: 400 }, 'cleared'],
      ['clearing', {}, 'cleared'],
    ],
    status: 'cleared',
    amounts: { cleared: 1000 },
    balance: [4000, 0],
    history: ['clearing 400', 'clearing 600'],
  },
  {
    about: 'an increment after a part was cleared',
    steps: [
      ['clearing', { amount: 400 }, 'cleared'],
      ['increment', { amount: 100 }, 'updated'],
    ],
    status: 'authorized',
    amounts: { requested: 1100, authorized: 1100, held: 700, cleared: 400 },
    balance: [3900, 700],
    history: ['clearing 400', 'increment 100'],
  },
  {
    about: 'more cleared than there is',
    steps: [['clearing', { amount: 6000 }, 'cleared']],
    status: 'cleared',
    amounts: { cleared: 6000 },
    balance: [-1000, 0],
    history: ['clearing 6000'],
  },
  {
    about: 'cleared after it expired',
    steps: [
      ['expiry', {}, 'expired'],
      ['clearing', { amount: 1000 }, 'cleared'],
    ],
    status: 'cleared',
    amounts: { reversed: 1000, cleared: 1000 },
    balance: [4000, 0],
    history: ['expiry 1000', 'clearing 1000'],
  },
  {
    about: 'cleared after it was reversed, and again',
    steps: [
      ['reversal', {}, 'reversed'],
      ['clearing', { amount: 10 }, 'cleared'],
      ['clearing', { amount: 20 }, 'cleared'],
    ],
    status: 'cleared',
    amounts: { reversed: 1000, cleared: 30 },
    balance: [4970, 0],
    history: ['reversal 1000', 'clearing 10', 'clearing 20'],
  },
  {
    about: 'partly cleared, the rest expired, all refunded',
    steps: [
      ['clearing', { amount: 400 }, 'cleared'],
      ['expiry', {}, 'expired'],
      ['refund', {}, 'refunded'],
    ],
    status: 'cleared',
    amounts: { cleared: 400, reversed: 600, refunded: 400 },
    balance: [5000, 0],
    history: ['clearing 400', 'expiry 600', 'refund 400'],
  },
]

describe('an authorization with', () => {
  test.each(STORIES)(
    'an authorization changes the balance with $about',
    async ({ steps, status, amounts: moved, balance: left, history }) => {
      const card = await makeCard(send)
      await fund(5000)
      const { id } = await authorize(card.id, 1000)
      for (const [what, more] of steps) await act(what, id, more)
      const row = (await send(`/v1/card_transactions/${id}`)).body
      expect([row.status, row.amounts]).toEqual([status, amounts(moved)])
      expect(row.expires_at === null).toBe(row.amounts.held === 0)
      expect(row.history.slice(1).map(({ type, amount }: Body) => `${type} ${amount}`)).toEqual(history)
      expect(await balance()).toEqual(left)
      expect(await typesTold()).toEqual(['authorized', ...steps.map(([, , event]) => event)])
      await verifyLedger(service.operator, tenantId)
    },
  )
})

test('a released hold is given back, and may be cleared all the same', async () => {
  const card = await makeCard(send)
  await fund(1000)
  const { id } = await authorize(card.id, 1000)
  const { status, body } = await send(`/v1/card_transactions/${id}/release`, { method: 'POST' })
  expect([status, body.status, body.amounts.reversed]).toEqual([200, 'reversed', 1000])
  expect(await balance()).toEqual([1000, 0])
  const again = await send(`/v1/card_transactions/${id}/release`, { method: 'POST' })
  expect(refusal(again)).toEqual([409, 'conflict', 'invalid_state'])
  expect((await act('clearing', id, { amount: 1000 })).status).toBe('cleared')
})

test('a simulation that cannot be is refused and changes nothing', async () => {
  const card = await makeCard(send)
  await fund(1000)
  const { id } = await authorize(card.id, 500)
  const conflict = async (what: string, more: object) =>
    expect([what, refusal(await simulate(what, { card_transaction_id: id, ...more }))]).toEqual([
      what,
      [409, 'conflict', 'invalid_state'],
    ])
  await conflict('refund', {})
  await conflict('reversal', { amount: 501 })
  await act('clearing', id)
  await conflict('increment', { amount: 1 })
  await conflict('reversal', {})
  await conflict('expiry', {})
  await conflict('refund', { amount: 501 })
  await act('refund', id)
  await conflict('refund', { amount: 1 })
  expect(firstFault(await simulate('clearing', { card_transaction_id: id }))).toEqual([
    422,
    'validation_failed',
    { field: 'amount', issue: 'is required because nothing is held' },
  ])
  expect(await balance()).toEqual([1000, 0])
  expect(await typesTold()).toEqual(['authorized', 'cleared', 'refunded'])
})

test('a force post needs neither authorization nor balance', async () => {
  const card = await makeCard(send)
  await send(`/v1/cards/${card.id}/cancel`, { method: 'POST' })
  const made = await make(send, '/v1/test/cards/simulate_force_post', {
    card_id: card.id,
    amount: 70,
    merchant: MERCHANT,
  })
  expect(made).toMatchObject({
    status: 'cleared',
    amounts: { requested: 70, authorized: 0, held: 0, cleared: 70 },
  })
  expect(await balance()).toEqual([-70, 0])
  expect(await typesTold()).toEqual(['cleared'])
})

test('cash is told from purchases, and travel is held for longer', async () => {
  const card = await makeCard(send)
  await fund(1000)
  const of = async (category_code: string) =>
    authorize(card.id, 1, { merchant: { ...MERCHANT, category_code } })
  expect(await of('6011')).toMatchObject({ type: 'cash_withdrawal', expires_at: '2026-06-08T12:00:00.000Z' })
  for (const code of ['3005', '3501', '7011', '4722']) {
    expect(await of(code)).toMatchObject({ type: 'purchase', expires_at: '2026-07-02T12:00:00.000Z' })
  }
})

describe('limits', () => {
  const limited = (spending_limits: object[], more: object = {}) =>
    makeCard(send, { spending_controls: { spending_limits, ...more } })
  const ask = async (card: Body, amount: number, more: object = {}) => {
    const { status, decline_reason } = await authorize(card.id, amount, more)
    return decline_reason?.code ?? status
  }
  const at = (instant: string) => {
    service.clock.now = Date.parse(instant)
  }
  const EXCEEDED = 'spending_limit_exceeded'

  test.each([
    ['daily', '2026-06-01T23:59:59.999Z', '2026-06-02T00:00:00.000Z'],
    ['weekly', '2026-06-07T23:59:59.999Z', '2026-06-08T00:00:00.000Z'],
    ['monthly', '2026-06-30T23:59:59.999Z', '2026-07-01T00:00:00.000Z'],
    ['yearly', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
  ])('a limit %s counts up to the last millisecond, and anew with the next', async (interval, last, next) => {
    await fund(100_000)
    const card = await limited([{ amount: 1000, interval }])
    expect(await ask(card, 600)).toBe('authorized')
    at(last)
    expect(await ask(card, 401)).toBe(EXCEEDED)
    expect(await ask(card, 400)).toBe('authorized')
    at(next)
    expect(await ask(card, 1001)).toBe(EXCEEDED)
    expect(await ask(card, 1000)).toBe('authorized')
    // One that came before midnight and is answered after it counts where it came.
    at(last)
    expect(await ask(card, 1)).toBe(EXCEEDED)
  })

  test('limits of all time and per authorization are checked', async () => {
    await fund(100_000)
    const card = await limited([
      { amount: 1000, interval: 'all_time' },
      { amount: 700, interval: 'per_authorization' },
    ])
    expect(await ask(card, 701)).toBe(EXCEEDED)
    expect(await ask(card, 700)).toBe('authorized')
    at('2027-06-01T00:00:00.000Z')
    expect(await ask(card, 301)).toBe(EXCEEDED)
    expect(await ask(card, 300)).toBe('authorized')
  })

  test('limits of categories apply beside each other, and also when they are set later', async () => {
    await fund(100_000)
    const card = await makeCard(send)
    const diner = { merchant: MERCHANT }
    const taxi = { merchant: { ...MERCHANT, category_code: '4121' } }
    const unknown = { merchant: { ...MERCHANT, category_code: '9998' } }
    expect(await ask(card, 300, diner)).toBe('authorized')
    expect(await ask(card, 200, taxi)).toBe('authorized')
    expect(await ask(card, 100, unknown)).toBe('authorized')
    const limits = [
      { amount: 500, interval: 'monthly', categories: ['5812', '5814'] },
      { amount: 150, interval: 'weekly', categories: ['0000'] },
      { amount: 750, interval: 'daily' },
    ]
    expect(
      (await patch(send, `/v1/cards/${card.id}`, { spending_controls: { spending_limits: limits } })).status,
    ).toBe(200)
    expect(await ask(card, 201, diner)).toBe(EXCEEDED)
    expect(await ask(card, 51, unknown)).toBe(EXCEEDED)
    expect(await ask(card, 151, taxi)).toBe(EXCEEDED)
    expect(await ask(card, 150, taxi)).toBe('authorized')
    expect(await ask(card, 1, diner)).toBe(EXCEEDED)
  })

  test('count what is held and cleared; what is given up comes back where it was spent', async () => {
    await fund(100_000)
    const card = await limited([{ amount: 1000, interval: 'daily' }])
    const { id } = await authorize(card.id, 1000)
    at('2026-06-02T00:00:00.000Z')
    expect(await ask(card, 1000)).toBe('authorized')
    await act('reversal', id, { amount: 400 })
    expect(await ask(card, 1)).toBe(EXCEEDED)
    at('2026-06-01T13:00:00.000Z')
    expect(await ask(card, 401)).toBe(EXCEEDED)
    expect(await ask(card, 100)).toBe('authorized')
    await act('clearing', id, { amount: 800 })
    expect(await ask(card, 101)).toBe(EXCEEDED)
    await act('refund', id)
    expect(await ask(card, 101)).toBe(EXCEEDED)
    expect(await ask(card, 100)).toBe('authorized')
  })

  test('increments count, and those that are declined do not', async () => {
    await fund(100_000)
    const card = await limited([{ amount: 1000, interval: 'monthly' }])
    const { id } = await authorize(card.id, 600)
    expect((await act('increment', id, { amount: 401 })).amounts).toMatchObject({
      authorized: 600,
      requested: 1001,
    })
    expect((await act('increment', id, { amount: 400 })).amounts).toMatchObject({
      authorized: 1000,
      requested: 1401,
    })
    expect(await ask(card, 1)).toBe(EXCEEDED)
  })

  test('a number of authorizations, which reversals do not give back', async () => {
    await fund(100_000)
    const card = await limited([], { max_authorization_count: 2 })
    const { id } = await authorize(card.id, 1)
    await act('reversal', id)
    expect(await ask(card, 200_000)).toBe('insufficient_funds')
    expect(await ask(card, 1)).toBe('authorized')
    expect(await ask(card, 1)).toBe('authorization_count_exceeded')
  })
})

describe('64 at once', () => {
  const approved = (all: readonly Body[]) => all.filter(({ status }) => status === 'authorized').length

  test('64 concurrent authorizations of one card use as much as the limit allows, and no less', async () => {
    await fund(1_000_000)
    const card = await makeCard(send, {
      spending_controls: { spending_limits: [{ amount: 1000, interval: 'daily' }] },
    })
    const all = await Promise.all(Array.from({ length: 64 }, () => authorize(card.id, 30)))
    expect(approved(all)).toBe(33)
  })

  test('64 concurrent authorizations of one card use as many as may be', async () => {
    await fund(1_000_000)
    const card = await makeCard(send, { spending_controls: { max_authorization_count: 20 } })
    const all = await Promise.all(Array.from({ length: 64 }, () => authorize(card.id, 30)))
    expect(approved(all)).toBe(20)
  })

  test('64 concurrent authorizations of as many cards use what the balance allows, and no less', async () => {
    await fund(1000)
    const first = await makeCard(send)
    const others = await Promise.all(
      Array.from({ length: 15 }, () =>
        make(send, '/v1/cards', { cardholder_id: first.cardholder_id, type: 'virtual' }),
      ),
    )
    const cards = [first, ...others]
    const all = await Promise.all(Array.from({ length: 64 }, (_, n) => authorize(cards[n % 16].id, 30)))
    expect(approved(all)).toBe(33)
    expect(await balance()).toEqual([10, 990])
    await verifyLedger(service.operator, tenantId)
  })

  test('clearings of one authorization: each collects, and what was held is consumed once', async () => {
    await fund(1000)
    const card = await makeCard(send)
    const { id } = await authorize(card.id, 500)
    await Promise.all(Array.from({ length: 8 }, () => act('clearing', id, { amount: 100 })))
    const { amounts: moved } = (await send(`/v1/card_transactions/${id}`)).body
    expect(moved).toMatchObject({ held: 0, cleared: 800, reversed: 0 })
    expect(await balance()).toEqual([200, 0])
    await verifyLedger(service.operator, tenantId)
  })

  test('refunds: no more than was cleared', async () => {
    const card = await makeCard(send)
    const { id } = await make(send, '/v1/test/cards/simulate_force_post', {
      card_id: card.id,
      amount: 100,
      merchant: MERCHANT,
    })
    const all = await Promise.all(
      Array.from({ length: 16 }, () => simulate('refund', { card_transaction_id: id, amount: 30 })),
    )
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(await balance()).toEqual([-10, 0])
  })
})

describe('bad input', () => {
  const bad = async (body: object) => {
    const answer = await simulate('authorization', body)
    const [status, code, fault] = firstFault(answer)
    return [status, code, (fault as { field: string } | undefined)?.field]
  }

  test('a wrong authorization is refused by field, and nothing is written', async () => {
    const { id: card_id } = await makeCard(send)
    const given = { card_id, amount: 100, merchant: MERCHANT }
    const refused = (field: string) => [422, 'validation_failed', field]
    for (const amount of [-1, 1.5, '100', 1e15 + 1, null, {}]) {
      expect([amount, await bad({ ...given, amount })]).toEqual([amount, refused('amount')])
    }
    for (const currency of ['USD', 'us', 'dollars', 1])
      expect(await bad({ ...given, currency })).toEqual(refused('currency'))
    const merchant = (part: object) => bad({ ...given, merchant: { ...MERCHANT, ...part } })
    expect(await merchant({ name: 'x'.repeat(10_000) })).toEqual(refused('merchant.name'))
    expect(await merchant({ name: '' })).toEqual(refused('merchant.name'))
    expect(await merchant({ name: 'a\u0000b' })).toEqual(refused('merchant.name'))
    expect(await merchant({ category_code: 'restaurants' })).toEqual(refused('merchant.category_code'))
    expect(await merchant({ country: 'XX' })).toEqual(refused('merchant.country'))
    expect(await bad({ ...given, card_id: 'card_00000000000000000000000000' })).toEqual(refused('card_id'))
    expect(await bad({ ...given, amount_cents: 1 })).toEqual(refused('amount_cents'))
    expect((await send('/v1/card_transactions')).body.data).toEqual([])
    const rtl = await authorize(card_id, 1, { merchant: { ...MERCHANT, name: 'مطعم الميناء \u202e!' } })
    expect(rtl.merchant.name).toBe('مطعم الميناء \u202e!')
  })

  test('an authorization in another currency is declined, not refused', async () => {
    const card = await makeCard(send)
    await fund(100)
    expect((await authorize(card.id, 1, { currency: 'eur' })).decline_reason.code).toBe(
      'unsupported_currency',
    )
  })

  test('a transaction of somebody else is none', async () => {
    const card = await makeCard(send)
    await fund(100)
    const { id } = await authorize(card.id, 1)
    const other = await speakFor(service, await makeTenant(service))
    expect((await other(`/v1/card_transactions/${id}`)).status).toBe(404)
    expect((await other(`/v1/card_transactions/${id}/release`, { method: 'POST' })).status).toBe(404)
    const clearing = await other('/v1/test/cards/simulate_clearing', { body: { card_transaction_id: id } })
    expect(firstFault(clearing)[2]).toMatchObject({ field: 'card_transaction_id' })
    const stolen = await other('/v1/test/cards/simulate_authorization', {
      body: { card_id: card.id, amount: 1, merchant: MERCHANT },
    })
    expect(firstFault(stolen)[2]).toMatchObject({ field: 'card_id' })
  })

  test('amounts beyond what can be shown', async () => {
    const card = await makeCard(send)
    const post = { card_id: card.id, amount: 1e15, merchant: MERCHANT }
    const { id } = await make(send, '/v1/test/cards/simulate_force_post', post)
    const clearing = await simulate('clearing', { card_transaction_id: id, amount: 1 })
    expect(firstFault(clearing)[2]).toMatchObject({ field: 'amount' })
    expect(firstFault(await simulate('force_post', post))[2]).toMatchObject({ field: 'amount' })
    expect(await balance()).toEqual([-1e15, 0])
    await verifyLedger(service.operator, tenantId)
  })
})

test('lists by card, cardholder, status, type and category, newest first', async () => {
  await fund(1000)
  const [one, two] = [await makeCard(send), await makeCard(send)]
  const made: Body[] = []
  for (const [card, amount, category_code] of [
    [one, 10, '5812'],
    [one, 5000, '5812'],
    [two, 30, '6011'],
    [two, 40, '9998'],
  ] as const) {
    service.clock.now += 1000
    made.push(await authorize(card.id, amount, { merchant: { ...MERCHANT, category_code } }))
  }
  const ids = made.map(({ id }) => id)
  const list = async (query: string) =>
    (await send(`/v1/card_transactions?${query}`)).body.data.map(({ id }: Body) => ids.indexOf(id))
  expect(await list('')).toEqual([3, 2, 1, 0])
  expect(await list('order=asc&limit=2')).toEqual([0, 1])
  expect(await list(`card_id=${one.id}`)).toEqual([1, 0])
  expect(await list(`cardholder_id=${two.cardholder_id}`)).toEqual([3, 2])
  expect(await list('status=declined')).toEqual([1])
  expect(await list('type=cash_withdrawal')).toEqual([2])
  expect(await list('category_code=5812')).toEqual([1, 0])
  expect(await list('category_code=9998')).toEqual([3])
  expect(await list('category_code=9997')).toEqual([])
  expect(await list(`card_id=${one.id}&category_code=5812&status=authorized`)).toEqual([0])
  expect(await list(`card_id=${one.id}&cardholder_id=${two.cardholder_id}`)).toEqual([])
})

test('metadata is patched and told; nothing else can be', async () => {
  const card = await makeCard(send)
  await fund(10)
  const { id } = await authorize(card.id, 1)
  const answer = await patch(send, `/v1/card_transactions/${id}`, { metadata: { trip: 'oakland' } })
  expect([answer.status, answer.body.metadata]).toEqual([200, { trip: 'oakland' }])
  expect((await patch(send, `/v1/card_transactions/${id}`, { status: 'cleared' })).status).toBe(422)
  expect((await told()).at(-1)).toMatchObject({
    type: 'card.transaction.updated',
    previous_attributes: { metadata: { trip: null } },
  })
})

describe.each(CARD_VERSIONS)('%s', (version) => {
  const isOld = version === '2025-11-01'
  const code = (mcc: string, label: string) => (isOld ? label : mcc)

  test('categories are labels before 2026-02-01, in bodies, filters and events', async () => {
    tenantId = await makeTenant(service, 'enterprise', version)
    send = await speakFor(service, tenantId)
    const card = await makeCard(send)
    await fund(1000)
    const merchant = { ...MERCHANT, category_code: code('5812', 'restaurants') }
    const answer = await simulate('authorization', { card_id: card.id, amount: 10, merchant })
    expect([answer.status, answer.text]).toEqual([201, answer.text])
    expect(answer.body.merchant.category_code).toBe(merchant.category_code)
    const listed = await send(`/v1/card_transactions?category_code=${merchant.category_code}`)
    expect(listed.body.data).toHaveLength(1)
    expect(
      (await send(`/v1/card_transactions?category_code=${code('4121', 'taxis_and_limousines')}`)).body.data,
    ).toEqual([])
    expect((await told())[0].data.card_transaction.merchant.category_code).toBe(merchant.category_code)
    const wrong = { ...MERCHANT, category_code: isOld ? '5812' : 'restaurants' }
    const refused = await simulate('authorization', { card_id: card.id, amount: 10, merchant: wrong })
    expect(firstFault(refused)[2]).toMatchObject({ field: 'merchant.category_code' })
  })
})
