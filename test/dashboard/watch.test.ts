/** What members watch on the dashboard: events as they happen and in other versions. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { addToTotals } from '../../runtime/account/totals/adding.ts'
import { totalsWorker } from '../../runtime/account/totals/job.ts'
import type { Exchange } from '../../runtime/api/exchange.ts'
import { createRequestLog, MAX_PER_FLUSH } from '../../runtime/api/request-log.ts'
import type { Versions } from '../../runtime/api/version-table.ts'
import { readOverview } from '../../runtime/dashboard/pages/home/overview.ts'
import { periodOf } from '../../runtime/dashboard/pages/home/period.ts'
import type { Database } from '../../runtime/database/database.ts'
import { sweep } from '../../runtime/process/cleanup-job.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { until } from '../support/programs.ts'
import { makeKey, type Send, START, speak } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import {
  Browser,
  makeTenant,
  readMessages,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'
import { readMarkup } from './support/markup.ts'

let dashboard: TestDashboard
let tenantId: string
let send: Send
let owner: Visitor
let browser: Browser

beforeAll(async () => {
  dashboard = await startDashboard({ watched: true })
  tenantId = await makeTenant(dashboard.service)
  owner = await dashboard.signIn(tenantId, 'owner')
  browser = new Browser(dashboard.origin, owner.cookie, owner)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
})

afterAll(() => dashboard?.stop())

/** Of a stream of the dashboard, until there are so many. */
const readOf = (path: string, count: number, cookie = owner.cookie) =>
  readMessages(dashboard.origin + path, count, cookie)

test('an event is shown in every version, and as it was sent', async () => {
  const card = await makeCard(send)
  const transaction = await make(send, '/v1/test/cards/simulate_authorization', {
    card_id: card.id,
    amount: 1250,
    merchant: { name: '<b>Till</b>', category_code: '5812' },
  })
  const { body } = await send('/v1/events')
  const event = body.data.find(({ data }: { data: object }) => 'card_transaction' in data)
  expect(event.data.card_transaction.id).toBe(transaction.id)
  const page = await browser.get(`/sandbox/events/${event.id}`)
  const shown = async (version: string) => {
    const path = `/sandbox/events/${event.id}/in/${version}`
    if (version !== current) expect(page.text).toContain(`href="${path}"`)
    const { status, text } = await browser.get(path)
    expect([version, status]).toEqual([version, 200])
    expect(text).not.toContain('<b>Till')
    const [, payload] = /<h2>In [^<]*<\/h2>\s*(<pre.*?<\/pre>)/s.exec(text) ?? []
    return payload && JSON.parse(readMarkup(payload).text)
  }
  const [oldest, older, second] = versions.map(({ name }) => name)
  expect((await shown(current)).data.card_transaction.merchant.category_code).toBe('5812')
  expect((await shown(second!)).id).toBe(event.id)
  expect((await shown(older!)).data.card_transaction.merchant.category_code).toBe('restaurants')
  expect(await shown(oldest!)).toBeUndefined()
  const other = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
  const stranger = new Browser(dashboard.origin, other.cookie)
  expect((await stranger.get(`/sandbox/events/${event.id}/in/${older}`)).status).toBe(404)
})

