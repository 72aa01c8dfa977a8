/** What a server says of the page of a pass: headers, what is asked again, order of wallets, states. In a browser: `browser/`. */
import { afterAll, describe, expect, test } from 'vitest'
import { createBarcodes } from '../../../runtime/passes/wallets/pages/barcodes.ts'
import {
  answerMissing,
  answerPassPage,
  answerUnchanged,
} from '../../../runtime/passes/wallets/pages/pass-page.ts'
import { contrast, readableOn } from '../../../runtime/passes/wallets/render/page/colors.ts'
import { PHRASES, type Phrase } from '../../../runtime/passes/wallets/render/page/phrases.ts'
import type { PassState } from '../../../runtime/passes/wallets/render/pass-state.ts'
import { html } from '../../../runtime/platform/html.ts'
import { makeState } from './page-states.ts'

const barcodes = createBarcodes()
afterAll(() => barcodes.stop())

const TENANT = 'ten_01jx2f8m3q5r7s9t1v3w5x7y9z'
const googleUrl = 'https://pay.google.com/gp/v/save/jwt'

function ask(state: PassState, headers: Readonly<Record<string, string>> = {}, isTest = true) {
  const request = { headers, googleUrl, isTest, now: 0 }
  return answerUnchanged(state, request) ?? answerPassPage(state, request, barcodes)
}

const textOf = async (state: PassState, headers = {}, isTest = true) =>
  (await ask(state, headers, isTest)).body.toString()

/** Headers that are given as names and values in turn. */
const byName = (headers: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]!]] : [])))

describe('headers', () => {
  test('keep the address to the holder and let nothing in', async () => {
    const { status, headers: list } = await ask(makeState('loyalty'))
    const headers = byName(list)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'private, no-cache',
      'Last-Modified': 'Mon, 01 Jun 2026 12:00:00 GMT',
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex, nofollow, noarchive',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'User-Agent, Accept-Language',
    })
    expect(headers['Content-Security-Policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    )
  })

  test('the page answers 304 to a browser that has it, by the tag before the date', async () => {
    const state = makeState('loyalty')
    const { ETag: etag = '', 'Last-Modified': date = '' } = byName((await ask(state)).headers)
    const statusOf = async (sent: Readonly<Record<string, string>>) => (await ask(state, sent)).status
    expect(await statusOf({ 'if-none-match': etag })).toBe(304)
    expect(await statusOf({ 'if-none-match': `"other", W/${etag}` })).toBe(304)
    expect(await statusOf({ 'if-none-match': '*' })).toBe(304)
    expect(await statusOf({ 'if-modified-since': date })).toBe(304)
    expect(await statusOf({ 'if-none-match': '"other"', 'if-modified-since': date })).toBe(200)
    expect(await statusOf({ 'if-modified-since': 'Mon, 01 Jun 2026 11:59:59 GMT' })).toBe(200)
    expect(await statusOf({ 'if-modified-since': 'yesterday' })).toBe(200)
    expect(await statusOf({ 'if-none-match': etag, 'user-agent': 'Android' })).toBe(200)
    const { body } = await ask(state, { 'if-none-match': etag })
    expect(body.length).toBe(0)
  })

  test('the tag changes with what is shown', async () => {
    const tags = await Promise.all(
      [
        makeState('loyalty'),
        makeState('loyalty', { status: 'revoked', changed: Date.parse('2026-06-01T12:00:01Z') }),
        makeState('loyalty', { organization: 'Harbor Coffee' }),
        makeState('loyalty', { pageUrl: 'https://other.example/p/AQ-example' }),
      ].map(async (state) => byName((await ask(state)).headers).ETag),
    )
    expect(new Set(tags).size).toBe(4)
  })
})

describe('wallets', () => {
  const IPHONE =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile Safari/604.1'
  const MAC =
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/19.0 Safari/605.1.15'
  const ANDROID =
    'Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36 Chrome/150.0 Mobile Safari/537.36'
  const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36'

  test.each([
    [IPHONE, ['Apple', 'Google']],
    [MAC, ['Apple', 'Google']],
    [ANDROID, ['Google', 'Apple']],
    [WINDOWS, ['Apple', 'Google']],
    ['', ['Apple', 'Google']],
  ])('the page offers a browser the wallets in its order: %s gets %j', async (agent, order) => {
    const text = await textOf(makeState('coupon'), agent === '' ? {} : { 'user-agent': agent })
    expect([...text.matchAll(/<\/small> (\w+) Wallet</g)].map(([, name]) => name)).toEqual(order)
  })

  test('the page links wallets by the addresses of the pass', async () => {
    const text = await textOf(makeState('coupon'))
    expect(text).toContain('href="https://passes.example/p/AQ-example.pkpass"')
    expect(text).toContain(`href="${googleUrl}"`)
  })
})

