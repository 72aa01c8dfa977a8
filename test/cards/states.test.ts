/** What becomes of cards: each action from each state, replacements, shipping, and many at once. */
import { beforeEach, describe, expect, test } from 'vitest'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { eventsOf, makeCard, patch, SHIPPING } from './fixtures.ts'

const service = useService({ poolSize: 12 })
let send: Send

beforeEach(async () => {
  send = await speakFor(service, await makeTenant(service))
})

const PHYSICAL = { type: 'physical', shipping: SHIPPING }
const INVALID = [409, 'conflict', 'invalid_state']

const act = (id: string, verb: string, body?: object) =>
  send(`/v1/cards/${id}/${verb}`, { method: 'POST', ...(body && { body }) })

const read = async (id: string) => (await send(`/v1/cards/${id}`)).body

const ship = (card_id: string, status: string) =>
  send('/v1/test/cards/simulate_shipping', { body: { card_id, status } })

/** A card in each state that actions tell apart. */
const STATES: Record<string, () => Promise<string>> = {
  inactive: async () => (await makeCard(send, PHYSICAL)).id,
  active: async () => (await makeCard(send)).id,
  frozen: async () => (await act((await makeCard(send)).id, 'freeze')).body.id,
  canceled: async () => (await act((await makeCard(send)).id, 'cancel')).body.id,
}

test.each([
  ['activate', { inactive: { status: 'active' }, active: 409, frozen: 409, canceled: 409 }],
  ['freeze', { inactive: { frozen: true }, active: { frozen: true }, frozen: 409, canceled: 409 }],
  ['unfreeze', { inactive: 409, active: 409, frozen: { frozen: false }, canceled: 409 }],
  [
    'cancel',
    {
      inactive: { status: 'canceled', cancellation_reason: 'user', shipping: { status: 'canceled' } },
      active: { status: 'canceled', cancellation_reason: 'user' },
      frozen: { status: 'canceled', frozen: true },
      canceled: 409,
    },
  ],
])('the action %s leads each state of a card where the contract says', async (verb, wanted) => {
  for (const [state, outcome] of Object.entries(wanted)) {
    const id = await STATES[state]!()
    const before = await read(id)
    const events = (await eventsOf(send)).length
    const answer = await act(id, verb)
    const told = (await eventsOf(send)).slice(events)
    if (outcome === 409) {
      expect([state, refusal(answer), told]).toEqual([state, INVALID, []])
      expect(await read(id)).toEqual(before)
    } else {
      expect([state, answer.status, answer.body]).toEqual([state, 200, await read(id)])
      expect(answer.body).toMatchObject(outcome as object)
      expect(told).toEqual([verb === 'cancel' ? 'card.canceled' : 'card.updated'])
    }
  }
  const missing = await act('card_00000000000000000000000000', verb)
  expect(refusal(missing)).toEqual([404, 'not_found', 'not_found'])
})

test('whether a wallet may take a card follows from its state', async () => {
  const reasonOf = async (state: string) => (await read(await STATES[state]!())).wallets.apple_pay
  expect(await reasonOf('active')).toEqual({ eligible: true, ineligible_reason: null })
  for (const state of ['inactive', 'frozen', 'canceled']) {
    expect(await reasonOf(state)).toEqual({ eligible: false, ineligible_reason: `card_${state}` })
  }
})

test('a canceled card is not changed', async () => {
  const id = await STATES.canceled!()
  expect(refusal(await patch(send, `/v1/cards/${id}`, { metadata: { a: '1' } }))).toEqual(INVALID)
})

test('a card expires with the last moment of its month', async () => {
  const { id, exp_year, exp_month } = await makeCard(send)
  service.clock.now = Date.UTC(exp_year, exp_month) - 1
  expect((await read(id)).wallets.apple_pay.eligible).toBe(true)
  service.clock.now += 1
  expect((await read(id)).wallets.apple_pay.ineligible_reason).toBe('card_expired')
})