test('an event of change that was sent in an old version says in the newest what was before', async () => {
  const own = await makeTenant(dashboard.service, 'enterprise', '2025-11-01')
  const member = await dashboard.signIn(own, 'owner')
  const { secret } = await makeKey(dashboard.service, own, { scope: 'admin' })
  const speaking = speak(dashboard.service.urls.sandbox, { secret, version: current })
  const template_id = await makeTemplate(speaking)
  const pass = await make(speaking, '/v1/passes', { template_id, holder: { name: 'Ada' } })
  await speaking(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { holder: { name: 'Grace' } } })
  const { body } = await speaking('/v1/events?type=pass.updated')
  expect(body.data[0].previous_attributes).toBeUndefined()
  const path = `/sandbox/events/${body.data[0].id}/in/${current}`
  const { text } = await new Browser(dashboard.origin, member.cookie).get(path)
  expect(readMarkup(text).text).toMatch(/"previous_attributes": \{\s+"holder": \{\s+"name": "Ada/)
  expect(text).toMatch(/<mark><span class="key">&quot;previous_attributes/)
  expect(text).toContain(`<a href="/sandbox/passes/${pass.id}">`)
})

test('an audit entry shows what the action changed, to its own tenant', async () => {
  const template_id = await makeTemplate(send)
  const pass = await make(send, '/v1/passes', { template_id, holder: { name: 'Ada' } })
  dashboard.service.clock.now += 1000
  await send(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { holder: { name: '<i>Grace</i>' } } })
  const { data } = (await send('/v1/audit_log?limit=100')).body
  const idOf = (wanted: string) => data.find(({ action }: { action: string }) => action === wanted)?.id
  const path = `/sandbox/audit-log/${idOf('pass.updated')}`
  const { text } = await browser.get(path)
  const [, table = ''] = /aria-label="Changes">([\s\S]*?)<\/table>/.exec(text) ?? []
  const cells = [...table.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => readMarkup(cell).text)
  expect(cells).toEqual(['holder.name', '"Ada"', '"<i>Grace</i>"'])
  expect(text).toContain(`<a href="/sandbox/passes/${pass.id}">`)
  expect(text).toMatch(/<a href="\/sandbox\/events\/evt_\w+">pass.updated<\/a>/)
  const issued = await browser.get(`/sandbox/audit-log/${idOf('pass.created')}`)
  expect([issued.status, issued.text.includes('aria-label="Changes"')]).toEqual([200, false])
  const other = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
  const stranger = new Browser(dashboard.origin, other.cookie)
  expect((await stranger.get(path)).status).toBe(404)
  expect((await browser.get('/sandbox/audit-log/aud_x')).status).toBe(404)
})

test('a webhook endpoint shows how it answered, by hour or by day, with the last 30 days in its figures', async () => {
  const endpoint = { url: 'https://93.184.216.34/', enabled_events: ['pass.scanned'] }
  const { id } = await make(send, '/v1/webhook-endpoints', endpoint)
  const { now } = dashboard.service.clock
  const attempt = (hoursAgo: number, status: string, duration: number | null) => {
    const text = `INSERT INTO sandbox.webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, duration_ms,
                    scheduled_at, attempted_at, created, updated)
                  SELECT $1, $2, $3, 'evt_1', 1, $4, 'schedule', $5, t, t, t, t FROM (SELECT $6::timestamptz AS t) AS at`
    const values = [
      tenantId,
      `wdla_${crypto.randomUUID()}`,
      id,
      status,
      duration,
      new Date(now - hoursAgo * 3_600_000),
    ]
    return dashboard.service.database.control.query({ text }, values)
  }
  const read = async () => readMarkup((await browser.get(`/sandbox/webhook-endpoints/${id}`)).text).text
  expect(await read()).not.toContain('Latency (p95)')
  await attempt(1, 'succeeded', 10)
  await attempt(1, 'succeeded', 20)
  await attempt(2, 'succeeded', 400)
  await attempt(2, 'failed', null)
  await attempt(31 * 24, 'failed', 9000)
  const hours = await read()
  for (const shown of ['75 %', '3 of 4 attempts', 'Attempts by hour (UTC)', 'Attempts of the last 30 days'])
    expect(hours).toContain(shown)
  expect(hours).toContain('11:00\nSucceeded: 2\nFailed: 0')
  expect(hours).toContain('10:00\nSucceeded: 1\nFailed: 1')
  expect(hours).toContain('11:00\np95: 20 ms')
  expect(hours).toMatch(/Latency \(p50\)\s*20 ms[\s\S]*Latency \(p95\)\s*400 ms/)
  await attempt(5 * 24, 'succeeded', 1000)
  const days = await read()
  for (const shown of [
    '80 %',
    '4 of 5 attempts',
    'May 27\nSucceeded: 1\nFailed: 0',
    'Jun 1\nSucceeded: 3\nFailed: 1',
  ])
    expect(days).toContain(shown)
})

test('events appear as they happen, after what the page showed, and of the type that is looked for', async () => {
  const template_id = await makeTemplate(send)
  await make(send, '/v1/passes', { template_id, holder: { name: '<i>Ada</i>' } })
  const { body } = await send('/v1/events?type=pass.created')
  const list = await browser.get('/sandbox/events?type=pass.created')
  const address = /data-rows="([^"]+)"/.exec(list.text)![1]!.replaceAll('&amp;', '&')
  expect(address).toBe(`/sandbox/events/live?type=pass.created&after=${body.data[0].id}`)
  const reading = readOf(address, 2)
  await make(send, '/v1/passes', { template_id })
  await makeTemplate(send)
  await make(send, '/v1/passes', { template_id })
  const messages = await reading
  const later = await send('/v1/events?type=pass.created&limit=2')
  expect(messages.map((each) => /^id: (\S+)$/m.exec(each)![1])).toEqual(
    later.body.data.map(({ id }: { id: string }) => id).toReversed(),
  )
  for (const each of messages) expect(each).toMatch(/data: <tr role="row" data-id="evt_\w+" .*<\/tr>/)
})

