/** What the messages of the card network do to card transactions, the ledger and events. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { findFault } from '../../../runtime/money/ledger/verify.ts'
import { checkEvent } from '../../support/contract.ts'
import { makeKey, makeTenant, type Send, START, speak, useService } from '../../support/service.ts'
import { make, makeCard } from '../fixtures.ts'
import { type NetworkSend, openTestNetwork } from './open-network.ts'

const service = useService({ poolSize: 12, env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' } })
let tenantId: string
let send: Send
let network: NetworkSend
let card: { readonly id: string; readonly number: string }

beforeEach(async () => {
  service.clock.now = START
  tenantId = await makeTenant(service, 'enterprise')
  send = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId, { scope: 'admin' })).secret,
  })
  network = openTestNetwork(service)
  await send('/v1/test/funding', { body: { amount: 10_000 } })
  const { id } = await makeCard(send)
  card = { id, number: (await send(`/v1/cards/${id}/details`)).body.number }
})

let count = 0

/** A message of the card, sent a number of seconds after the start. */
const message = (transaction_id: string, second: number, more: object = {}) => {
  count += 1
  const sent_at = new Date(START + second * 1000).toISOString()
  return { message_id: `m${count}`, transaction_id, sent_at, card_number: card.number, ...more }
}

const MERCHANT = { name: 'Harbor Diner', category_code: '5812', country: 'US' }
const paying = (amount: number) => ({ amount, currency: 'usd', merchant: MERCHANT })

const authorization = (id: string, amount: number, more: object = {}, second = 0) =>
  message(id, second, { ...paying(amount), ...more }) as Parameters<typeof network<'authorize'>>[1]
const clearing = (id: string, amount: number, second = 9, more: object = {}) =>
  message(id, second, { ...paying(amount), ...more }) as Parameters<typeof network<'clear'>>[1]

/** The only transaction of the tenant. */
async function transaction() {
  const { data } = (await send('/v1/card_transactions')).body
  expect(data).toHaveLength(1)
  return data[0]
}
const amounts = async () => {
  const { status, amounts } = await transaction()
  return { status, ...amounts }
}
const types = async () => {
  const { data } = (await send('/v1/events?order=asc&limit=100')).body
  const told = data.filter(({ type }: { type: string }) => type.startsWith('card.transaction.'))
  expect(told.flatMap(checkEvent)).toEqual([])
  return told.map(({ type }: { type: string }) => type.slice('card.transaction.'.length))
}

const expectSound = async () =>
  expect(await findFault(service.database.control, 'sandbox', tenantId)).toBeUndefined()

test('an authorization holds, a clearing collects, and a repeated message changes nothing', async () => {
  const asked = authorization('n1', 1000, { entry_method: 'chip' })
  const decision = await network('authorize', asked)
  expect(decision).toEqual({
    message_id: asked.message_id,
    decision: 'approved',
    amount: 1000,
    approval_code: expect.stringMatching(/^[A-Z0-9]{6}$/),
  })
  expect(await network('authorize', asked)).toEqual(decision)
  const cleared = clearing('n1', 1200)
  for (const _ of [1, 2])
    expect((await network('clear', cleared)) as object).toMatchObject({ outcome: 'applied' })
  expect(await amounts()).toMatchObject({ status: 'cleared', authorized: 1000, held: 0, cleared: 1200 })
  expect((await transaction()).entry_method).toBe('chip')
  expect(await types()).toEqual(['authorized', 'cleared'])
  expect((await send('/v1/balance')).body).toMatchObject({ available: 8800, held: 0 })
  await expectSound()
})

describe('messages in any order end in the same state', () => {
  const steps = () => ({
    authorize: () => network('authorize', authorization('n1', 1000)),
    reverse: () => network('reverse', message('n1', 1, { amount: 300 }) as never),
    clear: () => network('clear', clearing('n1', 500, 2, { final: false })),
    refund: () => network('refund', message('n1', 3, paying(200)) as never),
    end: () => network('reverse', message('n1', 4) as never),
  })
  test.each([
    [['authorize', 'reverse', 'clear', 'refund', 'end']],
    [['reverse', 'end', 'authorize', 'refund', 'clear']],
    [['refund', 'clear', 'end', 'reverse', 'authorize']],
  ] as const)('%j', async (order) => {
    const messages = steps()
    for (const step of order) await messages[step]()
    expect(await amounts()).toEqual({
      status: 'cleared',
      requested: 1000,
      authorized: 1000,
      held: 0,
      cleared: 500,
      refunded: 200,
      reversed: 500,
    })
    const { history } = await transaction()
    expect(history.map(({ type, amount }: { type: string; amount: number }) => [type, amount])).toEqual([
      ['authorization', 1000],
      ['reversal', 300],
      ['clearing', 500],
      ['refund', 200],
      ['reversal', 200],
    ])
    expect((await send('/v1/balance')).body).toMatchObject({ available: 9700, held: 0 })
    await expectSound()
  })
})

