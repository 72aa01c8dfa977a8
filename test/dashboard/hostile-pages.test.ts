/** What a tenant or its customers may call things, on every page of the table of routes; and what each page says to browsers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listRoutes } from '../../runtime/dashboard/pages/dashboard.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  readMessages,
  startDashboard,
  type TestDashboard,
} from './support/dashboard.ts'
import { type HostileTenant, makeHostileTenant, NAME, RUNS, TEXTS } from './support/hostile.ts'
import { findStrange, readForms, readMarkup } from './support/markup.ts'

let dashboard: TestDashboard
let tenant: HostileTenant
let browser: Browser

beforeAll(async () => {
  dashboard = await startDashboard()
  tenant = await makeHostileTenant(dashboard)
  browser = new Browser(dashboard.origin, tenant.owner.cookie)
}, 120_000)

afterAll(() => dashboard?.stop())

test.each([
  ['<p title="a">b</p>', []],
  ['<p title="&quot;><img src=x onerror=alert(1)>">b &lt;img onerror=x&gt;</p>', []],
  ['<p>"\'><img src=x onerror=alert(1)></p>', ['<img onerror="alert(1)">']],
  ['<p title="a""><script>alert(1)</script>', ['<p "="">', '<script>']],
  ['<textarea>\n</textarea><svg/onload=alert(1)>', ['<svg onload="alert(1)">']],
  ['<title></title ><iframe srcdoc=x></title>', ['<iframe>', '<iframe srcdoc="x">']],
  ['<a href="&#9;javascript:x">', []],
  ['<a href="\tjava\nscript:alert(1)">', ['<a href="\tjava\nscript:alert(1)">']],
  ['<!-- <script> --><xmp>', ['<xmp>']],
  ['<script src="/assets/a/b.js"></script><script src=//evil.example></script>', ['<script>']],
])('markup that runs is found in %s', (html, found) => {
  expect(findStrange(readMarkup(html))).toEqual(found)
})

/** What is new on a page: nothing for browsers to show. */
const isTail = (path: string) => /^\/\w+\/.+\/live$/.test(path)

/** Where each text stands, besides what names everything. */
const SHOWN = [...Object.values(TEXTS), NAME]

test('no name becomes markup on any page, and no page is framed, kept or runs what is not ours', async () => {
  const shown = new Map<string, string[]>(SHOWN.map((text) => [text, []]))
  for (const path of tenant.pages) {
    const { status, text, headers } = await browser.get(path)
    const markup = readMarkup(text)
    expect([path, status, findStrange(markup)]).toEqual([path, isTail(path) ? 404 : 200, []])
    const attributes = markup.elements.flatMap(({ attributes: all }) => all.map(([, value]) => value))
    for (const each of SHOWN)
      if (markup.text.includes(each) || attributes.includes(each)) shown.get(each)!.push(path)
    if (!headers.get('Content-Type')?.startsWith('text/html')) continue
    const policy = headers.get('Content-Security-Policy') ?? ''
    expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")])
    expect([path, policy.includes('unsafe')]).toEqual([path, false])
    expect([path, headers.get('X-Frame-Options')]).toEqual([path, 'DENY'])
  }
  expect([...shown].filter(([, paths]) => paths.length === 0)).toEqual([])
}, 120_000)

test('text in an address becomes markup on no page', async () => {
  for (const path of tenant.pages) {
    const names = readForms(readMarkup((await browser.get(path)).text)).flatMap(({ typed, chosen }) => [
      ...typed,
      ...chosen,
    ])
    const query = new URLSearchParams(
      [...names, 'q', 'id', 'type', 'starting_after'].map((name): [string, string] => [name, RUNS]),
    )
    const { status, text } = await browser.get(`${path}?${query}`)
    expect([path, status < 500, findStrange(readMarkup(text))]).toEqual([path, true, []])
  }
  for (const { method, path } of listRoutes(dashboard.watching)) {
    if (method !== 'GET' || !path.includes(':')) continue
    const { status, text } = await browser.get(path.replaceAll(/:\w+/g, encodeURIComponent(RUNS)))
    expect([path, status, findStrange(readMarkup(text))]).toEqual([path, 404, []])
  }
}, 120_000)

test('text that is typed into a form becomes markup on no page that answers it', async () => {
  const posted = new Set<string>()
  for (const path of tenant.pages) {
    for (const form of readForms(readMarkup((await browser.get(path)).text))) {
      const { action, hidden, typed } = form
      if (form.method !== 'post' || typed.length === 0 || posted.has(action)) continue
      posted.add(action)
      const fields = { ...hidden, ...Object.fromEntries(typed.map((name) => [name, RUNS])) }
      const { status, location, text } = form.isMultipart
        ? await browser.upload(action, fields)
        : await browser.post(action, fields)
      const page = status === 303 && location ? (await browser.get(location)).text : text
      expect([action, status < 500, findStrange(readMarkup(page))]).toEqual([action, true, []])
    }
  }
  expect(posted.size).toBeGreaterThan(40)
}, 120_000)

test.each(['events', 'requests'])('new rows among %s come without markup of others', async (name) => {
  const list = `/sandbox/${name}`
  const links = new RegExp(`href="${list}/(\\w{3}_\\w{26})"`, 'g')
  const ids = [...(await browser.get(list)).text.matchAll(links)].map(([, id]) => id)
  const address = `${dashboard.origin}${list}/live?after=${ids.at(-1)}`
  const messages = await readMessages(address, ids.length - 1, tenant.owner.cookie)
  const rows = readMarkup(messages.join('\n').replaceAll(/^data: /gm, ''))
  expect([findStrange(rows), rows.elements.map((each) => each.name)]).toEqual([
    [],
    expect.arrayContaining(['tr', 'td']),
  ])
})

describe('the search', () => {
  const find = (text: string) => browser.get(`/sandbox/search?q=${encodeURIComponent(text)}`)

  test.each([
    ['req_00000000000000000000000000', '/sandbox/requests/req_00000000000000000000000000'],
    ['mem_00000000000000000000000000', '/sandbox/members'],
    ['prm_00000000000000000000000000', '/live/promotions/prm_00000000000000000000000000'],
  ])('the search of the dashboard leads from %s to its page', async (id, place) => {
    const { status, location } = await find(id)
    expect([status, location]).toEqual([303, place])
  })

  test('the search of the dashboard leads from an attempt at a delivery to its page, in its own environment and for its own tenant', async () => {
    const page = tenant.pages.find((path) => /^\/sandbox\/.*\/attempts\//.test(path))!
    const id = page.split('/').at(-1)!
    expect((await find(id)).location).toBe(page)
    expect((await browser.get(`/live/search?q=${id}`)).text).toContain('No results found')
    const other = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    const stranger = new Browser(dashboard.origin, other.cookie)
    expect((await stranger.get(`/sandbox/search?q=${id}`)).text).toContain('No results found')
  })
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
