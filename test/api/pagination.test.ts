/** Lists walked in every way, and what happens while somebody walks. */
import { beforeAll, describe, expect, test } from 'vitest'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { issuePass, makeTemplate, VERSIONS } from './fixtures.ts'

const service = useService({ keepsTime: true })
let secret: string
let send: Send
let templateId: string
/** Oldest first; some share an instant. */
let oldest: string[]

const CURRENT = '2026-05-19'

beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service))).secret
  send = speak(service.urls.sandbox, { secret, version: CURRENT })
  templateId = await makeTemplate(send)
  oldest = []
  for (let index = 0; index < 60; index += 1) {
    if (index % 3 === 0) service.clock.now += 1000
    oldest.push((await issuePass(send, templateId)).id)
  }
})

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

async function page(query: Record<string, string>, by: Send = send): Promise<Page> {
  const { status, body } = await by(`/v1/passes?${new URLSearchParams(query)}`)
  expect(status).toBe(200)
  return body
}

const idsOf = (read: Page) => read.data.map(({ id }) => id)

/** All pages from the start in one direction. */
async function walk(query: Record<string, string>, by: Send = send): Promise<Page[]> {
  const pages = [await page(query, by)]
  for (let last = pages[0]!; last.next_cursor !== null; pages.push(last)) {
    last = await page({ ...query, starting_after: last.next_cursor }, by)
  }
  return pages
}

describe.each(VERSIONS)('60 passes at limit 25 in %s', (version) => {
  test.each(['asc', 'desc'])('60 passes are walked by %s, there and back', async (order) => {
    const by = speak(service.urls.sandbox, { secret, version })
    const expected = order === 'asc' ? oldest : oldest.toReversed()
    const pages = await walk({ limit: '25', order }, by)
    expect(pages.map(({ data, has_more }) => [data.length, has_more])).toEqual([
      [25, true],
      [25, true],
      [10, false],
    ])
    expect(pages.flatMap(idsOf)).toEqual(expected)

    // The boundary after the second page, walked from backwards, in list order.
    const second = await page({ limit: '25', order, ending_before: pages[1]!.next_cursor! }, by)
    expect(idsOf(second)).toEqual(idsOf(pages[1]!))
    expect(second.has_more).toBe(true)
    const first = await page({ limit: '25', order, ending_before: second.next_cursor! }, by)
    expect(idsOf(first)).toEqual(idsOf(pages[0]!))
    expect([first.has_more, first.next_cursor]).toEqual([false, null])
    // And turned around again.
    const again = await page({ limit: '25', order, starting_after: second.next_cursor! }, by)
    expect(idsOf(again)).toEqual(idsOf(pages[1]!))
  })
})

test('the default is 25, newest first', async () => {
  expect(idsOf(await page({}))).toEqual(oldest.toReversed().slice(0, 25))
})

test('a full last page has no more', async () => {
  const pages = await walk({ limit: '20' })
  expect(pages.map(({ data, has_more }) => [data.length, has_more])).toEqual([
    [20, true],
    [20, true],
    [20, false],
  ])
})

test('a list without records is one empty page', async () => {
  expect(await page({ status: 'redeemed' })).toEqual({ data: [], has_more: false, next_cursor: null })
})

async function setArchived(id: string, archived: boolean): Promise<void> {
  const text = `UPDATE passes SET archived_at = CASE WHEN $2 THEN created END WHERE id = $1`
  await service.database.sandbox.query({ text }, [id, archived])
}

test('a walk through a list skips and repeats nothing when records come and go', async () => {
  const first = await page({ limit: '10' })
  service.clock.now += 1000
  const late = await issuePass(send, templateId)
  // The record at the boundary leaves the list.
  const last = idsOf(first).at(-1)!
  await setArchived(last, true)
  const second = await page({ limit: '10', starting_after: first.next_cursor! })
  expect(idsOf(second)).toEqual(oldest.toReversed().slice(10, 20))
  const back = await page({ limit: '100', ending_before: first.next_cursor! })
  expect(idsOf(back)).toEqual([late.id, ...oldest.toReversed().slice(0, 9)])
  await setArchived(last, false)
  await setArchived(late.id, true)
})

test('a cursor goes with other limits and other versions', async () => {
  const { next_cursor } = await page({ limit: '10' })
  const older = speak(service.urls.sandbox, { secret, version: '2025-06-01' })
  const next = await page({ limit: '3', starting_after: next_cursor! }, older)
  expect(idsOf(next)).toEqual(oldest.toReversed().slice(10, 13))
})

