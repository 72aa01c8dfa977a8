/** The balance, and test money that arrives. */
import { describe, expect, test } from 'vitest'
import { balanceAlertWorker } from '../../runtime/money/balance/alert-job.ts'
import { holdTotalsWorker } from '../../runtime/money/balance/hold-totals-job.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { make, makeCard } from './fixtures.ts'

const service = useService({ keepsTime: true })

const fund = (send: Send, amount: unknown) => send('/v1/test/funding', { body: { amount } })
const EMPTY = { object: 'balance', currency: 'usd', available: 0, held: 0, payable: 0 }

describe.each(['2025-11-01', '2026-02-01', '2026-05-19'])('%s', (version) => {
  test('the balance is nothing at first, and what arrives adds up', async () => {
    const send = await speakFor(service, await makeTenant(service, 'enterprise', version))
    expect((await send('/v1/balance')).body).toEqual(EMPTY)
    expect((await fund(send, 1000)).body).toEqual({ ...EMPTY, available: 1000 })
    expect((await fund(send, 1)).body).toEqual({ ...EMPTY, available: 1001 })
    expect((await send('/v1/balance')).body).toEqual({ ...EMPTY, available: 1001 })
  })
})

test('a repeated request is answered again and moves nothing', async () => {
  const send = await speakFor(service, await makeTenant(service))
  const call = { body: { amount: 7 }, headers: { 'Idempotency-Key': crypto.randomUUID() } }
  const first = await send('/v1/test/funding', call)
  expect((await send('/v1/test/funding', call)).text).toBe(first.text)
  expect((await send('/v1/balance')).body.available).toBe(7)
})

test.each([0, -1, 1.5, '100', 1e15 + 1, null, 1e300, true, [1]])(
  'test funding refuses the amount %s',
  async (amount) => {
    const send = await speakFor(service, await makeTenant(service))
    const [status, code, fault] = firstFault(await fund(send, amount))
    expect([status, code, (fault as { field: string }).field]).toEqual([422, 'validation_failed', 'amount'])
    expect((await send('/v1/balance')).body).toEqual(EMPTY)
  },
)

test('test funding refuses more than can be shown', async () => {
  const send = await speakFor(service, await makeTenant(service))
  await fund(send, 1e15)
  expect(firstFault(await fund(send, 1))).toEqual([
    422,
    'validation_failed',
    { field: 'amount', issue: 'would raise the balance above the maximum of 1000000000000000' },
  ])
  expect((await send('/v1/balance')).body.available).toBe(1e15)
})

test('there is no test money in live, and no balance before 2025-11-01', async () => {
  const tenant = await makeTenant(service)
  const live = await speakFor(service, tenant, 'live')
  expect((await fund(live, 1)).status).toBe(404)
  expect((await live('/v1/balance')).body).toEqual(EMPTY)
  const old = await speakFor(service, await makeTenant(service, 'enterprise', '2025-06-01'))
  expect(refusal(await old('/v1/balance'))).toEqual([404, 'not_found', 'not_found'])
})

interface Entry {
  readonly id: string
  readonly account: string
  readonly sequence: number
  readonly kind: string
  readonly amount: number
  readonly balance: number
  readonly source_type: string | null
  readonly source_id: string | null
  readonly created: string
}

/** Reads a list to its end, page by page. */
async function readAll(send: Send, query: string, limit = 2): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let cursor = ''; ; ) {
    const { status, body, text } = await send(`/v1/balance_entries?limit=${limit}${query}${cursor}`)
    expect([status, text]).toEqual([200, text])
    entries.push(...body.data)
    if (!body.has_more) return entries
    cursor = `&starting_after=${body.next_cursor}`
  }
}

