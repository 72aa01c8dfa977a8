/** The console's listener, over HTTP. */
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createConsole } from '../../runtime/dashboard/console.ts'
import { assetPath } from '../../runtime/dashboard/html/assets.ts'
import { writeNotice } from '../../runtime/dashboard/html/layout.ts'

const VERSION = '2030-01-01'
const PAGE = '<!doctype html><title>Books</title>'
const FRAMED = `<!doctype html><head><title>Books</title>\n</head><ul>\n</ul>\n</nav>\n<form class="search"></form>`
/** Longer than a packet. */
const LONG_PAGE = `<!doctype html><title>All books</title>${'<p>A book.'.repeat(500)}`
const FILES = {
  'generated/site/index.html': '<!doctype html><title>Documentation</title>',
  [`generated/site/${VERSION}/books.html`]: PAGE,
  [`generated/site/${VERSION}/all.html`]: LONG_PAGE,
  [`generated/site/${VERSION}/framed.html`]: FRAMED,
  [`generated/site/${VERSION}/books.md`]: '# Books',
  'generated/site/assets/site.css': 'body { color: black }',
  'generated/site/not-listed.html': 'left by another branch',
  [`generated/site/${VERSION}/openapi.yaml`]: 'url: http://127.0.0.1:4020',
  [`generated/${VERSION}/openapi.json`]: '{"urls":["http://127.0.0.1:4010/p","http://127.0.0.1:40100"]}',
  'package.json': '{}',
}

let folder: string
let server: Server
let origin: string
const builds: (() => Promise<void>)[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
  const listed = Object.keys(FILES).filter((path) => !path.includes('not-listed'))
  const files = Object.fromEntries(listed.map((path) => [path.replace('generated/', ''), `hash of ${path}`]))
  const all = { ...FILES, 'generated/manifest.json': JSON.stringify({ files }) }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const docs = {
    generated: join(folder, 'generated'),
    versions: [VERSION],
    baseUrls: {
      sandbox: 'http://sandbox.example',
      live: 'http://live.example',
      console: 'http://127.0.0.1:4000',
    },
    lookups: {},
    build: async () => builds.shift()?.(),
    showsDesign: false,
  }
  server = createServer(express().use(createConsole(docs)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const get = (path: string, init?: RequestInit) => fetch(origin + path, { redirect: 'manual', ...init })

test('production has no page of components', async () => {
  expect((await get('/design')).status).toBe(404)
})

test('a build that fails is tried again for the next reader', async () => {
  builds.push(() => Promise.reject(new Error('no room on the disk')))
  expect((await get(`/docs/${VERSION}/books`)).status).toBe(500)
  expect((await get(`/docs/${VERSION}/books`)).status).toBe(200)
})

test('a page comes whole, with its tag and a policy that lets nothing from elsewhere through', async () => {
  const response = await get(`/docs/${VERSION}/books`)
  expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe(PAGE)
  const policy = response.headers.get('Content-Security-Policy')
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
  expect(policy).toContain("connect-src 'self' http://sandbox.example;")
  expect(policy).not.toContain('unsafe')
})

test('pages link to the dashboard and load its script, alike for all readers', async () => {
  const response = await get(`/docs/${VERSION}/framed`, { headers: { Cookie: 'svc_session=ten_1.secret' } })
  const text = await response.text()
  expect(text).toContain('<li><a href="/sandbox">Dashboard</a></li>\n</ul>')
  expect(text).toContain(`<script type="module" src="${assetPath('docs.js')}"></script>\n</head>`)
  expect(response.headers.get('Set-Cookie')).toBeNull()
  expect(response.headers.get('ETag')).toMatch(/framed\.html-[0-9a-f]{16}"$/)
})

test('files for programs are open to pages of other origins, and no other page is', async () => {
  const openTo = async (path: string) => (await get(path)).headers.get('Access-Control-Allow-Origin')
  for (const path of [`${VERSION}/openapi.json`, `${VERSION}/openapi.yaml`, `${VERSION}/books.md`])
    expect([path, await openTo(`/docs/${path}`)]).toEqual([path, '*'])
  expect(await openTo(`/docs/${VERSION}/books`)).toBeNull()
})

test('documents name the origins of the deployment', async () => {
  const read = async (path: string) => (await get(`/docs/${VERSION}/${path}`)).text()
  expect([await read('openapi.yaml'), await read('openapi.json')]).toEqual([
    'url: http://live.example',
    '{"urls":["http://sandbox.example/p","http://127.0.0.1:40100"]}',
  ])
})

test('files that pages load are kept for ever at the address of their content', async () => {
  const kept = async (path: string) => (await get(path)).headers.get('Cache-Control')
  expect(await kept('/docs/assets/site.css?v=1')).toContain('immutable')
  expect(await kept('/docs/assets/site.css')).toBe('no-cache')
  const path = /<link rel="stylesheet" href="([^"]+)">/.exec(writeNotice('Title', 'Text').text)?.[1] ?? ''
  expect(await kept(path)).toContain('immutable')
})

/** fetch would add `Cache-Control: no-cache`, as a reader does who wants the page whole. */
async function statusFor(tag: string): Promise<number | undefined> {
  const asked = request(`${origin}/docs/${VERSION}/books`, { headers: { 'If-None-Match': tag } }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  return response.statusCode
}

test('a reader who has the page is told so', async () => {
  const tag = (await get(`/docs/${VERSION}/books`)).headers.get('ETag') ?? ''
  expect(await statusFor(tag)).toBe(304)
  expect(await statusFor('"other"')).toBe(200)
})

/** How the body is coded, and its bytes; fetch would decode it. */
async function bytesOf(path: string, accepted: string): Promise<[string | undefined, Buffer]> {
  const asked = request(origin + path, { headers: { 'Accept-Encoding': accepted } }).end()
  const [response] = await once(asked, 'response')
  return [response.headers['content-encoding'], Buffer.concat(await response.toArray())]
}

test('programs that read find the documentation, and crawlers find that they may read nothing else', async () => {
  const index = await get('/llms.txt')
  expect([index.status, index.headers.get('Location')]).toEqual([302, '/docs/llms.txt'])
  const robots = await get('/robots.txt')
  expect(robots.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
  expect(await robots.text()).toBe('User-agent: *\nAllow: /docs\nAllow: /changelog.xml\nDisallow: /\n')
})

test('pages have an icon, and browsers that ask for one by its usual name find it', async () => {
  const page = writeNotice('Title', 'Text').text
  for (const path of [/<link rel="icon" href="([^"]+)"/.exec(page)?.[1] ?? '', '/favicon.ico']) {
    const icon = await get(path)
    expect([path, icon.status, icon.headers.get('Content-Type')]).toEqual([path, 200, 'image/svg+xml'])
    expect(await icon.text()).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /)
  }
})

test('long pages and what they load are compressed for those who read that', async () => {
  const path = `/docs/${VERSION}/all`
  const [, plain] = await bytesOf(path, 'identity')
  expect(plain.toString()).toBe(LONG_PAGE)
  const [gzip, zipped] = await bytesOf(path, 'gzip')
  expect([gzip, gunzipSync(zipped).toString(), zipped.length < 200]).toEqual(['gzip', LONG_PAGE, true])
  const [brotli, small] = await bytesOf(path, 'gzip, br')
  expect([brotli, brotliDecompressSync(small).toString()]).toEqual(['br', LONG_PAGE])
  expect((await get(path)).headers.get('Vary')).toContain('Accept-Encoding')
  const style = /<link rel="stylesheet" href="([^"]+)">/.exec(writeNotice('Title', 'Text').text)?.[1] ?? ''
  expect((await bytesOf(style, 'gzip'))[0]).toBe('gzip')
  expect((await bytesOf(`/docs/${VERSION}/books`, 'gzip'))[0]).toBeUndefined()
})

