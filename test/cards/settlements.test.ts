/** Settlements over HTTP: what comes into them, with which signs, what is shown of them in each version, and how they are settled. */
import { expect, test } from 'vitest'
import { Overtaken } from '../../runtime/database/errors.ts'
import { writeLines } from '../../runtime/money/settlement-lines/lines.ts'
import { readOpenSettlement } from '../../runtime/money/settlement-lines/queries.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { showSettlement, showSettlementAmounts } from '../../runtime/operator/settlements.ts'
import { checkEvent } from '../support/contract.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { CARD_VERSIONS, eventsOf, make, makeCard, speakAll } from './fixtures.ts'

const service = useService({ keepsTime: true })

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
    interchange_amount: 153, // 151.5 and 1.5 to the even cent, less 0.8
    fees_amount: 10,
    net_amount: 843,
    lines_count: 11,
    payout_id: null,
  })
  expect(amounts(settlement.lines)).toEqual([
    'card_refund 40',
    'card_transaction -100',
    'card_transaction -10100',
    'dispute 700',
    'interchange -1',
    'interchange 152',
    'interchange 2',
    'network_fee -10',
    'program_funding -40',
    'program_funding 100',
    'program_funding 10100',
  ])
  const shown = () => showSettlementAmounts(service.operator, tenantId, settlement.id)
  const sums = {
    card_transaction: -10_200,
    card_refund: 40,
    program_funding: 10_160,
    interchange: 153,
    network_fee: -10,
    dispute: 700,
    dispute_reversal: 0,
    adjustment: 0,
  }
  expect(await shown()).toMatchObject({ amounts: sums, postings: [] })
  await send('/v1/test/disputes/simulate_outcome', { body: { dispute_id: dispute.id, outcome: 'lost' } })
  expect(await shown()).toMatchObject({ amounts: { ...sums, dispute_reversal: -700 } })
  expect((await send(`/v1/settlements/${settlement.id}`)).body).toMatchObject({
    net_amount: 143,
    lines_count: 12,
  })
  const lines = `/v1/settlements/${settlement.id}/lines`
  const read = async (query: string) => amounts((await send(lines + query)).body.data)
  expect(await read('?type=interchange')).toEqual(['interchange -1', 'interchange 152', 'interchange 2'])
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

const DAY = 86_400_000
const HOUR = 3_600_000

const settle = () =>
  settlementWorker({
    database: service.database,
    clock: service.clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
    sanctions: service.sanctions,
  }).runOnce()

async function openTenant() {
  const tenantId = await makeTenant(service)
  const send = (await speakAll(service, tenantId))['2026-05-19']
  const card = await makeCard(send)
  const post = (amount: number) =>
    make(send, '/v1/test/cards/simulate_force_post', { card_id: card.id, amount, merchant: MERCHANT })
  const advance = async (body: object) => {
    service.clock.monotonic += 60_000
    const answer = await send('/v1/test/settlements/advance_clock', { body })
    expect([answer.text, answer.status]).toEqual([answer.text, 200])
    return answer.body
  }
  const read = async () => (await send('/v1/settlements?order=asc&limit=100')).body.data
  return { tenantId, send, card, post, advance, read }
}

const settlementEvents = async (send: Send) =>
  (await eventsOf(send)).filter((type) => /^(settlement|payout)/.test(type))

const statusesOf = (settlements: readonly { readonly status: string }[]) =>
  settlements.map(({ status }) => status)

test('days end by the clock, without a request, once however many look', async () => {
  const { tenantId, send, post, read } = await openTenant()
  const began = service.clock.now
  await post(100_000)
  const [{ period_start, period_end }] = await read()
  expect([new Date(period_start).getTime() % DAY, Date.parse(period_end) - Date.parse(period_start)]).toEqual(
    [0, DAY],
  )
  const at = async (time: number) => {
    service.clock.now = time
    service.clock.monotonic += 60_000
    await Promise.all([settle(), settle(), settle()])
    return statusesOf(await read())
  }
  const end = Date.parse(period_end)
  expect(await at(end - 1)).toEqual(['open'])
  expect(await at(end)).toEqual(['pending'])
  await post(100)
  expect(await at(end + HOUR)).toEqual(['processing', 'open'])
  expect((await send('/v1/balance')).body.payable).toBe(0)
  expect(await at(end + 2 * HOUR)).toEqual(['settled', 'open'])
  expect((await read())[0]).toMatchObject({ lines_count: 4, net_amount: 1400, payout_id: null })
  expect((await send('/v1/balance')).body.payable).toBe(1400)
  expect(await settlementEvents(send)).toEqual([
    'settlement.created',
    'settlement.pending',
    'settlement.created',
    'settlement.processing',
    'settlement.settled',
  ])
  const { data } = (await send('/v1/events?type=settlement.settled')).body
  expect(checkEvent(data[0])).toEqual([])
  await verifyLedger(service.operator, tenantId)
  service.clock.now = began
})

