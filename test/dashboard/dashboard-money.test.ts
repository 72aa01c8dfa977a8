/** Cardholders, programs, destinations and everything that the simulator can, by the forms of the dashboard, over real money. */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as functions from '../../generated/client/src/2026-05-19/functions.ts'
import { current, versions } from '../../generated/versions.ts'
import { RESOURCES } from '../../runtime/dashboard/pages/resources/resources.ts'
import { HELPERS } from '../../runtime/dashboard/pages/simulator/forms.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { reportWorker } from '../../runtime/money/reports/job.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { make, makeCard as makeIssued, SHIPPING } from '../cards/fixtures.ts'
import { findNumbers } from '../cards/number-search.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'
import { readMarkup } from './support/markup.ts'

let dashboard: TestDashboard
let tenantId: string
let send: Send
let developer: Visitor
let browser: Browser
const logged: string[] = []

beforeAll(async () => {
  dashboard = await startDashboard({
    env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' },
    // Without the redaction of the process log, so that a number that is logged is found.
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
  })
  tenantId = await makeTenant(dashboard.service, 'enterprise')
  await verifyTenant(dashboard.service.operator, tenantId)
  developer = await dashboard.signIn(tenantId, 'developer')
  browser = new Browser(dashboard.origin, developer.cookie, developer)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
})

afterAll(() => dashboard?.stop())

type Typed = Readonly<Record<string, string>>

/** Fills in a form and gives the path that it leads to, which is a page. */
async function fill(path: string, typed: Typed = {}): Promise<string> {
  const address = `/sandbox/${path}`
  const answer = await browser.submit(address, address, typed)
  expect([path, answer.status, answer.text.match(/class="fault"[^<]*<?/g)]).toEqual([path, 303, null])
  const { status } = await browser.get(answer.location!)
  expect([answer.location, status]).toEqual([answer.location, 200])
  return answer.location!
}

function reporting() {
  const { database, clock, urls, wakeUps } = dashboard.service
  const now = () => clock.now
  return {
    database,
    clock: { machine: now, service: now },
    wakeUpChannel: { publish: wakeUps.notify },
    log: strictLog,
    links: openReportLinks(database.pepper, urls),
  }
}

const idOf = (path: string) => path.split('/').at(-1)!
const simulate = (name: string, typed?: Typed) => fill(`simulator/${name}`, typed)
const page = async (path: string) => (await browser.get(path)).text

/** The entries of a timeline, without their times. */
function stepsIn(text: string, title: string): string[] {
  const [, list = ''] =
    new RegExp(`<h2>${title}</h2>\\s*<ol class="timeline">(.*?)</ol>`, 's').exec(text) ?? []
  const steps = list.split('<li').slice(1)
  return steps.map((step) => textOf(`<li${step.replaceAll(/<time.*?<\/time>/g, '')}`))
}

/** The text of a page or a part of it, with a space between elements. */
const textOf = (text: string) => readMarkup(text.replaceAll('<', ' <')).text.replaceAll(/\s+/g, ' ').trim()

const AUTHORIZE = '/v1/test/cards/simulate_authorization'
const MERCHANT = { 'merchant.name': 'Harbor Grocer', 'merchant.category_code': '5411' }

async function makeCard(typed: Typed = {}): Promise<string> {
  const holder = await fill('cardholders/new', { type: 'individual', name: 'Ada Moreau' })
  return idOf(await fill('cards/new', { cardholder_id: idOf(holder), type: 'virtual', ...typed }))
}

test('every test helper of the API has a form', () => {
  const { operations } = versions.find(({ name }) => name === current)!
  const helpers = operations
    .filter(({ path, method }) => path.startsWith('/v1/test/') && method !== 'GET')
    .map(({ id }) => id)
  const forms = HELPERS.flatMap((group) => group.helpers.map(({ operation }) => operation))
  expect(forms.toSorted()).toEqual(helpers.toSorted())
})

test('a cardholder is added, changed, switched off and on, and judged', async () => {
  const path = await fill('cardholders/new', {
    type: 'individual',
    name: 'Ada Moreau',
    email: 'ada@example.com',
    'billing_address.line1': '500 Harbor Street',
    'billing_address.city': 'Oakland',
    'billing_address.us_state': 'CA',
    'billing_address.postal_code': '94607',
    'billing_address.country': 'US',
  })
  const below = path.replace('/sandbox/', '')
  const form = await page(`${path}/change`)
  expect(form).toContain('value="500 Harbor Street"')
  await fill(`${below}/change`, { name: 'Ada M. Moreau' })
  const changed = await page(path)
  expect(changed).toContain('<h1>Ada M. Moreau</h1>')
  expect(changed).toMatch(/<dt>Email<\/dt><dd>–/)
  await fill(`${below}/deactivate`)
  expect(await page(path)).toContain('Activate cardholder')
  expect((await browser.submit(path, `${path}/activate`)).location).toBe(path)
  const alert = await simulate('sanctions-match', { cardholder_id: idOf(path), score: '0.97' })
  expect(await page(alert)).toContain('97%')
  await fill(`${alert.replace('/sandbox/', '')}/resolve`, {
    resolution: 'false_positive',
    note: 'Another date of birth.',
  })
  expect(await page(alert)).toContain('Another date of birth.')
})

