/** A card use in live, from the network's message to the report: a tenant in each version, and one door for all of them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { createOutbound, type OutboundPost } from '../../../runtime/events/outbound/outbound.ts'
import { activationWorker } from '../../../runtime/money/destinations/activation-job.ts'
import { post } from '../../../runtime/money/ledger/post.ts'
import { findFault } from '../../../runtime/money/ledger/verify.ts'
import { createBank } from '../../../runtime/money/payouts/bank-client.ts'
import { bankWorker } from '../../../runtime/money/payouts/bank-job.ts'
import { type BankStandIn, startBankStandIn } from '../../../runtime/money/payouts/fake-bank.ts'
import { reportWorker } from '../../../runtime/money/reports/job.ts'
import { settlementWorker } from '../../../runtime/money/settlements/job.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { createSeals } from '../../../runtime/platform/secrets.ts'
import { openReportLinks } from '../../../runtime/tenants/addresses/report-links.ts'
import { verifyTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { VERSIONS } from '../../api/fixtures.ts'
import { checkEvent } from '../../support/contract.ts'
import { makeKey, makeTenant, type Send, START, speak, useService } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'
import { make, makeCard } from '../fixtures.ts'
import { startDoor, type TestDoor } from '../processor/door.ts'
import { createTestNetwork } from './open-network.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const FUNDS = 500_000
const TOKEN = 'bearer of the service'

const service = useService({ poolSize: 12 })
const outbound = createOutbound({
  allowPlainHttp: true,
  allow: parseNetworks(['127.0.0.0/8']),
  deadlineMs: 2000,
})
/** Live sends requests to public addresses only. This one leads to a server of this test. */
const ENDPOINT = 'https://93.184.215.14/authorizations'
let door: TestDoor
let bank: BankStandIn
/** The versions in which the server was asked. */
const asked: string[] = []

