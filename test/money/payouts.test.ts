/** Payouts: what is payable, what becomes of them, and where the money is meanwhile. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { TransferChange } from '../../runtime/money/chain/transfers.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { payOutSettlement } from '../../runtime/money/payouts/settled.ts'
import { openTransferListener } from '../../runtime/money/payouts/transfer-listener.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { countWaiting, firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { CARD_VERSIONS, eventsOf, make, speakAll } from '../cards/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makePayable, settleInto } from '../support/payable.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'

const service = useService({ poolSize: 16, keepsTime: true })
let tenantId: string
let send: Send
let destination: string

const CHAIN = USDC_CHAINS.sandbox.id
const HASH = `0x${'9f'.repeat(32)}`
const DESTINATION = {
  type: 'usdc_address',
  address: `${CHAIN}:0x52908400098527886E0F7030069857D2E4169EE7`,
  holder_name: 'Harbour Coffee LLC',
}
const CONFLICT = [409, 'conflict', 'invalid_state']

async function use(version?: (typeof CARD_VERSIONS)[number]): Promise<void> {
  tenantId = await makeTenant(service, 'enterprise', version)
  send = await speakFor(service, tenantId)
  destination = (await make(send, '/v1/payout_destinations', DESTINATION)).id
  await makePayable(service.database, 'sandbox', tenantId, destination, 10_000)
}
beforeEach(() => use())

const order = (content: object = {}) => ({
  amount: 1000,
  currency: 'usdc',
  destination_id: destination,
  ...content,
})
const ask = (content: object = {}) => send('/v1/payouts', { body: order(content) })
const pay = (content: object = {}) => make(send, '/v1/payouts', order(content))
const get = async (id: string) => (await send(`/v1/payouts/${id}`)).body
const cancel = (id: string) => send(`/v1/payouts/${id}/cancel`, { method: 'POST' })
const payable = async () => (await send('/v1/balance')).body.payable
const simulate = (what: 'failure' | 'return', payout_id: string, content: object = {}) =>
  send(`/v1/test/payouts/simulate_${what}`, { body: { payout_id, ...content } })

async function listen() {
  const parts = { ...service, wakeUpChannel: { publish: service.wakeUps.notify } }
  return openTransferListener(parts, 'sandbox', tenantId)
}

/** The chain tells what became of a transfer. */
async function tell(id: string, change: TransferChange): Promise<void> {
  const listener = await listen()
  await service.database.sandbox.transaction((db) => listener.changed(db, id, change, service.clock.now))
  listener.committed()
}
const sent = { state: 'in_transit', chain: CHAIN, hash: HASH } as const
const arrived = { state: 'paid', chain: CHAIN, hash: HASH, confirmations: 12 } as const

async function balanceOf(account: string): Promise<number> {
  const text = 'SELECT balance FROM sandbox.ledger_accounts WHERE tenant_id = $1 AND id = $2'
  const { rows } = await service.database.control.query<{ balance: number }>({ text }, [tenantId, account])
  return rows[0]?.balance ?? 0
}

test('a payout is drawn on what is payable', async () => {
  const made = await pay({ metadata: { order: '1' } })
  const created = new Date(service.clock.now).toISOString()
  expect(made).toEqual({
    id: expect.stringMatching(/^po_/),
    object: 'payout',
    amount: 1000,
    currency: 'usdc',
    destination_id: destination,
    settlement_id: null,
    status: 'pending',
    failure_code: null,
    chain: null,
    arrival_date: created.slice(0, 10),
    metadata: { order: '1' },
    created,
    updated: created,
  })
  expect(await get(made.id)).toEqual(made)
  expect([await payable(), await balanceOf('payout_in_transit')]).toEqual([9000, 1000])
  expect(await eventsOf(send)).toEqual(['payout_destination.created', 'payout.created'])
  await verifyLedger(service.operator, tenantId)
})