test('the audit log has each move of a settlement, even if a late worker makes all of them at once', async () => {
  const { tenantId, post, read } = await openTenant()
  const began = service.clock.now
  await post(1000)
  const [{ id, period_end }] = await read()
  service.clock.now = Date.parse(period_end) + 3 * HOUR
  service.clock.monotonic += 60_000
  await settle()
  const { rows } = await service.database.control.query<{ action: string }>(
    {
      text: 'SELECT action FROM sandbox.audit_log WHERE tenant_id = $1 AND target_id = $2 ORDER BY sequence',
    },
    [tenantId, id],
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'settlement.pending',
    'settlement.processing',
    'settlement.settled',
  ])
  service.clock.now = began
})

test('the first line of a day closes the one before it', async () => {
  const { send, post, read } = await openTenant()
  await post(100)
  service.clock.now += DAY
  service.clock.monotonic += 60_000
  await Promise.all([post(100), post(100), post(100)])
  expect(statusesOf(await read())).toEqual(['pending', 'open'])
  expect(
    (await read()).map(({ transaction_amount }: { transaction_amount: number }) => transaction_amount),
  ).toEqual([-100, -300])
  expect(await settlementEvents(send)).toEqual([
    'settlement.created',
    'settlement.pending',
    'settlement.created',
  ])
  service.clock.now -= DAY
})

test('the tenant’s own clock walks every state: in single steps, to a status, by seconds', async () => {
  const walk = async (...steps: ((id: string) => object)[]) => {
    const { tenantId, send, card, post, advance, read } = await openTenant()
    await send('/v1/test/funding', { body: { amount: 5000 } })
    const body = { card_id: card.id, amount: 1000, merchant: MERCHANT }
    const held = await make(send, '/v1/test/cards/simulate_authorization', body)
    await post(100_000)
    const [{ id }] = await read()
    const moved: string[] = []
    for (const step of steps) moved.push(...statusesOf((await advance(step(id))).data))
    const [{ id: _, lines: __, created: ___, ...settled }] = await read()
    const { status } = (await send(`/v1/card_transactions/${held.id}`)).body
    await verifyLedger(service.operator, tenantId)
    const { body: balance } = await send('/v1/balance')
    return { moved, end: { settled, status, balance, events: await eventsOf(send) } }
  }
  const week = () => ({ seconds: 8 * 86_400 })
  const single = await walk(
    () => ({}),
    () => ({}),
    () => ({}),
    () => ({}),
    () => ({}),
  )
  expect(single.moved).toEqual(['pending', 'processing', 'settled'])
  expect(single.end).toMatchObject({
    settled: { status: 'settled', net_amount: 1400 },
    status: 'expired',
    balance: { payable: 1400, held: 0 },
  })
  const atOnce = await walk(week)
  expect(atOnce.moved).toEqual(['settled'])
  expect(atOnce.end).toEqual(single.end)
  const named = await walk(
    (settlement_id) => ({ settlement_id, to: 'processing' }),
    (settlement_id) => ({ settlement_id, to: 'settled' }),
    (settlement_id) => ({ settlement_id, to: 'settled' }),
    week,
  )
  expect(named.moved).toEqual(['processing', 'settled'])
  expect(named.end).toEqual(single.end)
})

test('a settlement fails, is tried again, fails again and settles', async () => {
  const { tenantId, send, post, advance, read } = await openTenant()
  await post(10_000)
  const [{ id }] = await read()
  const fail = () => send('/v1/test/settlements/simulate_failure', { body: { settlement_id: id } })
  expect((await fail()).status).toBe(409)
  await advance({ settlement_id: id, to: 'processing' })
  for (const _ of [1, 2]) {
    expect((await fail()).body.status).toBe('failed')
    expect((await fail()).status).toBe(409)
    expect(statusesOf((await advance({})).data)).toEqual(['processing'])
  }
  expect(statusesOf((await advance({})).data)).toEqual(['settled'])
  expect(statusesOf((await advance({})).data)).toEqual([])
  expect((await send('/v1/balance')).body.payable).toBe(140)
  expect((await settlementEvents(send)).filter((type) => type === 'settlement.failed')).toHaveLength(2)
  await verifyLedger(service.operator, tenantId)
})

test('a negative net is taken from the balance', async () => {
  const { tenantId, send, post, advance } = await openTenant()
  await send('/v1/test/funding', { body: { amount: 50_000 } })
  const posted = await post(10_000)
  const { id } = await make(send, '/v1/disputes', {
    card_transaction_id: posted.id,
    amount: 9000,
    reason: 'other',
  })
  await send(`/v1/disputes/${id}/submit`, { body: {} })
  await advance({ seconds: 2 * 86_400 })
  expect((await send('/v1/balance')).body).toMatchObject({ available: 40_000, payable: 9140 })
  await send('/v1/test/disputes/simulate_outcome', { body: { dispute_id: id, outcome: 'lost' } })
  await advance({ seconds: 2 * 86_400 })
  const [latest] = (await send('/v1/settlements?limit=1')).body.data
  expect(latest).toMatchObject({ status: 'settled', net_amount: -9000, payout_id: null })
  expect((await send('/v1/balance')).body).toMatchObject({ available: 31_000, payable: 9140 })
  await verifyLedger(service.operator, tenantId)
})

