/** The page of a pass in a real browser: readable by everybody, whole without scripts, and with codes that scanners read. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import { createBarcodes } from '../../../../runtime/passes/wallets/pages/barcodes.ts'
import { answerMissing, answerPassPage } from '../../../../runtime/passes/wallets/pages/pass-page.ts'
import { PASS_KINDS, type PassState } from '../../../../runtime/passes/wallets/render/pass-state.ts'
import { startChromium } from '../../../support/chromium.ts'
import { examine, isTooWide, loadAxe, OF_COLORS } from '../../../support/examine.ts'
import { makeState, STRAINS, withImages } from '../page-states.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
const DESKTOP = { viewport: { width: 1280, height: 800 } }
const NARROWEST = { viewport: { width: 320, height: 640 } }
const SHARP_PHONE = { ...PHONE, deviceScaleFactor: 3, colorScheme: 'dark' } as const
const QUIET_PHONE = { ...PHONE, deviceScaleFactor: 2, javaScriptEnabled: false }
const QUIET_DESKTOP = { ...DESKTOP, javaScriptEnabled: false }

/** What the server shows, by path. */
const shown = new Map<string, PassState>()
const barcodes = createBarcodes()
const server = createServer(async (request, response) => {
  const state = shown.get(request.url ?? '')
  const facts = {
    headers: request.headers,
    googleUrl: 'https://pay.google.com/gp/v/save/jwt',
    isTest: true,
    now: 0,
  }
  const { status, headers, body } = state ? await answerPassPage(state, facts, barcodes) : answerMissing({})
  response.writeHead(status, [...headers]).end(body)
})
let browser: Browser
let origin: string