test('a fault of an address or a limit is shown beside its field', async () => {
  const holder = await browser.submit('/sandbox/cardholders/new', '/sandbox/cardholders/new', {
    type: 'individual',
    name: 'Ada Moreau',
    'billing_address.line1': '500 Harbor Street',
    'billing_address.city': 'Oakland',
    'billing_address.postal_code': '94607',
    'billing_address.country': '',
  })
  expect([holder.status, holder.text]).toEqual([
    422,
    expect.stringContaining('id="billing_address.country-fault">Choose the country.'),
  ])
  expect(holder.text).toMatch(/<select id="billing_address.country"[^>]* autofocus/)
  expect(holder.text).toContain('<a href="#billing_address.country">Choose the country.</a>')
  const program = await browser.submit('/sandbox/card-programs/new', '/sandbox/card-programs/new', {
    name: 'Crew',
    kind: 'both',
    'spending_controls.spending_limits.0.amount': 'a lot',
    'spending_controls.spending_limits.0.interval': 'monthly',
  })
  expect([program.status, program.text]).toEqual([
    422,
    expect.stringContaining(
      'id="spending_controls.spending_limits.0.amount-fault">Enter an amount such as 12.50.',
    ),
  ])
})

test('a program limits its cards, and a card has limits of its own', async () => {
  const typed = {
    name: 'Crew',
    kind: 'both',
    'spending_controls.blocked_categories': '7995',
    'spending_controls.spending_limits.0.amount': '20.00',
    'spending_controls.spending_limits.0.interval': 'per_authorization',
    'spending_controls.spending_limits.2.amount': '500.00',
    'spending_controls.spending_limits.2.interval': 'monthly',
    'find:spending_controls.spending_limits.2.categories': '5411',
    'spending_controls.allowed_countries': 'US',
    'spending_controls.blocked_merchant_names': '*casino*\r\n lucky odds \r\n',
    'spending_controls.allowed_times.0.days': 'monday',
    'spending_controls.allowed_times.0.start': '00:00',
    'spending_controls.allowed_times.0.end': '24:00',
    'spending_controls.allowed_times.0.time_zone': 'Europe/Berlin',
    'spending_controls.blocked_entry_methods': 'swipe',
    'spending_controls.merchant_limits.0.amount': '80.00',
    'spending_controls.merchant_limits.0.interval': 'weekly',
    'spending_controls.merchant_count_limits.0.count': '3',
    'spending_controls.merchant_count_limits.0.interval': 'daily',
    'spending_controls.required_checks.0.check': 'cvc',
    'spending_controls.required_checks.0.result': 'match',
    'spending_controls.required_checks.0.entry_methods': 'online',
    'spending_controls.first_use_abroad.action': 'decline',
    'spending_controls.first_use_abroad.home_countries': 'US',
    'spending_controls.partial_approval': 'allowed',
    'design.background_color': '#1e3a5f',
    'design.foreground_color': '#ffffff',
  }
  const program = await fill('card-programs/new', typed)
  expect(await page(program)).toContain('Grocery Stores, Supermarkets')
  expect(await page(program)).toContain('Betting')
  const facts = [
    '*casino*; lucky odds',
    'Blocked entry methods Swipe',
    'Monday: 00:00 to 24:00 (Europe/Berlin)',
    'Limits with each merchant 80.00 USD, Weekly',
    'Number of merchants 3, Daily',
    'Required checks Security code: Match (Online)',
    'First use abroad Decline; home: United States',
    'Partial approval By the balance and the limits',
  ]
  const shown = textOf(await page(program))
  for (const fact of facts) expect(shown).toContain(fact)
  await fill(`${program.replace('/sandbox/', '')}/change`, { ...typed, name: 'Deck crew' })
  const change = `${program}/change`
  const form = await page(change)
  expect(form).toMatch(/name="spending_controls.spending_limits.0.amount"[^>]* value="20.00"/)
  expect(form).toMatch(/name="spending_controls.spending_limits.1.categories" value="5411"[^>]* checked/)
  expect(form).toMatch(/name="spending_controls.allowed_times.0.days" value="monday"[^>]* checked/)
  expect(form).toContain('*casino*\nlucky odds')
  expect(form).toMatch(/name="spending_controls.merchant_limits.0.amount"[^>]* value="80.00"/)
  expect(form).toMatch(/name="spending_controls.merchant_count_limits.0.count"[^>]* value="3"/)
  expect(form).toMatch(/name="spending_controls.required_checks.0.entry_methods" value="online"[^>]* checked/)
  expect(form).toMatch(/name="spending_controls.first_use_abroad.home_countries" value="US"[^>]* checked/)
  expect(form).toContain('<option value="decline" selected>')
  expect(form).toContain('<option value="allowed" selected>')
  const limits = {
    name: 'Crew',
    'spending_controls.spending_limits.0.amount': '20.00',
    'spending_controls.spending_limits.1.amount': '500.00',
  }
  const press = async (button: string) => {
    const { status, text } = await browser.submit(change, change, { ...limits, change: button })
    expect(status).toBe(200)
    return text
      .match(/(?<=name="spending_controls.spending_limits.)\d+.amount"[^>]* value="[^"]*"/g)
      ?.map((each) => each.split('"').at(-2))
  }
  expect(await press('add:spending_controls.spending_limits')).toEqual(['20.00', '500.00', ''])
  expect(await press('remove:spending_controls.spending_limits:0')).toEqual(['500.00'])
  const card_id = await makeCard({ card_program_id: idOf(program) })
  const over = { card_id, amount: '20.01', ...MERCHANT }
  await simulate('funding', { amount: '1000' })
  const declined = await page(await simulate('authorization', over))
  expect(declined).toContain('<span class="state bad">Declined')
  expect(textOf(declined)).toContain(
    'The limit per authorization must cover the amount. 20.01 of 20.00 USD Failed',
  )
  await fill(`cards/${card_id}/limit`)
  expect(await page(await simulate('authorization', over))).toContain('Authorized')
})

test('a card is verified by an amount of 0, which shows as open and expires', async () => {
  const verified = await simulate('authorization', { card_id: await makeCard(), amount: '0', ...MERCHANT })
  const shown = await page(verified)
  expect(shown).toContain('Authorized')
  expect(textOf(shown)).toContain('Requested 0.00 USD')
  expect(shown).toContain('simulator/reversal?')
  expect(shown).not.toContain('simulator/increment?')
  const expired = await simulate('expiry', { card_transaction_id: idOf(verified) })
  expect(await page(expired)).toContain('Expired')
})

test('a card shows what it has spent of each limit, as the next authorization counts it', async () => {
  const spending_controls = {
    spending_limits: [
      { amount: 2000, interval: 'per_authorization' },
      { amount: 5000, interval: 'daily' },
      { amount: 4000, interval: 'monthly', categories: ['5411'] },
    ],
    max_authorization_count: 3,
  }
  const card_id = (await makeIssued(send, { spending_controls })).id
  await send('/v1/test/funding', { body: { amount: 10_000 } })
  const use = (amount: number, category_code: string) =>
    make(send, AUTHORIZE, { card_id, amount, merchant: { name: 'Harbor Grocer', category_code } })
  await use(1250, '5411')
  await use(2000, '5812')
  const declined = await use(1800, '5411')
  const shown = textOf(await page(`/sandbox/cards/${card_id}`))
  const day = (at: number) =>
    new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(at))
  const now = new Date(dashboard.service.clock.now)
  const tomorrow = day(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1))
  const nextMonth = day(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
  expect(shown).toContain('Per authorization At most 20.00 USD')
  expect(shown).toContain(`Daily 32.50 of 50.00 USD 17.50 USD left. Resets on ${tomorrow}, 00:00 UTC.`)
  expect(shown).toContain(`Monthly 12.50 of 40.00 USD 27.50 USD left. Resets on ${nextMonth}, 00:00 UTC.`)
  expect(shown).toContain('Authorizations 2 of 3 1 left. Does not reset.')
  expect(textOf(await page(`/sandbox/card-transactions/${declined.id}`))).toContain(
    'The daily limit must cover the spending. 50.50 of 50.00 USD Failed',
  )
})

