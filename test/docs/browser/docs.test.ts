/**
 * The documentation in a real browser: every page shows without a word to the outside or a complaint, each kind of page is
 * readable by everybody, and samples can be sent from where they stand.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { TOTP } from 'otpauth'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current, versions } from '../../../generated/versions.ts'
import { createUser } from '../../../runtime/account/members/users.ts'
import { createKey } from '../../../runtime/tenants/admin/keys.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { startChromium } from '../../support/chromium.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { examine, isTooWide, loadAxe, OF_COLORS } from '../../support/examine.ts'
import { endPrograms, ROOT, startService } from '../../support/programs.ts'

let database: TestDatabase
let chromium: Browser
let origin: string
let sandbox: string
let secret: string
let member: { readonly email: string; readonly password: string; readonly totp_secret: string }

beforeAll(async () => {
  ;[database, chromium] = await Promise.all([openTestDatabase(), startChromium()])
  const { id: tenantId } = await createTenant(
    database.operator,
    { name: 'Harbour', plan: 'enterprise' },
    current,
  )
  ;({ secret } = await createKey(database.operator, { tenantId, environment: 'sandbox', scope: 'admin' }))
  const email = 'ada@example.com'
  member = await createUser(database.operator, { tenantId, email, role: 'developer' })
  const env = { DATABASE_URL: database.url, SVC_PEPPER: database.pepper }
  const ready = await startService(env, ['--json', '--role', 'api', '--role', 'console']).ready()
  ;[origin, sandbox] = [String(ready.console_url), String(ready.sandbox_base_url)]
}, 60_000)

afterAll(async () => {
  await chromium?.close()
  await endPrograms()
  await database?.close()
})

const SITE = join(ROOT, 'generated/site')

/** Addresses of all pages. The first reader has them built. */
const addresses = async (): Promise<string[]> => {
  await fetch(`${origin}/docs`)
  return globSync('**/*.html', { cwd: SITE })
    .map((file) => `/docs/${file.replace(/(?:^index)?\.html$/, '')}`.replace(/\/$/, ''))
    .toSorted()
}

const oldest = versions[0]!.name

/** With it every page is looked at on every screen, light and dark (`npm run prove:pages`), without it these. */
const everyPage = process.env.EVERY_PAGE !== undefined

/** Versions between the oldest and the newest have no kind of page of their own. */
const isBetween = (address: string) =>
  versions.slice(1, -1).some(({ name }) => address.startsWith(`/docs/${name}`))

/** One of each kind, on one of two screens in turn; only the wide one is dark too. */
const KINDS = [
  '/docs',
  '/docs/changelog',
  '/docs/errors',
  '/docs/quick-start',
  '/docs/webhooks',
  `/docs/upgrading/${oldest}/${current}`,
  `/docs/${oldest}`,
  `/docs/${current}`,
  `/docs/${current}/conventions`,
  `/docs/${current}/events`,
  `/docs/${current}/scans`,
  `/docs/${current}/webhook-endpoints`,
]

/** Opens a page whose complaints, and requests to others than the console, are written down. */
async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; strange: string[] }> {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  const strange: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) strange.push(request.url())
  })
  page.on('console', (message) => strange.push(`${page.url()}: ${message.text()}`))
  page.on('pageerror', (error) => strange.push(`${page.url()}: ${error}`))
  return { page, strange }
}

test('every page shows, on the narrowest screen too, and asks nobody outside for anything', async () => {
  const { page, strange } = await open({ viewport: { width: 320, height: 640 } })
  const wide: string[] = []
  const all = await addresses()
  expect(all.length).toBeGreaterThan(90)
  for (const address of all) {
    if (!everyPage && isBetween(address)) continue
    const response = await page.goto(origin + address)
    expect([address, response?.status()]).toEqual([address, 200])
    if (await isTooWide(page)) wide.push(address)
  }
  expect([wide, strange]).toEqual([[], []])
  await page.context().close()
}, 180_000)

const SHOTS = process.env.SCREENSHOTS

test.each([
  [390, 0],
  [1280, 1],
])(
  'axe finds nothing on the documentation at %i pixels',
  async (width, turn) => {
    const { page, strange } = await open({ viewport: { width, height: 900 }, bypassCSP: true })
    const found: string[] = []
    const schemes = everyPage || turn === 1 ? (['light', 'dark'] as const) : (['light'] as const)
    const all = await addresses()
    expect(KINDS.filter((address) => !all.includes(address))).toEqual([])
    for (const address of everyPage ? all : KINDS.filter((_, index) => index % 2 === turn)) {
      await page.goto(origin + address)
      await loadAxe(page)
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme })
        const name = `${width}-${colorScheme}${address.replaceAll('/', '_')}`
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true })
        const rules = colorScheme === 'dark' ? { only: OF_COLORS } : {}
        found.push(...(await examine(page, rules)).map((each) => `${address} ${colorScheme} ${each}`))
      }
    }
    expect([found, strange]).toEqual([[], []])
    await page.context().close()
  },
  everyPage ? 1_200_000 : 120_000,
)

