/** Payouts in dollars, by a bank that is a real server and checks what it is sent. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createOutbound } from '../../runtime/events/outbound/outbound.ts'
import { createBank } from '../../runtime/money/payouts/bank-client.ts'
import { bankWorker } from '../../runtime/money/payouts/bank-job.ts'
import { type BankStandIn, startBankStandIn } from '../../runtime/money/payouts/fake-bank.ts'
import { decidePayout, retryPayout } from '../../runtime/operator/held-up-payouts.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { showPayout } from '../../runtime/operator/payouts.ts'
import { parseNetworks } from '../../runtime/platform/networks.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { make } from '../cards/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makePayable } from '../support/payable.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'

const TOKEN = 'bearer of the service'
const ACCOUNT = {
  holder_name: 'Harbour Coffee LLC',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}

const service = useService()
let standIn: BankStandIn
let tenantId: string
let send: Send
let destination: string
const outbound = createOutbound({
  allowPlainHttp: true,
  allow: parseNetworks(['127.0.0.0/8']),
  deadlineMs: 500,
})
afterAll(async () => {
  outbound.close()
})
beforeEach(async () => {
  standIn = await startBankStandIn(TOKEN)
  tenantId = await makeTenant(service)
  await verifyTenant(service.operator, tenantId)
  send = await speakFor(service, tenantId, 'live')
  const token = await make(send, '/v1/tokens', { type: 'bank_account', bank_account: ACCOUNT })
  const body = { type: 'bank_account', token_id: token.id, holder_name: 'Harbour Coffee LLC' }
  destination = (await make(send, '/v1/payout_destinations', body)).id
  await makePayable(service.database, 'live', tenantId, destination, 10_000)
})
afterEach(() => standIn.close())

/** What one worker does at a look, so much later than now. */
const look = (laterMs = 0, token = TOKEN) =>
  bankWorker({
    database: service.database,
    clock: { ...service.clock, machine: () => Date.now() + laterMs },
    wakeUpChannel: { publish: () => {} },
    seals: createSeals(service.database.pepper),
    bank: createBank({ url: standIn.url, token, outbound }),
    log: { error: (...line: unknown[]) => logged.push(line), warn: () => {}, info: () => {} },
    sanctions: service.sanctions,
  }).runOnce()
const logged: unknown[] = []
const order = () => ({ amount: 1000, currency: 'usd', destination_id: destination })
const pay = () => make(send, '/v1/payouts', order())
const get = async (id: string) => (await send(`/v1/payouts/${id}`)).body
const payable = async () => (await send('/v1/balance')).body.payable
const MINUTE = 60_000

async function transferOf(id: string) {
  const text = 'SELECT state, failures, problem FROM live.bank_transfers WHERE tenant_id = $1 AND id = $2'
  return (await service.database.control.query<object>({ text }, [tenantId, id])).rows[0]
}

test('a bank payout is sent, arrives and is told', async () => {
  const made = await pay()
  // A Monday.
  expect(made).toMatchObject({ status: 'pending', chain: null, arrival_date: '2026-06-02' })
  await look()
  expect(await get(made.id)).toMatchObject({ status: 'in_transit', chain: null })
  expect(JSON.parse(standIn.payments[0]!.order)).toEqual({
    amount: 1000,
    currency: 'usd',
    reference: made.id,
    account: ACCOUNT,
  })
  await look(MINUTE)
  expect(await get(made.id)).toMatchObject({ status: 'paid', arrival_date: '2026-06-01' })
  const { data } = (await send('/v1/events?order=asc&limit=100')).body
  expect(data.map(({ type }: { type: string }) => type).slice(1)).toEqual([
    'payout.created',
    'payout.updated',
    'payout.paid',
  ])
  expect(data.flatMap(checkEvent)).toEqual([])
  await verifyLedger(service.operator, tenantId)
})

