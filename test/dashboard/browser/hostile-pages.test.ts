/** Every page of the dashboard in a real browser, with hostile names on it: nothing runs; and without scripts everything is there. */
import type { BrowserContextOptions, Browser as Chromium, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChromium } from '../../support/chromium.ts'
import { examine, isTooWide, loadAxe } from '../../support/examine.ts'
import { startDashboard, type TestDashboard } from '../support/dashboard.ts'
import { type HostileTenant, makeHostileTenant } from '../support/hostile.ts'
import { readForms, readMarkup } from '../support/markup.ts'

/** With it pages of both environments are looked at, and more closely (`npm run prove:pages`). */
const everyPage = process.env.EVERY_PAGE !== undefined

let dashboard: TestDashboard
let chromium: Chromium
let tenant: HostileTenant
/** What a person looks at: streams and style sheets are parts of pages. Of live without `EVERY_PAGE` what the sandbox has not. */
let pages: readonly string[]

beforeAll(async () => {
  ;[dashboard, chromium] = await Promise.all([startDashboard(), startChromium()])
  tenant = await makeHostileTenant(dashboard)
  const looked = tenant.pages.filter((path) => !/^\/\w+\/.+\/live$|^\/\w+\/find\/|\.css$/.test(path))
  const inSandbox = new Set(looked.filter((path) => path.startsWith('/sandbox')).map(shapeOf))
  const isOwn = (path: string) => path.startsWith('/sandbox') || !inSandbox.has(shapeOf(path))
  pages = everyPage ? looked : looked.filter(isOwn)
}, 180_000)

/** An address without its environment and its identifiers. */
const shapeOf = (path: string) => path.replace(/^\/\w+/, '').replaceAll(/\w+_\w{26}/g, ':id')

afterAll(async () => {
  await chromium?.close()
  await dashboard?.stop()
})

/** A page of the owner's, and what its browser complains of. */
async function open(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
  const context = await chromium.newContext(options)
  const [name, value] = tenant.owner.cookie.split('=', 2)
  await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('console', (message) => complaints.push(`${page.url()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(dashboard.origin)) complaints.push(`asks for ${request.url()}`)
  })
  return { page, complaints }
}

/** Last parts of addresses after which less is there, the least at the end. */
const LAST =
  'release rotate submit resolve withdraw revoke cancel archive disable deactivate disconnect remove delete end reset'.split(
    ' ',
  )

/** Fills in what has to be and is not: what nearly every field takes. */
async function fillIn(form: Locator): Promise<void> {
  for (const field of await form.locator('input[required], textarea[required]').all()) {
    if ((await field.inputValue()) !== '' || (await field.getAttribute('type')) === 'file') continue
    if ((await field.getAttribute('name')) === 'code') {
      await field.fill(await tenant.owner.freshCode())
      continue
    }
    await field.fill((await field.getAttribute('type')) === 'email' ? 'ada@example.com' : '1')
  }
}

/** Elements of the document, and of what is drawn in shadow roots, that run or lead to what is not ours. */
const STRANGE = `(() => {
  const strange = []
  const look = (root) => {
    for (const each of root.querySelectorAll('*')) {
      for (const { name, value } of each.attributes)
        if (name.startsWith('on') || /^\\s*(javascript|vbscript):/i.test(value) && !/^(value|title|aria-.*|data-.*)$/.test(name))
          strange.push(each.localName + ' ' + name)
      if (each.localName === 'script' && !each.getAttribute('src')?.startsWith('/assets/')) strange.push('script')
      if (each.localName === 'img' && each.getAttribute('src') === 'x') strange.push('img')
      if (each.shadowRoot) look(each.shadowRoot)
    }
  }
  look(document)
  return strange
})()`

/** Narrow phones. A page that fits the narrowest one fits the others unless something is wider there. */
const WIDTHS = everyPage ? [320, 375] : [320]

test('nothing of what others have set runs on any page, no browser complains, and no page is wider than a phone', async () => {
  const { page, complaints } = await open({ viewport: { width: 320, height: 700 } })
  const wide: string[] = []
  for (const path of pages) {
    const response = await page.goto(dashboard.origin + path)
    expect([path, response?.status(), await page.evaluate(STRANGE)]).toEqual([path, 200, []])
    for (const width of WIDTHS) {
      if (everyPage) await page.setViewportSize({ width, height: 700 })
      if (await isTooWide(page)) wide.push(`${path} at ${width}`)
    }
  }
  expect([complaints, wide]).toEqual([[], []])
}, 180_000)

if (everyPage)
  test('axe finds nothing on any page', async () => {
    const { page } = await open({ bypassCSP: true })
    const found: string[] = []
    for (const path of pages) {
      await page.goto(dashboard.origin + path)
      await loadAxe(page)
      found.push(...(await examine(page)).map((each) => `${shapeOf(path)} ${each}`))
    }
    expect([...new Set(found)]).toEqual([])
  }, 600_000)

async function sendWithCode(page: Page): Promise<number> {
  await fillIn(page.locator('form'))
  const answer = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByRole('button', { name: 'Submit form' }).click()
  return (await answer).status()
}

test('every page without scripts says what it holds, and every form is sent', async () => {
  const { page, complaints } = await open({ javaScriptEnabled: false })
  /** Where each form is, by where it goes. */
  const forms = new Map<string, string>()
  const inSandbox = pages.filter((path) => path.startsWith('/sandbox'))
  for (const path of inSandbox) {
    const response = await page.goto(dashboard.origin + path)
    const text = await page.locator('body').innerText()
    expect([path, response?.status(), text.length > 150]).toEqual([path, 200, true])
    if ((await page.locator('.tail[data-rows]').count()) > 0) expect(text).toContain('Reload this page')
    for (const { method, action } of readForms(readMarkup(await page.content())))
      if (method === 'post' && !forms.has(action)) forms.set(action, path)
  }
  const order = (action: string) => LAST.indexOf(action.split('/').at(-1)!)
  const sent = [...forms].toSorted(([one], [other]) => order(one) - order(other))
  const done: string[] = []
  for (const [action, path] of sent) {
    await page.goto(dashboard.origin + path)
    const form = page.locator(`form[action="${action}"]`)
    // Ending it would end the tour.
    if ((await page.locator('tr', { hasText: '(this session)', has: form }).count()) > 0) continue
    await fillIn(form)
    const answer = page.waitForResponse((response) => response.request().method() === 'POST')
    await form.locator('button[type=submit]:not([formaction])').last().click()
    const answered = (await answer).status()
    await page.waitForLoadState()
    // A button without fields leads to a page that asks for a code.
    const status = answered === 403 ? await sendWithCode(page) : answered
    expect([action, status, [200, 303, 409, 422].includes(status)]).toEqual([action, status, true])
    await page.waitForLoadState()
    expect([action, await page.getByRole('heading', { level: 1 }).count()]).toEqual([action, 1])
    if (status < 400) done.push(action)
  }
  expect(complaints.filter((each) => !/status of (?:403|409|422)/.test(each))).toEqual([])
  expect([sent.length > 60, done.length > 35]).toEqual([true, true])
}, 300_000)