test('all scripts together are small when compressed, so those of each page are', async () => {
  const scripts = readdirSync('runtime/dashboard/html/assets').filter((name) => name.endsWith('.js'))
  const sizes = scripts.map(async (name) => {
    const [coding, bytes] = await bytesOf(assetPath(name), 'gzip')
    expect([name, coding]).toEqual([name, bytes.length < 1000 ? coding : 'gzip'])
    return bytes.length
  })
  expect((await Promise.all(sizes)).reduce((sum, size) => sum + size)).toBeLessThan(60_000)
})

const JSON_TYPE = 'application/json; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'
test.each([
  { given: { path: '/livez' }, want: { status: 200, type: 'text/plain; charset=utf-8', allow: null } },
  { given: { path: '/docs' }, want: { status: 200, type: HTML_TYPE, allow: null } },
  { given: { path: `/docs/${VERSION}/books/` }, want: { status: 200, type: HTML_TYPE, allow: null } },
  { given: { path: '/docs/2029-01-01' }, want: { status: 404, type: JSON_TYPE, allow: null } },
  { given: { path: '/docs/2029-01-01/openapi.json' }, want: { status: 404, type: JSON_TYPE, allow: null } },
  { given: { path: '/docs/..%2f..%2fpackage.json' }, want: { status: 404, type: JSON_TYPE, allow: null } },
  { given: { path: '/docs/%ff' }, want: { status: 404, type: JSON_TYPE, allow: null } },
  { given: { path: '/docs/not-listed' }, want: { status: 404, type: JSON_TYPE, allow: null } },
  { given: { path: '/', accept: 'text/html,*/*' }, want: { status: 404, type: HTML_TYPE, allow: null } },
  { given: { path: '/docs', method: 'POST' }, want: { status: 405, type: JSON_TYPE, allow: 'GET, HEAD' } },
])('the dashboard answers $given.method $given.path with $want.status', async ({ given, want }) => {
  const { path, method = 'GET', accept = '*/*' } = given as { path: string; method?: string; accept?: string }
  const response = await get(path, { method, headers: { Accept: accept } })
  const { status, headers } = response
  expect({ status, type: headers.get('Content-Type'), allow: headers.get('Allow') }).toEqual(want)
})