describe('states', () => {
  const expiresAt = Date.parse('2026-05-30T22:00:00Z')
  test.each([
    ['redeemed', 'Already used', 'It cannot be used again'],
    ['revoked', 'No longer valid', 'Harbour Coffee has withdrawn this pass'],
    ['expired', 'Expired', 'valid until 30 May 2026 at 22:00 UTC'],
  ] as const)(
    'the page of a pass that is %s says it, and has nothing to add or to scan',
    async (status, title, words) => {
      const text = await textOf(makeState('coupon', { status, expiresAt }))
      expect(text).toContain(`<strong>${title}.</strong>`)
      expect(text).toContain(words)
      expect(text).not.toContain('.pkpass')
      expect(text).not.toContain('pay.google.com')
      expect(text).not.toContain(makeState('coupon').barcode.message)
    },
  )

  test.each(['issued', 'installed', 'active'] as const)(
    'the page of a pass that is %s does not mention it',
    async (status) => {
      const text = await textOf(makeState('coupon', { status }))
      expect(text).not.toContain('role="status"')
      expect(text).toContain('.pkpass')
    },
  )

  test('the page of a sandbox pass says so, and that of a live one does not', async () => {
    expect(await textOf(makeState('coupon'), {}, true)).toContain('Test pass')
    expect(await textOf(makeState('coupon'), {}, false)).not.toContain('Test pass')
  })

  test('a holder’s e-mail address is on no page', async () => {
    expect(await textOf(makeState('coupon'))).not.toContain('amara@example.com')
  })
})

test('the page of no pass is answered with 404 and is not cached', () => {
  expect(answerMissing({}).status).toBe(404)
  expect(byName(answerMissing({}).headers)).toMatchObject({
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow, noarchive',
  })
  expect(answerMissing({}).body.toString()).toContain('<html lang="en" dir="ltr">')
})