beforeAll(async () => {
  const wasm = new URL('../../../../node_modules/zxing-wasm/dist/reader/zxing_reader.wasm', import.meta.url)
  // Else it would fetch its program from the network.
  await prepareZXingModule({
    overrides: { wasmBinary: readFileSync(wasm).buffer as ArrayBuffer },
    fireImmediately: true,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await startChromium()
})

afterAll(async () => {
  await browser?.close()
  await new Promise((resolve) => server.close(resolve))
  await barcodes.stop()
})

function addressOf(state: PassState): string {
  const path = `/${shown.size}`
  shown.set(path, state)
  return `${origin}${path}`
}

/** A page for each kind of screen: to load one is cheaper than to make one. */
const pages = new Map<BrowserContextOptions, { readonly page: Page; readonly strange: string[] }>()

async function pageOn(options: BrowserContextOptions) {
  const known = pages.get(options)
  if (known) return known
  const page = await (await browser.newContext(options)).newPage()
  const strange: string[] = []
  page.on('request', (request) => {
    const isOwn = request.isNavigationRequest() && request.url().startsWith(origin)
    if (!isOwn && !request.url().startsWith('data:')) strange.push(request.url())
  })
  page.on('console', (message) => strange.push(message.text()))
  page.on('pageerror', (error) => strange.push(String(error)))
  pages.set(options, { page, strange })
  return { page, strange }
}

/**
 * @param options the same object for the same screen.
 * @returns what `use` finds; everything that the page asks the network for, and what the browser refuses it, fails.
 */
async function visit<T>(
  url: string,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const { page, strange } = await pageOn(options)
  await page.goto(url)
  const found = await use(page)
  expect(strange.splice(0)).toEqual([])
  return found
}

const STATUSES = ['issued', 'redeemed', 'revoked', 'expired'] as const

/** With it each kind is looked at in each state (`npm run prove:pages`), without it issued and in one other state. */
const everyPage = process.env.EVERY_PAGE !== undefined

/** Each kind in each state, with images and without. */
const OF_KINDS = PASS_KINDS.map((kind, index) => {
  const states = STATUSES.map((status) => makeState(kind, { status, expiresAt: Date.now() }))
  const [issued, ...others] = [...states, withImages(makeState(kind))]
  return [kind, [issued!, ...(everyPage ? others : [others[index % others.length]!])]] as const
})

/** All four looks of a valid pass; of the others two, in turn, for axe takes its time. */
const LOOKS = [
  [
    [PHONE, 'light'],
    [PHONE, 'dark'],
    [DESKTOP, 'light'],
    [DESKTOP, 'dark'],
  ],
  [
    [PHONE, 'dark'],
    [DESKTOP, 'light'],
  ],
  [
    [PHONE, 'light'],
    [DESKTOP, 'dark'],
  ],
] as const

/** Rules of axe that may find another thing in each look of one document; all others ask for what stands in it. */
const OF_LOOKS = [...OF_COLORS, 'target-size', 'scrollable-region-focusable']

describe.concurrent('no finding of axe on phones and desktops, light and dark', () => {
  const many = [...OF_KINDS, ['what strains a layout', Object.values(STRAINS)] as const]
  test.each([...many, ['no pass', [undefined]] as const])(
    'axe finds nothing on the page of %s, light and dark, on phones and desktops',
    async (_name, states) => {
      const context = await browser.newContext({ bypassCSP: true })
      const page = await context.newPage()
      await page.goto(addressOf(makeState('generic')))
      await loadAxe(page)
      const findings: string[] = []
      for (const [index, state] of states.entries()) {
        // In the place of the one before: axe takes longer to load than to look.
        const url = state ? addressOf(state) : `${origin}/none`
        await page.evaluate(
          `fetch('${url}').then((page) => page.text()).then((text) => { document.documentElement.innerHTML = text })`,
        )
        for (const [at, [{ viewport }, colorScheme]] of LOOKS[index === 0 ? 0 : 1 + (index % 2)]!.entries()) {
          await page.setViewportSize(viewport)
          await page.emulateMedia({ colorScheme })
          const found = await examine(page, at === 0 ? {} : { only: OF_LOOKS })
          findings.push(...found.map((each) => `${url}, ${viewport.width} px, ${colorScheme}: ${each}`))
        }
      }
      await context.close()
      expect(findings).toEqual([])
    },
  )

  test('axe finds nothing where the code alone is shown', async () => {
    const context = await browser.newContext({ ...PHONE, bypassCSP: true, colorScheme: 'dark' })
    const page = await context.newPage()
    await page.goto(addressOf(makeState('gift_card')))
    await loadAxe(page)
    await page.click('summary')
    expect(await examine(page)).toEqual([])
    await context.close()
  })
})

test('the page of a pass fits the narrowest phone, on either side', async () => {
  for (const state of Object.values(STRAINS)) {
    await visit(addressOf(state), NARROWEST, async (page) => {
      expect(await isTooWide(page)).toBe(false)
      await page.click('label[for=side-back]')
      expect(await isTooWide(page)).toBe(false)
    })
  }
})

describe('without scripts', () => {
  test('the page is whole, and turned by touch', async () => {
    await visit(addressOf(makeState('loyalty')), QUIET_PHONE, async (page) => {
      expect(await page.isVisible('.front')).toBe(true)
      expect(await page.isVisible('.back')).toBe(false)
      await page.click('label[for=side-back]')
      expect(await page.isVisible('.front')).toBe(false)
      expect(await page.innerText('.back')).toContain('Ten points for each coffee.')
    })
  })

  test('the page of a pass works without scripts and by keyboard, which then comes to the wallets in their order', async () => {
    const focused = (page: Page) =>
      page.evaluate('document.activeElement.id || document.activeElement.className')
    await visit(addressOf(makeState('loyalty')), QUIET_PHONE, async (page) => {
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('side-front')
      const outline = `getComputedStyle(document.querySelector('label[for=side-front]')).outlineStyle`
      expect(await page.evaluate(outline)).toBe('solid')
      await page.keyboard.press('ArrowRight')
      expect([await focused(page), await page.isVisible('.back')]).toEqual(['side-back', true])
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('add apple')
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('add google')
    })
  })

  test('the code is enlarged by keyboard, and put back', async () => {
    await visit(addressOf(makeState('loyalty')), QUIET_PHONE, async (page) => {
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect(await page.isVisible('.screen')).toBe(true)
      await page.keyboard.press('Enter')
      expect(await page.isVisible('.screen')).toBe(false)
    })
  })

  test('screens with room show both sides, and nothing to turn', async () => {
    await visit(addressOf(makeState('loyalty')), QUIET_DESKTOP, async (page) => {
      expect(await page.isVisible('.front')).toBe(true)
      expect(await page.isVisible('.back')).toBe(true)
      const stops: unknown[] = []
      for (let stop = 0; stop < 3; stop += 1) {
        await page.keyboard.press('Tab')
        stops.push(
          await page.evaluate('document.activeElement.className || document.activeElement.localName'),
        )
      }
      expect(stops).toEqual(['summary', 'add apple', 'add google'])
    })
  })
})

test('pictures come with the page: nothing else is asked for', async () => {
  await visit(addressOf(withImages(makeState('loyalty'))), PHONE, async (page) => {
    const widths = '[...document.images].map((image) => image.naturalWidth)'
    expect(await page.evaluate(widths)).toEqual([480, 1125])
  })
})

test('text that looks like HTML is read as it was written, and does nothing', async () => {
  const state = STRAINS['looks like HTML']!
  await visit(addressOf(state), PHONE, async (page) => {
    expect(await page.title()).toBe(`${state.name} – ${state.organization}`)
    expect(await page.textContent('h1')).toBe(state.name)
    expect(await page.textContent('.issuer')).toBe(state.organization)
    const shownFields = await page.$$eval('.field', (all) =>
      all.map((each) => [each.querySelector('dt')?.textContent, each.querySelector('dd')?.textContent]),
    )
    for (const { label, value } of state.fields) expect(shownFields).toContainEqual([label, value])
    expect(await page.locator('script, iframe, form:not(.switch), img[src^=http], section a').count()).toBe(0)
  })
})

test('text in Arabic and Hebrew starts at its right', async () => {
  await visit(addressOf(STRAINS['right to left']!), PHONE, async (page) => {
    const directions = await page.evaluate(
      `[...document.querySelectorAll('.front dd')].map((each) => getComputedStyle(each).direction)`,
    )
    expect(directions).toEqual(['rtl', 'rtl', 'rtl', 'ltr'])
  })
})

/** What a scanner gives, by the name that it has for a format. */
const SCANNED = { qr: 'QRCode', pdf417: 'PDF417', aztec: 'Aztec', code128: 'Code128' } as const

const scan = async (screenshot: Buffer) =>
  (await readBarcodes(screenshot, { tryHarder: true })).map(({ format, text }) => [format, text])

describe('scanned off the screen', () => {
  const code = makeState('generic').barcode.message
  const long = 'https://example.com/?a=1&b=<2>^042'.repeat(7)
  test.each([
    ['qr', code],
    ['aztec', code],
    ['pdf417', code],
    ['code128', 'COFFEE-2026'],
    ['qr', 'Café 漢字 😀'],
    ['aztec', 'Café 漢字 😀'],
    ['pdf417', 'Café 漢字 😀'],
    ['code128', 'Café 12'],
    ['qr', long],
    ['aztec', long],
    ['pdf417', long],
  ] as const)('a scanner reads the %s code off the screen: %s', async (format, message) => {
    // A brand as dark as the bars: only the code's own quiet zone sets them apart.
    const brand = { background_color: '#000000', foreground_color: '#FFFFFF' }
    const url = addressOf(makeState('generic', { barcode: { format, message }, brand }))
    const screenshot = await visit(url, SHARP_PHONE, (page) => page.locator('.pass').screenshot())
    expect(await scan(screenshot)).toEqual([[SCANNED[format], message]])
  })

  test.each([
    ['a phone', QUIET_PHONE],
    ['a plain monitor', QUIET_DESKTOP],
  ] as const)(
    'the code is alone on the screen of %s, which long bars and coarse screens need',
    async (_where, options) => {
      for (const format of ['code128', 'pdf417', 'qr', 'aztec'] as const) {
        const url = addressOf(makeState('event_ticket', { barcode: { format, message: code } }))
        await visit(url, options, async (page) => {
          await page.click('summary')
          expect(await scan(await page.screenshot())).toEqual([[SCANNED[format], code]])
          await page.click('summary')
          expect(await page.isVisible('.screen')).toBe(false)
        })
      }
    },
  )
})
