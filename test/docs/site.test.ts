/** The documentation as it is generated: every link leads somewhere, nothing is asked of the outside, outlines are whole. */
import { globSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { CORE_SCHEMA, load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { exportSite } from '../../generators/output/export-site.ts'
import { LINKED, MENU } from '../../runtime/dashboard/pages/menu.ts'
import { ROOT } from '../support/programs.ts'

const SITE = join(ROOT, 'generated/site')
const names = versions.map((version) => version.name)

/** An element's opening tag as its name and attributes. */
interface Tag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

interface SitePage {
  readonly address: string
  readonly text: string
  readonly tags: readonly Tag[]
  readonly ids: ReadonlySet<string>
}

function tagsOf(page: string): Tag[] {
  return [...page.matchAll(/<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)].map(
    ([, name = '', rest = '']) => ({
      name,
      attributes: Object.fromEntries(
        [...rest.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, key, value = '']) => [key, value]),
      ),
    }),
  )
}

const pages: SitePage[] = globSync(join(SITE, '**/*.html')).map((file) => {
  const text = readFileSync(file, 'utf8')
  const tags = tagsOf(text)
  const path = relative(SITE, file).replace(/\.html$/, '')
  const ids = tags.flatMap(({ attributes }) => (attributes.id === undefined ? [] : [attributes.id]))
  return { address: path === 'index' ? '/docs' : `/docs/${path}`, text, tags, ids: new Set(ids) }
})
const byAddress = new Map(pages.map((page) => [page.address, page]))
const files = new Set(globSync('**/*.*', { cwd: SITE }).map((file) => `/docs/${file}`))

/** Whether an address of ours has a page or a file, and that page the anchor. */
function leadsSomewhere(from: SitePage, href: string): boolean {
  const [path = '', anchor] = href.split('#')
  const page = path === '' ? from : byAddress.get(path)
  if (page) return anchor === undefined || page.ids.has(decodeURIComponent(anchor))
  return (
    path === '/changelog.xml' ||
    files.has(path.replace(/\?.*$/, '')) ||
    names.some((name) => path === `/docs/${name}/openapi.json`)
  )
}

/** What of a page fails, by its address: pages are many, tests few. */
const failing = (check: (page: SitePage) => readonly unknown[]) =>
  pages.flatMap((page) => {
    const found = check(page)
    return found.length === 0 ? [] : [[page.address, found]]
  })

test('links lead to a page, and to a place on it', () => {
  expect(pages.length).toBeGreaterThan(90)
  const links = (page: SitePage) =>
    page.tags.flatMap(({ attributes: { href, src } }) => [href, src].filter((each) => each !== undefined))
  // The last ones are the console's own, which serves these pages.
  const isOutside = (href: string) =>
    /^(?:https:|mailto:|\/$|\/\.well-known\/oauth-authorization-server$|\/sandbox\/)/.test(href)
  expect(
    failing((page) => links(page).filter((href) => !isOutside(href) && !leadsSomewhere(page, href))),
  ).toEqual([])
})

test('each page of the dashboard links to the documentation about it', () => {
  const home = byAddress.get('/docs')!
  const entries = [...MENU, ...LINKED].map(({ path, docs }) => [path, docs] as const)
  expect(entries.filter(([, docs]) => docs !== undefined && !leadsSomewhere(home, `/docs/${docs}`))).toEqual(
    [],
  )
  expect(entries.filter(([, docs]) => docs === undefined).map(([path]) => path)).toEqual([
    '',
    'members',
    'security',
    'preferences',
    'sessions',
    'reset',
  ])
})

test('links of the site lead to files that are in its folder, and scripts know that', () => {
  const site = globSync('**/*.*', { cwd: SITE }).map((path) => ({
    path: `site/${path}`,
    text: readFileSync(join(SITE, path), 'utf8'),
  }))
  const documents = names.map((name) => ({ path: `${name}/openapi.json`, text: '' }))
  const folder = new Map(exportSite(site, documents).map(({ path, text }) => [path, text]))
  expect(folder.size).toBe(site.length + documents.length)
  const lost: string[] = []
  for (const [path, text] of folder) {
    if (!path.endsWith('.html')) continue
    expect(text).toMatch(/<html lang="en" data-root="[./]+">/)
    const links = tagsOf(text).flatMap(({ attributes: { href, src, ...data } }) =>
      [href, src, data['data-index'], data['data-library'], data['data-texts']].filter(
        (link) => link !== undefined,
      ),
    )
    for (const link of links) {
      const [file = '', anchor] = link.split('#')
      if (/^(?:https:|mailto:|data:)/.test(link)) continue
      const target = file === '' ? path : posix.join(posix.dirname(path), file)
      const found = folder.get(target)
      const isThere =
        found !== undefined && (anchor === undefined || found.includes(` id="${decodeURIComponent(anchor)}"`))
      if (!isThere) lost.push(`${path}: ${link}`)
    }
  }
  expect(lost).toEqual([])
})

