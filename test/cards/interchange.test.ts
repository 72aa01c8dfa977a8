/** Refunds return interchange in proportion: in one part or in many, in the settlement of the clearing or in a later one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  linesOfClearing,
  linesOfRefund,
  returnedInterchange,
} from '../../runtime/money/settlement-lines/amounts.ts'
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
})

const RATES = { interchange: 150, networkFee: 10 }
const earnedOf = (amount: number) =>
  linesOfClearing(amount, RATES).find(({ type }) => type === 'interchange')?.amount ?? 0

describe('in any number of parts', () => {
  test('returned interchange is never more than was earned, and all of it at the end', () => {
    const cleared = fc.array(fc.integer({ min: 1, max: 1_000_000_000_000_000 }), {
      minLength: 1,
      maxLength: 4,
    })
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
    fc.assert(
      fc.property(cleared, cuts, (amounts, parts) => {
        const total = amounts.reduce((sum, amount) => sum + amount, 0)
        fc.pre(total <= 1_000_000_000_000_000)
        const earned = amounts.reduce((sum, amount) => sum + earnedOf(amount), 0)
        let returned = 0
        for (const part of [...parts.toSorted((a, b) => a - b), 1]) {
          const refunded = Math.min(total, Math.floor(total * part))
          const more = returnedInterchange({ earned, returned }, { cleared: total, refunded })
          expect(more).toBeGreaterThanOrEqual(0)
          returned += more
          // Within half a cent of the exact part.
          const exact = BigInt(earned) * BigInt(refunded)
          const off = 2n * (BigInt(returned) * BigInt(total) - exact)
          expect(off <= BigInt(total) && -off <= BigInt(total)).toBe(true)
        }
        expect(returned).toBe(earned)
      }),
      { seed: 20260601, numRuns: 500 },
    )
  })

  test.each([
    [{ earned: 150, returned: 0 }, { cleared: 10_000, refunded: 1 }, 0],
    [{ earned: 1, returned: 0 }, { cleared: 34, refunded: 17 }, 0], // half to even
    [{ earned: 3, returned: 0 }, { cleared: 200, refunded: 100 }, 2],
    [{ earned: 3, returned: 2 }, { cleared: 200, refunded: 200 }, 1],
    [{ earned: 1, returned: 1 }, { cleared: 134, refunded: 35 }, 0],
  ])(
    'a refund returns interchange in proportion: of %j with %j it returns %j',
    (interchange, amounts, more) => {
      expect(returnedInterchange(interchange, amounts)).toBe(more)
      expect(linesOfRefund(100, more).length).toBe(more === 0 ? 2 : 3)
    },
  )
})