beforeAll(async () => {
  door = await startDoor({}, service.database)
  bank = await startBankStandIn(TOKEN)
  // Declines what costs more than 2,000.00.
  const server = createServer(async (request, response) => {
    const question = JSON.parse(Buffer.concat(await request.toArray()).toString())
    asked.push(question.version)
    response.end(JSON.stringify({ approved: question.data.card_transaction.amounts.requested <= 200_000 }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const live = { ...outbound, post: (request: OutboundPost) => outbound.post({ ...request, url }) }
  door.network = createTestNetwork(service, { ...service.outbound, live })
  return async () => {
    outbound.close()
    server.closeAllConnections()
    server.close()
    await bank.close()
    door.processor.close()
    await door.stop()
  }
})

interface LiveTenant {
  readonly id: string
  /** Speaks in the version that the tenant is pinned to. */
  readonly own: Send
  readonly newest: Send
  readonly card: string
  readonly number: string
  readonly destination: string
}

/** A verified tenant with money, a card, a server that decides, and a bank account. */
async function openTenant(version: string): Promise<LiveTenant> {
  const id = await makeTenant(service, 'enterprise', version)
  await verifyTenant(service.operator, id)
  const { secret } = await makeKey(service, id, { environment: 'live', scope: 'admin' })
  const own = speak(service.urls.live, { secret })
  const newest = speak(service.urls.live, { secret, version: VERSIONS.at(-1) })
  const transfer = { from: 'bank', to: 'program_funds', amount: FUNDS } as const
  await service.database.live.transaction((db) => post(db, id, newId('len'), { transfer }, START))
  const set = await newest('/v1/authorization_endpoint', {
    method: 'PUT',
    body: { url: ENDPOINT, timeout_ms: 2000, default_action: 'decline' },
  })
  expect([set.status, set.text]).toEqual([200, set.text])
  const holder_name = 'Harbour Coffee LLC'
  const bank_account = {
    holder_name,
    account_number: '000123456789',
    routing_number: '110000000',
    country: 'US',
  }
  const token = await make(newest, '/v1/tokens', { type: 'bank_account', bank_account })
  const account = { type: 'bank_account', token_id: token.id, holder_name }
  const { id: destination } = await make(newest, '/v1/payout_destinations', account)
  const { id: card } = await makeCard(newest)
  const { number } = (await newest(`/v1/cards/${card}/details`)).body
  return { id, own, newest, card, number, destination }
}

/** Sends a message of the network with the second of its `sent_at`. Returns the answer. */
const sender = (number: string, transaction_id: string) => {
  const began = service.clock.now
  return async (path: string, second: number, more: object) => {
    const sent_at = new Date(began + second * 1000).toISOString()
    const message = {
      message_id: `${transaction_id}-${second}`,
      transaction_id,
      sent_at,
      card_number: number,
    }
    const { status, body, text } = await door.processor.send(path, { ...message, ...more })
    expect([status, text]).toEqual([200, text])
    return body
  }
}

const paying = (amount: number) => ({
  amount,
  currency: 'usd',
  merchant: { name: 'Harbor Diner', category_code: '5812', country: 'US' },
})

const sum = (all: readonly { readonly amount: number }[]) =>
  all.reduce((total, { amount }) => total + amount, 0)

/** Moves the service time, and lets settlements and destinations that are due by then move. */
async function settleAt(time: number): Promise<void> {
  service.clock.now = time
  service.clock.monotonic += 60_000
  const parts = { ...service, log: strictLog, wakeUpChannel: { publish: () => {} } }
  await activationWorker(parts).runOnce()
  await settlementWorker(parts).runOnce()
}

/** Sends payouts to the bank, and asks it a minute later what became of them. */
async function payOut(): Promise<void> {
  const { database, clock, sanctions } = service
  for (const laterMs of [0, 60_000])
    await bankWorker({
      database,
      clock: { ...clock, machine: () => Date.now() + laterMs },
      wakeUpChannel: { publish: () => {} },
      seals: createSeals(database.pepper),
      bank: createBank({ url: bank.url, token: TOKEN, outbound }),
      log: strictLog,
      sanctions,
    }).runOnce()
}

interface ReportRow {
  readonly type: string
  readonly amount: number
}

/** Asks for a report from the start until now, and downloads it. Its closing is its opening and its rows. */
async function report(send: Send, type: string): Promise<{ readonly closing: number }> {
  service.clock.now += 1
  const interval = {
    interval_start: new Date(START - DAY).toISOString(),
    interval_end: new Date(service.clock.now).toISOString(),
  }
  const { id } = await make(send, '/v1/treasury_reports', { type, ...interval })
  await reportWorker({
    database: service.database,
    clock: { machine: () => service.clock.now, service: () => service.clock.now },
    wakeUpChannel: { publish: () => {} },
    log: strictLog,
    links: openReportLinks(service.database.pepper, service.urls),
  }).runOnce()
  const { result } = (await send(`/v1/treasury_reports/${id}`)).body
  const file = result.files.find(({ format }: { format: string }) => format === 'json')
  const rows = (await (await fetch(file.url)).json()) as ReportRow[]
  expect(result.closing).toBe(result.opening + sum(rows))
  return result
}

/** What is particular in the versions: the version in which a tenant's server is asked, and what events show. */
const SHOWN: Readonly<Record<(typeof VERSIONS)[number], readonly [asked: string, ...shown: string[]]>> = {
  // Has no cards: its tenants use them in a later version, and get no events about them in their own.
  '2025-06-01': ['2026-02-01'],
  '2025-11-01': ['2026-02-01', 'restaurants', 'transaction_not_allowed'],
  '2026-02-01': ['2026-02-01', '5812', 'decision_declined'],
  '2026-05-19': ['2026-05-19', '5812', 'decision_declined'],
}

const TOLD = [
  ...['card.transaction.authorized', 'card.transaction.updated', 'card.transaction.reversed'],
  ...[
    'settlement.created',
    'card.transaction.cleared',
    'card.transaction.refunded',
    'card.transaction.declined',
  ],
  ...['settlement.pending', 'settlement.processing', 'settlement.settled'],
  ...['payout.created', 'payout.updated', 'payout.paid'],
]

/** Expects the events of the card use in the tenant's own version. */
async function expectEvents(own: Send, version: (typeof VERSIONS)[number]): Promise<void> {
  const events = (await own('/v1/events?order=asc&limit=100')).body.data
  expect(events.flatMap(checkEvent)).toEqual([])
  const [askedIn, category, reason] = SHOWN[version]
  if (category === undefined) return expect(events).toEqual([])
  const told = events.filter(({ type }: ReportRow) => /^(card\.transaction|settlement|payout)\./.test(type))
  expect(told.map(({ type }: ReportRow) => type)).toEqual(TOLD)
  for (const { type, data } of events) {
    if (!type.startsWith('card.transaction.')) continue
    const isDeclined = type.endsWith('.declined')
    expect([type, data.card_transaction]).toMatchObject([
      type,
      {
        merchant: { name: 'Harbor Diner', category_code: category },
        decline_reason: isDeclined ? { code: reason } : null,
      },
    ])
    expect('decision_id' in data.card_transaction).toBe(askedIn === version)
  }
}

test.each(VERSIONS)('a card use of a tenant pinned to %s is paid out and reported', async (version) => {
  asked.length = 0
  const { id, own, newest, card, number, destination } = await openTenant(version)
  await settleAt(START + DAY)
  expect((await newest(`/v1/payout_destinations/${destination}`)).body).toMatchObject({ status: 'active' })
  const simulated = { card_id: card, ...paying(100) }
  expect((await newest('/v1/test/cards/simulate_authorization', { body: simulated })).status).toBe(404)

  // The network's messages.
  const send = sender(number, `use-${version}`)
  const approved = { decision: 'approved' }
  const applied = { outcome: 'applied' }
  expect(await send('/v1/authorizations', 0, paying(100_000))).toMatchObject(approved)
  expect(await send('/v1/increments', 1, { amount: 50_000 })).toMatchObject(approved)
  expect(await send('/v1/reversals', 2, { amount: 20_000 })).toMatchObject(applied)
  expect(await send('/v1/clearings', 3, paying(130_000))).toMatchObject(applied)
  expect(await send('/v1/refunds', 4, paying(30_000))).toMatchObject(applied)
  const tooDear = await sender(number, `dear-${version}`)('/v1/authorizations', 5, paying(250_000))
  expect(tooDear).toMatchObject({ decision: 'declined', decline_reason: 'decision_declined' })
  const { data } = (await newest(`/v1/card_transactions?card_id=${card}&order=asc`)).body
  const [used, declined] = data
  expect(used).toMatchObject({
    status: 'cleared',
    amounts: {
      requested: 150_000,
      authorized: 150_000,
      held: 0,
      cleared: 130_000,
      refunded: 30_000,
      reversed: 20_000,
    },
  })
  expect((await newest(`/v1/authorization_decisions/${declined.decision_id}`)).body).toMatchObject({
    status: 'responded',
    approved: false,
  })
  expect((await newest('/v1/balance')).body).toMatchObject({ available: FUNDS - 100_000, held: 0 })

  // The settlement of the day, by the service clock.
  const [open] = (await newest('/v1/settlements')).body.data
  expect(open).toMatchObject({ status: 'open', transaction_amount: -100_000 })
  await settleAt(Date.parse(open.period_end) + 2 * HOUR)
  const settled = (await newest(`/v1/settlements/${open.id}`)).body
  expect(settled).toMatchObject({ status: 'settled', payout_id: expect.stringMatching(/^po_/) })
  // Interchange of 1.5 % and a fee of 0.1 %. The network keeps the fee of what is refunded.
  expect(settled).toMatchObject({ interchange_amount: 1500, fees_amount: 130, net_amount: 1370 })
  const lines = (await newest(`/v1/settlements/${open.id}/lines?limit=100`)).body.data
  expect([lines.length, sum(lines)]).toEqual([settled.lines_count, settled.net_amount])

  // The payout and the reports.
  await payOut()
  const payout = { settlement_id: open.id, amount: settled.net_amount, status: 'paid' }
  expect((await newest(`/v1/payouts/${settled.payout_id}`)).body).toMatchObject(payout)
  expect(bank.payments.map(({ order }) => JSON.parse(order)).at(-1)).toMatchObject({
    reference: settled.payout_id,
    amount: settled.net_amount,
  })
  expect((await report(newest, 'balance_summary')).closing).toBe(FUNDS - 100_000)
  expect((await report(newest, 'settlement_reconciliation')).closing).toBe(settled.net_amount)
  expect((await report(newest, 'payout_reconciliation')).closing).toBe(0)

  expect(asked).toEqual([SHOWN[version][0], SHOWN[version][0]])
  await expectEvents(own, version)
  expect(await findFault(service.database.control, 'live', id)).toBeUndefined()
})