test('a sample is sent to the sandbox with the reader’s key, which stays in the fields of the page', async () => {
  const { page, strange } = await open({ colorScheme: 'dark' })
  await page.goto(`${origin}/docs/${current}/pass-templates`)
  const creation = page.locator('section.operation', { has: page.locator('#createPassTemplate') })
  await creation.getByText('Try it').click()
  await creation.getByLabel('Sandbox API key').fill(secret)
  await creation.getByRole('button', { name: 'Send' }).click()
  await creation.getByText(/^201 in \d+ ms$/).waitFor()
  const { id } = JSON.parse((await creation.locator('.try pre').textContent())!) as { id: string }
  // Sent again it is another request: what is to be unique is made anew.
  await creation.getByRole('button', { name: 'Send' }).click()
  await creation.getByText(/^201 in/).waitFor()
  await expect
    .poll(async () => JSON.parse((await creation.locator('.try pre').textContent()) || '{}').id)
    .not.toBe(id)

  const reading = page.locator('section.operation', { has: page.locator('#getPassTemplate') })
  await reading.getByText('Try it').click()
  expect(await reading.getByLabel('Sandbox API key').inputValue()).toBe(secret)
  await reading.getByLabel('GET').fill(`/v1/pass_templates/${id}`)
  await reading.getByRole('button', { name: 'Send' }).click()
  await reading.getByText(/^200 in/).waitFor()
  await reading.getByLabel('Sandbox API key').fill('svc_test_wrong')
  await reading.getByRole('button', { name: 'Send' }).click()
  await reading.getByText(/^401 in/).waitFor()
  if (SHOTS) await reading.screenshot({ path: `${SHOTS}/try.png` })

  expect(
    await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])'),
  ).not.toContain('svc_')
  await page.reload()
  await creation.getByText('Try it').click()
  expect(await creation.getByLabel('Sandbox API key').inputValue()).toBe('')
  const others = strange.filter((each) => !each.startsWith(`${sandbox}/v1/pass_templates`))
  expect(others.filter((each) => !/status of 401/.test(each))).toEqual([])
  await page.context().close()
}, 60_000)

test('operations of live alone are not offered to try, and samples are shown without scripts', async () => {
  const { page } = await open()
  await page.goto(`${origin}/docs/${current}/passes`)
  const operations = await page.locator('section.operation').count()
  expect(await page.locator('.try').count()).toBe(operations)
  await page.context().close()
  const quiet = await open({ javaScriptEnabled: false })
  await quiet.page.goto(`${origin}/docs/${current}/passes`)
  expect(await quiet.page.locator('.try').count()).toBe(0)
  expect(await quiet.page.getByText('curl ').first().isVisible()).toBe(true)
  await quiet.page.context().close()
})

test('the chosen language of samples is kept on all pages', async () => {
  const { page, strange } = await open()
  await page.goto(`${origin}/docs/${current}/passes`)
  await page.getByLabel('Language of the sample').first().selectOption('Go')
  const shown = () =>
    page.evaluate(
      "[...new Set([...document.querySelectorAll('.sample[data-language][open]')].map((each) => each.dataset.language))]",
    )
  expect(await shown()).toEqual(['Go'])
  await page.goto(`${origin}/docs/quick-start`)
  expect(await shown()).toEqual(['Go'])
  expect(await page.getByText('package main').first().isVisible()).toBe(true)
  expect(await page.evaluate("CSS.highlights.get('code-keyword').size")).toBeGreaterThan(10)
  expect(strange).toEqual([])
  await page.context().close()
})

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(member.email)
  await page.getByLabel('Password', { exact: true }).fill(member.password)
  await page.getByLabel('Authenticator code').fill(new TOTP({ secret: member.totp_secret }).generate())
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

const send = async (path: string, version: string) => {
  const headers = { Authorization: `Bearer ${secret}`, 'Service-Version': version }
  const response = await fetch(sandbox + path, { headers })
  return { response, body: (await response.json()) as { error?: { doc_url: string; request_id: string } } }
}

