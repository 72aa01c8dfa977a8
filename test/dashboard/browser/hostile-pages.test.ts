/** Every page of the dashboard in a real browser, with hostile names on it: nothing runs; and, with `EVERY_PAGE`, without scripts everything is there. */
import type { BrowserContextOptions, Browser as Chromium, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChromium } from '../../support/chromium.ts'
import { examine, isTooWide, loadAxe } from '../../support/examine.ts'
import { Browser, startDashboard, type TestDashboard } from '../support/dashboard.ts'
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

/** What is typed into fields of a type. */
const TYPED: Readonly<Record<string, string>> = { email: 'ada@example.com', date: '2026-01-02' }

/** Finds the form that goes to an address. Returns its empty required fields, or undefined if the form is not to be sent. */
const FORM = `(action) => {
  const form = [...document.querySelectorAll('form:not([hidden])')].findLast((each) => each.getAttribute('action') === action)
  const button = form?.querySelector('button[type=submit]:not([formaction])')
  // Ending it would end the tour. The preview of an action on selected rows has no button if no row is selected.
  if (!button || form.closest('tr')?.textContent.includes('(this session)')) return undefined
  const fields = [...form.querySelectorAll('input[required], textarea[required]')]
  return fields.filter(({ value, type }) => value === '' && type !== 'file').map(({ name, type }) => ({ name, type }))
}`

interface EmptyField {
  readonly name: string
  readonly type: string
}

/** Fills in the form that goes to the address with what nearly every field takes, and sends it. Returns the status, or undefined if the form is not to be sent. */
async function sendForm(page: Page, action: string): Promise<number | undefined> {
  const empty: EmptyField[] | undefined = await page.evaluate(`(${FORM})(${JSON.stringify(action)})`)
  if (empty === undefined) return undefined
  const form = page.locator(`form:not([hidden])[action="${action}"]`).last()
  for (const { name, type } of empty) {
    const text = name === 'code' ? await tenant.owner.freshCode() : (TYPED[type] ?? '1')
    await form.locator(`:is(input, textarea)[required][name="${name}"]`).first().fill(text)
  }
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.waitForEvent('domcontentloaded'),
    form.locator('button[type=submit]:not([formaction])').last().click(),
  ])
  return answer.status()
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

const showWithoutScripts = async () => {
  const { page, complaints } = await open({ javaScriptEnabled: false })
  const reader = new Browser(dashboard.origin, tenant.owner.cookie)
  const inSandbox = pages.filter((path) => path.startsWith('/sandbox'))
  /** Where each form is, by where it goes. */
  const forms = new Map<string, string>()
  for (const path of inSandbox)
    for (const { method, action, isHidden } of readForms(readMarkup((await reader.get(path)).text)))
      if (method === 'post' && !isHidden && !forms.has(action)) forms.set(action, path)

  const read = async (path: string) => {
    const response = await page.goto(dashboard.origin + path)
    const text = await page.locator('body').innerText()
    expect([path, response?.status(), text.length > 150]).toEqual([path, 200, true])
    if ((await page.locator('.tail[data-rows]').count()) > 0) expect(text).toContain('Reload this page')
  }
  const withForms = new Set(forms.values())
  for (const path of inSandbox) if (!withForms.has(path)) await read(path)

  const order = (action: string) => LAST.indexOf(action.split('/').at(-1)!)
  const sent = [...forms].toSorted(([one], [other]) => order(one) - order(other))
  const done: string[] = []
  for (const [action, path] of sent) {
    if (withForms.delete(path)) await read(path)
    else if (page.url() !== dashboard.origin + path)
      await page.goto(dashboard.origin + path, { waitUntil: 'domcontentloaded' })
    const answered = await sendForm(page, action)
    if (answered === undefined) continue
    // A button without fields leads to a page that asks for a code.
    const status = answered === 403 ? await sendForm(page, action) : answered
    expect([action, status, [200, 303, 409, 422].includes(Number(status))]).toEqual([action, status, true])
    expect([action, await page.locator('h1:visible').count()]).toEqual([action, 1])
    if (Number(status) < 400) done.push(action)
  }
  expect(complaints.filter((each) => !/status of (?:403|409|422)/.test(each))).toEqual([])
  expect([sent.length > 60, done.length > 35]).toEqual([true, true])
}
// `npm test` reads each page, and sends each form, as a browser without scripts does, in `test/dashboard/hostile-pages.test.ts`.
if (everyPage)
  test('every page without scripts says what it holds, and every form is sent', showWithoutScripts, 300_000)
