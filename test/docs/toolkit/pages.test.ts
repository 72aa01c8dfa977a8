/** The toolkit's documentation: generated pages are current, and every link of the site leads somewhere. */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { runInNewContext } from 'node:vm'
import { beforeAll, expect, test } from 'vitest'
import { readPages } from '../../../docs/toolkit/build/pages.ts'
import { REFERENCES } from '../../../docs/toolkit/build/references.ts'
import { buildSite } from '../../../docs/toolkit/build/site.ts'

let site: ReadonlyMap<string, string>

beforeAll(async () => {
  site = new Map((await buildSite()).map(({ path, text }) => [path, text]))
}, 120_000)

test.each(Object.entries(REFERENCES))(
  '%s is current: `npm run docs:toolkit` writes it',
  (path, print) => {
    expect(readFileSync(join('docs/toolkit', path), 'utf8')).toBe(print())
  },
  120_000,
)

test('every page is reached from the first one, and has a description', () => {
  const pages = readPages()
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.filter(({ description }) => description.length < 20)).toEqual([])
  for (const { slug } of pages.slice(1)) expect(site.get('index.html')).toContain(`href="${slug}.html"`)
})

test('links lead to a file of the site, and to a place in it', () => {
  const lost: string[] = []
  for (const [from, text] of site) {
    if (!from.endsWith('.html')) continue
    const links = [...text.matchAll(/ (?:href|src|data-index|data-library|data-texts)="([^"]+)"/g)].map(
      ([, link]) => link!,
    )
    for (const link of links.filter((each) => !each.startsWith('https:') && !each.startsWith('http:'))) {
      const [path = '', anchor] = link.split('#')
      const target = site.get(path === '' ? from : posix.join(posix.dirname(from), path))
      const isThere =
        target !== undefined && (!anchor || target.includes(` id="${decodeURIComponent(anchor)}"`))
      if (!isThere) lost.push(`${from}: ${link}`)
    }
  }
  expect(lost).toEqual([])
})

test('anchors are those that GitHub makes of the same headings', () => {
  const anchors = readPages().flatMap(({ file, markdown }) =>
    [...markdown.matchAll(/\]\(\/docs[^)#]*#([^)]+)\)|\]\(#([^)]+)\)/g)].map(([, there, here]) => [
      file,
      there ?? here,
    ]),
  )
  expect(anchors.length).toBeGreaterThan(3)
  expect(anchors.filter(([, anchor]) => !/^[a-z0-9-]+$/.test(anchor!))).toEqual([])
})

test('the search finds a lens, a command, a finding and a recipe', () => {
  const open = `MiniSearch.loadJS(docsIndex, { fields: ['title', 'text'], storeFields: ['title'] })`
  const scripts = ['minisearch.js', 'search-index.js'].map((name) => site.get(`assets/${name}`))
  const search: { search(words: string): readonly { readonly title: string }[] } = runInNewContext(
    [...scripts, open].join('\n'),
  )
  const found = (words: string) => search.search(words).map(({ title }) => title)
  expect(found('renamedParameter')).toContain('renamedParameter')
  expect(found('prove')).toContain('prove')
  expect(found('break-unclaimed')).toContain('Findings')
  expect(found('tenant pin')).toContain('Pin a version per tenant')
})

test('the comparison is dated, and every statement about a project has a source', () => {
  const { markdown } = readPages().find(({ slug }) => slug === 'comparison')!
  expect(markdown).toMatch(/As of \d{4}-\d{2}-\d{2}/)
  const sections = markdown.split(/^## /m).slice(3)
  expect(sections.filter((section) => !section.includes('](http'))).toEqual([])
})