test('a bank payout is shown to operators with what the bank has of it, and nothing of the account', async () => {
  const { id } = await pay()
  await look()
  const shown = await showPayout(service.operator, tenantId, id)
  expect(shown).toMatchObject({
    environment: 'live',
    id,
    status: 'in_transit',
    destination: { id: destination, bank_account: { last4: '6789' } },
    transfer: null,
    bank: { state: 'sent', failures: 0, problem: null },
    postings: [{ cause: `${id}/1` }],
  })
  expect(JSON.stringify(shown)).not.toContain(ACCOUNT.account_number)
  await expect(showPayout(service.operator, tenantId, 'po_x')).rejects.toMatchObject({ kind: 'not_found' })
})

test('a bank payout that comes back within days is payable again', async () => {
  const { id } = await pay()
  await look()
  await look(MINUTE)
  Object.assign(standIn.payments[0]!, { status: 'returned', failure_code: 'account_closed' })
  await look(2 * MINUTE)
  expect((await get(id)).status).toBe('paid')
  await look(120 * MINUTE)
  expect(await get(id)).toMatchObject({ status: 'returned', failure_code: 'account_closed' })
  expect([await payable(), await transferOf(id)]).toMatchObject([10_000, { state: 'ended' }])
})

test('a bank payout is followed for a week, and then no more', async () => {
  const { id } = await pay()
  await look()
  await look(MINUTE)
  await look(8 * 24 * 60 * MINUTE)
  expect(await transferOf(id)).toMatchObject({ state: 'ended' })
  expect((await get(id)).status).toBe('paid')
})

test('a bank payout is paid once however many look', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => pay()))
  await Promise.all(Array.from({ length: 5 }, () => look()))
  expect(standIn.payments).toHaveLength(6)
  await Promise.all(Array.from({ length: 5 }, () => look(MINUTE)))
  expect(new Set(await Promise.all(all.map(async ({ id }) => (await get(id)).status)))).toEqual(
    new Set(['paid']),
  )
  expect(standIn.requests.filter(({ method }) => method === 'POST')).toHaveLength(6)
})

describe('a bank that', () => {
  test.each([
    ['says 503', () => 503, 'the bank returned 503'],
    ['says 500', () => 500, 'the bank returned 500'],
    ['says 429', () => 429, 'the bank returned 429'],
    ['says 404', () => 404, 'the bank returned 404'],
    ['says nothing', () => 'hang' as const, expect.any(String)],
  ])('%s is asked again, and nothing is taken for failed', async (_, fault, problem) => {
    const { id } = await pay()
    standIn.fault = fault
    await look()
    expect([(await get(id)).status, await transferOf(id)]).toEqual([
      'in_transit',
      { state: 'sending', failures: 1, problem },
    ])
    standIn.fault = () => undefined
    await look(MINUTE)
    await look(2 * MINUTE)
    expect([(await get(id)).status, standIn.payments.length]).toEqual(['paid', 1])
  })

  test('a bank that takes a payment and does not say so is asked for the same again', async () => {
    const { id } = await pay()
    standIn.afterTaken = () => 'hang'
    await look()
    expect(standIn.payments).toHaveLength(1)
    standIn.afterTaken = () => undefined
    await look(MINUTE)
    await look(2 * MINUTE)
    expect([(await get(id)).status, standIn.payments.length]).toEqual(['paid', 1])
  })

  test('a bank that does not know us pays nothing, and fails nothing', async () => {
    const { id } = await pay()
    await look(0, 'somebody else')
    expect([(await get(id)).status, await transferOf(id)]).toMatchObject([
      'in_transit',
      { problem: 'the bank returned 401' },
    ])
    await look(MINUTE)
    expect(standIn.payments).toHaveLength(1)
  })

  test('a bank that refuses fails the payout', async () => {
    const { id } = await pay()
    standIn.fault = () => 422
    await look()
    expect(await get(id)).toMatchObject({ status: 'failed', failure_code: 'rejected' })
    expect(await payable()).toBe(10_000)
  })
})

async function ask(text: string, ...values: unknown[]) {
  return (await service.database.control.query({ text }, values)).rows
}