test('a positive net goes to the default destination, whose hold the same clock ends', async () => {
  const { send, post, advance, read } = await openTenant()
  const address = 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7'
  const order = { type: 'usdc_address', address, holder_name: 'Ada Moreau' }
  const { id } = await make(send, '/v1/payout_destinations', order)
  const statusOf = async () => (await send(`/v1/payout_destinations/${id}`)).body.status
  await advance({ seconds: 86_399 })
  expect(await statusOf()).toBe('inactive')
  await post(100_000)
  await advance({ seconds: 3 * 86_400 })
  expect(await statusOf()).toBe('active')
  const [{ payout_id }] = await read()
  expect((await send(`/v1/payouts/${payout_id}`)).body).toMatchObject({ amount: 1400, status: 'pending' })
  expect((await send('/v1/balance')).body.payable).toBe(0)
  expect((await settlementEvents(send)).slice(-2)).toEqual(['settlement.settled', 'payout.created'])
})

test('clearings while days end: each is in exactly one settlement', async () => {
  const { tenantId, send, post, advance, read } = await openTenant()
  await post(100)
  const clearing = async () => {
    for (let count = 0; count < 8; count += 1) {
      service.clock.monotonic += 10_000
      await post(100)
    }
  }
  await Promise.all([
    clearing(),
    clearing(),
    clearing(),
    ...[1, 2, 3, 4].map(() => advance({ seconds: 86_400 })),
  ])
  const settlements = await read()
  expect(settlements.length).toBeGreaterThan(1)
  for (const { id, net_amount, lines_count, lines } of settlements) {
    const sum = lines.reduce((total: number, { amount }: Line) => total + amount, 0)
    expect([id, net_amount, lines_count]).toEqual([id, sum, lines.length])
  }
  const cleared = settlements.flatMap(({ lines }: { lines: Line[] }) =>
    lines.filter(({ type }) => type === 'card_transaction'),
  )
  expect([cleared.length, new Set(cleared.map(({ source_id }: Line) => source_id)).size]).toEqual([25, 25])
  await verifyLedger(service.operator, tenantId)
  expect((await send('/v1/settlements?status=open')).body.data.length).toBeLessThan(2)
})

test('a line whose settlement is closed meanwhile is not written: the request is done again', async () => {
  const { tenantId, post, advance, read } = await openTenant()
  await post(100)
  const [open] = await read()
  const known = await readOpenSettlement(service.database.sandbox, tenantId)
  const { now } = service.clock
  await advance({ settlement_id: open.id, to: 'pending' })
  const line = { type: 'adjustment', amount: 1, source_id: 'late', ledger_entry_id: 'len_late' } as const
  const late = service.database.sandbox.transaction((db) =>
    writeLines({ db, space: tenantId, events: { emit: () => undefined } }, [line], now, known),
  )
  await expect(late).rejects.toThrow(Overtaken)
  const [{ lines_count, net_amount }] = await read()
  expect([lines_count, net_amount]).toEqual([open.lines_count, open.net_amount])
})

test.each([
  [{ to: 'settled' }, 422],
  [{ settlement_id: 'stl_00000000000000000000000000', to: 'settled' }, 422],
  [{ seconds: 0 }, 422],
  [{ seconds: 31_536_001 }, 422],
  [{ seconds: 1, settlement_id: 'stl_00000000000000000000000000' }, 422],
])('the clock refuses %j with %i', async (body, status) => {
  const { send } = await openTenant()
  expect((await send('/v1/test/settlements/advance_clock', { body })).status).toBe(status)
})

test('no clock goes back, or to what time never makes', async () => {
  const { post, advance, read, send } = await openTenant()
  await post(100)
  const [{ id }] = await read()
  await advance({ settlement_id: id, to: 'pending' })
  for (const to of ['open', 'failed']) {
    const { status, body } = await send('/v1/test/settlements/advance_clock', {
      body: { settlement_id: id, to },
    })
    expect([to, status, body.error.code]).toEqual([to, 409, 'invalid_state'])
  }
})

test('operators are shown what the lines come to, and what was booked', async () => {
  const { tenantId, post, advance, read } = await openTenant()
  await post(10_000)
  const [{ id, net_amount }] = await read()
  await advance({ settlement_id: id, to: 'settled' })
  const shown = await showSettlement(service.operator, tenantId, id)
  expect(shown).toMatchObject({
    environment: 'sandbox',
    status: 'settled',
    types: { card_transaction: { lines: 1 }, program_funding: { lines: 1 }, interchange: { lines: 1 } },
    postings: [{ cause: `${id}/interchange` }, { cause: `${id}/network_fees` }],
    payout: null,
  })
  const { types } = shown as { types: Readonly<Record<string, { amount: number }>> }
  expect(Object.values(types).reduce((sum, { amount }) => sum + amount, 0)).toBe(net_amount)
  await expect(showSettlement(service.operator, tenantId, 'stl_x')).rejects.toMatchObject({
    kind: 'not_found',
  })
})
