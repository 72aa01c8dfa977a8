/** What is looked up before a pass is signed: a template's kind, once for each tenant and environment. */
import { expect, test } from 'vitest'
import type { Context } from '../../runtime/api/handler.ts'
import { showLink, signIds } from '../../runtime/passes/passes/links.ts'

const AT = Date.parse('2026-06-01T12:00:00Z')

const tenantOf = (space: string): string => space.replace(/\..*$/, '')

/** A tenant whose templates are all coupons but for those called `missing`. */
function makeContext(space: string, environment: 'sandbox' | 'live' = 'sandbox') {
  const asked: (readonly string[])[] = []
  const context = {
    caller: { environment, space, tenant: { id: tenantOf(space) } },
    request: { now: AT },
    db: {
      query: async (_: unknown, [tenantId, json]: [string, string]) => {
        expect(tenantId).toBe(space)
        const ids: string[] = JSON.parse(json)
        asked.push(ids)
        const rows = ids.filter((id) => !id.includes('missing')).map((id) => ({ id, kind: 'coupon' }))
        return { rows, count: rows.length }
      },
    },
    links: {
      wallet: {
        signGoogleLink: async (tenantId: string, pass: { id: string; kind: string }) => {
          expect(tenantId).toBe(tenantOf(space))
          return `link of ${pass.id} ${pass.kind}`
        },
      },
    },
  } as unknown as Context
  return { context, asked }
}

test('each order gets one link, in their order; an order of no template gets none', async () => {
  const { context, asked } = makeContext('ten_1')
  const signed = await signIds(context, ['tpl_a', undefined, 'tpl_missing', 'tpl_b', 'tpl_a'])
  expect(asked).toEqual([['tpl_a', 'tpl_missing', 'tpl_b']])
  expect(signed.map((each) => each?.kind)).toEqual(['coupon', undefined, undefined, 'coupon', 'coupon'])
  expect(new Set(signed.map((each) => each?.id)).size).toBe(4)
  for (const each of signed) if (each) expect(each.link).toBe(`link of ${each.id} coupon`)
})

test('a kind is asked for once, a template that is missing each time', async () => {
  const { context, asked } = makeContext('ten_2')
  for (let round = 0; round < 3; round += 1) await signIds(context, ['tpl_a', 'tpl_missing'])
  expect(asked).toEqual([['tpl_a', 'tpl_missing'], ['tpl_missing'], ['tpl_missing']])
})

test('a known link of one tenant is asked for by another and by the other environment', async () => {
  const others = [makeContext('ten_4'), makeContext('ten_3', 'live'), makeContext('ten_3.1')]
  await signIds(makeContext('ten_3').context, ['tpl_a'])
  for (const { context, asked } of others) {
    await signIds(context, ['tpl_a'])
    expect(asked).toEqual([['tpl_a']])
  }
})

test('the known links do not grow without end', async () => {
  const { context, asked } = makeContext('ten_5')
  await signIds(context, ['tpl_first'])
  await signIds(
    context,
    Array.from({ length: 20_001 }, (_, at) => `tpl_${at}`),
  )
  await signIds(context, ['tpl_another'])
  await signIds(context, ['tpl_first'])
  expect(asked.map((ids) => ids.length)).toEqual([1, 20_001, 1, 1])
})

test('a pass without a link is a fault of ours, not a pass with an empty one', () => {
  const pass = { id: 'pass_1', template_id: 'tpl_1', template_kind: 'coupon', google_url: null } as const
  expect(() => showLink({ ...pass, google_link: null })).toThrow('pass_1 has no link')
})