test('the entries of a balance name their causes and add up to it', async () => {
  const send = await speakFor(service, await makeTenant(service))
  await fund(send, 50_000)
  const card = await makeCard(send)
  const merchant = { name: 'A', category_code: '5812' }
  const collect = (amount: number) =>
    make(send, '/v1/test/cards/simulate_force_post', { card_id: card.id, amount, merchant })
  const large = await collect(10_000)
  const small = await collect(600)
  const refund = { body: { card_transaction_id: small.id, amount: 200 } }
  expect((await send('/v1/test/cards/simulate_refund', refund)).status).toBe(200)
  const address = 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7'
  const { id: destination_id } = await make(send, '/v1/payout_destinations', {
    ...{ type: 'usdc_address', address, holder_name: 'A' },
  })
  const advance = { body: { seconds: 3 * 86_400 } }
  expect((await send('/v1/test/settlements/advance_clock', advance)).status).toBe(200)
  const [settlement] = (await send('/v1/settlements')).body.data
  const payout = await make(send, '/v1/payouts', { amount: 30, currency: 'usdc', destination_id })
  expect((await send(`/v1/payouts/${payout.id}/cancel`, { body: {} })).status).toBe(200)

  const told = ({ sequence, kind, amount, balance, source_type, source_id }: Entry) =>
    [sequence, kind, amount, balance, source_type, source_id] as const
  const funds = await readAll(send, '&order=asc')
  expect(funds.map(told)).toEqual([
    [1, 'funding', 50_000, 50_000, null, null],
    [2, 'card_transaction', -10_000, 40_000, 'card_transaction', large.id],
    [3, 'card_transaction', -600, 39_400, 'card_transaction', small.id],
    [4, 'card_refund', 200, 39_600, 'card_transaction', small.id],
  ])
  expect(await readAll(send, '')).toEqual(funds.toReversed())
  const payable = await readAll(send, '&account=settlement_payable&order=asc')
  const { interchange_amount, fees_amount, net_amount } = settlement
  const paid = payable.filter(({ source_id }) => source_id === settlement.payout_id)
  const own = payable.filter(({ source_id }) => source_id !== settlement.payout_id)
  expect(own.map(told).map(([, kind, amount, , type, id]) => [kind, amount, type, id])).toEqual([
    ['interchange', interchange_amount, 'settlement', settlement.id],
    ['network_fee', -fees_amount, 'settlement', settlement.id],
    ['payout', -30, 'payout', payout.id],
    ['payout_reversal', 30, 'payout', payout.id],
  ])
  const { body } = await send('/v1/balance')
  expect(payable.at(-1)!.balance).toBe(body.payable)
  expect(paid.reduce((sum, { amount }) => sum + amount, net_amount)).toBe(body.payable)
  expect(body.available).toBe(39_600)

  const only = async (query: string) => (await readAll(send, query, 1)).map(({ sequence }) => sequence)
  expect(await only('&kind=card_transaction')).toEqual([3, 2])
  expect(await only(`&source_id=${small.id}`)).toEqual([4, 3])
  expect(await only(`&source_id=${small.id}&kind=card_transaction`)).toEqual([3])
  expect(await only('&kind=payout')).toEqual([])
  const last = (await send('/v1/balance_entries?limit=1')).body.next_cursor
  const before = await send(`/v1/balance_entries?limit=9&order=desc&ending_before=${last}`)
  expect(before.status).toBe(200)
  expect((await send('/v1/balance_entries?account=bank')).status).toBe(400)
  const old = await speakFor(service, await makeTenant(service, 'enterprise', '2026-02-01'))
  expect(refusal(await old('/v1/balance_entries'))).toEqual([404, 'not_found', 'not_found'])
})