describe('a row that cannot be worked on waits apart, and the others are paid:', () => {
  const POISON: readonly (readonly [string, string, string, RegExp])[] = [
    [
      'an amount beyond the type',
      'UPDATE live.payouts SET amount = 9223372036854775807 WHERE id = $1',
      'UPDATE live.payouts SET amount = 1000 WHERE id = $1',
      /beyond the range of exact numbers/,
    ],
    [
      'a sealed account that cannot be opened',
      `UPDATE live.payout_destinations SET account = '\\x0102' WHERE id =
         (SELECT p.destination_id FROM live.payouts p WHERE p.id = $1)`,
      '',
      /./,
    ],
    [
      'an unknown state',
      `UPDATE live.bank_transfers SET state = 'lost' WHERE id = $1`,
      `UPDATE live.bank_transfers SET state = 'queued' WHERE id = $1`,
      /unknown state lost/,
    ],
    [
      'an unknown status',
      `UPDATE live.payouts SET status = 'lost' WHERE id = $1`,
      `UPDATE live.payouts SET status = 'pending' WHERE id = $1`,
      /unknown status lost/,
    ],
  ]
  beforeAll(async () => {
    await ask('ALTER TABLE live.bank_transfers DROP CONSTRAINT bank_transfers_state_check')
    await ask('ALTER TABLE live.payouts DROP CONSTRAINT payouts_status_check')
  })

  test.each(POISON)(
    'a payout that cannot be worked on waits apart and others are paid: %s',
    async (_, spoil, mend, problem) => {
      const token = await make(send, '/v1/tokens', { type: 'bank_account', bank_account: ACCOUNT })
      const body = { type: 'bank_account', token_id: token.id, holder_name: 'Harbour Coffee LLC' }
      const other = (await make(send, '/v1/payout_destinations', body)).id
      await makePayable(service.database, 'live', tenantId, other, 1)
      const poison = await make(send, '/v1/payouts', { ...order(), destination_id: other })
      await ask(spoil, poison.id)
      logged.length = 0
      const good = await pay()
      await look()
      await look(MINUTE)
      const [row] = await ask('SELECT * FROM live.bank_transfers WHERE id = $1', poison.id)
      expect(row).toMatchObject({
        problem: expect.stringMatching(problem),
        held_up_since: expect.any(Number),
        bank_id: null,
      })
      expect((await get(good.id)).status).toBe('paid')
      expect(logged).toEqual([[{ payout_id: poison.id }, expect.stringMatching(/^A payout is held up: /)]])
      expect(standIn.payments).toHaveLength(1)
      if (mend === '') {
        await ask('DELETE FROM live.bank_transfers WHERE id = $1', poison.id)
        return
      }
      await ask(mend, poison.id)
      await look(10 * MINUTE)
      await look(11 * MINUTE)
      expect((await get(poison.id)).status).toBe('paid')
    },
  )

  test('more payouts that cannot be worked on than are looked at together do not stop the others', async () => {
    const made: string[] = []
    for (let count = 0; count < 25; count += 1)
      made.push((await make(send, '/v1/payouts', { ...order(), amount: 1 })).id)
    await ask(`UPDATE live.bank_transfers SET state = 'lost' WHERE id = ANY ($1)`, made)
    const good = await pay()
    await look()
    await look(MINUTE)
    expect((await get(good.id)).status).toBe('paid')
    await ask('DELETE FROM live.bank_transfers WHERE id = ANY ($1)', made)
  })
})

test('a bank that takes back that it has paid is not believed', async () => {
  const { id } = await pay()
  await look()
  await look(MINUTE)
  standIn.settles = false
  Object.assign(standIn.payments[0]!, { status: 'pending' })
  await look(120 * MINUTE)
  expect([(await get(id)).status, await transferOf(id)]).toMatchObject([
    'paid',
    { state: 'paid', problem: expect.stringMatching(/as settled, and now reports it as pending$/) },
  ])
})