test('a cursor goes with the same filters in another spelling', async () => {
  const { next_cursor } = await page({ limit: '2', 'created[gte]': '2026-06-01' })
  const same = {
    limit: '2',
    'created[gte]': '2026-06-01T02:00:00+02:00',
    starting_after: next_cursor!,
    order: 'desc',
  }
  expect(idsOf(await page({ ...same, include_archived: 'false' }))).toEqual(oldest.toReversed().slice(2, 4))
})

describe('a cursor is refused', () => {
  const refused = async (query: Record<string, string>, by: Send = send) => {
    const { status, body } = await by(`/v1/passes?${new URLSearchParams(query)}`)
    return [status, body.error.type, body.error.code, body.error.param]
  }
  const want = (param: string) => [400, 'invalid_parameter', 'invalid_cursor', param]
  const made = async (query: Record<string, string> = {}) =>
    (await page({ limit: '5', ...query })).next_cursor!

  test('a cursor is refused with other filters', async () => {
    expect(await refused({ starting_after: await made(), status: 'issued' })).toEqual(want('starting_after'))
    expect(await refused({ ending_before: await made({ status: 'issued' }), status: 'revoked' })).toEqual(
      want('ending_before'),
    )
  })
  test('a cursor is refused with another order', async () => {
    expect(await refused({ starting_after: await made(), order: 'asc' })).toEqual(want('starting_after'))
  })
  test('a cursor is refused by another operation', async () => {
    const templates = await send(`/v1/pass_templates?starting_after=${await made()}`)
    expect([templates.status, templates.body.error.code]).toEqual([400, 'invalid_cursor'])
  })
  test('a cursor is refused for another tenant', async () => {
    const other = await makeKey(service, await makeTenant(service))
    const by = speak(service.urls.sandbox, { secret: other.secret, version: CURRENT })
    expect(await refused({ starting_after: await made() }, by)).toEqual(want('starting_after'))
  })
  test('a cursor is refused in the other environment', async () => {
    const tenantId = (await send('/v1/me')).body.tenant.id
    const live = await makeKey(service, tenantId, { environment: 'live' })
    const by = speak(service.urls.live, { secret: live.secret, version: CURRENT })
    expect(await refused({ starting_after: await made() }, by)).toEqual(want('starting_after'))
  })
  test('tampered with, cut or made up', async () => {
    const cursor = await made()
    const flipped = cursor.slice(0, 30) + (cursor[30] === 'A' ? 'B' : 'A') + cursor.slice(31)
    for (const text of [
      flipped,
      cursor.slice(0, -2),
      cursor.slice(0, 10),
      `${cursor}A`,
      'x',
      oldest[0]!,
      '',
      'ä b',
    ]) {
      expect([text, ...(await refused({ starting_after: text }))]).toEqual([text, ...want('starting_after')])
    }
  })
})

test('a request with both cursors at once is refused', async () => {
  const { next_cursor: cursor } = await page({ limit: '5' })
  const { status, body } = await send(`/v1/passes?starting_after=${cursor}&ending_before=${cursor}`)
  expect([status, body.error]).toMatchObject([
    400,
    { code: 'conflicting_parameters', param: 'ending_before' },
  ])
})