describe('a replacement', () => {
  test.each(['lost', 'stolen'])(
    'a replacement of a card that was %s ends that card at once',
    async (reason) => {
      const controls = { blocked_categories: ['7995'], max_authorization_count: 2 }
      const old = await makeCard(send, { metadata: { a: '1' }, spending_controls: controls })
      const { status, body } = await act(old.id, 'replace', { reason })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        cardholder_id: old.cardholder_id,
        spending_controls: old.spending_controls,
        metadata: { a: '1' },
        status: 'active',
        replacement_for_id: old.id,
        replaced_by_id: null,
      })
      expect(await read(old.id)).toMatchObject({
        status: 'canceled',
        cancellation_reason: reason,
        replaced_by_id: body.id,
      })
      expect((await eventsOf(send)).slice(-2)).toEqual(['card.created', 'card.canceled'])
      expect(refusal(await act(old.id, 'replace', { reason }))).toEqual(INVALID)
    },
  )

  test('a replacement of a virtual card that expires ends that too: the new one is active', async () => {
    const { id } = await makeCard(send)
    const { body } = await act(id, 'replace', { reason: 'expired' })
    expect([body.status, (await read(id)).status]).toEqual(['active', 'canceled'])
  })

  test('a replacement of a damaged physical card takes over when it is activated', async () => {
    const old = await makeCard(send, PHYSICAL)
    await ship(old.id, 'shipped')
    await act(old.id, 'activate')
    const { body } = await act(old.id, 'replace', { reason: 'damaged' })
    expect(body).toMatchObject({ status: 'inactive', shipping: { status: 'pending', tracking_number: null } })
    expect(body.shipping.address).toEqual(old.shipping.address)
    expect(await read(old.id)).toMatchObject({ status: 'active', replaced_by_id: body.id })
    expect((await eventsOf(send)).slice(-2)).toEqual(['card.created', 'card.updated'])
    expect(refusal(await act(old.id, 'replace', { reason: 'damaged' }))).toEqual(INVALID)
    expect((await act(body.id, 'activate')).body.status).toBe('active')
    expect(await read(old.id)).toMatchObject({ status: 'canceled', cancellation_reason: 'user' })
    expect((await eventsOf(send)).slice(-2)).toEqual(['card.updated', 'card.canceled'])
  })

  test('a replacement of a card that is lost on its way is replaced itself: the last one takes over from the first', async () => {
    const first = await makeCard(send, PHYSICAL)
    await act(first.id, 'activate')
    const second = (await act(first.id, 'replace', { reason: 'damaged' })).body
    const third = (await act(second.id, 'replace', { reason: 'lost' })).body
    expect([(await read(first.id)).status, (await read(second.id)).status]).toEqual(['active', 'canceled'])
    await act(third.id, 'activate')
    expect((await read(first.id)).status).toBe('canceled')
    expect((await read(third.id)).replacement_for_id).toBe(second.id)
  })

  test('a replacement of a card needs a reason that there is, a card that is not canceled, and an active cardholder', async () => {
    const { id, cardholder_id } = await makeCard(send)
    for (const body of [{}, { reason: 'bored' }, { reason: 'lost', color: 'red' }]) {
      expect(firstFault(await act(id, 'replace', body)).slice(0, 2)).toEqual([422, 'validation_failed'])
    }
    await patch(send, `/v1/cardholders/${cardholder_id}`, { status: 'inactive' })
    expect(refusal(await act(id, 'replace', { reason: 'lost' }))).toEqual(INVALID)
    await patch(send, `/v1/cardholders/${cardholder_id}`, { status: 'active' })
    await act(id, 'cancel', { reason: 'lost' })
    expect(refusal(await act(id, 'replace', { reason: 'lost' }))).toEqual(INVALID)
  })
})

