/** The search of the documentation, as the page's own script asks it: all that pages say is found, from an index of bounded size. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { ROOT } from '../support/programs.ts'

const asset = (name: string) => readFileSync(join(ROOT, 'generated/site/assets', name), 'utf8')
const script = asset('search-index.js')

interface SearchIndex {
  search(words: string): readonly { readonly id: number; readonly title: string; readonly href: string }[]
}

interface SearchTexts {
  readonly versions: readonly string[]
  readonly lines: readonly (string | readonly [text: string, versions: readonly string[]])[]
}

/** What `site.js` does when a reader begins to type. */
const OPEN = `MiniSearch.loadJS(docsIndex, {
  fields: ['title', 'text'],
  storeFields: ['title', 'kind', 'href'],
  searchOptions: { boost: { title: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
})`
const index: SearchIndex = runInNewContext([asset('minisearch.js'), script, OPEN].join('\n'))
const texts: readonly SearchTexts[] = runInNewContext(`${asset('search-texts.js')}docsTexts`)

/** Addresses of what is found, in the newest version that has it. */
const hrefsOf = (words: string) =>
  find(words).map(({ id, href }) => {
    const [newest] = texts[id]!.versions
    return newest === undefined ? href : `/docs/${newest}${href}`
  })

/** As many as the page shows. */
const find = (words: string) => index.search(words).slice(0, 12)

test.each([
  ['a header of deliveries', 'Service-Signature', '/docs/webhooks#verify-the-signature'],
  ['a header of requests', 'Idempotency-Key', '/docs/idempotency'],
  ['a header of answers', 'X-RateLimit-Remaining', '/docs/limits'],
  ['a member of an enumeration', 'customer_complaint', `/docs/${current}/disputes`],
  ['a property', 'blocked_categories', `/docs/${current}/`],
  ['a property deep within', 'relevant_text', `/docs/${current}/`],
  ['an error code', 'idempotency_key_reused', '/docs/errors#idempotency_key_reused'],
  ['an operation by its id', 'createPassBatch', `/docs/${current}/passes#createPassBatch`],
  ['an operation by its path', '/v1/passes/batch_revoke', `/docs/${current}/passes#revokePassBatch`],
  ['an event', 'pass.installed', `/docs/${current}/`],
  ['a schema', 'SpendingControls', `/docs/${current}/`],
  ['a change', 'block categories', `/docs/changelog#${current}-block-categories`],
  ['words of a guide below its first line', 'rotating refresh tokens', '/docs/oauth'],
  ['words of a description', 'merge patch', `/docs/${current}`],
])('the search of the documentation finds %s: %s', (_name, words, href) => {
  const found = hrefsOf(words)
  expect(found.filter((each) => each.startsWith(href))).not.toEqual([])
})

test('a word of older versions is found, with the versions that have it', () => {
  const hit = find('allowed_categories').find(({ title }) => title === 'SpendingControls')!
  const line = texts[hit.id]!.lines.find((each) => each[0]?.startsWith('allowed_categories: '))
  expect(line).toEqual([
    'allowed_categories: The merchant categories that are allowed; null means no restriction.',
    ['2026-02-01', '2025-11-01'],
  ])
  expect(texts[hit.id]!.versions).toEqual([current, '2026-02-01', '2025-11-01'])
})

test('a word that is in no page is not found', () => {
  expect(find('zymurgy')).toHaveLength(0)
})

test('the index is small enough to be read when a reader begins to type', () => {
  expect(script.length).toBeLessThan(500_000)
  expect(brotliCompressSync(script).length).toBeLessThan(80_000)
  // Loaded with the first results.
  expect(brotliCompressSync(asset('search-texts.js')).length).toBeLessThan(80_000)
})
