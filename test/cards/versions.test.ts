/** One card, written and read in several versions: what is allowed in one is what is not blocked in the other. */
import { beforeAll, describe, expect, test } from 'vitest'
import { firstFault } from '../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { make, makeCard, makeCardholder, patch, speakAll } from './fixtures.ts'

const service = useService()
let old: Send
let middle: Send
let newest: Send
let categories: string[]

beforeAll(async () => {
  const send = await speakAll(service, await makeTenant(service, 'enterprise', '2025-11-01'))
  old = send['2025-11-01']
  middle = send['2026-02-01']
  newest = send['2026-05-19']
  const { body } = await newest('/v1/merchant_categories')
  categories = body.data.map(({ code }: { code: string }) => code)
})

const without = (codes: readonly string[]) => categories.filter((code) => !codes.includes(code))

interface Controls {
  readonly allowed_categories?: string[] | null
  readonly blocked_categories?: string[]
}

const controlsOf = async (send: Send, id: string): Promise<Controls> =>
  (await send(`/v1/cards/${id}`)).body.spending_controls

describe('allowed in 2025-11-01, blocked in 2026-05-19', () => {
  test.each<[string, object | null | undefined, string[] | null, () => string[]]>([
    [
      'two categories',
      { allowed_categories: ['5812', '5411'] },
      ['5411', '5812'],
      () => without(['5411', '5812']),
    ],
    ['twice the same', { allowed_categories: ['5812', '5812'] }, ['5812'], () => without(['5812'])],
    ['what is outside the catalogue', { allowed_categories: ['0000'] }, ['0000'], () => without(['0000'])],
    ['nothing', { allowed_categories: [] }, [], () => categories],
    ['null: anything', { allowed_categories: null }, null, () => []],
    ['absent: anything', { max_authorization_count: 4 }, null, () => []],
    ['no controls', null, null, () => []],
    ['none given', undefined, null, () => []],
  ])(
    'categories allowed in 2025-11-01 read as those blocked in 2026-05-19: %s',
    async (_about, spending_controls, allowed, blocked) => {
      const cardholder_id = await makeCardholder(old)
      const order = {
        cardholder_id,
        type: 'virtual',
        ...(spending_controls !== undefined && { spending_controls }),
      }
      const card = await make(old, '/v1/cards', order)
      const path = `/v1/cards/${card.id}`
      expect((await controlsOf(old, card.id)).allowed_categories?.toSorted() ?? null).toEqual(allowed)
      expect((await controlsOf(middle, card.id)).allowed_categories?.toSorted() ?? null).toEqual(allowed)
      const canonical = await controlsOf(newest, card.id)
      expect(canonical.blocked_categories).toEqual(blocked())

      // Read in one version and written back in the other changes nothing, in whichever order.
      for (const send of [old, newest, middle, newest, old]) {
        const controls = await controlsOf(send, card.id)
        const { status, body } = await patch(send, path, { spending_controls: controls })
        expect([status, body.spending_controls]).toEqual([200, controls])
        expect(await controlsOf(newest, card.id)).toEqual(canonical)
      }
      // In a PATCH absence changes nothing, whoever says nothing.
      for (const send of [old, newest]) {
        await patch(send, path, { spending_controls: { max_authorization_count: 4 } })
        expect((await controlsOf(newest, card.id)).blocked_categories).toEqual(blocked())
      }
      const { body } = await old('/v1/events?type=card.updated&limit=100')
      const told = body.data.filter(
        ({ data }: { data: { card: { id: string } } }) => data.card.id === card.id,
      )
      expect(told).toHaveLength(card.spending_controls.max_authorization_count === 4 ? 0 : 1)
    },
  )
})

test('a list written in the newest version is kept in the order of codes, so that an older one gives it back', async () => {
  const { id } = await makeCard(newest, {
    spending_controls: { blocked_categories: ['7995', '0000', '5812', '7995'] },
  })
  expect((await controlsOf(newest, id)).blocked_categories).toEqual(['0000', '5812', '7995'])
  const { allowed_categories } = await controlsOf(old, id)
  expect(allowed_categories?.toSorted()).toEqual(without(['0000', '5812', '7995']))
  await patch(old, `/v1/cards/${id}`, { spending_controls: { allowed_categories } })
  expect((await controlsOf(newest, id)).blocked_categories).toEqual(['0000', '5812', '7995'])
})

test('the categories of a limit are codes in every version', async () => {
  const spending_limits = [{ amount: 1, interval: 'daily', categories: ['5812'] }]
  const { id, spending_controls } = await makeCard(old, { spending_controls: { spending_limits } })
  expect(spending_controls.spending_limits).toEqual(spending_limits)
  for (const send of [middle, newest]) expect(await controlsOf(send, id)).toMatchObject({ spending_limits })
})

test('a program is translated as a card is', async () => {
  const spending_controls = { allowed_categories: ['5812'] }
  const { id } = await make(old, '/v1/card_programs', { name: 'P', kind: 'both', spending_controls })
  const program = await newest(`/v1/card_programs/${id}`)
  expect(program.body.spending_controls.blocked_categories).toEqual(without(['5812']))
  const card = await makeCard(middle, { card_program_id: id })
  expect(card.spending_controls.allowed_categories).toEqual(['5812'])
})

test('an event is in the version of the tenant, old and new values alike', async () => {
  const { id } = await makeCard(newest, {
    spending_controls: { blocked_categories: without(['5411', '5812']) },
  })
  await patch(newest, `/v1/cards/${id}`, { spending_controls: { blocked_categories: without(['5812']) } })
  const { body } = await old('/v1/events?limit=1')
  expect(body.data[0]).toMatchObject({ type: 'card.updated', version: '2025-11-01' })
  expect(body.data[0].data.card.spending_controls.allowed_categories).toEqual(['5812'])
})

test('a category that is none is named with a few that are, not with all', async () => {
  const card = await makeCard(newest)
  for (const [send, category_code] of [
    [old, 'resturants'],
    [old, '5812'],
    [newest, 'restaurants'],
  ] as const) {
    const body = { card_id: card.id, amount: 1, merchant: { name: 'A', category_code } }
    const { body: answer } = await send('/v1/test/cards/simulate_authorization', { body })
    const [{ field, issue }] = answer.error.details
    expect([field, issue.length < 300, answer.error.message.length < 400]).toEqual([
      ...['merchant.category_code', true, true],
    ])
    if (category_code === 'resturants') expect(answer.error.message).toContain('did you mean restaurants?')
  }
})

test('a code outside the catalogue is named in the words of the version', async () => {
  const cardholder_id = await makeCardholder(old)
  const body = (spending_controls: object) => ({
    body: { cardholder_id, type: 'virtual', spending_controls },
  })
  expect(firstFault(await old('/v1/cards', body({ allowed_categories: ['9998'] })))).toMatchObject([
    422,
    'validation_failed',
    {
      field: 'spending_controls.allowed_categories',
      issue: 'is 9998, which is not in the catalog; the nearest codes are 9754, 9950, 9999',
    },
  ])
  expect(firstFault(await old('/v1/cards', body({ blocked_categories: [] })))).toMatchObject([
    422,
    'validation_failed',
    { field: 'spending_controls.blocked_categories' },
  ])
})
