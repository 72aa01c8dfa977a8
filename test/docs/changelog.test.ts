/** Changelog, feed and migration guides as they are served: whole, valid, and linked with what there is. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DOMParser, type Element } from '@xmldom/xmldom'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { createConsole } from '../../runtime/dashboard/console.ts'

const ATOM = 'http://www.w3.org/2005/Atom'
const names = versions.map(({ name }) => name)
const changes = names.flatMap((version) => {
  const folder = new URL(`../../versions/${version}/`, import.meta.url)
  const files = version === names[0] ? [] : readdirSync(folder).filter((file) => file.endsWith('.ts'))
  return files.map((file) => ({ version, id: file.slice(0, -'.ts'.length) }))
})
const pairs = names.flatMap((from, index) => names.slice(index + 1).map((to) => [from, to] as const))

const server = createServer()
let origin: string
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const parts = {
    generated: 'generated',
    versions: names,
    baseUrls: { sandbox: 'http://sandbox.example', live: 'http://live.example', console: origin },
    lookups: {},
  }
  server.on('request', express().use(createConsole({ ...parts, showsDesign: false, build: async () => {} })))
})
afterAll(() => void server.close())

async function read(path: string, type: string): Promise<string> {
  const response = await fetch(new URL(path, origin))
  expect([path, response.status, response.headers.get('Content-Type')]).toEqual([
    path,
    200,
    `${type}; charset=utf-8`,
  ])
  return response.text()
}

/** Elements of Atom directly inside one. */
const inside = (element: Element, name: string): Element[] =>
  [...element.childNodes].filter(
    (each): each is Element => 'localName' in each && each.localName === name && each.namespaceURI === ATOM,
  )
const textIn = (element: Element, name: string) => inside(element, name).map((each) => each.textContent)

test('the feed is Atom: well-formed, with all that RFC 4287 asks of a feed and its entries', async () => {
  const xml = await read('/changelog.xml', 'application/atom+xml')
  // Throws at the first thing that is not well-formed.
  const feed = new DOMParser({ onError: (_, message) => expect.fail(message) }).parseFromString(
    xml,
    'text/xml',
  ).documentElement!
  expect([feed.namespaceURI, feed.localName, feed.getAttribute('xml:base')]).toEqual([
    ATOM,
    'feed',
    `${origin}/`,
  ])
  expect(inside(feed, 'author').map((author) => textIn(author, 'name'))).toEqual([
    [textIn(feed, 'title')[0]!.split(':')[0]],
  ])
  const entries = inside(feed, 'entry')
  const ids = [feed, ...entries].map((each) => textIn(each, 'id'))
  expect(
    ids.filter(
      (id) =>
        id.length !== 1 ||
        !/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id[0]!),
    ),
  ).toEqual([])
  expect(new Set(ids.map(String)).size).toBe(ids.length)
  for (const each of [feed, ...entries]) {
    expect(textIn(each, 'title')).toEqual([expect.stringMatching(/\S/)])
    expect(textIn(each, 'updated')).toEqual([expect.stringMatching(/^\d{4}-\d{2}-\d{2}T00:00:00Z$/)])
    expect(inside(each, 'link').filter((link) => link.getAttribute('rel') === 'alternate')).toHaveLength(1)
  }
  expect(
    inside(feed, 'link').map((link) => [link.getAttribute('rel'), link.getAttribute('href')]),
  ).toContainEqual(['self', '/changelog.xml'])
  const days = entries.map((each) => textIn(each, 'updated')[0]!)
  expect(days).toEqual(days.toSorted().reverse())
  expect(textIn(feed, 'updated')).toEqual([days[0]])
  expect(entries.map((each) => inside(each, 'content')[0]?.getAttribute('type'))).toEqual(
    entries.map(() => 'html'),
  )
  const hrefs = entries.map((each) => inside(each, 'link')[0]?.getAttribute('href'))
  const wanted = [...names, ...changes.map(({ version, id }) => `${version}-${id}`)]
  expect(hrefs.toSorted()).toEqual(wanted.map((anchor) => `/docs/changelog#${anchor}`).toSorted())
})

test('an entry of the feed keeps its id whatever else changes', async () => {
  const xml = await read('/changelog.xml', 'application/atom+xml')
  expect(xml).toContain('<title>2026-05-19: Block categories</title>\n<id>urn:uuid:')
})

test('the page has each change: its own words, what it shows in, and values before and after', async () => {
  const page = await read('/docs/changelog', 'text/html')
  const articles = page.split('<article ').slice(1)
  expect(articles).toHaveLength(changes.length)
  for (const { version, id } of changes) {
    const article = articles.find((each) => each.includes(`id="${version}-${id}"`)) ?? ''
    const { default: change } = (await import(`../../versions/${version}/${id}.ts`)) as {
      default: { why: string }
    }
    const words = (text: string) =>
      text
        .replace(/<[^>]*>|[`’'"]|&#39;|&quot;/g, '')
        .split(/\W+/)
        .filter(Boolean)
    expect(words(article)).toEqual(expect.arrayContaining(words(change.why)))
    expect([id, /<dt>(Operations|Events)<\/dt>/.test(article)]).toEqual([id, true])
    expect([id, article.includes(' before</figcaption>'), article.includes(' after</figcaption>')]).toEqual([
      id,
      true,
      true,
    ])
  }
})

test.each(pairs)(
  'the guide from %s to %s has its steps in order, and its Markdown the same',
  async (from, to) => {
    const path = `/docs/upgrading/${from}/${to}`
    const [page, markdown] = [await read(path, 'text/html'), await read(`${path}.md`, 'text/markdown')]
    const numbers = [...page.matchAll(/<h3 [^>]*><a [^>]*>(\d+)\. ([^<]+)</g)].map(
      ([, number, title]) => `${number}. ${title}`,
    )
    expect(numbers.map((each) => Number.parseInt(each, 10))).toEqual(numbers.map((_, index) => index + 1))
    expect([...markdown.matchAll(/^### (.+)$/gm)].map(([, title]) => title)).toEqual(numbers)
    const between = names.slice(names.indexOf(from) + 1, names.indexOf(to) + 1)
    expect([...page.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id)).toEqual(between)
    // Each change between the two is a step, or is named as none of the reader's concern.
    const own = changes.filter(({ version }) => between.includes(version))
    for (const { version, id } of own)
      expect(page).toMatch(new RegExp(`(id="|/docs/changelog#)${version}-${id}"`))
    const code = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length
    expect(code(page, /<figcaption>/g)).toBe(code(markdown, /^```\w+$/gm))
  },
)