describe('languages', () => {
  test('every language has every phrase, with the placeholders of English', () => {
    const placeholders = (text: string) => text.match(/\{\w+\}/g) ?? []
    const names = Object.keys(PHRASES.en) as Phrase[]
    expect(Object.keys(PHRASES)).toEqual(['en', 'de', 'fr', 'es', 'it', 'pt', 'ja'])
    for (const phrases of Object.values(PHRASES)) {
      expect(Object.keys(phrases)).toEqual(names)
      for (const name of names) {
        expect(phrases[name].trim()).not.toBe('')
        expect(placeholders(phrases[name])).toEqual(placeholders(PHRASES.en[name]))
      }
    }
  })

  test.each([
    [
      'de-AT,de;q=0.9,en;q=0.8',
      'de',
      'Diese Karte ist abgelaufen. Sie war gültig bis 30. Mai 2026 um 22:00 UTC',
    ],
    ['nl, fr;q=0.5, en;q=0.7, *;q=0.1', 'en', 'valid until 30 May 2026 at 22:00 UTC'],
    ['en-US', 'en', 'valid until May 30, 2026 at 10:00 PM UTC'],
    ['fr-CH-1996;q=1', 'fr', 'validité : 30 mai 2026 à 22:00 UTC'],
    ['es', 'es', 'validez: 30 de mayo de 2026 a las 22:00 UTC'],
    ['it-IT', 'it', 'validità: 30 maggio 2026 alle ore 22:00 UTC'],
    ['pt-BR', 'pt', 'validade: 30 de maio de 2026 às 22:00 UTC'],
    ['JA', 'ja', '有効期限は 2026年5月30日 22:00 UTC でした'],
    ['en;q=0, it', 'it', 'Scaduto'],
    ['x-klingon, 12, ;q=, "<script>"', 'en', 'Expired'],
    [undefined, 'en', 'Expired'],
  ])('a browser that wants %s gets %s', async (header, language, words) => {
    const state = makeState('coupon', { status: 'expired', expiresAt: Date.parse('2026-05-30T22:00:00Z') })
    const text = await textOf(state, header === undefined ? {} : { 'accept-language': header })
    expect(text).toContain(`<html lang="${language}" dir="ltr">`)
    expect(text).toContain(words)
  })

  test('the texts of the pass are in the language that the holder wants, or in their own', async () => {
    const translations = { ar: { label: 'نقاط' }, 'pt-BR': { label: 'Pontos', value: '1.280' } }
    const [points, ...others] = makeState('loyalty').fields
    const state = makeState('loyalty', {
      fields: [{ ...points!, translations }, ...others],
      options: { language: 'fr', translations: { ar: { name: 'قهوة' } } },
    })
    const front = async (header?: string) => {
      const text = await textOf(state, header === undefined ? {} : { 'accept-language': header })
      const [, page] = /<html lang="(\w+)"/.exec(text)!
      const [, title] = /<h1 [^>]*>([^<]*)/.exec(text)!
      const [, attributes] = /<section class="front[^>]*aria-label="[^"]*" ([^>]*)>/.exec(text)!
      return [page, title, attributes, /<dt dir="auto">(نقاط|Pontos|Points)</.exec(text)?.[1]]
    }
    expect(await front('ar-EG, de;q=0.5')).toEqual(['de', 'قهوة', 'lang="ar" dir="rtl"', 'نقاط'])
    expect(await front('pt')).toEqual(['pt', 'Coffee loyalty', 'lang="pt-BR" dir="ltr"', 'Pontos'])
    expect(await front('ko')).toEqual(['fr', 'Coffee loyalty', 'lang="fr" dir="ltr"', 'Points'])
    expect(await front()).toEqual(['fr', 'Coffee loyalty', 'lang="fr" dir="ltr"', 'Points'])
  })

  test('the page is asked for again when the holder changes the language', async () => {
    const state = makeState('loyalty')
    const { ETag: etag = '' } = byName((await ask(state, { 'accept-language': 'de' })).headers)
    const statusOf = async (language: string) =>
      (await ask(state, { 'if-none-match': etag, 'accept-language': language })).status
    expect([await statusOf('de'), await statusOf('fr')]).toEqual([304, 200])
    const missing = answerMissing({ 'accept-language': 'ja' })
    expect(missing.body.toString()).toContain('<h1>パスが見つかりません</h1>')
  })
})

describe('barcodes', () => {
  test('a message that the format cannot hold is shown as text', async () => {
    expect(await barcodes.draw(TENANT, { format: 'code128', message: '漢字' })).toBeUndefined()
    const text = await textOf(makeState('coupon', { barcode: { format: 'code128', message: '漢字' } }))
    expect(text).toContain('漢字')
    expect(text).not.toContain('role="img"')
  })

  test('barcodes of one message, asked for by many, are drawn once', async () => {
    const message = 'x'.repeat(256)
    const [first, ...others] = await Promise.all(
      Array.from({ length: 150 }, () => barcodes.draw(TENANT, { format: 'aztec', message })),
    )
    expect(others.every((each) => each === first)).toBe(true)
  })

  test('barcodes of one tenant wait a few seconds at most, and hold up no other tenant', async () => {
    const orders = Array.from({ length: 150 }, (_, index) =>
      barcodes.draw(TENANT, { format: 'code128', message: `M${index}` }),
    )
    const other = barcodes.draw('ten_another', { format: 'code128', message: 'other' })
    const drawn: string[] = []
    const all = Promise.allSettled(orders).then((outcomes) => {
      drawn.push('all of the first')
      return outcomes.filter((each) => each.status === 'rejected').map(({ reason }) => reason.status)
    })
    await other.then(() => drawn.push('the other'))
    expect(await all).toEqual(Array(49).fill(503))
    expect(drawn).toEqual(['the other', 'all of the first'])
    expect(await barcodes.draw(TENANT, { format: 'code128', message: 'M149' })).toBeDefined()
  })

  test('barcodes are drawn by another thread when one has ended', async () => {
    await barcodes.draw(TENANT, { format: 'qr', message: 'before' })
    await barcodes.stop()
    expect(await barcodes.draw(TENANT, { format: 'qr', message: 'after' })).toBeDefined()
  })
})

describe('colours', () => {
  test.each([
    ['#1E3A5F', '#FFFFFF', '#FFFFFF'],
    ['#FFFFFF', '#1C1C1E', '#1C1C1E'],
    ['#000000', '#000000', '#808080'],
    ['#FFFFFF', '#FFFF00', undefined],
    ['#808080', '#7F7F7F', undefined],
    ['#FF0000', '#00FF00', undefined],
  ])('the text on %s, %s is readable', (background, color, want) => {
    const readable = readableOn(background, color)
    expect(contrast(background, readable)).toBeGreaterThanOrEqual(4.5)
    if (want !== undefined) expect(readable).toBe(want)
  })

  test('the colors of a page are readable whatever the two colors of the brand are', () => {
    const levels = ['00', '55', '80', 'AA', 'FF']
    const colors = levels.flatMap((r) => levels.flatMap((g) => levels.map((b) => `#${r}${g}${b}`)))
    const lowest = Math.min(
      ...colors.flatMap((behind) => colors.map((color) => contrast(behind, readableOn(behind, color)))),
    )
    expect(lowest).toBeGreaterThanOrEqual(4.5)
  })
})

test('text in a template of HTML stays text, also in lists and attributes', () => {
  const text = `<b a="1" c='2'>&amp;`
  const escaped = '&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;'
  expect(html`<p title="${text}">${[text, html`<i>${text}</i>`]}</p>`.text).toBe(
    `<p title="${escaped}">${escaped}<i>${escaped}</i></p>`,
  )
})