describe('the number of a card', () => {
  let path: string
  let details: { readonly number: string; readonly cvc: string }
  let owner: Visitor
  const reveals = async () =>
    (await send(`/v1/audit_log?target_id=${idOf(path)}&action=card_details.viewed`)).body.data as {
      outcome: string
      actor: { id: string }
    }[]
  /** Submits the form as it is on the page of a member. */
  const reveal = async (member: Visitor, code: string, address = `${path}/reveal`) => {
    const member_browser = new Browser(dashboard.origin, member.cookie)
    const form = await member_browser.get(`${path}/reveal`)
    const fields = form.status === 200 ? hiddenFields(form.text, `${path}/reveal`) : {}
    return {
      form,
      fields,
      browser: member_browser,
      answer: await member_browser.post(address, { ...fields, code }),
    }
  }
  const holds = (text: string) =>
    [details.number, details.cvc].some((secret) => textOf(text).split(/\D+/).includes(secret))

  beforeAll(async () => {
    path = `/sandbox/cards/${await makeCard()}`
    details = (await send(`/v1/cards/${idOf(path)}/details`)).body
    owner = await dashboard.signIn(tenantId, 'owner')
  })

  test('is shown to an owner with a code, for a short time, on a page that nothing keeps', async () => {
    const before = await reveals()
    const { form, answer } = await reveal(owner, await owner.freshCode())
    expect([form.status, holds(form.text), answer.status, holds(answer.text)]).toEqual([
      200,
      false,
      200,
      true,
    ])
    expect(answer.text).toContain(details.number.replaceAll(/(\d{4})(?=\d)/g, '$1 '))
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(answer.headers.get('Refresh')).toBe(`60; url=${path}`)
    expect(answer.headers.get('Referrer-Policy')).toBe('no-referrer')
    const after = await reveals()
    expect(after.length).toBe(before.length + 1)
    expect(after[0]).toMatchObject({ outcome: 'succeeded', actor: { id: owner.memberId } })
    expect(holds(await page(path))).toBe(false)
  })

  test('is not shown without a code, with a wrong code, or with a code that was used', async () => {
    const succeeded = async () => (await reveals()).filter(({ outcome }) => outcome === 'succeeded').length
    const before = await succeeded()
    for (const code of ['', '000000', '12345', 'a'.repeat(300)]) {
      const { answer } = await reveal(owner, code)
      expect([code, answer.status, holds(answer.text)]).toEqual([code, 403, false])
    }
    expect((await reveals())[0]).toMatchObject({ outcome: 'failed' })
    expect(await succeeded()).toBe(before)
    const code = await owner.freshCode()
    const { fields, browser: sender, answer } = await reveal(owner, code)
    expect(answer.status).toBe(200)
    // The Back button sends the form again, and so does a thief who finds the code.
    for (const again of [fields, { ...fields, idempotency_key: crypto.randomUUID() }]) {
      const repeated = await sender.post(`${path}/reveal`, { ...again, code })
      expect([repeated.status, holds(repeated.text)]).toEqual([403, false])
    }
    expect(await succeeded()).toBe(before + 1)
    const { status } = await sender.get(`${path}/reveal?code=${await owner.freshCode()}`)
    expect([status, await succeeded()]).toEqual([200, before + 1])
  })

  test('is not shown to others: viewers, developers, other tenants, and other sites', async () => {
    for (const member of [await dashboard.signIn(tenantId, 'viewer'), developer]) {
      const { form, answer } = await reveal(member, await member.freshCode())
      expect([member.role, form.status, answer.status, holds(form.text + answer.text)]).toEqual([
        member.role,
        403,
        403,
        false,
      ])
      expect(await new Browser(dashboard.origin, member.cookie).get(path)).toMatchObject({
        text: expect.not.stringContaining('Reveal card number'),
      })
    }
    const stranger = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    const other = new Browser(dashboard.origin, stranger.cookie, stranger)
    expect((await other.get(`${path}/reveal`)).status).toBe(404)
    const own = hiddenFields((await other.get('/sandbox/reset')).text, '/sandbox/reset')
    const taken = await other.post(`${path}/reveal`, { ...own, code: await stranger.freshCode() })
    expect([taken.status, holds(taken.text)]).toEqual([403, false])
    const { csrf: _, ...unguarded } = (await reveal(owner, '')).fields
    const forged = await new Browser(dashboard.origin, owner.cookie).post(`${path}/reveal`, {
      ...unguarded,
      code: await owner.freshCode(),
    })
    expect([forged.status, holds(forged.text)]).toEqual([403, false])
    expect((await other.get(`/live${path.slice('/sandbox'.length)}/reveal`)).status).toBe(404)
  })

  test('of a physical card is refused, because it is printed on the card', async () => {
    const card = await make(send, '/v1/cards', {
      cardholder_id: (await send(`/v1/cards/${idOf(path)}`)).body.cardholder_id,
      type: 'physical',
      shipping: SHIPPING,
    })
    const physical = `/sandbox/cards/${card.id}`
    expect(await page(physical)).not.toContain('Reveal card number')
    const answer = await new Browser(dashboard.origin, owner.cookie, owner).submit(
      `${physical}/reveal`,
      `${physical}/reveal`,
    )
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('printed on the card')])
  })

  test('is in no log afterwards', async () => {
    await dashboard.service.flush()
    const find = findNumbers([details.number], dashboard.service.database.pepper)
    expect(find(`revealed ${details.number}`)).toBeDefined()
    expect(logged.filter((line) => find(line) !== undefined)).toEqual([])
  })
})