test.each([
  ['limit=1', 200, undefined, undefined],
  ['limit=100', 200, undefined, undefined],
  ['limit=0', 400, 'out_of_range', 'limit'],
  ['limit=101', 400, 'out_of_range', 'limit'],
  ['limit=-1', 400, 'out_of_range', 'limit'],
  ['limit=99999999999999999999', 400, 'out_of_range', 'limit'],
  ['limit=1e2', 400, 'invalid_format', 'limit'],
  ['limit=0x10', 400, 'invalid_format', 'limit'],
  ['limit=%205%20', 400, 'invalid_format', 'limit'],
  ['limit=+5', 400, 'invalid_format', 'limit'],
  ['limit=5.0', 400, 'invalid_format', 'limit'],
  ['limit=05', 400, 'invalid_format', 'limit'],
  ['limit=-0', 400, 'invalid_format', 'limit'],
  ['limit=', 400, 'invalid_format', 'limit'],
  ['limit', 400, 'invalid_format', 'limit'],
  ['limit=NaN', 400, 'invalid_format', 'limit'],
  ['limit=5&limit=5', 400, 'repeated_parameter', 'limit'],
  ['order=up', 400, 'invalid_format', 'order'],
  ['order=ASC', 400, 'invalid_format', 'order'],
  ['status=lost', 400, 'invalid_format', 'status'],
  ['status=issued&status=active', 400, 'repeated_parameter', 'status'],
  ['status[]=issued', 400, 'unknown_parameter', 'status[]'],
  ['template_id=tpl_1', 400, 'invalid_format', 'template_id'],
  ['include_archived=1', 400, 'invalid_format', 'include_archived'],
  ['include_archived=TRUE', 400, 'invalid_format', 'include_archived'],
  ['created[gte]=2026-06-01', 200, undefined, undefined],
  ['created%5Bgte%5D=2026-06-01T00:00:00.000Z', 200, undefined, undefined],
  ['created[gte]=2026-02-30', 400, 'invalid_format', 'created[gte]'],
  ['created[gte]=yesterday', 400, 'invalid_format', 'created[gte]'],
  ['created[gte]=2026-06-01T12:00', 400, 'invalid_format', 'created[gte]'],
  ['created[gte][x]=1', 400, 'unknown_parameter', 'created[gte][x]'],
  ['created=2026-06-01', 400, 'unknown_parameter', 'created'],
  ['created[eq]=2026-06-01', 400, 'unknown_parameter', 'created[eq]'],
  ['created_after=1e12', 400, 'invalid_format', 'created_after'],
  ['page=2', 400, 'unknown_parameter', 'page'],
  ['__proto__=1', 400, 'unknown_parameter', '__proto__'],
  ['constructor=1', 400, 'unknown_parameter', 'constructor'],
  ['status=%E4', 400, 'invalid_format', 'status'],
  ['status=%', 400, 'invalid_format', 'status'],
  ['status=iss%00ued', 400, 'invalid_format', 'status'],
  ['%ff=1', 400, 'invalid_format', '%ff'],
  ['&&limit=5&', 200, undefined, undefined],
])('GET /v1/passes takes or refuses the query ?%s', async (query, status, code, param) => {
  const answer = await send(`/v1/passes?${query}`)
  expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([status, code, param])
})

describe('filters by time', () => {
  const count = async (query: Record<string, string>) =>
    (await send(`/v1/passes/count?${new URLSearchParams(query)}`)).body.count
  const at = (seconds: number) => new Date(Date.parse('2026-06-01T12:00:00Z') + seconds * 1000).toISOString()

  // Three passes at each of the seconds 1 to 20.
  test.each([
    [{ created_after: at(19) }, 3],
    [{ 'created[gt]': at(19) }, 3],
    [{ 'created[gte]': at(19) }, 6],
    [{ 'created[lt]': at(2) }, 3],
    [{ 'created[lte]': at(2) }, 6],
    [{ 'created[gte]': at(5), 'created[lt]': at(7) }, 6],
    [{ created_after: at(5), 'created[gt]': at(18) }, 6],
    [{ created_after: '2026-06-01' }, 60],
    [{ created_after: '2026-06-02' }, 0],
    [{ 'created[lt]': '2026-06-02', 'created[gte]': '2026-06-01' }, 60],
    [{ 'created[gte]': '2026-06-01T12:00:19.0000001Z' }, 3],
    [{ 'created[gt]': '2026-06-01T12:00:18.9999999Z' }, 6],
    [{ 'created[lte]': '2026-06-01T12:00:01.9999999Z' }, 3],
    [{ 'created[lt]': '2026-06-01T12:00:01.0000001Z' }, 3],
  ])('a list filtered by the times %o has %i passes', async (query, want) => {
    expect(await count(query)).toBe(want)
  })

  test('count takes filters only', async () => {
    for (const name of ['limit', 'order', 'starting_after']) {
      const { status, body } = await send(`/v1/passes/count?${name}=1`)
      expect([status, body.error.code, body.error.param]).toEqual([400, 'unknown_parameter', name])
    }
  })
})

test('templates are listed with their filters', async () => {
  const other = await makeTemplate(send, { kind: 'coupon' })
  const ids = async (query: string) =>
    (await send(`/v1/pass_templates?${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await ids('')).toEqual([other, templateId])
  expect(await ids('order=asc')).toEqual([templateId, other])
  expect(await ids('kind=coupon')).toEqual([other])
  await send(`/v1/pass_templates/${other}/archive`, { method: 'POST' })
  expect(await ids('status=archived')).toEqual([other])
  expect(await ids('status=active&kind=loyalty')).toEqual([templateId])
})
