/** The dashboard in a real browser: readable by everybody, on telephones and desktops, light and dark, without scripts. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Browser as Chromium, Page } from 'playwright-core'
import { Gauge, Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { versions } from '../../../generated/versions.ts'
import { createConsole } from '../../../runtime/dashboard/console.ts'
import { sendPage } from '../../../runtime/dashboard/html/layout.ts'
import { readMetrics } from '../../../runtime/dashboard/status/metric-readings.ts'
import { writeStatusPage } from '../../../runtime/dashboard/status/status-page.ts'
import { makeTemplate } from '../../api/fixtures.ts'
import { make, makeCard } from '../../cards/fixtures.ts'
import { startChromium } from '../../support/chromium.ts'
import { examine, isTooWide, loadAxe, OF_COLORS } from '../../support/examine.ts'
import { makeKey, type Send, speak } from '../../support/service.ts'
import { makeTenant, startDashboard, type TestDashboard, type Visitor } from '../support/dashboard.ts'
import { useCardByNetwork } from '../support/network-use.ts'

let dashboard: TestDashboard
let chromium: Chromium
let owner: Visitor
let send: Send
/** Pages that show something. */
let paths: readonly string[]

beforeAll(async () => {
  ;[dashboard, chromium] = await Promise.all([startDashboard({ countsUse: true }), startChromium()])
  const tenantId = await makeTenant(dashboard.service)
  owner = await dashboard.signIn(tenantId, 'owner')
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
  const template_id = await makeTemplate(send)
  const pass = await make(send, '/v1/passes', { template_id, holder: { name: 'Ada Moreau' } })
  const url = `https://93.184.215.14/${'long'.repeat(60)}`
  const endpoint = await make(send, '/v1/webhook-endpoints', { url, enabled_events: ['*'] })
  const other = await make(send, '/v1/webhook-endpoints', { url: `${url}/b`, enabled_events: ['*'] })
  const card = await makeCard(send)
  const transaction = await make(send, '/v1/test/cards/simulate_authorization', {
    card_id: card.id,
    amount: 1250,
    merchant: { name: 'Harbor Grocer', category_code: '5411' },
  })
  const { transactionId } = await useCardByNetwork(dashboard.service, send)
  const old = { 'Service-Version': versions[1]!.name }
  for (const path of [
    `/v1/cards/${card.id}`,
    '/v1/card_transactions',
    '/v1/disputes?reason=customer_dispute',
  ])
    expect([path, (await send(path, { headers: old })).status]).toEqual([path, 200])
  await dashboard.service.flush()
  const events = await send('/v1/events')
  paths = [
    '',
    '/events',
    `/events/${events.body.data[0].id}`,
    `/events/${events.body.data[0].id}/in/${versions[1]!.name}`,
    '/webhook-endpoints',
    '/webhook-endpoints/new',
    `/webhook-endpoints/${endpoint.id}`,
    `/webhook-endpoints/${endpoint.id}/delete`,
    `/webhook-endpoints/${endpoint.id}/compare?with=${other.id}`,
    '/pass-templates/new',
    `/pass-templates/${template_id}`,
    `/pass-templates/${template_id}/edit`,
    '/passes',
    `/passes/new?template_id=${template_id}`,
    `/passes/upload?template_id=${template_id}`,
    '/scans',
    `/passes/${pass.id}`,
    `/passes/${pass.id}/change`,
    '/cards',
    `/card-transactions/${transaction.id}`,
    `/card-transactions/${transactionId}`,
    `/cardholders/${card.cardholder_id}`,
    '/card-programs/new',
    '/payout-destinations/new',
    '/simulator',
    '/simulator/authorization',
    '/disputes/new',
    '/settlements',
    '/payouts',
    '/reports/new',
    '/audit-log',
    '/keys',
    '/keys/new',
    '/version',
    WAY,
    '/members',
    '/connected-apps',
    '/security',
    '/sessions',
    '/members/invite',
    `/members/${owner.memberId}`,
    '/usage',
    '/promote',
    '/reset',
  ]
}, 180_000)

afterAll(async () => {
  await chromium?.close()
  await dashboard?.stop()
})

/** From an earlier version to the newest. */
const WAY = `/version?from=${versions[1]!.name}`

/**
 * With it every page is looked at on both screens, light and dark (`npm run prove:pages`). Without it, on one of the screens
 * in turn, and only the wide one is dark too.
 */
const everyPage = process.env.EVERY_PAGE !== undefined

