/** What a tenant or its customers may call things, on every page of the table of routes; and what each page says to browsers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listRoutes } from '../../runtime/console/dashboard/dashboard.ts'
import { findById } from '../../runtime/console/dashboard/search/places.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { make } from '../cards/fixtures.ts'
import { makeKey, speak } from '../support/service.ts'
import { Browser, hiddenFields, makeTenant, startDashboard, type TestDashboard } from './support/dashboard.ts'

const EVIL = `"'><svg onload=alert(1)>`

let dashboard: TestDashboard
let browser: Browser
/** By the first part of a page's address. */
const ids = new Map<string, string>()

beforeAll(async () => {
  dashboard = await startDashboard()
  const tenantId = await makeTenant(dashboard.service, 'enterprise')
  browser = new Browser(dashboard.origin, (await dashboard.signIn(tenantId, 'owner')).cookie)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  const send = speak(dashboard.service.urls.sandbox, { secret })
  const made = async (path: string, body: object) => {
    const item = await make(send, path, body)
    ids.set(findById(item.id)!.split('/')[0]!, item.id)
    return item.id as string
  }
  const template_id = await makeTemplate(send, { name: EVIL })
  ids.set('pass-templates', template_id)
  await made('/v1/passes', { template_id, holder: { name: EVIL } })
  const url = 'https://93.184.215.14/hooks'
  await made('/v1/webhook-endpoints', { url, enabled_events: ['*'], description: EVIL })
  const cardholder_id = await made('/v1/cardholders', { name: EVIL })
  await made('/v1/card_programs', { name: EVIL, kind: 'virtual' })
  const card_id = await made('/v1/cards', { cardholder_id, type: 'virtual' })
  const merchant = { name: EVIL, category_code: '5812', city: EVIL }
  const card_transaction_id = await made('/v1/test/cards/simulate_force_post', {
    card_id,
    amount: 1000,
    merchant,
  })
  await made('/v1/disputes', { card_transaction_id, reason: 'other', evidence: { explanation: EVIL } })
  ids.set('events', (await send('/v1/events')).body.data[0].id)
  ids.set('settlements', (await send('/v1/settlements')).body.data[0].id)
}, 60_000)

afterAll(() => dashboard?.stop())

/** Pages of the sandbox that show something: streams stay open. */
function pages(): string[] {
  return listRoutes(dashboard.watching)
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/sandbox') && !path.endsWith('/live'))
    .map(({ path }) =>
      path.replace(/(?<=\/sandbox\/([a-z-]+)\/):id/, (_whole, first) => ids.get(first) ?? 'x'),
    )
    .filter((path) => !path.includes(':'))
}

test('no name becomes markup on any page, and no page is framed, kept or runs what is not ours', async () => {
  const escaped: string[] = []
  for (const path of pages()) {
    const { status, text, headers } = await browser.get(path)
    expect([path, status < 500, text.includes('<svg onload')]).toEqual([path, true, false])
    if (text.includes('&lt;svg onload')) escaped.push(path)
    if (!headers.get('Content-Type')?.startsWith('text/html') || (status >= 300 && status < 400)) continue
    const policy = headers.get('Content-Security-Policy') ?? ''
    expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")])
    expect([path, policy.includes('unsafe')]).toEqual([path, false])
    expect([path, headers.get('X-Frame-Options')]).toEqual([path, 'DENY'])
  }
  expect(escaped).toEqual(
    expect.arrayContaining([
      '/sandbox/passes',
      '/sandbox/pass-templates',
      '/sandbox/cardholders',
      '/sandbox/card-programs',
      '/sandbox/card-transactions',
      '/sandbox/simulator/refund',
      `/sandbox/disputes/${ids.get('disputes')}`,
    ]),
  )
}, 120_000)

test.each([
  ['req_00000000000000000000000000', 'requests/req_00000000000000000000000000'],
  ['mem_00000000000000000000000000', 'members'],
])('the search leads from %s to a page', async (id, place) => {
  const { status, headers } = await browser.get(`/sandbox/search?q=${id}`)
  expect([status, headers.get('Location')]).toEqual([303, `/sandbox/${place}`])
})

test('a form that is good for one address is good for no other', async () => {
  const own = '/sandbox/cardholders/new'
  const fields = hiddenFields((await browser.get(own)).text, own)
  for (const { method, path } of listRoutes(dashboard.watching)) {
    const address = path.replaceAll(/:\w+/g, 'x')
    if (method !== 'POST' || address === own) continue
    expect([address, (await browser.post(address, fields)).status]).toEqual([address, 403])
  }
}, 60_000)
