/** What is due of a wiped space is not found while it is still to be deleted: it would stand before what is due of others. */
import { expect, test } from 'vitest'
import { findOverdueDisputes } from '../../runtime/cards/disputes/queries.ts'
import { findHoldersAhead, findOverdueHolds } from '../../runtime/cards/transactions/queries.ts'
import type { Database } from '../../runtime/database/database.ts'
import * as destinations from '../../runtime/money/destinations/queries.ts'
import { findBehind } from '../../runtime/money/destinations/screening-queries.ts'
import { findDueTenants, findDueTenantsAhead } from '../../runtime/money/settlement-lines/queries.ts'
import { speakFor } from '../api/fixtures.ts'
import { makeTenant, useService } from '../support/service.ts'
import { make, makeCard } from './fixtures.ts'

const service = useService({ keepsTime: true })

const CENTURY = 100 * 365 * 86_400_000

type Find = (db: Database, now: number) => Promise<readonly { readonly tenant_id: string }[]>

const FINDS: Readonly<Record<string, Find>> = {
  holds: (db, now) => findOverdueHolds(db, now, 1),
  'holds by a clock ahead': (db, now) => findHoldersAhead(db, now, 1),
  disputes: (db, now) => findOverdueDisputes(db, now, 1),
  settlements: (db, now) => findDueTenants(db, now, 1),
  'settlements by a clock ahead': (db, now) => findDueTenantsAhead(db, now, 1),
  destinations: (db, now) => destinations.findHolders(db, now, 1),
  'destinations by a clock ahead': (db, now) => destinations.findHoldersAhead(db, now, 1),
  'destinations to be screened': (db) => findBehind(db, 1_000_000, 1),
}

const DESTINATION = {
  type: 'usdc_address',
  address: 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7',
  holder_name: 'Harbour Coffee LLC',
}

test('each look finds it, and does not once it is wiped', async () => {
  const space = await makeTenant(service)
  const send = await speakFor(service, space)
  const card = await makeCard(send)
  await send('/v1/test/funding', { body: { amount: 100_000 } })
  const authorize = () =>
    make(send, '/v1/test/cards/simulate_authorization', {
      card_id: card.id,
      amount: 100,
      merchant: { name: 'A', category_code: '5812' },
    })
  const clear = async () => {
    const { id: card_transaction_id } = await authorize()
    await send('/v1/test/cards/simulate_clearing', { body: { card_transaction_id, amount: 100 } })
    return card_transaction_id
  }
  const card_transaction_id = await clear()
  await make(send, '/v1/disputes', { card_transaction_id, reason: 'other' })
  for (const name of ['now', 'later'])
    await make(send, '/v1/payout_destinations', { ...DESTINATION, metadata: { name } })
  expect((await send('/v1/test/settlements/advance_clock', { body: { seconds: 25 * 3600 } })).status).toBe(
    200,
  )
  await make(send, '/v1/payout_destinations', { ...DESTINATION, holder_name: 'Ada Moreau' })
  await clear()
  await authorize()
  const found = async () => {
    const all = Object.entries(FINDS).map(async ([what, find]) => {
      const rows = await find(service.database.sandbox, service.clock.now + CENTURY)
      return [what, rows.map(({ tenant_id }) => tenant_id)]
    })
    return Object.fromEntries(await Promise.all(all))
  }
  const each = (spaces: readonly string[]) =>
    Object.fromEntries(Object.keys(FINDS).map((what) => [what, spaces]))
  expect(await found()).toEqual(each([space]))
  const text = 'INSERT INTO sandbox.wiped_spaces (tenant_id, wiped_at) VALUES ($1, now())'
  await service.database.control.query({ text }, [space])
  expect(await found()).toEqual(each([]))
})
