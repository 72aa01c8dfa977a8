/** Settlements over HTTP: what comes into them, with which signs, and what is shown of them in each version. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkEvent } from '../support/contract.ts'
import { makeTenant, startTestService, type TestService } from '../support/service.ts'
import { CARD_VERSIONS, make, makeCard, speakAll } from './fixtures.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const MERCHANT = { name: 'A', category_code: '5812' }

interface Line {
  readonly type: string
  readonly amount: number
  readonly source_id: string
}

const amounts = (lines: readonly Line[]) => lines.map(({ type, amount }) => `${type} ${amount}`).toSorted()

test('clearings, refunds and disputes of a day are lines of one settlement', async () => {
  const tenantId = await makeTenant(service)
  const versions = await speakAll(service, tenantId)
  const send = versions['2026-05-19']
  const card = await makeCard(send)
  expect((await send('/v1/settlements')).body.data).toEqual([])
  const post = (amount: number) =>
    make(send, '/v1/test/cards/simulate_force_post', { card_id: card.id, amount, merchant: MERCHANT })
  const large = await post(10_100)
  const small = await post(100) // 1.5 and 0.1 cents
  await send('/v1/test/cards/simulate_refund', { body: { card_transaction_id: small.id, amount: 40 } })
  const dispute = await make(send, '/v1/disputes', {
    card_transaction_id: large.id,
    amount: 700,
    reason: 'other',
  })
  await send(`/v1/disputes/${dispute.id}/submit`, { body: {} })
  const [settlement, ...others] = (await send('/v1/settlements')).body.data
  expect(others).toEqual([])
  expect(settlement).toMatchObject({
    status: 'open',
    currency: 'usd',
    transaction_amount: -10_160,
    interchange_amount: 154, // 151.5 and 1.5 to the even cent
    fees_amount: 10,
    net_amount: 844,
    lines_count: 10,
    payout_id: null,
  })
  expect(amounts(settlement.lines)).toEqual([
    'card_refund 40',
    'card_transaction -100',
    'card_transaction -10100',
    'dispute 700',
    'interchange 152',
    'interchange 2',
    'network_fee -10',
    'program_funding -40',
    'program_funding 100',
    'program_funding 10100',
  ])
  await send('/v1/test/disputes/simulate_outcome', { body: { dispute_id: dispute.id, outcome: 'lost' } })
  expect((await send(`/v1/settlements/${settlement.id}`)).body).toMatchObject({
    net_amount: 144,
    lines_count: 11,
  })
  const lines = `/v1/settlements/${settlement.id}/lines`
  const read = async (query: string) => amounts((await send(lines + query)).body.data)
  expect(await read('?type=interchange')).toEqual(['interchange 152', 'interchange 2'])
  expect(await read(`?source_id=${small.id}&type=card_refund`)).toEqual(['card_refund 40'])
  expect(await read(`?source_id=${dispute.id}`)).toEqual(['dispute 700', 'dispute_reversal -700'])
  expect(await read('?limit=3')).toHaveLength(3)
  for (const version of CARD_VERSIONS) {
    const isSnake = version === '2026-05-19'
    const [own, other] = isSnake ? ['card_refund', 'cardRefund'] : ['cardRefund', 'card_refund']
    const { body } = await versions[version](`${lines}?type=${own}`)
    expect(body.data.map(({ type }: Line) => type)).toEqual([own])
    expect((await versions[version](`${lines}?type=${other}`)).status).toBe(400)
    const whole = (await versions[version](`/v1/settlements/${settlement.id}`)).body
    expect(whole.lines.map(({ type }: Line) => type)).toContain(own)
  }
  const entries = new Set(
    settlement.lines.map(({ ledger_entry_id }: { ledger_entry_id: string }) => ledger_entry_id),
  )
  const { rows } = await service.database.control.query(
    {
      text: 'SELECT id FROM sandbox.ledger_entries WHERE tenant_id = $1 AND id = ANY ($2)',
    },
    [tenantId, [...entries]],
  )
  expect([rows.length, entries.size]).toEqual([7, 7])
  const events = (await send('/v1/events?type=settlement.created')).body.data
  expect(events).toHaveLength(1)
  expect(checkEvent(events[0])).toEqual([])
  expect((await send('/v1/settlements/stl_00000000000000000000000000/lines')).status).toBe(404)
})
