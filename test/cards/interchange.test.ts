/** Refunds return interchange in proportion: in one part or in many, in the settlement of the clearing or in a later one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  earnedBy,
  linesOfClearing,
  linesOfRefund,
  NO_INTERCHANGE,
} from '../../runtime/money/settlement-lines/amounts.ts'
import { selectInterchange } from '../../runtime/money/settlement-lines/interchange.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { CARD_VERSIONS, type CardVersion, make, makeCard, speakAll } from './fixtures.ts'

const service = useService({ keepsTime: true })

const MERCHANT = { name: 'A', category_code: '5812' }

async function openCard() {
  const tenantId = await makeTenant(service)
  const versions: Record<CardVersion, Send> = await speakAll(service, tenantId)
  const send = versions['2026-05-19']
  const card = await makeCard(send)
  const clear = (amount: number) =>
    make(send, '/v1/test/cards/simulate_force_post', { card_id: card.id, amount, merchant: MERCHANT })
  const refund = async (card_transaction_id: string, amount?: number) => {
    service.clock.monotonic += 60_000
    const answer = await send('/v1/test/cards/simulate_refund', {
      body: { card_transaction_id, ...(amount !== undefined && { amount }) },
    })
    expect([answer.text, answer.status]).toEqual([answer.text, 200])
  }
  const settlements = async () => (await send('/v1/settlements?order=asc')).body.data
  const interchange = async (id: string): Promise<number[]> => {
    const all = (await settlements()) as readonly { readonly id: string }[]
    const pages = await Promise.all(
      all.map(
        async (each) =>
          (
            await send(
              `/v1/settlements/${each.id}/lines?type=interchange&source_id=${id}&limit=100&order=asc`,
            )
          ).body.data,
      ),
    )
    return pages.flat().map(({ amount }: { amount: number }) => amount)
  }
  const advance = (body: object) => send('/v1/test/settlements/advance_clock', { body })
  return { tenantId, versions, send, clear, refund, settlements, interchange, advance }
}

describe('a refund', () => {
  test('a refund of all returns all of the interchange, and nothing is paid out', async () => {
    const { tenantId, send, clear, refund, settlements, interchange, advance } = await openCard()
    const { id } = await clear(1_000_000)
    await refund(id)
    expect(await interchange(id)).toEqual([15_000, -15_000])
    const [open] = await settlements()
    // The network keeps its fee.
    expect(open).toMatchObject({
      ...{
        transaction_amount: 0,
        interchange_amount: 0,
        fees_amount: 1000,
        net_amount: -1000,
        lines_count: 7,
      },
    })
    await advance({ settlement_id: open.id, to: 'settled' })
    expect((await settlements())[0]).toMatchObject({ status: 'settled', payout_id: null })
    expect((await send('/v1/balance')).body).toMatchObject({ available: -1000, payable: 0 })
    await verifyLedger(service.operator, tenantId)
  })

  test('a refund in a later settlement returns it there: older versions show no less than 0', async () => {
    const { tenantId, versions, send, clear, refund, settlements, interchange, advance } = await openCard()
    const { id } = await clear(10_000)
    const [first] = await settlements()
    await advance({ settlement_id: first.id, to: 'settled' })
    await refund(id, 3333)
    await refund(id, 3333)
    await refund(id)
    expect(await interchange(id)).toEqual([150, -50, -50, -50])
    const [, second] = await settlements()
    expect(second).toMatchObject({ interchange_amount: -150, fees_amount: 0, net_amount: -150 })
    for (const version of CARD_VERSIONS) {
      const { body } = await versions[version](`/v1/settlements/${second.id}`)
      expect([version, body.interchange_amount, body.net_amount]).toEqual([
        ...[version, version === '2026-05-19' ? -150 : 0, -150],
      ])
    }
    await advance({ settlement_id: second.id, to: 'settled' })
    expect((await send('/v1/balance')).body).toMatchObject({ available: -150, payable: 140 })
    await verifyLedger(service.operator, tenantId)
  })

  test('a refund between two clearings returns its part of what is earned by then', async () => {
    const { send, clear, refund, interchange } = await openCard()
    const { id } = await clear(34)
    await refund(id)
    await send('/v1/test/cards/simulate_clearing', { body: { card_transaction_id: id, amount: 1000 } })
    await refund(id, 1)
    await refund(id)
    expect(await interchange(id)).toEqual([1, -1, 15, -15])
  })

  test('clearings and refunds end in the same sums in any order', async () => {
    const { tenantId, send, clear, refund, settlements, interchange } = await openCard()
    // 34 cents earn a cent, 33 earn none. A third of one cent is none, so the second clearing of 33 restores it.
    const clearAgain = (card_transaction_id: string) =>
      send('/v1/test/cards/simulate_clearing', { body: { card_transaction_id, amount: 33 } })
    const [early, late] = [(await clear(34)).id, (await clear(34)).id]
    await refund(early)
    for (const id of [early, early, late, late]) await clearAgain(id)
    await refund(late, 34)
    expect(await interchange(early)).toEqual([1, -1, 1])
    expect(await interchange(late)).toEqual([1])
    expect((await settlements())[0]).toMatchObject({ interchange_amount: 2, transaction_amount: -132 })
    await verifyLedger(service.operator, tenantId)
  })
})

describe('the interchange table', () => {
  const rates = {
    ...{ interchange: 150, networkFee: 10 },
    table: [
      { id: 'travel', categories: ['3000-3999', '7011'], basis_points: 200 },
      {
        id: 'keyed',
        entry_methods: ['keyed_in', 'online'],
        region: 'domestic',
        basis_points: 180,
        fixed_cents: 10,
      },
      { id: 'foreign', region: 'foreign', basis_points: 110 },
    ],
  } as const
  test.each([
    ['3500', 'online', 'US', undefined, 'travel', 200],
    ['7012', 'online', 'US', undefined, 'keyed', 190],
    ['5812', 'keyed_in', 'FR', undefined, 'foreign', 110],
    ['5812', null, null, undefined, 'standard', 150],
    ['5812', 'chip', 'US', undefined, 'standard', 150],
    ['5812', 'chip', 'US', 'travel', 'travel', 200],
    ['5812', 'chip', 'US', 'unknown', 'standard', 150],
  ])('%s, %s, %s, named %s: %s', (categoryCode, entryMethod, country, named, id, earned) => {
    const row = selectInterchange(rates, { categoryCode, entryMethod, country }, named)
    expect([row.id, earnedBy(10_000, row)]).toEqual([id, earned])
  })
})

const RATE = { id: 'standard', basis_points: 150 }

describe('in any number of parts', () => {
  test('the interchange that is kept depends on the totals only, and a full refund returns all of it', () => {
    const cleared = fc.array(fc.integer({ min: 1, max: 1_000_000_000_000_000 }), {
      minLength: 1,
      maxLength: 4,
    })
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
    fc.assert(
      fc.property(cleared, cuts, (amounts, parts) => {
        const total = amounts.reduce((sum, amount) => sum + amount, 0)
        fc.pre(total <= 1_000_000_000_000_000)
        let [sum, earned, clearedSoFar, refunded] = [0, 0, 0, 0]
        const add = (lines: ReturnType<typeof linesOfRefund>) => {
          sum += lines.find(({ type }) => type === 'interchange')?.amount ?? 0
        }
        const soFar = () => ({ ...NO_INTERCHANGE, earned, returned: earned - sum })
        const refundUpTo = (until: number) => {
          if (until <= refunded) return
          const amount = until - refunded
          refunded = until
          add(linesOfRefund(amount, soFar(), { cleared: clearedSoFar, refunded }))
        }
        for (const [index, amount] of amounts.entries()) {
          clearedSoFar += amount
          add(linesOfClearing(amount, RATE, 10, soFar(), { cleared: clearedSoFar, refunded }))
          earned += earnedBy(amount, RATE)
          refundUpTo(Math.floor(clearedSoFar * (parts[index] ?? 0)))
          // Within half a cent of the exact part.
          const off = 2n * (BigInt(earned - sum) * BigInt(clearedSoFar) - BigInt(earned) * BigInt(refunded))
          expect(off <= BigInt(clearedSoFar) && -off <= BigInt(clearedSoFar)).toBe(true)
        }
        refundUpTo(total)
        expect(sum).toBe(0)
      }),
      { seed: 20260601, numRuns: 500 },
    )
  })
})