test('a transaction lives through everything that the simulator can', async () => {
  const card_id = await makeCard()
  await simulate('funding', { amount: '1000.00' })
  const asked = { card_id, amount: '12.50', ...MERCHANT }
  const authorize = async () => ({ card_transaction_id: idOf(await simulate('authorization', asked)) })
  expect(await page(await simulate('decline', { ...asked, reason: 'suspected_fraud' }))).toContain('Declined')
  const kept = await authorize()
  await simulate('increment', { ...kept, amount: '7.5' })
  await simulate('reversal', { ...kept, amount: '5' })
  await simulate('clearing', { ...kept, amount: '10.00', final: 'false' })
  const cleared = await simulate('clearing', kept)
  await simulate('refund', { ...kept, amount: '1' })
  const shown = await page(cleared)
  expect(textOf(shown)).toContain('Requested 20.00 USD Held 0.00 USD Cleared 15.00 USD Refunded 1.00 USD')
  expect(stepsIn(shown, 'History')).toEqual([
    'Authorized 12.50 USD',
    'Authorized more 7.50 USD',
    'Reversed by the merchant 5.00 USD',
    'Cleared 10.00 USD',
    'Cleared 5.00 USD',
    'Refunded 1.00 USD',
  ])
  expect(await page(await simulate('expiry', await authorize()))).toContain('Expired')
  expect(await page(await simulate('force-post', asked))).toContain('No authorization rules were checked')
  expect(await page('/sandbox/balance')).toContain('USD')
})

