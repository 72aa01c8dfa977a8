/** The balance, and test money that arrives. */
import { describe, expect, test } from 'vitest'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'

const service = useService()

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