test('rows of other lists appear and change after events, and are marked if they no longer match', async () => {
  const template_id = await makeTemplate(send)
  const first = await make(send, '/v1/passes', { template_id, holder: { name: 'Ada' } })
  const list = await browser.get(`/sandbox/passes?status=issued&template_id=${template_id}&period=7d`)
  expect(list.text).toContain(`<tr role="row" data-id="${first.id}"`)
  const address = /data-rows="([^"]+)"/.exec(list.text)![1]!.replaceAll('&amp;', '&')
  const reading = readOf(address, 2)
  const second = await make(send, '/v1/passes', { template_id, holder: { name: '<i>Grace</i>' } })
  await makeCard(send)
  await send(`/v1/passes/${first.id}/revoke`, { body: {} })
  const messages = (await reading).join('\n')
  expect(messages).toContain(`data: <tr role="row" data-id="${second.id}"`)
  expect(messages).toContain('&lt;i&gt;Grace')
  expect(messages).toContain(`event: unmatched\ndata: ${first.id}`)
  expect(messages).not.toContain('card_')
})

test('the audit log and card programs change as entries are written', async () => {
  const program = await make(send, '/v1/card_programs', { name: 'Travel', kind: 'virtual' })
  const addressOf = async (path: string) =>
    /data-rows="([^"]+)"/.exec((await browser.get(path)).text)![1]!.replaceAll('&amp;', '&')
  const [log, programs] = [
    await addressOf('/sandbox/audit-log?action=card_program.updated'),
    await addressOf('/sandbox/card-programs'),
  ]
  const reading = Promise.all([readOf(log, 2), readOf(programs, 1)])
  // Its entry does not match the filter.
  await makeTemplate(send)
  await send(`/v1/card_programs/${program.id}`, { method: 'PATCH', body: { name: 'Fuel <b>' } })
  const [entries, rows] = await reading
  const { data } = (await send('/v1/audit_log?action=card_program.updated')).body
  expect(entries.join('\n\n')).toContain(`id: ${data[0].id}\ndata: <tr role="row" data-id="${data[0].id}"`)
  expect(rows[0]).toContain(`data: <tr role="row" data-id="${program.id}"`)
  expect(rows[0]).toContain('Fuel &lt;b&gt;')
})

test('a tail is for those who have signed in, and shows nothing of another tenant', async () => {
  const other = await dashboard.signIn(await makeTenant(dashboard.service), 'viewer')
  const own = speak(dashboard.service.urls.sandbox, {
    secret: (await makeKey(dashboard.service, other.tenantId, { scope: 'admin' })).secret,
  })
  await makeTemplate(own)
  const [before] = (await own('/v1/events')).body.data
  const reading = readOf(`/sandbox/events/live?after=${before.id}`, 1, other.cookie)
  await makeTemplate(send)
  await makeTemplate(own)
  expect((await reading)[0]).toContain((await own('/v1/events')).body.data[0].id)
  const refused = await fetch(`${dashboard.origin}/sandbox/events/live`, {
    headers: { Accept: 'text/event-stream' },
    redirect: 'manual',
  })
  expect(refused.status).toBe(303)
})

