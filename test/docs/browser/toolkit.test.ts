/** The toolkit's documentation in a real browser, from files: without a server, and without a request to anybody. */
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildSite } from '../../../docs/toolkit/build/site.ts'
import { startChromium } from '../../support/chromium.ts'
import { examine, isTooWide, loadAxe, OF_COLORS } from '../../support/examine.ts'

const folder = mkdtempSync(join(tmpdir(), 'dateline-playground-'))
const addressOf = (name: string) => pathToFileURL(join(folder, name)).href
const address = addressOf('playground.html')
const SHOTS = process.env.SCREENSHOTS

let chromium: Browser

beforeAll(async () => {
  for (const { path, text } of await buildSite()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  chromium = await startChromium()
}, 120_000)

afterAll(async () => {
  await chromium?.close()
  rmSync(folder, { recursive: true })
})

/** Opens the playground. Complaints, and requests for anything but files of the site, are written down. */
async function open(
  hash = '',
  options: BrowserContextOptions = {},
): Promise<{ page: Page; strange: string[] }> {
  const context = await chromium.newContext({ viewport: { width: 1400, height: 900 }, ...options })
  const page = await context.newPage()
  const strange: string[] = []
  page.on('request', (request) => {
    if (!/^(?:file|blob):/.test(request.url())) strange.push(request.url())
  })
  page.on('console', (message) => strange.push(message.text()))
  page.on('pageerror', (error) => strange.push(String(error)))
  await page.goto(address + hash)
  await page.locator('#differences, #findings').first().waitFor()
  return { page, strange }
}

const differences = (page: Page) => page.locator('#differences')
const document = (page: Page, which: 'Old' | 'New') => page.getByLabel(`${which} version`, { exact: true })

test('documents are compared, drafts completed, and values translated', async () => {
  const { page, strange } = await open()
  await expect
    .poll(() => differences(page).locator('p').textContent())
    .toMatch(/breaking \(\d+ without a change\)/)
  expect(await differences(page).locator('.verdict').first().textContent()).toMatch(
    /^witness: curl .*\n {2}\S+ accepts it; /,
  )
  await page.getByLabel('Lenses of require-format').fill(`v.default(['BookCreate'], 'format', 'print')`)
  await page
    .getByLabel('Lenses of drop-author-name')
    .fill(`v.moved(['Book'], ['author_name'], ['author', 'name'])`)
  await expect
    .poll(() => differences(page).locator('p').textContent())
    .toMatch(/^\d+ breaking, \d+ additive$/)
  const request = page.locator('article', { hasText: 'POST /books, request body' })
  await request.getByLabel('Old version: POST /books, request body').fill('{ "title": "Persuasion" }')
  await expect
    .poll(async () => JSON.parse((await request.locator('.translated').textContent())!))
    .toEqual({ name: 'Persuasion', format: 'print' })
  expect(await page.evaluate('document.activeElement.dataset.field')).toBe(
    'Old version: POST /books, request body',
  )
  const event = page.locator('article', { hasText: 'Event book.created' })
  expect(JSON.parse((await event.locator('.translated').textContent())!)).toMatchObject({
    title: 'Emma',
    author_name: 'Jane Austen',
  })
  expect(strange).toEqual([])
  await page.context().close()
})

test('a fault of a document or of a lens is explained, with its line', async () => {
  const { page, strange } = await open('#example=rename')
  await differences(page).getByText('breaking, ').waitFor()
  const text = await document(page, 'Old').inputValue()
  await document(page, 'Old').fill(text.replace('type: object', 'type: [object'))
  await page.locator('#findings').getByText('document-syntax').waitFor()
  await page
    .locator('#findings')
    .getByRole('button', { name: /^old line \d+$/ })
    .first()
    .click()
  expect(await document(page, 'Old').evaluate('document.activeElement.id')).toBe('playground-old')
  await document(page, 'Old').fill('{ "swagger": "2.0" }')
  await page.locator('#findings').getByText('Swagger 2.0 is not supported').waitFor()
  await document(page, 'Old').fill('')
  await page.locator('#findings').getByText('the document is not a mapping').waitFor()
  await document(page, 'Old').fill(text)
  await page.getByLabel('Lenses of rename-title').fill('v.rename(')
  await page.locator('#drafts .problem').waitFor()
  await page.getByLabel('Lenses of rename-title').fill('v.renam()')
  await page.locator('#drafts .problem').getByText('v.renam is not a function').waitFor()
  expect(strange).toEqual([])
  await page.context().close()
})

test('a link contains the documents, and a damaged one is explained', async () => {
  const first = await open('#example=status')
  await document(first.page, 'New').fill(
    (await document(first.page, 'New').inputValue()).replace('Created', 'Made ü'),
  )
  await first.page.getByRole('button', { name: 'Copy link' }).click()
  await expect.poll(() => first.page.evaluate('location.hash')).toMatch(/^#documents=/)
  const hash = String(await first.page.evaluate('location.hash'))
  const written = await document(first.page, 'New').inputValue()
  await first.page.context().close()
  const second = await open(hash)
  expect(await document(second.page, 'New').inputValue()).toBe(written)
  expect(written).toContain('Made ü')
  await second.page.context().close()
  const damaged = await open(hash.slice(0, -8))
  await damaged.page.getByText('The link is damaged').waitFor()
  await damaged.page.context().close()
})

test('the page answers while large documents are compared', async () => {
  const { page, strange } = await open('#example=rename')
  const parts = (name: string) =>
    Array.from(
      { length: 800 },
      (_, at) => `        part${at}: { type: object, properties: { ${name}: { type: string } } }\n`,
    ).join('')
  const large = (text: string, name: string) =>
    text.replace(/( {4}Book:\n {6}type: object\n {6}required: .*\n {6}properties:\n)/, `$1${parts(name)}`)
  // Typing so much text takes Chromium longer than the comparison.
  for (const [which, name] of [
    ['Old', 'title'],
    ['New', 'name'],
  ] as const) {
    const text = JSON.stringify(large(await document(page, which).inputValue(), name))
    const field = `document.getElementById('playground-${which.toLowerCase()}')`
    await page.evaluate(`${field}.value = ${text}; ${field}.dispatchEvent(new Event('input'))`)
  }
  await page.getByText('Comparing…').waitFor()
  const start = Date.now()
  expect(await page.evaluate('1 + 1')).toBe(2)
  expect(Date.now() - start).toBeLessThan(1000)
  await page.locator('#playground-status', { hasText: /^$/ }).waitFor({ state: 'attached', timeout: 40_000 })
  expect(strange).toEqual([])
  await page.context().close()
}, 90_000)

/** With it axe examines every page on both screens (`npm run prove:pages`). */
const everyPage = process.env.EVERY_PAGE !== undefined

/** Has elements of every kind that screens of this width alone show, so the others are examined for colors on the wide screen. */
const OF_NARROW_SCREENS = ['playground.html', 'index.html']

test.each([390, 1400])(
  'axe finds nothing at %i pixels, and nothing is cut off',
  async (width) => {
    const { page, strange } = await open('', { viewport: { width, height: 900 } })
    await page.locator('#translations').waitFor()
    const found: string[] = []
    // The playground is open already.
    const others = globSync('*.html', { cwd: folder }).filter((name) => name !== 'playground.html')
    for (const name of ['playground.html', ...others]) {
      if (others.includes(name)) await page.goto(addressOf(name))
      if (width < 1000 && !everyPage && !OF_NARROW_SCREENS.includes(name)) {
        if (await isTooWide(page)) found.push(`${name} is wider than the screen`)
        continue
      }
      await loadAxe(page)
      const hasColors = width > 1000 || OF_NARROW_SCREENS.includes(name)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const shot = `${name}-${width}-${colorScheme}`
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/${shot}.png`, fullPage: true })
        if (colorScheme === 'dark' && !hasColors) continue
        const rules = colorScheme === 'dark' ? { only: OF_COLORS } : hasColors ? {} : { except: OF_COLORS }
        found.push(...(await examine(page, rules)).map((each) => `${shot} ${each}`))
      }
    }
    expect([found, strange]).toEqual([[], []])
    await page.context().close()
  },
  120_000,
)

test('the search leads to a lens', async () => {
  const { page, strange } = await open()
  await page.getByLabel('Search the documentation').fill('renamedParameter')
  await page.getByRole('search').getByRole('link', { name: 'renamedParameter' }).first().click()
  await page.waitForURL(/\/lenses\.html#renamedParameter$/i)
  expect(await page.locator(':target').textContent()).toBe('renamedParameter')
  expect(strange).toEqual([])
  await page.context().close()
})