test('a transaction that the endpoint of the tenant decides shows its answer and how long it took', async () => {
  const endpoint = createServer((_request, response) => {
    response.end(JSON.stringify({ approved: false, decline_reason: 'suspected_fraud' }))
  })
  await once(endpoint.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
  await send('/v1/test/funding', { body: { amount: 1000 } })
  const card_id = (await makeIssued(send)).id
  await send('/v1/authorization_endpoint', { method: 'PUT', body: { url, default_action: 'approve' } })
  const merchant = { name: 'Till', category_code: '5411' }
  const { id } = await make(send, AUTHORIZE, { card_id, amount: 500, merchant })
  await send('/v1/authorization_endpoint', { method: 'DELETE' })
  endpoint.close()
  const shown = textOf(await page(`/sandbox/card-transactions/${id}`))
  expect(shown).toMatch(
    /Your endpoint Responded Answer Declined: suspected fraud Answered after \d+ ms Decision azd_/,
  )
  expect(shown).toContain('Your authorization endpoint must approve the authorization. Failed')
})

test('a physical card is sent', async () => {
  const card_id = await makeCard({
    type: 'physical',
    'shipping.address.line1': '500 Harbor Street',
    'shipping.address.city': 'Oakland',
    'shipping.address.us_state': 'CA',
    'shipping.address.postal_code': '94607',
    'shipping.address.country': 'US',
    'shipping.service': 'express',
  })
  expect(await page(await simulate('shipping', { card_id, status: 'shipped' }))).toContain('Shipped')
})

test('a pass is installed, scanned and removed', async () => {
  const pass = await make(send, '/v1/passes', { template_id: await makeTemplate(send) })
  await simulate('install', { pass_id: pass.id, platform: 'apple' })
  await simulate('scan', {
    pass_id: pass.id,
    mode: 'redeem',
    scanner: 'Till 4',
    'location.latitude': '1.5',
    'location.longitude': '-2',
  })
  await simulate('uninstall', { pass_id: pass.id, platform: 'apple' })
  expect((await send(`/v1/scans?pass_id=${pass.id}`)).body.data).toMatchObject([
    { scanner: 'Till 4', location: { latitude: 1.5, longitude: -2 } },
  ])
})

test('a picker takes a name, offers what it could mean, and keeps what was typed', async () => {
  const holder = async (name: string, email: string) =>
    idOf(await fill('cardholders/new', { type: 'individual', name, email }))
  const grace = await holder('Grace Brewster', 'grace@example.com')
  const [one, other] = [
    await holder('Mary Jackson', 'mary@example.com'),
    await holder('Mary Jackson', 'mj@example.com'),
  ]
  const card = await fill('cards/new', { 'find:cardholder_id': 'grace', type: 'virtual' })
  expect(await page(card)).toContain(grace)
  const NEW = '/sandbox/cards/new'
  const ask = (typed: Typed) => browser.submit(NEW, NEW, { type: 'physical', ...typed })
  const unclear = await ask({ 'find:cardholder_id': 'mary' })
  expect([unclear.status, unclear.text]).toEqual([422, expect.stringContaining('Choose one.')])
  for (const id of [one, other])
    expect(unclear.text).toContain(`type="radio" name="cardholder_id" value="${id}"`)
  expect(unclear.text).toContain('mj@example.com, Active')
  expect(unclear.text).toContain('value="physical" selected')
  expect(unclear.text).not.toContain('value="mary"')
  const unknown = await ask({ 'find:cardholder_id': 'nemo' })
  expect([unknown.status, unknown.text]).toEqual([
    422,
    expect.stringContaining('No active cardholder matches “nemo”'),
  ])
  expect(await page(`${NEW}?cardholder_id=${grace}`)).toMatch(
    new RegExp(`value="${grace}"[^>]* checked> Grace Brewster <span class="quiet">grace@example.com`),
  )
  expect(await page(`/sandbox/cardholders/${grace}`)).toContain(`href="${NEW}?cardholder_id=${grace}"`)
})

test('the lookup of pickers finds by name, digits, cardholder and ID, and by status', async () => {
  const card_id = await makeCard()
  const find = async (kind: string, text: string, status = '') => {
    const answer = await browser.get(`/sandbox/find/${kind}?${new URLSearchParams({ q: text, status })}`)
    return (JSON.parse(answer.text) as { readonly id: string }[]).map(({ id }) => id)
  }
  const { last4 } = (await send(`/v1/cards/${card_id}`)).body
  for (const text of ['', 'moreau', last4, card_id, card_id.slice(0, 20)])
    expect([text, await find('cards', text)]).toEqual([text, expect.arrayContaining([card_id])])
  expect(await find('cards', card_id, 'canceled')).toEqual([])
  expect(await find('cards', 'a\0b')).toEqual([])
  await simulate('funding', { amount: '1000' })
  const sale = idOf(await simulate('authorization', { card_id, amount: '31.25', ...MERCHANT }))
  for (const text of ['31.25', 'harbor groc', sale])
    expect(await find('card-transactions', text)).toContain(sale)
  expect(await find('card-transactions', sale, 'cleared')).toEqual([])
  for (const kind of [
    'card-programs',
    'disputes',
    'pass-templates',
    'passes',
    'payout-destinations',
    'settlements',
    'payouts',
  ])
    expect([kind, await find(kind, 'no such name')]).toEqual([kind, []])
})

test('links of others fill in nothing but what the tenant has', async () => {
  const card_id = await makeCard()
  const form = await page(`/sandbox/simulator/authorization?card_id=${card_id}&amount=99`)
  expect(form).toMatch(
    new RegExp(`name="card_id"[^>]* value="${card_id}".*name="amount"[^>]* value="12.50"`, 's'),
  )
})

test('the threshold of a low balance is set and removed in a form', async () => {
  const path = '/sandbox/balance/alert'
  expect(await page('/sandbox/balance')).toContain(`href="${path}"`)
  expect((await browser.submit(path, path, { threshold: '12.5' })).location).toBe('/sandbox/balance')
  expect((await send('/v1/balance_alert')).body.threshold).toBe(1250)
  expect(await page(path)).toContain('value="12.50"')
  expect((await browser.submit(path, path, { threshold: 'ten' })).status).toBe(422)
  await browser.submit(path, path, { threshold: '' })
  expect((await send('/v1/balance_alert')).body.threshold).toBeNull()
})

test('money is followed from a clearing to the ledger, to its payout and into a report', async () => {
  const card_id = await makeCard()
  await simulate('funding', { amount: '1000' })
  const destination = await fill('payout-destinations/new', {
    type: 'usdc_address',
    address: `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`,
    holder_name: 'Harbour Coffee LLC',
    default: 'true',
  })
  expect(await page(destination)).toContain('Inactive')
  await simulate('clock', { seconds: '172800' })
  expect(await page(destination)).toContain('Active')
  const sale = await simulate('force-post', { card_id, amount: '500.00', ...MERCHANT })
  const settlement_id = (await send('/v1/settlements?status=open')).body.data[0].id
  const settlement = await simulate('clock', { settlement_id, to: 'settled' })
  expect(await page(settlement)).toContain('Settled')
  const lines = await page(`${settlement}/lines?type=card_transaction`)
  expect(lines).toContain(`href="${sale}"`)
  const entry = /href="(\/sandbox\/ledger-entries\/len_\w+)"/.exec(lines)![1]!
  const shown = await page(entry)
  expect(
    shown
      .match(/data-title="Amount" class="amount"><div><span class="number">[^<]+/g)!
      .map((cell) => cell.split('>').at(-1))
      .toSorted(),
  ).toEqual(['500.00 USD', '−500.00 USD'])
  expect(shown).toContain(`href="${sale}"`)
  expect((await browser.get(entry.replace('sandbox', 'live'))).status).toBe(404)

  const settled = await page(settlement)
  const { currency: _, ...settledAs } = (await send(`/v1/settlements/${settlement_id}`)).body
  const cents = (amount: number) => `${amount < 0 ? '−' : ''}${Math.abs(amount / 100).toFixed(2)} USD`
  expect(textOf(settled)).toContain(
    `Cleared −500.00 USD Program funding 500.00 USD Interchange ${cents(settledAs.interchange_amount)} Network fees ${cents(-settledAs.fees_amount)} Net ${cents(settledAs.net_amount)}`,
  )
  expect(textOf(await page(sale))).toContain(
    `Settled −500.00 USD ${cents(settledAs.interchange_amount)} ${cents(-settledAs.fees_amount)} 0.00 USD`,
  )
  const payout = /href="(\/sandbox\/payouts\/po_\w+)"/.exec(settled)![1]!
  const onItsWay = await page(payout)
  expect(stepsIn(onItsWay, 'Transfer')[1]).toMatch(/^Waits to be signed .*To eip155:31337:0x/)
  expect(onItsWay).toContain(`href="${destination}"`)
  expect(onItsWay).toContain(`<code>${idOf(payout)}`)
  const failed = await page(
    await simulate('payout-failure', { payout_id: idOf(payout), failure_code: 'rejected' }),
  )
  expect(stepsIn(failed, 'Transfer').at(-1)).toBe('Failed Rejected')

  const today = new Date(dashboard.service.clock.now)
  const day = (days: number) => new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10)
  const report = await fill('reports/new', {
    type: 'ledger_entries',
    interval_start: day(-1),
    interval_end: day(0),
  })
  expect(await page(report)).toContain('The files are not ready yet')
  await reportWorker(reporting()).runOnce()
  const made = await page(report)
  const files = [...made.matchAll(/<a href="(http[^"]+)"[^>]*>(\w+)<\/a> <span class="quiet">SHA-256 (\w+)/g)]
  expect(files.map(([, , format]) => format).toSorted()).toEqual(['CSV', 'JSON'])
  for (const [, url, , digest] of files) {
    const file = Buffer.from(await (await fetch(url!)).arrayBuffer())
    expect(hash('sha256', file)).toBe(digest)
  }
})