describe('home', () => {
  const run = (step?: number) => totalsWorker({ ...dashboard.service, log: strictLog }, step).runOnce()

  const totalsOf = async (of: string) => {
    const text = `SELECT day, kind, label, count, amount FROM sandbox.daily_totals WHERE tenant_id = $1 ORDER BY 1, 2, 3`
    return (await dashboard.service.database.control.query({ text }, [of])).rows
  }

  /** A tenant with two days of passes and card use. */
  async function makeUsed(version = current) {
    const { service } = dashboard
    const own = await makeTenant(service, 'enterprise', version)
    const { secret } = await makeKey(service, own, { scope: 'admin' })
    const speaking = speak(service.urls.sandbox, { secret, version: current })
    const template_id = await makeTemplate(speaking)
    const card = await makeCard(speaking)
    const buy = (amount: number, category_code = '5812') =>
      make(speaking, '/v1/test/cards/simulate_authorization', {
        card_id: card.id,
        amount,
        merchant: { name: 'Till', category_code },
      })
    const act = async (path: string, body: object) => {
      const answer = await speaking(`/v1/test/${path}`, { body })
      expect([path, answer.status]).toEqual([path, 200])
      return answer.body
    }
    const clear = ({ id }: { readonly id: string }) =>
      act('cards/simulate_clearing', { card_transaction_id: id })
    await buy(100)
    await act('funding', { amount: 10_000 })
    await clear(await buy(1250))
    const pass = await make(speaking, '/v1/passes', { template_id })
    service.clock.now += 86_400_000
    const bought = await clear(await buy(2000, '5411'))
    await act('cards/simulate_refund', { card_transaction_id: bought.id, amount: 500 })
    await act('passes/simulate_install', { pass_id: pass.id, platform: 'apple' })
    service.clock.now -= 86_400_000
    return { own, speaking, buy }
  }

  test('totals of each day count everything once, in steps, by two workers, and after one that dies', async () => {
    const { own } = await makeUsed()
    const dying = dashboard.service.database.sandbox.transaction(async (tx) => {
      await addToTotals(tx, own, 3, Date.now())
      throw new Error('killed')
    })
    await expect(dying).rejects.toThrow('killed')
    expect(await totalsOf(own)).toEqual([])
    await Promise.all([run(4), run(4)])
    const [first, second] = [START, START + 86_400_000].map((at) => new Date(at).toISOString().slice(0, 10))
    const total = (day: string | undefined, kind: string, label: string, count: number, amount: number) => ({
      ...{ day, kind, label, count, amount },
    })
    const wanted = [
      total(first, 'balance', '', 0, 8750),
      total(first, 'card.transaction.authorized', '', 1, 0),
      total(first, 'card.transaction.declined', 'insufficient_funds', 1, 0),
      total(first, 'card_spending', '5812', 1, 1250),
      total(first, 'pass.created', '', 1, 0),
      total(second, 'balance', '', 0, 7250),
      total(second, 'card.transaction.authorized', '', 1, 0),
      total(second, 'card_refunds', '5411', 1, 500),
      total(second, 'card_spending', '5411', 1, 2000),
      total(second, 'pass.installed', '', 1, 0),
    ]
    expect(await totalsOf(own)).toEqual(wanted)
    await run()
    expect(await totalsOf(own)).toEqual(wanted)
  })

  test('the balance before a period does not need totals that have been deleted', async () => {
    const { own } = await makeUsed()
    await run()
    const { control, sandbox } = dashboard.service.database
    await control.query({ text: 'DELETE FROM sandbox.daily_totals WHERE tenant_id = $1' }, [own])
    const openings = [6, 7, 8, 500].map(async (days) => {
      const period = periodOf(7, START + days * 86_400_000)
      return (await readOverview(sandbox, own, period)).opening
    })
    expect(await Promise.all(openings)).toEqual([0, 8750, 7250, 7250])
  })

  test('a tenant whose events cannot be counted does not delay the totals of others', async () => {
    const { control } = dashboard.service.database
    const broken = await makeTenant(dashboard.service)
    const own = await makeTenant(dashboard.service)
    for (const [of, body] of [
      [broken, 'not JSON'],
      [own, '{}'],
    ]) {
      await control.query({ text: 'INSERT INTO sandbox.event_heads VALUES ($1, 1)' }, [of])
      const text = `INSERT INTO sandbox.events (tenant_id, id, sequence, type, version, body, created)
                    VALUES ($1, 'evt_1', 1, 'card.transaction.declined', '2026-05-19', $2, now())`
      await control.query({ text }, [of, body])
    }
    await totalsWorker({ ...dashboard.service, log: pino({ level: 'silent' }) }).runOnce()
    expect([await totalsOf(broken), await totalsOf(own)]).toMatchObject([[], [{ count: 1 }]])
  })

  test('shows figures, open tasks and the guide, and sends them again when the totals have changed', async () => {
    const { own, speaking, buy } = await makeUsed('2025-11-01')
    const member = await dashboard.signIn(own, 'owner')
    const page = new Browser(dashboard.origin, member.cookie)
    const [transaction] = (await speaking('/v1/card_transactions?category_code=5812&status=cleared')).body
      .data
    await make(speaking, '/v1/disputes', { card_transaction_id: transaction.id, reason: 'fraudulent' })
    await run()
    dashboard.service.clock.now += 86_400_000
    const { text } = await page.get('/sandbox?days=7')
    dashboard.service.clock.now -= 86_400_000
    for (const shown of ['72.50 USD', '32.50 USD', '5.00 USD refunded', '2 approved, 1 declined', '67%'])
      expect(text).toContain(shown)
    expect(text).toMatch(/Insufficient funds<\/a><\/span><span class="number">1 \(100%\)/)
    expect(text).toMatch(/disputes\?status=unsubmitted">Submit 1 dispute<\/a>/)
    expect(text).toContain('Upgrade API version 2025-11-01')
    expect(text).toContain('6 of 8 steps done')
    expect(text).toContain('<title>Jun 1\nCard spend: 12.50 USD</title>')
    const other = await dashboard.signIn(await makeTenant(dashboard.service), 'viewer')
    const stranger = await new Browser(dashboard.origin, other.cookie).get('/sandbox')
    expect(stranger.text).toContain('0 of 8 steps done')
    expect(stranger.text).not.toContain('72.50 USD')

    const address = /data-live="([^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&')
    const reading = readOf(address, 1, member.cookie)
    await buy(300)
    await run()
    const data = /^data: (.*)$/m.exec((await reading)[0]!)![1]!
    expect(JSON.parse(data)['1']).toContain('2 approved, 1 declined')
  })
})

describe('requests', () => {
  const REQUESTS = '/sandbox/requests'

  test('a request is found by id, path, status, key and time, with its bodies as they were sent', async () => {
    const { id, secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
    const old = speak(dashboard.service.urls.sandbox, { secret, version: '2025-11-01' })
    await old('/v1/card_programs', {
      body: { name: 'Old', kind: 'both', spending_controls: { allowed_categories: ['5812'] } },
    })
    const missing = await old('/v1/passes/pass_00000000000000000000000000?x=<i>')
    await dashboard.service.flush()
    const requestId = missing.headers.get('Request-Id')!
    for (const query of [
      `key=${id}`,
      'status=4xx',
      'path=%2Fv1%2Fpasses%2Fpass_00000000000000000000000000',
    ]) {
      const { text } = await browser.get(`${REQUESTS}?${query}`)
      expect([query, text.includes(`${REQUESTS}/${requestId}`)]).toEqual([query, true])
    }
    const found = await browser.get(`${REQUESTS}?id=${requestId}`)
    expect(found.location).toBe(`${REQUESTS}/${requestId}`)
    const shown = await browser.get(found.location!)
    expect(shown.text).toContain('?x=%3Ci%3E')
    const list = await browser.get(`${REQUESTS}?key=${id}`)
    const made = /requests\/(req_\w+)">POST/.exec(list.text)![1]!
    const { text } = await browser.get(`${REQUESTS}/${made}`)
    expect(text).toContain('allowed_categories')
    expect(text).not.toContain('blocked_categories')
    expect((await browser.get(`${REQUESTS}?to=2026-01-01`)).text).toContain('No requests match')
    expect((await browser.get(`${REQUESTS}?to=yesterday`)).status).toBe(422)
    const other = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    const stranger = new Browser(dashboard.origin, other.cookie)
    expect((await stranger.get(`${REQUESTS}/${requestId}`)).status).toBe(404)
    expect((await stranger.get(REQUESTS)).text).toContain('No requests yet')

    const ERRORS = '/docs/account/errors'
    expect(shown.text).toContain(`href="/docs/errors?request=${requestId}#unknown_parameter"`)
    const part = await browser.get(`${ERRORS}?request=${requestId}`)
    expect(part.headers.get('Cache-Control')).toBe('private, no-store')
    expect(part.text).toContain(
      '<section class="own asked" data-after="unknown_parameter"><h3>Your request</h3>',
    )
    expect(part.text).toContain('?x=%3Ci%3E')
    expect(part.text).toContain(`href="${REQUESTS}/${requestId}"`)
    expect((await browser.get(`${ERRORS}?request=${made}`)).text).toContain('&quot;allowed_categories&quot;')
    expect((await browser.get(`${ERRORS}?code=unknown_parameter`)).text).toContain(`?request=${requestId}`)
    expect((await browser.get(`${ERRORS}?request=%00`)).status).toBe(404)
    const unseen = await stranger.get(`${ERRORS}?request=${requestId}`)
    expect([unseen.status, unseen.text]).toEqual([404, expect.stringContaining('no logged request')])
    expect((await stranger.get(`${ERRORS}?code=unknown_parameter`)).text).not.toContain('req_0')
  })

  test('path, status, key and time narrow it together, however common each is, page after page', async () => {
    const own = await makeTenant(dashboard.service)
    const page = new Browser(dashboard.origin, (await dashboard.signIn(own, 'owner')).cookie)
    const at = START - 86_400_000
    // Of 12,000, one a second: every second of one path and by one key, every fourth refused, every thousandth by a rare key.
    const text = `INSERT INTO sandbox.request_log (tenant_id, id, created, written, method, target, path, version, status, key_id, address, ms)
      SELECT $1, 'req_' || lpad(n::text, 26, '0'), to_timestamp($2::float8 / 1000 + n), now(), 'GET', '/v1/' || n % 2, '/v1/' || n % 2,
             '2026-05-19', CASE n % 4 WHEN 0 THEN '404' ELSE '200' END, CASE WHEN n % 1000 = 0 THEN 'key_rare' WHEN n % 2 = 0 THEN 'key_common' ELSE 'key_other' END, '::1', 1
        FROM generate_series(1, 12000) n`
    await dashboard.service.database.control.query({ text }, [own, at])
    const find = async (query: string) => {
      const { status, text: shown } = await page.get(`${REQUESTS}?${query}`)
      expect([query, status]).toEqual([query, 200])
      const next = /rel="next" href="\?([^"]+)"/.exec(shown)?.[1]?.replaceAll('&amp;', '&')
      return { rows: [...shown.matchAll(/requests\/req_0*(\d+)"/g)].map(([, n]) => Number(n)), next, shown }
    }
    const all = async (query: string) => {
      const found: number[] = []
      let pages = 0
      for (let next: string | undefined = query; next !== undefined; pages += 1) {
        const part: Awaited<ReturnType<typeof find>> = await find(next)
        found.push(...part.rows)
        next = part.next
      }
      return { found, pages }
    }
    const time = (n: number) => new Date(at + n * 1000).toISOString()
    expect((await find('path=/v1/0&status=404&key=key_common')).rows.slice(0, 3)).toEqual([
      11_996, 11_992, 11_988,
    ])
    expect((await find('path=/v1/0&status=404&key=key_rare')).rows).toEqual([
      12_000, 11_000, 10_000, 9000, 8000, 7000, 6000, 5000, 4000, 3000, 2000, 1000,
    ])
    const between = `path=/v1/0&status=4xx&key=key_rare&from=${time(3000)}&to=${time(6000)}`
    expect((await find(between)).rows).toEqual([5000, 4000, 3000])
    // Nothing is of both: it says how far it has looked, and goes on until it has looked through all.
    const none = await find('path=/v1/1&key=key_common')
    expect([none.rows, none.shown]).toEqual([
      [],
      expect.stringContaining('This page searched 5,000 requests'),
    ])
    expect(await all('path=/v1/1&key=key_common')).toEqual({ found: [], pages: 2 })
    expect(await all('path=/v1/1&key=key_rare')).toEqual({ found: [], pages: 1 })
    const { found } = await all('path=/v1/0&status=200')
    expect(found).toEqual(Array.from({ length: 3000 }, (_, index) => 11_998 - 4 * index))
  }, 60_000)

  test('no secret of an answer or a body is kept', async () => {
    const made = await make(send, '/v1/webhook-endpoints', {
      url: 'https://93.184.215.14/secret',
      enabled_events: ['*'],
    })
    expect(made.secret).toMatch(/^whsec_/)
    await dashboard.service.flush()
    const kept = await dashboard.service.database.control.query<{ text: string }>(
      {
        text: 'SELECT request_body || response_body AS text FROM sandbox.request_log WHERE operation = $1',
      },
      ['createWebhookEndpoint'],
    )
    expect(kept.rows[0]!.text).toContain('"secret":"[redacted]"')
    expect(kept.rows.filter(({ text }) => text.includes('whsec_'))).toEqual([])
  })

  test('requests appear on the page as they are made, and pages continue', async () => {
    for (let count = 0; count < 26; count += 1) await send('/v1/me')
    await dashboard.service.flush()
    const first = await browser.get(`${REQUESTS}?path=/v1/me`)
    const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
    expect((await browser.get(REQUESTS + next)).text).toContain('First page')
    const address = /data-rows="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
    const reading = readOf(address, 1)
    const { headers } = await send('/v1/me')
    expect((await reading)[0]).toContain(headers.get('Request-Id'))
  })

  /** A log of its own that writes when it is stopped, and what notes in it. */
  function openLog(parts: { readonly maxWaitingBytes?: number; readonly database?: Database } = {}) {
    const versions = { all: [] } as unknown as Versions
    const log = pino({ level: 'silent' })
    const database = dashboard.service.database.sandbox
    const requests = createRequestLog({ database, versions, now: Date.now, log, flushMs: 2 ** 30, ...parts })
    const note = (space: string, index: number, length = 0) =>
      requests.note(
        {
          credential: { space, tenant: { id: space }, key: { id: 'key' } },
          request: { method: 'POST', headers: { 'content-length': String(length) } },
          answerVersion: { name: current },
          requestId: `req_${space}_${index}`,
          beganAt: 0,
          now: Date.now(),
          path: '/',
          search: '',
          address: '::1',
          body: length === 0 ? undefined : { note: 'x'.repeat(length) },
        } as unknown as Exchange,
        200,
        undefined,
      )
    return { requests, note }
  }

  const count = async (space: string) =>
    (
      await dashboard.service.database.control.query<{ count: number }>(
        { text: 'SELECT count(*)::int AS count FROM sandbox.request_log WHERE tenant_id = $1' },
        [space],
      )
    ).rows[0]!.count

  test('requests that wait to be written are bounded in bytes, and those left out are counted', async () => {
    const { requests, note } = openLog({ maxWaitingBytes: 1_000_000 })
    for (let index = 0; index < 50; index += 1) note(`ten_wide_${index}`, 0, 50_000)
    expect(requests.waitingBytes()).toBeLessThanOrEqual(1_000_000)
    expect([...requests.dropped]).toEqual([['full', 46]])
    await requests.flush()
    expect([requests.waitingBytes(), await count('ten_wide_3'), await count('ten_wide_4')]).toEqual([0, 1, 0])
    note('ten_wide_4', 0, 50_000)
    await requests.stop()
    expect(await count('ten_wide_4')).toBe(1)
  })

  test('requests that wait while the database is away are counted, and written when it is back', async () => {
    const { sandbox } = dashboard.service.database
    let isAway = true
    const away: Database = {
      query: (...asked) =>
        isAway
          ? Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }))
          : sandbox.query(...asked),
    }
    const { requests, note } = openLog({ maxWaitingBytes: 1_000_000, database: away })
    for (let index = 0; index < 3; index += 1) note('ten_away', index, 50_000)
    const waiting = requests.waitingBytes()
    await expect(requests.flush()).rejects.toThrow('gone')
    expect(requests.waitingBytes()).toBe(waiting)
    note('ten_away', 3, 50_000)
    note('ten_away', 4, 50_000)
    expect([...requests.dropped]).toEqual([['full', 1]])
    isAway = false
    await requests.stop()
    expect([requests.waitingBytes(), await count('ten_away')]).toEqual([0, 4])
  })

  test('requests that are left out are in the metrics', async () => {
    const server = express().use(dashboard.service.observability!.pages).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const leftOut = async () => {
      await Promise.all(Array.from({ length: MAX_PER_FLUSH + 50 }, () => send('/v1/me')))
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      expect(text).toMatch(/^svc_request_log_waiting_bytes\{environment="live"\} 0$/m)
      return /^svc_request_log_dropped_total\{environment="sandbox",reason="tenant"\} [1-9]/m.test(text)
    }
    await until('more requests between two flushes than are kept', leftOut)
    server.close()
  })

  test('one tenant does not fill the log, and what is old is swept', async () => {
    const { requests, note } = openLog()
    for (let index = 0; index < MAX_PER_FLUSH + 20; index += 1) note('ten_loud', index)
    note('ten_quiet', 0)
    await requests.stop()
    expect([...requests.dropped]).toEqual([['tenant', 20]])
    expect([await count('ten_loud'), await count('ten_quiet')]).toEqual([MAX_PER_FLUSH, 1])
    const machine = () => Date.now() + 7 * 86_400_000
    await sweep(dashboard.service.database, { ...dashboard.service.clock, machine })
    expect(await count('ten_loud')).toBe(0)
  })
})