test('a reader who signs in sees their own request where its error is explained, and what an upgrade affects', async () => {
  const { page, strange } = await open({
    viewport: { width: 320, height: 640 },
    colorScheme: 'dark',
    bypassCSP: true,
  })
  const old = versions.at(-2)!.name
  await send('/v1/passes?include_archived=true', old)
  const { error } = (await send('/v1/passes?limit=1000', old)).body
  await page.goto(error!.doc_url)
  await page.locator('.own').getByRole('link', { name: 'Sign in' }).click()
  await signIn(page)
  const own = page.locator('h2#out_of_range + .own')
  const link = own.getByRole('link', { name: 'GET /v1/passes?limit=1000' })
  // The log shows requests after a second.
  await expect
    .poll(
      async () => {
        await page.reload()
        // Before the request is in the log, the part is not below the error.
        await page.locator('.own').first().waitFor()
        return link.count()
      },
      { timeout: 20_000 },
    )
    .toBe(1)
  await link.click()
  await own.getByText('Your request').waitFor()
  expect(page.url()).toBe(`${origin}/docs/errors?request=${error!.request_id}`)
  expect(await own.innerText()).toContain('limit must be at most 100.')
  expect(await own.getByRole('link', { name: 'View in the dashboard' }).getAttribute('href')).toBe(
    `/sandbox/requests/${error!.request_id}`,
  )
  await loadAxe(page)
  const found = await examine(page)
  await own.getByLabel('Request ID').fill('req_unknown')
  await own.getByRole('button', { name: 'Show request' }).click()
  await page.getByText('Your account has no logged request').waitFor()

  await page.goto(`${origin}/docs/upgrading/${old}/${current}`)
  await page.getByText(`affect your requests to ${old}`).waitFor()
  expect(await page.locator('.change > .own').count()).toBe(await page.locator('.change').count())

  // Values, records and dates are chosen from what there is.
  const creation = await fetch(`${sandbox}/v1/pass_templates`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${secret}`,
      'Idempotency-Key': crypto.randomUUID(),
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({
      name: 'Tea card',
      kind: 'loyalty',
      brand: { background_color: '#112233', foreground_color: '#ffffff' },
    }),
  })
  const { id } = (await creation.json()) as { id: string }
  await page.goto(`${origin}/docs/${current}/pass-templates`)
  const operation = (name: string) => page.locator('section.operation', { has: page.locator(`#${name}`) })
  const list = operation('listPassTemplates')
  await list.getByText('Try it').click()
  await list.getByLabel('kind', { exact: true }).selectOption('coupon')
  const read = operation('getPassTemplate')
  await read.getByText('Try it').click()
  await read.getByLabel('template_id', { exact: true }).focus()
  await read.locator(`datalist option[value="${id}"]`).waitFor({ state: 'attached' })
  await read.getByLabel('template_id', { exact: true }).fill(id)
  expect(await read.getByLabel('GET').inputValue()).toBe(`/v1/pass_templates/${id}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await list.getByRole('button', { name: 'Copy as curl' }).click()
  await list.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    `curl '${sandbox}/v1/pass_templates?kind=coupon' \\\n  -H "Authorization: Bearer $API_KEY"`,
  )
  await loadAxe(page)
  found.push(...(await examine(page, { only: ['label', 'select-name', 'label-content-name-mismatch'] })))
  expect([found, strange.filter((each) => !/status of 404/.test(each))]).toEqual([[], []])
  await page.context().close()
}, 60_000)

test('the changelog is filtered by the address and by hand, and without scripts by links', async () => {
  const { page, strange } = await open()
  await page.goto(`${origin}/docs/changelog?version=${current}&resource=disputes`)
  const shown = () => page.locator('.change h3').filter({ visible: true }).allInnerTexts()
  expect(await shown()).toEqual(['Rename customer dispute'])
  await page.getByLabel('Version').selectOption({ label: 'All versions' })
  expect(new URL(page.url()).search).toBe('?resource=disputes')
  expect((await shown()).length).toBeGreaterThan(1)
  await page.goBack()
  await expect.poll(shown).toEqual(['Rename customer dispute'])
  expect(strange).toEqual([])
  await page.context().close()
  const quiet = await open({ javaScriptEnabled: false })
  await quiet.page.goto(`${origin}/docs/changelog#tag-disputes`)
  await quiet.page.locator('#tag-disputes').getByRole('link', { name: 'Rename customer dispute' }).click()
  expect(quiet.page.url()).toBe(`${origin}/docs/changelog#${current}-rename-customer-dispute`)
  expect(await quiet.page.getByRole('link', { name: 'Dashboard' }).first().getAttribute('href')).toBe(
    '/sandbox',
  )
  await quiet.page.context().close()
})

test('the search says which versions have what is found, and marks it here and there', async () => {
  const { page, strange } = await open({ viewport: { width: 320, height: 640 } })
  await page.goto(`${origin}/docs`)
  await page.getByRole('searchbox').fill('customer_dispute')
  const hit = page.getByRole('search').getByRole('link', { name: /^Update a dispute/ })
  await hit.waitFor()
  expect(await hit.locator('small').innerText()).toBe('Disputes · 2026-02-01, 2025-11-01')
  expect(await hit.locator('.excerpt mark').allInnerTexts()).toEqual(['customer', 'dispute'])
  expect(await isTooWide(page)).toBe(false)
  await hit.click()
  await page.waitForURL(`${origin}/docs/2026-02-01/disputes#updateDispute`)
  expect(await page.evaluate("CSS.highlights.get('found').size")).toBeGreaterThan(1)
  expect(strange).toEqual([])
  await page.context().close()
})