describe('is refused', () => {
  test('a payout is refused beyond what is payable, and nothing moves', async () => {
    expect(refusal(await ask({ amount: 10_001 }))).toEqual([409, 'conflict', 'insufficient_balance'])
    await pay({ amount: 10_000 })
    expect(refusal(await ask({ amount: 1 }))).toEqual([409, 'conflict', 'insufficient_balance'])
    expect([await payable(), await balanceOf('payout_in_transit')]).toEqual([0, 10_000])
  })

  test('a payout in dollars is refused in the sandbox', async () => {
    expect(refusal(await ask({ currency: 'usd' }))).toEqual([403, 'permission_error', 'live_only'])
  })

  test('a payout is refused to a destination that is held, disabled or nowhere', async () => {
    const held = await make(send, '/v1/payout_destinations', DESTINATION)
    expect(refusal(await ask({ destination_id: held.id }))).toEqual(CONFLICT)
    await send(`/v1/payout_destinations/${destination}/disable`, { method: 'POST' })
    expect(refusal(await ask())).toEqual(CONFLICT)
    const [status, , fault] = firstFault(await ask({ destination_id: 'pod_00000000000000000000000000' }))
    expect([status, fault]).toEqual([
      422,
      { field: 'destination_id', issue: 'does not identify an existing payout destination' },
    ])
    expect(await payable()).toBe(10_000)
  })

  test.each([0, -1, 1.5, '1', 1e15 + 1])('POST /v1/payouts refuses the amount %s', async (amount) => {
    expect(firstFault(await ask({ amount }))[2]).toMatchObject({ field: 'amount' })
  })

  test('a payout is refused in a version that does not have it', async () => {
    const older = await speakAll(service, tenantId)
    const answer = await older['2026-02-01']('/v1/payouts', { body: order() })
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  })
})

describe('asked for at once', () => {
  test('a concurrent payout never takes more than there is, wherever it goes', async () => {
    const others = await Promise.all(
      Array.from({ length: 5 }, () => make(send, '/v1/payout_destinations', DESTINATION)),
    )
    for (const { id } of others) await makePayable(service.database, 'sandbox', tenantId, id, 1)
    const all = await Promise.all(
      Array.from({ length: 24 }, (_, index) => ask({ destination_id: others[index % 5].id })),
    )
    expect(all.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(all.filter(({ status }) => status === 409)).toHaveLength(14)
    expect([await payable(), await balanceOf('payout_in_transit')]).toEqual([5, 10_000])
    await verifyLedger(service.operator, tenantId)
  })

  test('a concurrent payout is decided by what is left when its turn comes', async () => {
    const other = await make(send, '/v1/payout_destinations', DESTINATION)
    await makePayable(service.database, 'sandbox', tenantId, other.id, 1)
    const text = `SELECT FROM sandbox.ledger_accounts WHERE tenant_id = $1 AND id = 'settlement_payable' FOR UPDATE`
    const asked = await service.database.control.transaction(async (db) => {
      await db.query({ text }, [tenantId])
      const all = [ask({ amount: 10_000 }), ask({ amount: 10_000, destination_id: other.id })]
      await expect.poll(() => countWaiting(service.database), { interval: 5, timeout: 10_000 }).toBe(2)
      return { all }
    })
    const statuses = (await Promise.all(asked.all)).map(({ status }) => status)
    expect([statuses.toSorted(), await payable()]).toEqual([[201, 409], 1])
  })

  test('concurrent payouts, cancelations, failures, arrivals and settlements keep every cent and do not deadlock', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => pay({ amount: 100 })))
    await Promise.all(
      all.flatMap(({ id }, index) => [
        [cancel(id), simulate('failure', id), tell(id, arrived)][index % 3]!,
        ask({ amount: 50 }),
        settleInto(service.database, 'sandbox', tenantId, 10),
      ]),
    )
    const { data } = (await send('/v1/payouts?limit=100')).body
    const sum = (statuses: readonly string[]) =>
      data
        .filter(({ status }: { status: string }) => statuses.includes(status))
        .reduce((total: number, { amount }: { amount: number }) => total + amount, 0)
    expect(await balanceOf('payout_in_transit')).toBe(sum(['pending', 'in_transit']))
    expect(await balanceOf('bank')).toBe(sum(['paid']))
    expect(await payable()).toBe(10_080 - sum(['pending', 'in_transit', 'paid']))
    await verifyLedger(service.operator, tenantId)
  })
})

