/** Holds expire when their time is over, and that is told once. */
import { expect, test } from 'vitest'
import { holdExpiryWorker } from '../../runtime/cards/transactions/expiry-job.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { speakFor } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makeTenant, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { make, makeCard } from './fixtures.ts'

const service = useService({ keepsTime: true })

const DAY = 86_400_000

const expire = () =>
  holdExpiryWorker({
    database: service.database,
    clock: service.clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()

test('a hold ends after 7 days, or 31 for travel, and not before; once however many look', async () => {
  const tenantId = await makeTenant(service)
  const send = await speakFor(service, tenantId)
  const card = await makeCard(send)
  await send('/v1/test/funding', { body: { amount: 100_000 } })
  const hold = (category_code: string) =>
    make(send, '/v1/test/cards/simulate_authorization', {
      card_id: card.id,
      amount: 100,
      merchant: { name: 'A', category_code },
    })
  const sixty = () => Promise.all(Array.from({ length: 60 }, () => hold('5812')))
  const diners = [...(await sixty()), ...(await sixty())]
  const hotel = await hold('7011')
  await send('/v1/test/cards/simulate_clearing', {
    body: { card_transaction_id: diners[0].id, amount: 40, final: false },
  })
  const statusOf = async ({ id }: { id: string }) => (await send(`/v1/card_transactions/${id}`)).body.status
  service.clock.now += 7 * DAY - 1
  service.clock.monotonic += 120_000
  await expire()
  expect(await statusOf(diners[1])).toBe('authorized')
  service.clock.now += 1
  await Promise.all([expire(), expire(), expire()])
  expect(await Promise.all(diners.slice(0, 3).map(statusOf))).toEqual(['cleared', 'expired', 'expired'])
  expect(await statusOf(hotel)).toBe('authorized')
  expect((await send('/v1/balance')).body).toMatchObject({ available: 99_860, held: 100 })
  const { data, has_more } = (await send('/v1/events?type=card.transaction.expired&limit=100')).body
  expect([data.length, has_more]).toEqual([100, true])
  expect(checkEvent(data[0])).toEqual([])
  service.clock.now += 24 * DAY
  service.clock.monotonic += 120_000
  await expire()
  expect(await statusOf(hotel)).toBe('expired')
  expect((await send('/v1/balance')).body).toMatchObject({ available: 99_960, held: 0 })
  await verifyLedger(service.operator, tenantId)
})