test('a bank account is added by its number, which no page, log or API call shows', async () => {
  const NEW = '/live/payout-destinations/new'
  const typed = {
    type: 'bank_account',
    holder_name: 'Harbour Coffee LLC',
    'bank_account.country': 'US',
    'bank_account.routing_number': '110000001',
    'bank_account.account_number': '98765Q4321',
  }
  const wrong = await browser.submit(NEW, NEW, typed)
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining('id="bank_account.routing_number-fault"'),
  ])
  expect(wrong.text).toContain('value="110000001"')
  const shown = await browser.submit(NEW, NEW, { ...typed, change: 'call' })
  expect(shown.text).toMatch(/client\.createToken\(.*ACCOUNT_NUMBER.*client\.createPayoutDestination\(/s)
  const added = await browser.submit(NEW, NEW, { ...typed, 'bank_account.routing_number': '110000000' })
  expect([added.status, added.location]).toEqual([
    303,
    expect.stringContaining('/live/payout-destinations/pod_'),
  ])
  const destination = await page(added.location!)
  expect(destination).toContain('•••• 4321, US')
  await send('/v1/tokens', {
    body: {
      type: 'bank_account',
      bank_account: {
        holder_name: 'A',
        account_number: '98765Q4321',
        routing_number: '110000000',
        country: 'US',
      },
    },
  })
  await dashboard.service.flush()
  const { data } = (await send('/v1/request_logs?operation=createToken')).body
  const logged = JSON.stringify((await send(`/v1/request_logs/${data[0].id}`)).body)
  expect(logged).toContain('account_number')
  for (const text of [wrong.text, shown.text, destination, logged]) expect(text).not.toContain('98765Q4321')
})