/** Runs through all pages on a screen. Everything that a page asks others for, or a browser complains of, fails. */
async function tour(
  width: number,
  visit: (page: Page, path: string) => Promise<void>,
  wanted = paths,
): Promise<void> {
  const context = await chromium.newContext({ viewport: { width, height: 900 }, bypassCSP: true })
  const [name, value] = owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  const strange: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(dashboard.origin)) strange.push(request.url())
  })
  page.on('console', (message) => strange.push(message.text()))
  page.on('pageerror', (error) => strange.push(String(error)))
  for (const path of wanted) {
    const response = await page.goto(`${dashboard.origin}/sandbox${path}`)
    expect([path, response?.status()]).toEqual([path, 200])
    await visit(page, path)
  }
  expect(strange).toEqual([])
  await context.close()
}

const SHOTS = process.env.SCREENSHOTS

test.each([
  [390, 0],
  [1280, 1],
])(
  'axe finds nothing on the pages at %i pixels',
  async (width, turn) => {
    const found: string[] = []
    const schemes = everyPage || turn === 1 ? (['light', 'dark'] as const) : (['light'] as const)
    const look = async (page: Page, path: string) => {
      await loadAxe(page)
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme })
        const name = `${width}-${colorScheme}${path.replaceAll('/', '_')}`
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true })
        const rules = colorScheme === 'dark' ? { only: OF_COLORS } : { also: ['target-size'] }
        found.push(...(await examine(page, rules)).map((each) => `${path} ${colorScheme} ${each}`))
      }
    }
    await tour(width, look, everyPage ? paths : paths.filter((_, index) => index % 2 === turn))
    expect([...new Set(found)]).toEqual([])
  },
  180_000,
)

test.each([390, 1280])(
  'axe finds nothing in a rehearsal at %i pixels',
  async (width) => {
    const look = async (page: Page) => {
      await page.getByRole('button', { name: 'Rehearse upgrade' }).click()
      await page.getByRole('heading', { name: /^Rehearsal: / }).waitFor()
      await loadAxe(page)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        if (SHOTS)
          await page.screenshot({ path: `${SHOTS}/${width}-${colorScheme}_rehearsal.png`, fullPage: true })
        expect(await examine(page)).toEqual([])
      }
    }
    await tour(width, look, [WAY])
  },
  180_000,
)

/** The status page with everything that it can show. */
async function writeSampleStatus() {
  const registry = new Registry()
  const add = (name: string, labels: Record<string, string>, value: number) =>
    new Gauge({ name, help: name, labelNames: Object.keys(labels), registers: [registry] }).set(labels, value)
  add('svc_queue_age_seconds', { environment: 'live', queue: 'webhooks' }, 7200)
  add('svc_set_aside_rows', { environment: 'live', work: 'settlements' }, 3)
  add('svc_work_failing', { environment: 'sandbox', work: 'reports' }, 1)
  add('svc_certificate_expiry_timestamp_seconds', { certificate: 'apple_pass' }, 2_000_000_000)
  const finding = { check: 'bank', words: `https://bank.example/${'long'.repeat(60)} cannot be reached` }
  const findings = (['ok', 'warn', 'fail'] as const).map((verdict) => ({ ...finding, verdict }))
  const readings = await readMetrics(registry)
  return writeStatusPage({ findings, examinedAt: Date.now(), readings, roles: ['api', 'worker', 'console'] })
}

test('axe finds nothing on the pages of components and of status, and every contrast suffices', async () => {
  const docs = {
    generated: '',
    versions: [],
    baseUrls: { sandbox: dashboard.origin, live: '', console: '' },
    lookups: {},
    build: async () => {},
  }
  const status = await writeSampleStatus()
  const server = createServer(
    express()
      .get('/status', (_request, response) => sendPage(response, 200, status))
      .use(createConsole({ ...docs, showsDesign: true })),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const page = await chromium.newPage({ bypassCSP: true, viewport: { width: 390, height: 900 } })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await page.goto(`${origin}/status`)
  await page.getByText('Checks that succeed: 1').click()
  await loadAxe(page)
  expect(await examine(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 900 })
  expect(await isTooWide(page)).toBe(false)
  await page.setViewportSize({ width: 390, height: 900 })
  await page.goto(`${origin}/design`)
  await loadAxe(page)
  expect(await examine(page)).toEqual([])
  expect(
    await page
      .getByRole('table', { name: /^Contrasts/ })
      .getByText('Failed')
      .count(),
  ).toBe(0)
  await page.setViewportSize({ width: 320, height: 900 })
  expect(await isTooWide(page)).toBe(false)
  await page.close()
  server.close()
})

test('nothing runs out of the widest and the narrowest screen', async () => {
  const found: string[] = []
  const widths = [320, 2560]
  await tour(widths[0]!, async (page, path) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      if (await isTooWide(page)) found.push(`${width} ${path}`)
    }
    // The next page is laid out on the narrowest screen from its start.
    await page.setViewportSize({ width: widths[0]!, height: 900 })
  })
  expect(found).toEqual([])
}, 180_000)