test('nothing is fetched from elsewhere, and nothing runs but files of ours', () => {
  const FORBIDDEN = ['img', 'iframe', 'object', 'embed', 'video', 'audio', 'source', 'base', 'style']
  expect(
    failing(({ tags }) =>
      tags.filter(
        ({ name, attributes: { src, href, rel, style, ...others } }) =>
          FORBIDDEN.includes(name) ||
          style !== undefined ||
          Object.keys(others).some((each) => each.startsWith('on')) ||
          (name === 'script' && src?.startsWith('/docs/assets/') !== true) ||
          (rel === 'stylesheet' && href?.startsWith('/docs/assets/') !== true),
      ),
    ),
  ).toEqual([])
  for (const file of globSync(join(SITE, 'assets/*.css')))
    expect(readFileSync(file, 'utf8')).not.toMatch(/url\(|@import|expression/)
})

test('headings go down one level at a time, from one h1, and none is empty; ids are unique; elements are closed in order', () => {
  expect(
    failing(({ tags }) => {
      const levels = tags.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []))
      return levels.filter((level, at) => (level === 1) !== (at === 0) || level > (levels[at - 1] ?? 0) + 1)
    }),
  ).toEqual([])
  expect(
    failing(({ tags }) => {
      const ids = tags.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id]))
      return ids.filter((id, at) => ids.indexOf(id) !== at)
    }),
  ).toEqual([])
  expect(failing(({ text }) => unclosed(text))).toEqual([])
  expect(failing(({ text }) => text.match(/<(th|h[1-6])\b[^>]*>\s*<\/\1>/g) ?? [])).toEqual([])
})

function unclosed(text: string): string[] {
  const open: string[] = []
  for (const [, slash, name = ''] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)\b/g)) {
    if (['meta', 'link', 'br', 'hr', 'input'].includes(name)) continue
    if (slash !== '/') open.push(name)
    else if (open.pop() !== name) return [name]
  }
  return open
}

/** Samples in eight languages are most of a large page, and compress to a twelfth. */
test('first pages weigh at most 100 kB with their style, others at most 215 kB, and no line is a wall', () => {
  const style = readFileSync(join(SITE, 'assets/site.css')).length
  const most = (address: string) =>
    (/^\/docs(?:\/\d{4}-\d\d-\d\d)?$/.test(address) ? 100_000 : 215_000) - style
  expect(
    failing((page) => (Buffer.byteLength(page.text) > most(page.address) ? [page.text.length] : [])),
  ).toEqual([])
  expect(failing(({ text }) => text.split('\n').filter((line) => line.length > 2000))).toEqual([])
})

/** The document as it is served: what the pages must cover. */
interface Document {
  readonly paths: Record<string, Record<string, { operationId?: string }>>
  readonly webhooks: Record<string, object>
  readonly components: { schemas: Record<string, { enum?: string[]; properties?: Record<string, object> }> }
}

describe.each(names)('%s', (version) => {
  const document = JSON.parse(
    readFileSync(join(ROOT, 'generated', version, 'openapi.json'), 'utf8'),
  ) as Document
  // The reference shows the webhooks themselves.
  const { WebhookEvent: _, ...schemas } = document.components.schemas
  const operations = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map((each) => each.operationId ?? ''),
  )
  const own = pages.filter(({ address }) => address.startsWith(`/docs/${version}/`))

  test('the document in YAML says what the one in JSON says, the defaults of operations written out', () => {
    const text = readFileSync(join(SITE, version, 'openapi.yaml'), 'utf8')
    expect(load(text, { schema: CORE_SCHEMA })).toEqual(document)
    expect(text).not.toContain('x-operation-defaults')
    const creation = document.paths['/v1/passes']?.post as { parameters: object[]; responses: object }
    expect(creation.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' })
    expect(Object.keys(creation.responses)).toEqual(expect.arrayContaining(['401', '409', '422', '429']))
  })

  test('every operation, event, schema and property has one place', () => {
    const properties = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.keys(properties).map((property) => `schema-${name}.${property}`),
    )
    const wanted = [
      ...operations,
      ...Object.keys(document.webhooks).map((name) => `event-${name}`),
      ...Object.keys(schemas).map((name) => `schema-${name}`),
      ...properties,
    ]
    const times = (id: string) => own.filter(({ ids }) => ids.has(id)).length
    expect(wanted.filter((id) => times(id) !== 1)).toEqual([])
  })

  test('the first page of a version has a place for every operation and every error code', () => {
    const codes = schemas.ErrorCode?.enum ?? []
    expect(codes.length).toBeGreaterThan(20)
    const wanted = [...operations, ...codes.map((code) => `error-${code}`)]
    expect(wanted.filter((id) => !byAddress.get(`/docs/${version}`)?.ids.has(id))).toEqual([])
  })
})