describe('shipping', () => {
  test('the shipping of a card goes its way, told at the two steps that matter', async () => {
    const { id } = await makeCard(send, PHYSICAL)
    const shipped = await ship(id, 'shipped')
    expect(shipped.body.shipping).toMatchObject({
      status: 'shipped',
      tracking_number: expect.stringMatching(/^TEST/),
    })
    const delivered = await ship(id, 'delivered')
    expect(delivered.body).toMatchObject({
      status: 'inactive',
      shipping: { status: 'delivered', tracking_number: shipped.body.shipping.tracking_number },
    })
    expect((await eventsOf(send)).slice(-2)).toEqual(['card.shipped', 'card.delivered'])
  })

  test.each([
    [[], ['shipped', 'failed', 'canceled']],
    [['shipped'], ['delivered', 'returned', 'failed']],
    [['shipped', 'delivered'], []],
    [['shipped', 'returned'], []],
    [['failed'], []],
    [['canceled'], []],
  ])('the shipping of a card that went %o can become %o', async (way, possible) => {
    for (const status of ['pending', 'shipped', 'delivered', 'returned', 'failed', 'canceled']) {
      const { id } = await makeCard(send, PHYSICAL)
      for (const step of way) await ship(id, step)
      const answer = await ship(id, status)
      expect([status, answer.status]).toEqual([status, possible.includes(status) ? 200 : 409])
      if (answer.status === 200) expect(answer.body.shipping.status).toBe(status)
    }
  })

  test('only physical cards that exist have shipping', async () => {
    expect(refusal(await ship((await makeCard(send)).id, 'shipped'))).toEqual(INVALID)
    expect(firstFault(await ship('card_00000000000000000000000000', 'shipped'))).toEqual([
      422,
      'validation_failed',
      { field: 'card_id', issue: 'does not identify an existing card' },
    ])
  })
})

describe('many at once', () => {
  const AT_ONCE = 8
  const statuses = async (requests: readonly Promise<{ status: number }>[]) =>
    (await Promise.all(requests)).map(({ status }) => status).toSorted()
  const repeat = (request: (index: number) => Promise<{ status: number }>) =>
    statuses(Array.from({ length: AT_ONCE }, (_, index) => request(index)))
  const refused = Array(AT_ONCE - 1).fill(409)

  test.each([
    ['freeze', 200, undefined],
    ['cancel', 200, undefined],
    ['replace', 201, { reason: 'lost' }],
    ['replace', 201, { reason: 'damaged' }],
  ])('%s: one is first, the others hear of it', async (verb, status, body) => {
    const { id, cardholder_id } = await makeCard(send, PHYSICAL)
    expect(await repeat(() => act(id, verb, body))).toEqual([status, ...refused])
    const cards = (await send(`/v1/cards?cardholder_id=${cardholder_id}`)).body.data
    expect(cards).toHaveLength(verb === 'replace' ? 2 : 1)
  })

  test('activating a successor while its predecessor is canceled: neither waits for the other for good', async () => {
    for (let round = 0; round < 5; round += 1) {
      const old = await makeCard(send, PHYSICAL)
      await act(old.id, 'activate')
      const next = (await act(old.id, 'replace', { reason: 'damaged' })).body
      const [activated, canceled] = await Promise.all([act(next.id, 'activate'), act(old.id, 'cancel')])
      expect([activated.status, [200, 409].includes(canceled.status)]).toEqual([200, true])
      expect((await read(old.id)).status).toBe('canceled')
      const ends = (await send('/v1/events?type=card.canceled&limit=100')).body.data
      const own = ends.filter(({ data }: { data: { card: { id: string } } }) => data.card.id === old.id)
      expect(own).toHaveLength(1)
    }
  })

  test('two concurrent changes of the metadata are both kept', async () => {
    const { id } = await makeCard(send)
    await repeat((index) => patch(send, `/v1/cards/${id}`, { metadata: { [`k${index}`]: '1' } }))
    expect(Object.keys((await read(id)).metadata)).toHaveLength(AT_ONCE)
  })
})