test.each(['paid', 'failed'] as const)(
  'a bank that never answers is overruled by an operator: %s',
  async (outcome) => {
    const { id } = await pay()
    standIn.fault = () => 503
    await look()
    expect(await decidePayout(service.operator, tenantId, id, outcome)).toMatchObject({ decided: outcome })
    await look()
    expect([(await get(id)).status, await transferOf(id)]).toMatchObject([outcome, { state: 'ended' }])
  },
)

test('a payout that waits for its bank is asked for again at once, if an operator says so', async () => {
  const { id } = await pay()
  standIn.fault = () => 503
  await look()
  standIn.fault = () => undefined
  await retryPayout(service.operator, tenantId, id)
  await look()
  expect(await transferOf(id)).toEqual({ state: 'sent', failures: 0, problem: null })
})

test('canceled before it is sent, it never is', async () => {
  const { id } = await pay()
  expect((await send(`/v1/payouts/${id}/cancel`, { method: 'POST' })).status).toBe(200)
  await look()
  expect([standIn.requests, await transferOf(id)]).toMatchObject([[], { state: 'ended' }])
  const next = await pay()
  await look()
  const late = await send(`/v1/payouts/${next.id}/cancel`, { method: 'POST' })
  expect(refusal(late)).toEqual([409, 'conflict', 'invalid_state'])
})

test('a payout to a destination that was disabled meanwhile fails and is never sent', async () => {
  const { id } = await pay()
  await send(`/v1/payout_destinations/${destination}/disable`, { method: 'POST' })
  await look()
  expect(await get(id)).toMatchObject({ status: 'failed', failure_code: 'rejected' })
  expect([standIn.requests, await payable()]).toEqual([[], 10_000])
})

test('a payout to a destination that has come on the sanctions list fails and is never sent', async () => {
  const { id } = await pay()
  const list = service.sanctions.list()
  const spy = vi.spyOn(service.sanctions, 'list').mockReturnValue({ ...list, match: () => [{} as never] })
  await look().finally(() => spy.mockRestore())
  expect(await get(id)).toMatchObject({ status: 'failed', failure_code: 'rejected' })
  expect([standIn.requests, await payable()]).toEqual([[], 10_000])
})

test('a bank payout is in dollars only', async () => {
  const answer = await send('/v1/payouts', { body: { ...order(), currency: 'usdc' } })
  expect(firstFault(answer)[2]).toMatchObject({ field: 'currency' })
})

describe('the stand-in refuses', () => {
  const KEY = 'po_01jxr19s8t7v6w5x4y3z2a1b0c'
  const GOOD = { amount: 1, currency: 'usd', reference: KEY, account: ACCOUNT }
  const ask = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${standIn.url}/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Idempotency-Key': KEY, ...headers },
      body: JSON.stringify(body),
    })
  test.each([
    ['another bearer', GOOD, { Authorization: 'Bearer x' }, 401],
    ['no key', GOOD, { 'Idempotency-Key': '' }, 400],
    ['another key', GOOD, { 'Idempotency-Key': 'x' }, 422],
    ['half a cent', { ...GOOD, amount: 0.5 }, {}, 422],
    ['nothing', { ...GOOD, amount: 0 }, {}, 422],
    ['euros', { ...GOOD, currency: 'eur' }, {}, 422],
    [
      'a routing number with a wrong check digit',
      { ...GOOD, account: { ...ACCOUNT, routing_number: '110000001' } },
      {},
      422,
    ],
    ['what it does not know', { ...GOOD, tip: 1 }, {}, 422],
  ])('the bank of the tests refuses a payment with %s', async (_, body, headers, status) => {
    expect((await ask(body, headers)).status).toBe(status)
    expect(standIn.payments).toEqual([])
  })

  test('the bank of the tests refuses another payment under the same key, and makes the same one once', async () => {
    const [first, again] = [await ask(GOOD), await ask(GOOD)]
    expect(await again.text()).toBe(await first.text())
    expect([(await ask({ ...GOOD, amount: 2 })).status, standIn.payments.length]).toEqual([409, 1])
  })
})