test('the balance of any instant is the same before and after its hours are added up', async () => {
  const send = await speakFor(service, await makeTenant(service))
  const start = service.clock.now
  const card = await makeCard(send)
  const seen: { readonly at: string; readonly balance: object }[] = []
  const step = async (minutes: number, work: () => Promise<unknown>) => {
    service.clock.now += minutes * 60_000
    service.clock.monotonic += 60_000
    await work()
    service.clock.now += 1
    const { body } = await send('/v1/balance')
    seen.push({ at: new Date(service.clock.now).toISOString(), balance: body })
  }
  const hold = (amount: number) =>
    make(send, '/v1/test/cards/simulate_authorization', {
      ...{ card_id: card.id, amount, merchant: { name: 'A', category_code: '5812' } },
    })
  await step(1, () => fund(send, 10_000))
  let held = { id: '' }
  await step(20, async () => {
    held = await hold(300)
  })
  await step(61, () => hold(50))
  const clear = { card_transaction_id: '', amount: 200, final: true }
  await step(200, () =>
    send('/v1/test/cards/simulate_clearing', { body: { ...clear, card_transaction_id: held.id } }),
  )
  await step(30, () => fund(send, 7))
  const balances = seen.map(({ balance }) => balance)
  expect(balances).toEqual([
    { ...EMPTY, available: 10_000 },
    { ...EMPTY, available: 9700, held: 300 },
    { ...EMPTY, available: 9650, held: 350 },
    { ...EMPTY, available: 9750, held: 50 },
    { ...EMPTY, available: 9757, held: 50 },
  ])
  const readAt = (at: string) => send(`/v1/balance?at=${encodeURIComponent(at)}`)
  const readSeen = async () => Promise.all(seen.map(async ({ at }) => (await readAt(at)).body))
  expect(await readSeen()).toEqual(balances)
  const { clock, database } = service
  const kept = async () =>
    (
      await database.control.query<{ count: number }>({
        text: 'SELECT count(*) AS count FROM sandbox.ledger_hold_totals',
      })
    ).rows[0]!.count
  for (const hours of [1, 48]) {
    clock.now += hours * 3_600_000
    await holdTotalsWorker({ database, clock, log: strictLog }).runOnce()
    expect(await readSeen()).toEqual(balances)
  }
  expect(await kept()).toBe(3)
  expect((await readAt(new Date(start - 1).toISOString())).body).toEqual(EMPTY)
  expect((await readAt('0001-01-01')).body).toEqual(EMPTY)
  expect(refusal(await readAt('9999-12-31'))).toEqual([400, 'invalid_parameter', 'out_of_range'])
  expect(refusal(await readAt('2026-02-30'))).toEqual([400, 'invalid_parameter', 'invalid_format'])
  const old = await speakFor(service, await makeTenant(service, 'enterprise', '2026-02-01'))
  expect(refusal(await old('/v1/balance?at=2026-01-01'))).toEqual([
    400,
    'invalid_parameter',
    'unknown_parameter',
  ])
})

test('a balance that falls below its threshold is reported once, until it has recovered', async () => {
  const send = await speakFor(service, await makeTenant(service))
  const { clock, database } = service
  const parts = { database, clock, log: strictLog, wakeUpChannel: { publish: () => {} } }
  const setThreshold = (threshold: unknown) =>
    send('/v1/balance_alert', { method: 'PUT', body: { threshold } })
  const countTold = async () => {
    await balanceAlertWorker(parts).runOnce()
    return (await send('/v1/events?type=balance.low')).body.data.length
  }
  const card = await makeCard(send)
  const hold = async (amount: number) => {
    const merchant = { name: 'A', category_code: '5812' }
    return make(send, '/v1/test/cards/simulate_authorization', { card_id: card.id, amount, merchant })
  }
  const off = { object: 'balance_alert', threshold: null, status: 'off', available: 0, currency: 'usd' }
  expect((await send('/v1/balance_alert')).body).toEqual(off)
  await fund(send, 1000)
  const armed = { ...off, threshold: 500, status: 'armed', available: 1000 }
  expect((await setThreshold(500)).body).toEqual(armed)
  expect(await countTold()).toBe(0)
  await hold(500)
  expect(await countTold()).toBe(0)
  const { id: card_transaction_id } = await hold(1)
  expect([await countTold(), await countTold()]).toEqual([1, 1])
  const low = { ...armed, status: 'low', available: 499 }
  expect((await setThreshold(500)).body).toEqual(low)
  await hold(10)
  expect(await countTold()).toBe(1)
  const [event] = (await send('/v1/events?type=balance.low')).body.data
  expect([checkEvent(event), event.data]).toEqual([[], { balance_alert: low }])
  await fund(send, 11)
  expect(await countTold()).toBe(1)
  await send('/v1/test/cards/simulate_clearing', { body: { card_transaction_id, amount: 2 } })
  expect(await countTold()).toBe(2)
  expect((await setThreshold(400)).body.status).toBe('armed')
  expect((await setThreshold(null)).body.status).toBe('off')
  await hold(200)
  expect(await countTold()).toBe(2)
  const [status, , fault] = firstFault(await setThreshold(-1))
  expect([status, fault]).toMatchObject([422, { field: 'threshold' }])
  const old = await speakFor(service, await makeTenant(service, 'enterprise', '2026-02-01'))
  expect(refusal(await old('/v1/balance_alert'))).toEqual([404, 'not_found', 'not_found'])
})
