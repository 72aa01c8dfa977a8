/** Card programs and cards over HTTP: made, read, listed and changed, in every version that has them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import {
  CARD_VERSIONS,
  eventsOf,
  make,
  makeCard,
  makeCardholder,
  patch,
  SHIPPING,
  speakAll,
} from './fixtures.ts'

const service = useService()
let tenantId: string
let send: Send

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
})

const NOBODY = 'chd_00000000000000000000000000'
const NO_PROGRAM = 'cprg_00000000000000000000000000'
const NO_CARD = 'card_00000000000000000000000000'

test.each(CARD_VERSIONS)('a program and a card are made, read, listed and changed in %s', async (version) => {
  const through = (await speakAll(service, tenantId))[version]
  const program = await make(through, '/v1/card_programs', {
    name: 'Team meals',
    kind: 'virtual',
    spending_controls: { max_authorization_count: 7 },
  })
  expect(program).toMatchObject({ object: 'card_program', design: null, metadata: {} })
  const path = `/v1/card_programs/${program.id}`
  expect((await through(path)).body).toEqual(program)
  expect((await through('/v1/card_programs?limit=1')).body.data).toEqual([program])
  const design = { background_color: '#000000', foreground_color: '#FFFFFF' }
  const renamed = await patch(through, path, { name: 'Team', design, metadata: { a: '1' } })
  expect(renamed.body).toMatchObject({
    name: 'Team',
    design: { ...design, text: null },
    metadata: { a: '1' },
  })
  const plain = await patch(through, path, { design: null, metadata: null, spending_controls: null })
  expect(plain.body).toMatchObject({ design: null, metadata: {}, kind: 'virtual' })
  expect(plain.body.spending_controls.max_authorization_count).toBeNull()

  const cardholder_id = await makeCardholder(through)
  const card = await make(through, '/v1/cards', {
    cardholder_id,
    type: 'virtual',
    card_program_id: program.id,
  })
  expect(card).toMatchObject({
    object: 'card',
    cardholder_id,
    card_program_id: program.id,
    type: 'virtual',
    status: 'active',
    frozen: false,
    exp_month: 6,
    exp_year: 2030,
    cancellation_reason: null,
    replacement_for_id: null,
    replaced_by_id: null,
    shipping: null,
    wallets: {
      apple_pay: { eligible: true, ineligible_reason: null },
      google_pay: { eligible: true, ineligible_reason: null },
    },
  })
  expect((await through(`/v1/cards/${card.id}`)).body).toEqual(card)
  const changed = await patch(through, `/v1/cards/${card.id}`, {
    metadata: { team: 'red' },
    spending_controls: { spending_limits: [{ amount: 100, interval: 'daily' }], max_authorization_count: 3 },
  })
  expect(changed.body.metadata).toEqual({ team: 'red' })
  const [limit] = changed.body.spending_controls.spending_limits
  expect(limit).toEqual({ amount: 100, interval: 'daily', categories: null })
  const kept = await patch(through, `/v1/cards/${card.id}`, {
    spending_controls: { blocked_countries: ['KP'] },
  })
  expect(kept.body.spending_controls).toMatchObject({ max_authorization_count: 3, spending_limits: [limit] })
  const free = await patch(through, `/v1/cards/${card.id}`, { spending_controls: null, metadata: null })
  expect(free.body).toMatchObject({ metadata: {}, spending_controls: { spending_limits: [] } })
})

describe('controls', () => {
  test('spending controls of a card without its own are those of the program when the card was made', async () => {
    const limits = [{ amount: 500, interval: 'monthly', categories: ['5812'] }]
    const controls = { blocked_categories: ['7995'], spending_limits: limits }
    const program = await make(send, '/v1/card_programs', {
      name: 'P',
      kind: 'both',
      spending_controls: controls,
    })
    const card_program_id = program.id
    const card = await makeCard(send, { card_program_id })
    expect(card.spending_controls).toEqual(program.spending_controls)
    const own = await makeCard(send, { card_program_id, spending_controls: { max_authorization_count: 1 } })
    expect(own.spending_controls).toMatchObject({ blocked_categories: [], max_authorization_count: 1 })
    const none = await makeCard(send, { card_program_id, spending_controls: null })
    expect(none.spending_controls).toMatchObject({ blocked_categories: [], spending_limits: [] })
    await patch(send, `/v1/card_programs/${card_program_id}`, { spending_controls: null })
    expect((await send(`/v1/cards/${card.id}`)).body.spending_controls).toEqual(card.spending_controls)
  })

  const LIMIT = { amount: 100, interval: 'daily' }
  test.each([
    [{ blocked_categories: ['5812', '9998'] }, 'blocked_categories[1]'],
    [{ blocked_categories: ['581'] }, 'blocked_categories[0]'],
    [{ blocked_countries: ['us'] }, 'blocked_countries[0]'],
    [{ blocked_countries: ['XX'] }, 'blocked_countries[0]'],
    [{ spending_limits: [LIMIT, LIMIT] }, 'spending_limits[1]'],
    [
      {
        spending_limits: [
          { ...LIMIT, categories: ['5812', '5411'] },
          { ...LIMIT, categories: ['5411', '5812'] },
        ],
      },
      'spending_limits[1]',
    ],
    [{ spending_limits: [{ ...LIMIT, categories: ['9998'] }] }, 'spending_limits[0].categories[0]'],
    [{ spending_limits: [{ ...LIMIT, amount: 1.5 }] }, 'spending_limits[0].amount'],
    [{ spending_limits: [{ ...LIMIT, amount: '100' }] }, 'spending_limits[0].amount'],
    [{ spending_limits: [{ ...LIMIT, amount: -1 }] }, 'spending_limits[0].amount'],
    [{ spending_limits: [{ ...LIMIT, amount: 10 ** 15 + 1 }] }, 'spending_limits[0].amount'],
    [{ spending_limits: [{ ...LIMIT, interval: 'hourly' }] }, 'spending_limits[0].interval'],
    [{ spending_limits: Array(21).fill(LIMIT) }, 'spending_limits'],
    [{ max_authorization_count: -1 }, 'max_authorization_count'],
    [{ max_authorization_count: 1.5 }, 'max_authorization_count'],
    [{ allowed_categories: [] }, 'allowed_categories'],
  ])('spending controls are refused by their field: %o', async (controls, field) => {
    const wanted = [
      422,
      'validation_failed',
      { field: `spending_controls.${field}`, issue: expect.any(String) },
    ]
    const cardholder_id = await makeCardholder(send)
    const body = { cardholder_id, type: 'virtual', spending_controls: controls }
    expect(firstFault(await send('/v1/cards', { body }))).toEqual(wanted)
    expect((await send(`/v1/cards?cardholder_id=${cardholder_id}`)).body.data).toEqual([])
    const program = { name: 'P', kind: 'both', spending_controls: controls }
    expect(firstFault(await send('/v1/card_programs', { body: program }))).toEqual(wanted)
    const { id } = await makeCard(send)
    const change = { spending_controls: controls }
    expect(firstFault(await patch(send, `/v1/cards/${id}`, change))).toEqual(wanted)
  })

  test('spending controls may be as large as the interface lets them be', async () => {
    const spending_limits = [{ amount: 10 ** 15, interval: 'all_time', categories: null }]
    const { spending_controls } = await makeCard(send, { spending_controls: { spending_limits } })
    expect(spending_controls.spending_limits).toEqual(spending_limits)
  })
})

describe('a card is refused', () => {
  test.each([
    [{ cardholder_id: NOBODY }, 'cardholder_id'],
    [{ cardholder_id: 'somebody' }, 'cardholder_id'],
    [{ card_program_id: NO_PROGRAM }, 'card_program_id'],
    [{ type: 'physical' }, 'shipping'],
    [{ type: 'metal' }, 'type'],
    [{ shipping: SHIPPING }, 'shipping'],
    [{ type: 'physical', shipping: { ...SHIPPING, service: 'pigeon' } }, 'shipping.service'],
    [
      { type: 'physical', shipping: { ...SHIPPING, address: { ...SHIPPING.address, country: 'XX' } } },
      'shipping.address.country',
    ],
    [{ number: '4000000000000002' }, 'number'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
  ])('POST /v1/cards refuses %o by its field', async (content, field) => {
    const cardholder_id = await makeCardholder(send)
    const answer = await send('/v1/cards', { body: { cardholder_id, type: 'virtual', ...content } })
    expect(firstFault(answer)).toEqual([422, 'validation_failed', { field, issue: expect.any(String) }])
  })

  test.each(['virtual', 'physical'])(
    'POST /v1/cards refuses a kind that its program, %s, does not issue',
    async (kind) => {
      const { id } = await make(send, '/v1/card_programs', { name: 'P', kind })
      const other = kind === 'virtual' ? { type: 'physical', shipping: SHIPPING } : { type: 'virtual' }
      const body = { cardholder_id: await makeCardholder(send), card_program_id: id, ...other }
      expect(firstFault(await send('/v1/cards', { body }))).toMatchObject([
        422,
        'validation_failed',
        { field: 'type' },
      ])
    },
  )

  test('POST /v1/cards refuses a cardholder who is not active', async () => {
    const cardholder_id = await makeCardholder(send)
    await patch(send, `/v1/cardholders/${cardholder_id}`, { status: 'inactive' })
    const answer = await send('/v1/cards', { body: { cardholder_id, type: 'virtual' } })
    expect(refusal(answer)).toEqual([409, 'conflict', 'invalid_state'])
  })

  test('POST /v1/cards refuses a cardholder whose name is on a list, until that is resolved', async () => {
    const cardholder_id = await makeCardholder(send)
    const text = `UPDATE sandbox.cardholders SET sanctions_status = 'potential_match' WHERE tenant_id = $1 AND id = $2`
    await service.database.control.query({ text }, [tenantId, cardholder_id])
    const answer = await send('/v1/cards', { body: { cardholder_id, type: 'virtual' } })
    expect(refusal(answer)).toEqual([409, 'conflict', 'invalid_state'])
  })

  test('POST /v1/cards is refused in live before the business is verified, and so is every other write', async () => {
    const other = await makeTenant(service)
    const live = await speakFor(service, other, 'live')
    const unverified = [403, 'permission_error', 'business_verification_required']
    const order = { cardholder_id: NOBODY, type: 'virtual' }
    expect(refusal(await live('/v1/cards', { body: order }))).toEqual(unverified)
    expect(refusal(await live('/v1/card_programs', { body: { name: 'P', kind: 'both' } }))).toEqual(
      unverified,
    )
    expect(refusal(await patch(live, `/v1/cards/${NO_CARD}`, {}))).toEqual(unverified)
    expect((await live('/v1/cards')).body.data).toEqual([])
    await verifyTenant(service.operator, other)
    service.forget()
    expect((await makeCard(live)).status).toBe('active')
  })
})

test('a program’s design needs both colours', async () => {
  const { id } = await make(send, '/v1/card_programs', { name: 'P', kind: 'both' })
  const answer = await patch(send, `/v1/card_programs/${id}`, { design: { text: 'x' } })
  expect(answer.body.error.details.map(({ field }: { field: string }) => field)).toEqual([
    'design.background_color',
    'design.foreground_color',
  ])
})

test('cards are found by each filter, and by all of them', async () => {
  const own = await speakFor(service, await makeTenant(service))
  const virtual = await makeCard(own)
  const physical = await makeCard(own, { type: 'physical', shipping: SHIPPING })
  expect(physical).toMatchObject({
    status: 'inactive',
    shipping: { address: { ...SHIPPING.address, line2: null }, status: 'pending', tracking_number: null },
    wallets: { apple_pay: { eligible: false, ineligible_reason: 'card_inactive' } },
  })
  const found = async (query: string) =>
    (await own(`/v1/cards?${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await found('')).toEqual([physical.id, virtual.id])
  expect(await found('status=active')).toEqual([virtual.id])
  expect(await found('type=physical')).toEqual([physical.id])
  expect(await found(`cardholder_id=${virtual.cardholder_id}`)).toEqual([virtual.id])
  expect(await found(`cardholder_id=${virtual.cardholder_id}&type=physical`)).toEqual([])
  expect(await found(`cardholder_id=${physical.cardholder_id}&type=physical&status=inactive`)).toEqual([
    physical.id,
  ])
  expect(await found('status=canceled')).toEqual([])
  expect(await eventsOf(own)).toEqual([
    'cardholder.created',
    'card.created',
    'cardholder.created',
    'card.created',
  ])
})

test('a change is told with what was before, and one that changes nothing is not', async () => {
  const own = await speakFor(service, await makeTenant(service))
  const { id } = await makeCard(own, { metadata: { a: '1' } })
  await patch(own, `/v1/cards/${id}`, { metadata: { a: '2' } })
  await patch(own, `/v1/cards/${id}`, {})
  const { body } = await own('/v1/events?type=card.updated')
  expect(body.data).toHaveLength(1)
  expect(body.data[0]).toMatchObject({
    data: { card: { id } },
    previous_attributes: { metadata: { a: '1' } },
  })
})

test('a card or program that does not exist is not found', async () => {
  for (const path of [`/v1/cards/${NO_CARD}`, `/v1/card_programs/${NO_PROGRAM}`]) {
    expect(refusal(await send(path))).toEqual([404, 'not_found', 'not_found'])
    expect(refusal(await patch(send, path, {}))).toEqual([404, 'not_found', 'not_found'])
  }
})

test.each(CARD_VERSIONS)(
  'the catalog in %s has every code once, in order, with its label',
  async (version) => {
    const { body } = await (await speakAll(service, tenantId))[version]('/v1/merchant_categories')
    const codes = body.data.map(({ code }: { code: string }) => code)
    expect(codes).toEqual([...new Set(codes)].toSorted())
    expect([codes.length, codes[0]]).toEqual([1092, '0000'])
    const labels = new Map(body.data.map(({ code, label }: { code: string; label: string }) => [code, label]))
    expect(['0000', '3001', '3360', '3501', '5812'].map((code) => labels.get(code))).toEqual([
      ...['miscellaneous', 'airlines', 'car_rental', 'lodging', 'restaurants'],
    ])
  },
)