test('a form shows its values as an API call, without performing it', async () => {
  const NEW = '/sandbox/cardholders/new'
  const typed = { type: 'individual', name: "Zoë O'Hara", email: 'zoe@example.com' }
  const { status, text } = await browser.submit(NEW, NEW, { ...typed, change: 'call' })
  expect(status).toBe(200)
  const [curl, typescript] = [...text.matchAll(/<pre tabindex="0">(.*?)<\/pre>/gs)].map(([, code]) => code)
  expect(curl).toContain('/v1/cardholders')
  expect(curl).toContain('Bearer $SVC_API_KEY')
  expect(curl).toContain('Zoë O&#39;\\&#39;&#39;Hara')
  expect(typescript).toContain(
    'await client.createCardholder({\n  body: {\n    type: &#39;individual&#39;,\n    name: &#39;Zoë O\\&#39;Hara&#39;,',
  )
  expect((await send('/v1/cardholders?limit=1')).body.data[0].email).not.toBe('zoe@example.com')
  expect(await page(NEW)).toContain('<summary>Show as API call')
})

test('every form calls an operation that the client has', () => {
  const forms = [
    ...Object.values(RESOURCES)
      .flat()
      .flatMap(({ create, detail }) => [create, ...(detail?.actions ?? [])]),
    ...HELPERS.flatMap(({ helpers }) => helpers),
  ]
  const missing = forms.filter((form) => form && !Object.hasOwn(functions, form.operation))
  expect([forms.length > 40, missing]).toEqual([true, []])
})

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('a dispute is opened with documents, changed, submitted and won', async () => {
  const card_id = await makeCard()
  const sale = idOf(await simulate('force-post', { card_id, amount: '80.00', ...MERCHANT }))
  const NEW = '/sandbox/disputes/new'
  const form = (await browser.get(`${NEW}?card_transaction_id=${sale}`)).text
  expect(form).toMatch(new RegExp(`name="card_transaction_id"[^>]* value="${sale}"`))
  const typed = { card_transaction_id: sale, reason: 'not_received', explanation: 'Nothing came.' }
  const fields = async () => ({ ...hiddenFields((await browser.get(NEW)).text, NEW), ...typed })
  const wrong = await browser.upload(NEW, await fields(), {
    file1: new Uint8Array(Buffer.from('no picture')),
  })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('id="file1-fault"')])
  expect(wrong.text).toContain('Nothing came.</textarea>')
  const opened = await browser.upload(NEW, await fields(), { file1: new Uint8Array(PNG) })
  expect(opened.status).toBe(303)
  const path = opened.location!
  expect(await page(path)).toContain(hash('sha256', PNG))
  const change = `${path}/evidence`
  const hidden = hiddenFields((await browser.get(change)).text, change)
  const more = { reason: 'other', amount: '70.00', explanation: 'Only half came.' }
  const files = { file1: new Uint8Array(PNG), file2: new Uint8Array(PNG) }
  expect((await browser.upload(change, { ...hidden, ...more }, files)).location).toBe(path)
  const changed = await page(path)
  expect(changed).toContain('70.00 USD')
  expect(changed.split(hash('sha256', PNG))).toHaveLength(3)
  await fill(`${path.replace('/sandbox/', '')}/submit`)
  expect(stepsIn(await page(path), 'Stages')).toEqual([
    'Opened 70.00 USD',
    'Submitted to the card network Provisional credit: 70.00 USD',
    'Review by the card network',
    'Decision',
  ])
  const won = await page(await simulate('dispute-outcome', { dispute_id: idOf(path), outcome: 'won' }))
  expect(stepsIn(won, 'Stages').at(-1)).toBe('Won The credit is final.')
  expect(await page(`/sandbox/card-transactions/${sale}`)).toContain(`href="${path}"`)
  expect(textOf(await page('/sandbox/disputes'))).toContain('Harbor Grocer 70.00 USD Other Won')
})

test('the search leads from an identifier to its page, and from words to pages and forms', async () => {
  const find = async (text: string) => browser.get(`/sandbox/search?q=${encodeURIComponent(text)}`)
  const card_id = await makeCard()
  expect((await find(` ${card_id} `)).location).toBe(`/sandbox/cards/${card_id}`)
  expect((await find('force po')).location).toBe('/sandbox/simulator/force-post')
  expect((await find('payout')).text).toContain('href="/sandbox/payout-destinations"')
  const strange = await find('"><script>alert(1)</script>')
  expect([strange.status, strange.text.includes('<script>')]).toEqual([200, false])
  expect(strange.text).toContain('No results found')
  expect((await find('//evil.example')).location).toBeNull()
  expect((await browser.get('/live/search?q=force+post')).text).toContain('No results found')
})