describe('an advice replaces the decision of the service', () => {
  const advice = (advised: { readonly message_id: string }, more: object) =>
    message('n1', 0, { kind: 'authorization', advised_message_id: advised.message_id, ...more }) as never

  test('an approval that the network did not get, and declined', async () => {
    const asked = authorization('n1', 1000)
    await network('authorize', asked)
    await network('advise', advice(asked, { approved: false, ...paying(1000) }))
    expect(await amounts()).toMatchObject({ status: 'declined', authorized: 0, held: 0 })
    expect(await types()).toEqual(['authorized', 'declined'])
    expect(await network('authorize', asked)).toMatchObject({ decision: 'declined' })
  })

  test('an approval without the service holds also more than there is', async () => {
    const asked = authorization('n1', 15_000)
    await network('advise', advice(asked, { approved: true, ...paying(15_000) }))
    expect(await amounts()).toMatchObject({ status: 'authorized', authorized: 15_000, held: 15_000 })
    expect((await send('/v1/balance')).body).toMatchObject({ available: -5000 })
    expect(await network('authorize', asked)).toMatchObject({ decision: 'approved', amount: 15_000 })
  })

  test('of two advices about one message, one counts', async () => {
    const asked = authorization('n1', 100)
    await network('authorize', asked)
    await network('advise', advice(asked, { approved: true, ...paying(100) }))
    await network('advise', advice(asked, { approved: true, ...paying(5310) }))
    expect(await amounts()).toMatchObject({ authorized: 5310, held: 5310 })
  })
})

test('a merchant that accepts less gets what there is', async () => {
  expect(await network('authorize', authorization('n1', 12_000, { partial_approval: true }))).toMatchObject({
    decision: 'approved',
    amount: 10_000,
  })
  expect(await amounts()).toMatchObject({ requested: 12_000, authorized: 10_000, held: 10_000 })
})

test.each([
  [{ cvc: 'mismatch' }, 'incorrect_cvc'],
  [{ address_line: 'mismatch', postal_code: 'mismatch' }, 'address_mismatch'],
])('what the network finds wrong declines: %j', async (checks, reason) => {
  expect(await network('authorize', authorization('n1', 100, { checks }))).toMatchObject({
    decision: 'declined',
    decline_reason: reason,
  })
})

test('an unknown number is declined, and a clearing of it waits for an operator', async () => {
  card = { ...card, number: '4000009999999999' }
  expect(await network('authorize', authorization('n1', 100))).toMatchObject({
    decision: 'declined',
    decline_reason: 'unknown_card',
  })
  expect(await network('clear', clearing('n1', 100))).toMatchObject({
    outcome: 'exception',
    reason: 'unknown_card',
  })
  const { rows } = await service.database.control.query<{ text: string }>({
    text: `SELECT e::text AS text FROM control.network_exceptions e WHERE message_id = 'm${count}'`,
  })
  expect(rows).toHaveLength(1)
  expect(rows[0]!.text).not.toContain('9999999999')
})

test('nothing is committed after the deadline', async () => {
  expect(await network('authorize', authorization('n1', 100), 0)).toMatchObject({ decision: 'unavailable' })
  expect((await send('/v1/card_transactions')).body.data).toEqual([])
})

test('a refund above the cleared amount waits, and disputes give way to a refund', async () => {
  await network('authorize', authorization('n1', 1000))
  expect(await network('refund', message('n1', 3, paying(400)) as never)).toMatchObject({
    outcome: 'waiting',
  })
  await network('clear', clearing('n1', 1000, 2))
  expect(await amounts()).toMatchObject({ cleared: 1000, refunded: 400 })
  const { id } = await transaction()
  const dispute = await make(send, '/v1/disputes', {
    card_transaction_id: id,
    reason: 'fraudulent',
    amount: 600,
  })
  await send(`/v1/disputes/${dispute.id}/submit`, { body: {} })
  await network('refund', message('n1', 4, paying(100)) as never)
  expect((await send(`/v1/disputes/${dispute.id}`)).body).toMatchObject({ amount: 500, status: 'submitted' })
  expect(await network('moveChargeback', message('n1', 5, { stage: 'won' }) as never)).toMatchObject({
    outcome: 'applied',
  })
  expect(await network('moveChargeback', message('n1', 4, { stage: 'under_review' }) as never)).toMatchObject(
    {
      outcome: 'applied',
    },
  )
  expect((await send(`/v1/disputes/${dispute.id}`)).body).toMatchObject({ status: 'won' })
  await expectSound()
})

test('a wallet token follows the newest report of the network', async () => {
  const report = (status: string, second: number) => {
    const { transaction_id: _, ...rest } = message('', second, {
      token_reference: 't1',
      wallet: 'apple_pay',
      status,
    })
    return network('changeToken', rest as never)
  }
  await report('active', 2)
  await report('requested', 1)
  const { data } = (await send(`/v1/wallet_tokens?card_id=${card.id}`)).body
  expect(data).toMatchObject([{ status: 'active', wallet: 'apple_pay' }])
  await report('deleted', 1)
  expect((await send(`/v1/wallet_tokens/${data[0].id}`)).body).toMatchObject({ status: 'deleted' })
})

test('the tenant’s endpoint decides within the deadline, and its late answer changes nothing', async () => {
  let answer: (() => void) | undefined
  const endpoint = createServer((request, response) => {
    request.resume()
    answer = () => response.writeHead(200).end('{"approved":true}')
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
    await send('/v1/authorization_endpoint', {
      method: 'PUT',
      body: { url, timeout_ms: 2000, default_action: 'decline' },
    })
    const asked = authorization('n1', 100)
    expect(await network('authorize', asked, 800)).toMatchObject({
      decision: 'declined',
      decline_reason: 'decision_timed_out',
    })
    answer!()
    expect(await network('authorize', asked)).toMatchObject({ decision: 'declined' })
    expect(await amounts()).toMatchObject({ status: 'declined', held: 0 })
  } finally {
    endpoint.closeAllConnections()
    endpoint.close()
  }
})