test('the preview of a template follows what is typed, and without scripts its button', async () => {
  const label = 'Points <i>of</i> Ada'
  const cookie = owner.cookie.split('=', 2)
  for (const javaScriptEnabled of [true, false]) {
    const context = await chromium.newContext({ javaScriptEnabled, colorScheme: 'dark' })
    await context.addCookies([{ name: cookie[0]!, value: cookie[1]!, url: dashboard.origin }])
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(`${dashboard.origin}/sandbox/pass-templates/new`)
    await page.getByLabel('Background color').fill('#0b2239')
    await page.getByLabel('Label', { exact: false }).last().fill(label)
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Update preview' }).click()
    for (const card of ['Front of the pass', 'Card in Google Wallet'])
      await page.getByRole('region', { name: card }).getByText(label).waitFor()
    const colors = `[...document.querySelectorAll('.pass-preview')].map(
      ({ shadowRoot }) => getComputedStyle(shadowRoot.querySelector('section')).backgroundColor)`
    await expect.poll(() => page.evaluate(colors)).toEqual(['rgb(11, 34, 57)', 'rgb(11, 34, 57)'])
    expect(complaints).toEqual([])
    await context.close()
  }
}, 60_000)

test('an endpoint is added with the keyboard alone, without scripts, and its secret is shown', async () => {
  const context = await chromium.newContext({ javaScriptEnabled: false })
  const [name, value] = owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  await page.goto(`${dashboard.origin}/sandbox/webhook-endpoints/new`)
  await page.getByLabel('URL').focus()
  await page.keyboard.type('https://93.184.215.14/typed')
  const focused = page.locator('button:focus', { hasText: 'Add webhook endpoint' })
  for (let count = 0; count < 20 && (await focused.count()) === 0; count += 1)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('This secret is shown only once').waitFor()
  expect(await page.locator('.secret').textContent()).toMatch(/^whsec_/)
  await page.getByText('I have stored the secret').click()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('https://93.184.215.14/typed')
  await context.close()
})

