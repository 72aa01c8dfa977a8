/** Sums at and beyond the documents' bound of 10^15 cents: refused where they are asked for, never an error of a worker. */
import { expect, test } from 'vitest'
import { reportWorker } from '../../../runtime/money/reports/job.ts'
import { settlementWorker } from '../../../runtime/money/settlements/job.ts'
import { verifyLedger } from '../../../runtime/operator/ledger.ts'
import { openReportLinks } from '../../../runtime/tenants/addresses/report-links.ts'
import { firstFault } from '../../api/fixtures.ts'
import { make, makeCard } from '../../cards/fixtures.ts'
import { makeKey, makeTenant, speak, useService } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'

const service = useService({ guarded: false, keepsTime: true })

const MOST = 1_000_000_000_000_000
const DAY = 86_400_000
const MERCHANT = { name: 'A', category_code: '5812' }

async function openCard() {
  const tenantId = await makeTenant(service, 'enterprise')
  const { secret } = await makeKey(service, tenantId)
  const send = speak(service.urls.sandbox, { secret, version: '2026-05-19' })
  const card = await makeCard(send)
  const act = (name: string, body: object) => {
    service.clock.monotonic += 60_000
    return send(`/v1/test/${name}`, { body })
  }
  const post = (amount = MOST) =>
    act('cards/simulate_force_post', { card_id: card.id, amount, merchant: MERCHANT })
  const fund = (amount = MOST) => act('funding', { amount })
  const settlements = async () => (await send('/v1/settlements?order=asc')).body.data
  return { tenantId, send, card, act, post, fund, settlements }
}

const settle = () =>
  settlementWorker({
    database: service.database,
    clock: service.clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
    sanctions: service.sanctions,
  }).runOnce()

const refusal = (field: string, issue: RegExp) => [
  ...[422, 'validation_failed', { field, issue: expect.stringMatching(issue) }],
]

test('a shortfall that takes the balance beyond the bound settles, and so do other tenants', async () => {
  const began = service.clock.now
  const [{ send, act, post, settlements }, other] = [await openCard(), await openCard()]
  const { id } = (await post()).body
  expect((await act('cards/simulate_refund', { card_transaction_id: id })).status).toBe(200)
  expect((await other.post(1000)).status).toBe(201)
  service.clock.now += DAY
  expect((await post()).status).toBe(201)
  for (const _ of [1, 2, 3]) {
    await settle()
    service.clock.now += 3_600_000
  }
  service.clock.now += DAY
  await settle()
  expect((await settlements())[0]).toMatchObject({ status: 'settled', net_amount: -1_000_000_000_000 })
  expect((await other.settlements())[0].status).toBe('settled')
  expect((await send('/v1/balance')).body.available).toBe(-MOST)
  expect((await act('funding', { amount: MOST })).body.available).toBe(-1_000_000_000_000)
  expect((await post(MOST - 1_000_000_000_000)).status).toBe(201)
  expect(firstFault(await post(1))).toEqual(refusal('amount', /balance/))
  service.clock.now = began
})

test('a movement that a settlement cannot show is refused, also of many at once', async () => {
  const { tenantId, post, fund, settlements } = await openCard()
  expect((await fund()).status).toBe(200)
  expect((await post()).status).toBe(201)
  expect((await fund()).status).toBe(200)
  expect(firstFault(await post())).toEqual(refusal('amount', /settlement/))
  expect(firstFault(await post(1))).toEqual(refusal('amount', /settlement/))
  const [{ transaction_amount, lines_count }] = await settlements()
  expect([transaction_amount, lines_count]).toEqual([-MOST, 4])
  await verifyLedger(service.operator, tenantId)
})

test('a dispute that a settlement cannot show is refused', async () => {
  const { send, post } = await openCard()
  const submit = async () => {
    const { id } = (await post(MOST / 2)).body
    const dispute = await make(send, '/v1/disputes', {
      card_transaction_id: id,
      amount: MOST / 2,
      reason: 'other',
    })
    return send(`/v1/disputes/${dispute.id}/submit`, { body: {} })
  }
  expect((await submit()).status).toBe(200)
  expect(firstFault(await submit())).toEqual(refusal('amount', /settlement/))
})

test('sums of days beyond the exact numbers are reported to the cent, and nothing else fails', async () => {
  const began = service.clock.now
  const { tenantId, send, card, post, fund } = await openCard()
  for (let day = 0; day < 12; day += 1) {
    expect((await fund(MOST - 1)).status).toBe(200)
    expect((await post(MOST - 1)).status).toBe(201)
    service.clock.now += DAY
    await settle()
  }
  await fund(100)
  const use = { card_id: card.id, amount: 1, merchant: MERCHANT }
  expect((await send('/v1/test/cards/simulate_authorization', { body: use })).body.status).toBe('authorized')
  expect((await send('/v1/balance')).body).toMatchObject({ available: 99, held: 1 })
  service.clock.now += 1
  const interval = {
    interval_start: new Date(began).toISOString(),
    interval_end: new Date(service.clock.now).toISOString(),
  }
  for (const type of ['ledger_entries', 'balance_summary', 'settlement_reconciliation']) {
    const { id } = await make(send, '/v1/treasury_reports', { type, ...interval })
    await reportWorker({
      database: service.database,
      clock: { machine: () => service.clock.now, service: () => service.clock.now },
      wakeUpChannel: { publish: () => {} },
      log: strictLog,
      links: openReportLinks(service.database.pepper, service.urls),
    }).runOnce()
    const { status, result } = (await send(`/v1/treasury_reports/${id}`)).body
    expect([type, status]).toEqual([type, 'succeeded'])
    const [csv = '', json = ''] = await Promise.all(
      result.files.map(async ({ url }: { url: string }) => (await fetch(url)).text()),
    )
    if (type !== 'ledger_entries') continue
    const balance = 12n * BigInt(MOST - 1)
    expect(csv).toContain(`,network_clearing,`)
    expect(csv).toContain(`,${balance},usd\r\n`)
    expect(json).toContain(`"balance":${balance},`)
    expect(json).toContain(`"balance":${-balance - 100n},`)
  }
  await verifyLedger(service.operator, tenantId)
  service.clock.now = began
})