test('the last hours are drawn, with their numbers in a table, and are of one tenant', async () => {
  const own = await makeTenant(dashboard.service)
  const visitor = await dashboard.signIn(own, 'viewer')
  const page = new Browser(dashboard.origin, visitor.cookie)
  expect((await page.get('/sandbox/usage')).text).toContain(
    'No requests or webhook deliveries in the last 24 hours.',
  )
  const { secret } = await makeKey(dashboard.service, own, { scope: 'admin' })
  const ask = speak(dashboard.service.urls.sandbox, { secret })
  for (const path of ['/v1/me', '/v1/me', '/v1/passes/pass_00000000000000000000000000']) await ask(path)
  await dashboard.service.flush()
  const { text } = await page.get('/sandbox/usage')
  const [, row = ''] = /aria-label="Totals by hour"[\s\S]*?<tbody>\s*([\s\S]*?)<\/tbody>/.exec(text) ?? []
  const cells = [...row.matchAll(/<div>([^<]*)<\/div>/g)].map(([, cell]) => cell)
  expect(cells).toEqual(['12:00', '2', '1', '0', expect.stringMatching(/^\d+$/), '0', '0'])
  // Two bars of one hour, stacked, and one of its time.
  const bars = [
    ...text.matchAll(
      /<rect class="(?!room)(\w+)" x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g,
    ),
  ]
  expect(bars.map(([, kind]) => kind)).toEqual(['plain', 'warn', 'plain'])
  const [done, refused] = bars.map(([, , x, y, height]) => ({ x, y: Number(y), height: Number(height) }))
  expect(refused!.x).toBe(done!.x)
  expect(refused!.y + refused!.height).toBeCloseTo(done!.y, 0)
  expect(done!.height / refused!.height).toBeCloseTo(2, 1)
  expect(text).not.toContain('NaN')
})