describe('canceled', () => {
  test('a payout is canceled while it is pending; its amount is payable again', async () => {
    const { id } = await pay()
    expect((await cancel(id)).body).toMatchObject({ status: 'canceled', failure_code: null })
    expect([await payable(), await balanceOf('payout_in_transit')]).toEqual([10_000, 0])
    expect(refusal(await cancel(id))).toEqual(CONFLICT)
    expect(refusal(await simulate('failure', id))).toEqual(CONFLICT)
    expect(await (await listen()).signable(service.database.sandbox, id)).toBe(false)
    expect((await eventsOf(send)).slice(1)).toEqual(['payout.created', 'payout.canceled'])
  })

  test('a payout is not canceled once it was sent', async () => {
    const { id } = await pay()
    await tell(id, sent)
    expect(refusal(await cancel(id))).toEqual(CONFLICT)
    expect((await get(id)).status).toBe('in_transit')
  })

  test('a payout is canceled or sent, never both', async () => {
    const { id } = await pay()
    const [answer] = await Promise.all([cancel(id), tell(id, sent)])
    expect((await get(id)).status).toBe(answer.status === 200 ? 'canceled' : 'in_transit')
  })
})

describe.each(CARD_VERSIONS)('in %s', (version) => {
  test('a payout goes its way on the chain, back and forth', async () => {
    await use(version)
    const newest = (await speakAll(service, tenantId))['2026-05-19']
    const { id } = await make(newest, '/v1/payouts', order())
    await tell(id, sent)
    expect(await get(id)).toMatchObject({
      status: 'in_transit',
      chain: { id: CHAIN, transaction_hash: HASH, confirmations: 0 },
    })
    await tell(id, { ...arrived, state: 'confirmed', confirmations: 3 })
    expect(await get(id)).toMatchObject({ status: 'in_transit', chain: { confirmations: 3 } })
    await tell(id, { ...sent, state: 'reorged' })
    expect(await get(id)).toMatchObject({ status: 'in_transit', chain: { confirmations: 0 } })
    const hash = `0x${'1'.repeat(64)}`
    await tell(id, { ...arrived, hash })
    await tell(id, { ...sent, state: 'reorged' })
    expect(await get(id)).toMatchObject({ status: 'paid', chain: { transaction_hash: hash } })
    expect([await payable(), await balanceOf('bank')]).toEqual([9000, 1000])
    expect((await simulate('return', id)).body).toMatchObject({
      status: 'returned',
      failure_code: 'rejected',
    })
    expect([await payable(), await balanceOf('bank')]).toEqual([10_000, 0])
    expect((await eventsOf(send)).slice(1)).toEqual([
      'payout.created',
      'payout.updated',
      'payout.updated',
      'payout.updated',
      'payout.paid',
      'payout.returned',
    ])
    const { data } = (await send('/v1/events?limit=100')).body
    expect(data.flatMap(checkEvent)).toEqual([])
    await verifyLedger(service.operator, tenantId)
  })

  test('a payout is listed by status, destination and settlement', async () => {
    await use(version)
    const newest = (await speakAll(service, tenantId))['2026-05-19']
    const [first, second] = [
      await make(newest, '/v1/payouts', order()),
      await make(newest, '/v1/payouts', order()),
    ]
    await newest(`/v1/payouts/${second.id}/cancel`, { method: 'POST' })
    const idsOf = async (query: string) =>
      (await send(`/v1/payouts?${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await idsOf('status=pending')).toEqual([first.id])
    expect(await idsOf(`destination_id=${destination}`)).toEqual([second.id, first.id])
    expect(await idsOf(`destination_id=${destination}&status=canceled`)).toEqual([second.id])
    expect(await idsOf('settlement_id=stl_00000000000000000000000000')).toEqual([])
  })
})

describe('failed', () => {
  test.each(['account_closed', 'insufficient_gas', undefined])(
    'a simulated payout fails with %s',
    async (failure_code) => {
      const { id } = await pay()
      const answer = await simulate('failure', id, failure_code === undefined ? {} : { failure_code })
      expect(answer.body).toMatchObject({
        status: 'failed',
        failure_code: failure_code ?? 'rejected',
        arrival_date: null,
      })
      expect(await payable()).toBe(10_000)
      expect(refusal(await simulate('failure', id))).toEqual(CONFLICT)
      expect(refusal(await simulate('return', id))).toEqual(CONFLICT)
    },
  )

  test('a payout that the chain refuses fails and its money returns', async () => {
    const { id } = await pay()
    await tell(id, sent)
    await tell(id, { state: 'failed', code: 'transaction_failed' })
    expect(await get(id)).toMatchObject({ status: 'failed', failure_code: 'transaction_failed' })
    expect([await payable(), await balanceOf('payout_in_transit')]).toEqual([10_000, 0])
  })

  test('a payout whose failure was simulated stays failed whatever the chain tells', async () => {
    const { id } = await pay()
    await simulate('failure', id)
    await tell(id, arrived)
    expect([(await get(id)).status, await payable()]).toEqual(['failed', 10_000])
  })

  test('a payout does not fail where nothing of the name is', async () => {
    const fault = firstFault(await simulate('return', 'po_00000000000000000000000000'))
    expect(fault).toEqual([
      422,
      'validation_failed',
      { field: 'payout_id', issue: 'does not identify an existing payout' },
    ])
  })
})

test('a payout that is not signed yet is not signed for a destination that was disabled', async () => {
  const { id } = await pay()
  const isSignable = async () => (await listen()).signable(service.database.sandbox, id)
  expect(await isSignable()).toBe(true)
  await send(`/v1/payout_destinations/${destination}/disable`, { method: 'POST' })
  expect(await isSignable()).toBe(false)
})

/** The list has come to name the destination's address, and nothing was denied yet. */
async function withListed<T>(work: () => Promise<T>): Promise<T> {
  const list = service.sanctions.list()
  const spy = vi.spyOn(service.sanctions, 'list')
  spy.mockReturnValue({ ...list, findWallet: () => ({}) as never })
  return work().finally(() => spy.mockRestore())
}

describe('to a destination that has come on the sanctions list', () => {
  test('POST /v1/payouts refuses a destination that is on the sanctions list', async () => {
    expect(refusal(await withListed(() => ask()))).toEqual(CONFLICT)
    expect(await payable()).toBe(10_000)
  })

  test('a payout to a destination on the sanctions list is not signed', async () => {
    const { id } = await pay()
    const isSignable = async () => (await listen()).signable(service.database.sandbox, id)
    expect(await withListed(isSignable)).toBe(false)
    expect(await isSignable()).toBe(true)
  })
})

describe('of a settlement', () => {
  const net = (amount: number) => ({ settlementId: newId('stl'), amount, currency: 'usd' }) as const
  const settle = (what: ReturnType<typeof net>) =>
    service.database.sandbox.transaction((db) => {
      const place = { db, space: tenantId, events: { emit: () => undefined } }
      return payOutSettlement(place, what, service.sanctions.list(), service.clock.now)
    })

  test('a settlement’s payout stays payable while the default destination is on the sanctions list', async () => {
    expect(await withListed(() => settle(net(700)))).toBe(null)
    expect(await payable()).toBe(10_000)
  })

  test('a settlement’s payout goes to the default destination, once', async () => {
    const what = net(700)
    const id = await settle(what)
    expect(await get(id!)).toMatchObject({
      amount: 700,
      currency: 'usdc',
      settlement_id: what.settlementId,
      destination_id: destination,
    })
    expect((await send(`/v1/payouts?settlement_id=${what.settlementId}`)).body.data).toHaveLength(1)
    expect((await send(`/v1/payouts?settlement_id=${what.settlementId}&status=paid`)).body.data).toEqual([])
    await expect(settle(what)).rejects.toMatchObject({ constraint: 'payouts_of_settlement' })
    expect(await payable()).toBe(9300)
  })

  test('a settlement’s payout stays payable without a default that is active', async () => {
    const next = await make(send, '/v1/payout_destinations', { ...DESTINATION, default: true })
    expect(await settle(net(700))).toBeNull()
    await send(`/v1/payout_destinations/${next.id}`, { method: 'PATCH', body: { default: false } })
    expect(await settle(net(700))).toBeNull()
    expect(await payable()).toBe(10_000)
  })
})
