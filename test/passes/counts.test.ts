/** Pass counts are kept from events, and are those of the passes at every moment. */
import { expect, test } from 'vitest'
import { events } from '../../generated/events.ts'
import { addToTotals, findSpacesBehind } from '../../runtime/account/totals/adding.ts'
import { issuePass, makeTemplate, speakFor } from '../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { bothCounts } from './counted.ts'

const service = useService({ poolSize: 10, keepsTime: true })

const DAY = 86_400_000

const add = (space: string, most = 2000, now = Date.now()) =>
  service.database.sandbox.transaction((tx) => addToTotals(tx, space, most, now))

const both = (space: string) => bothCounts(service.database.sandbox, space)

async function makeCoupons() {
  const space = await makeTenant(service)
  const send = await speakFor(service, space)
  return { space, send, template: await makeTemplate(send, { kind: 'coupon' }) }
}

/** Takes a new pass through every status but `expired`. */
async function live(send: Send, template: string, scan: 'verify' | 'redeem'): Promise<void> {
  const { id } = await issuePass(send, template)
  const post = (path: string, body?: object) => send(path, { method: 'POST', ...(body && { body }) })
  await post('/v1/test/passes/simulate_install', { pass_id: id, platform: 'apple' })
  await post('/v1/test/passes/simulate_install', { pass_id: id, platform: 'google' })
  await post('/v1/scans', { pass_id: id, mode: scan })
  await send(`/v1/passes/${id}`, { method: 'PATCH', body: { metadata: { a: '1' } } })
  await post(`/v1/passes/${id}/revoke`)
  if (scan === 'redeem') await post(`/v1/passes/${id}/archive`)
}

test('counts are those of the passes while requests, two workers and a dying worker write', async () => {
  const { space, send, template } = await makeCoupons()
  await issuePass(send, template)
  expect((await both(space)).kept).toBeUndefined()
  await add(space)
  let isWriting = true
  const writing = Promise.all([
    ...(['verify', 'redeem', 'verify', 'redeem'] as const).map(async (scan) => {
      for (let pass = 0; pass < 3; pass += 1) await live(send, template, scan)
    }),
    send('/v1/passes/batch', {
      body: { passes: Array.from({ length: 20 }, () => ({ template_id: template })) },
    }),
  ]).finally(() => {
    isWriting = false
  })
  let compared = 0
  while (isWriting) {
    await Promise.all([add(space, 3), add(space, 3)])
    const dying = service.database.sandbox.transaction(async (tx) => {
      await addToTotals(tx, space, 3, Date.now())
      throw new Error('killed')
    })
    await expect(dying).rejects.toThrow('killed')
    const { kept, counted } = await both(space)
    if (kept) compared += 1
    expect(kept ?? counted).toEqual(counted)
  }
  await writing
  expect(compared).toBeGreaterThan(0)
  while (await add(space, 3));
  expect((await both(space)).kept).toEqual({ issued: 21, revoked: 6, archived_redeemed: 6 })
})

test('a filter by status, template or archive is answered without reading passes', async () => {
  const { space, send, template } = await makeCoupons()
  const other = await makeTemplate(send)
  await issuePass(send, template, { expires_at: new Date(service.clock.now + DAY).toISOString() })
  await issuePass(send, other)
  await live(send, template, 'redeem')
  const count = async (query: string) => (await send(`/v1/passes/count?${query}`)).body.count
  const queries = ['', 'include_archived=true', 'status=issued', 'status=expired', 'status=redeemed']
  const filters = queries.flatMap((query) => [query, `${query}&template_id=${template}`])
  const answers = () => Promise.all(filters.map(count))
  const wanted = await answers()
  expect(wanted).toEqual([2, 1, 3, 2, 2, 1, 0, 0, 0, 0])
  await add(space)
  expect(await answers()).toEqual(wanted)
  // The pass expires, and no worker has recorded it.
  service.clock.now += DAY
  expect(await answers()).toEqual([2, 1, 3, 2, 1, 0, 1, 1, 0, 0])
  service.clock.now -= DAY
  // One count is wrong on purpose: the answer shows where it comes from.
  await service.database.control.query(
    {
      text: `UPDATE sandbox.pass_counts SET count = 7 WHERE tenant_id = $1 AND template_id = $2 AND state = 'issued'`,
    },
    [space, other],
  )
  expect([await count('status=issued'), await count('created[gte]=2020-01-01T00:00:00Z')]).toEqual([8, 2])
})

test('passes are counted again after events that an earlier version wrote, and after events that are gone', async () => {
  const { space, send, template } = await makeCoupons()
  const spoils = [
    'UPDATE sandbox.events SET pass_move = NULL WHERE tenant_id = $1',
    'DELETE FROM sandbox.events WHERE tenant_id = $1',
  ]
  let now = Date.now()
  for (const [index, text] of spoils.entries()) {
    await issuePass(send, template)
    await add(space, 2000, now)
    expect((await both(space)).kept).toEqual({ issued: 2 * index + 1 })
    await issuePass(send, template)
    await service.database.control.query({ text }, [space])
    expect((await both(space)).kept).toBeUndefined()
    await add(space, 2000, now)
    const behind = (at: number) => findSpacesBehind(service.database.sandbox, '', 1000, at)
    expect(await behind(now)).not.toContain(space)
    now += 300_000
    expect(await behind(now)).toContain(space)
    await add(space, 2000, now)
    expect((await both(space)).kept).toEqual({ issued: 2 * index + 2 })
  }
})

test('every version has the events that keep the counts', () => {
  for (const [version, views] of Object.entries(events)) {
    const types = ['created', 'installed', 'scanned', 'revoked', 'expired', 'archived']
    expect([version, types.filter((type) => !(`pass.${type}` in views))]).toEqual([version, []])
  }
})