test('with scripts, a picker finds a person by the keyboard, rows are added in place, and the API call follows', async () => {
  const holder = await make(send, '/v1/cardholders', {
    type: 'individual',
    name: 'Ingrid Berg',
    email: 'ib@example.com',
  })
  const context = await chromium.newContext({ viewport: { width: 375, height: 800 } })
  const [name, value] = owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  await page.goto(`${dashboard.origin}/sandbox/cards/new`)
  await page.getByText('Show as API call').click()
  const picker = page.getByRole('combobox', { name: 'Cardholder' })
  await picker.focus()
  await page.keyboard.type('ingr')
  await page.getByRole('option', { name: 'Ingrid Berg ib@example.com' }).waitFor()
  await page.keyboard.press('ArrowDown')
  expect(await page.getByRole('listbox').getByRole('option', { selected: true }).textContent()).toContain(
    'Ingrid Berg',
  )
  await page.keyboard.press('Enter')
  expect(await picker.inputValue()).toBe('Ingrid Berg')
  await page.locator('.call pre', { hasText: `cardholder_id: '${holder.id}'` }).waitFor()
  expect(await isTooWide(page)).toBe(false)
  await page.getByRole('button', { name: 'Issue card' }).click()
  await page.waitForURL(/\/sandbox\/cards\/card_/)
  await page.goto(`${dashboard.origin}/sandbox/card-programs/new`)
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Crew')
  await page.getByRole('button', { name: 'Add limit', exact: true }).click()
  await page.getByLabel('Amount (USD)').fill('20')
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Crew')
  await loadAxe(page)
  expect(await examine(page)).toEqual([])
  await page.getByRole('button', { name: 'Create card program' }).click()
  await page.getByRole('cell', { name: '20.00 USD' }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
}, 60_000)

test('an event appears by itself while its page is open, until that is paused', async () => {
  const context = await chromium.newContext()
  const [name, value] = owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  await page.goto(`${dashboard.origin}/sandbox/events`)
  await page.getByText('Live: new rows').waitFor()
  const rows = page.locator('tbody tr')
  const before = await rows.count()
  await makeTemplate(send)
  await page.locator('tr.new').waitFor()
  expect(await rows.count()).toBe(before + 1)
  expect(await rows.first().textContent()).toContain('pass_template.created')
  await page.getByRole('button', { name: 'Pause updates' }).click()
  await page.getByText('Paused.').waitFor()
  await context.close()
})

test('the time zone of the browser is offered once, and the page comes back with its times', async () => {
  const context = await chromium.newContext({ timezoneId: 'Asia/Tokyo' })
  const { cookie } = await dashboard.signIn(owner.tenantId, 'viewer')
  const [name, value] = cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  const address = `${dashboard.origin}/sandbox/passes`
  await page.goto(address)
  const change = page.getByRole('button', { name: 'Change' })
  await page.getByText('Change to Asia/Tokyo?').waitFor()
  await page.reload()
  expect(await change.isVisible()).toBe(false)
  await page.evaluate('localStorage.clear()')
  await page.reload()
  await change.click()
  await page.getByRole('status').getByText('Times are shown in Asia/Tokyo').waitFor()
  expect(page.url()).toBe(address)
  expect(await page.locator('time').first().getAttribute('title')).toContain('GMT+9')
  expect(await page.locator('form.offer').count()).toBe(0)
  await context.close()
})

/** Sum of the layout shifts since the page began to load. */
const SHIFTS = `new Promise((resolve) => {
  const observer = new PerformanceObserver(() => {})
  observer.observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => setTimeout(() => resolve(observer.takeRecords().reduce((sum, { value }) => sum + value, 0))))
})`

test('keys move through a list, select rows, and open a record, as a click on a row does', async () => {
  const context = await chromium.newContext()
  const [name, value] = owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  const list = `${dashboard.origin}/sandbox/cards`
  await page.goto(list)
  await page.getByText('Live: new rows').waitFor()
  for (const key of ['j', 'x']) await page.keyboard.press(key)
  await page.getByText('Selected: 1').waitFor()
  expect(await page.locator('tbody tr').first().getByRole('checkbox').isChecked()).toBe(true)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/cards\/card_\w+$/)
  await page.goto(list)
  await page.locator('tbody tr').first().locator('.state').click()
  await page.waitForURL(/\/cards\/card_\w+$/)
  await context.close()
})

test('Ctrl-K finds an identifier, and a click copies it', async () => {
  const context = await chromium.newContext({
    bypassCSP: true,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const [name, value] = owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  const id = paths
    .find((path) => path.startsWith('/card-transactions/'))!
    .split('/')
    .at(-1)!
  await page.goto(`${dashboard.origin}/sandbox`)
  await page.keyboard.press('Control+k')
  await page.keyboard.type(id)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${dashboard.origin}/sandbox/card-transactions/${id}`)
  await page.getByRole('button', { name: `Copy ${id}` }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id)
  expect(await page.evaluate(SHIFTS)).toBe(0)
  // The palette offers what the page can do first, then pages visited before. Escape gives the focus back, also after something was typed.
  await page.goto(`${dashboard.origin}/sandbox/webhook-endpoints`)
  const add = page.getByRole('link', { name: 'Add webhook endpoint' })
  await add.focus()
  await page.keyboard.press('/')
  const options = page.getByRole('listbox').getByRole('option')
  expect((await options.allTextContents())[0]).toContain('Add webhook endpoint')
  await page.getByRole('group', { name: 'Recently visited' }).getByRole('option').first().waitFor()
  await page.keyboard.type('web')
  await page.keyboard.press('Escape')
  expect(await add.evaluate((element) => element.matches(':focus'))).toBe(true)
  await page.getByRole('searchbox', { name: 'Search by name, ID, or page' }).click()
  await page.keyboard.type('ada')
  const holder = page.getByRole('group', { name: 'Passes' }).getByRole('option', { name: 'Ada Moreau' })
  await holder.waitFor()
  expect(await holder.getAttribute('aria-selected')).toBe('true')
  await loadAxe(page)
  expect(await examine(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${dashboard.origin}/sandbox/passes/*`)
  await page.keyboard.type('gw')
  await page.waitForURL(`${dashboard.origin}/sandbox/webhook-endpoints`)
  await page.keyboard.press('?')
  await page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByLabel('Use shortcuts without Ctrl')
    .uncheck()
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await context.close()
})
