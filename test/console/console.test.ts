/** The console's listener, over HTTP. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { createConsole } from '../../runtime/console/console.ts'
import { writeNotice } from '../../runtime/console/page/layout.ts'
import { createPage, readReferences } from '../../runtime/console/pages.ts'

const STYLE = '\nbody { color: black }\n'
const HTML = `<!doctype html><title>Reference</title><style>${STYLE}</style>`

let server: Server
let origin: string

beforeAll(async () => {
  const references = new Map([['2030-01-01', createPage(HTML)]])
  const app = express().use(createConsole({ references, current: '2030-01-01' }))
  server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => void server.close())

const get = (path: string, init?: RequestInit) => fetch(origin + path, { redirect: 'manual', ...init })

test('/docs leads to the current version', async () => {
  const response = await get('/docs')
  expect([response.status, response.headers.get('Location')]).toEqual([302, '/docs/2030-01-01'])
})

test('a page comes whole, with its tag and a policy that lets its own style through and no script', async () => {
  const response = await get('/docs/2030-01-01')
  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe(HTML)
  const policy = response.headers.get('Content-Security-Policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`)
  expect(policy).not.toMatch(/script-src|unsafe/)
})

test('the style sheet that pages name is there, to be kept for ever', async () => {
  const path = /<link rel="stylesheet" href="([^"]+)">/.exec(writeNotice('Title', 'Text').text)?.[1] ?? ''
  const response = await get(path)
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/css; charset=utf-8'])
  expect(response.headers.get('Cache-Control')).toContain('immutable')
  expect(await response.text()).toContain('prefers-color-scheme: dark')
})

/** fetch would add `Cache-Control: no-cache`, as a reader does who wants the page whole. */
async function statusFor(tag: string): Promise<number | undefined> {
  const asked = request(`${origin}/docs/2030-01-01`, { headers: { 'If-None-Match': tag } }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  return response.statusCode
}

test('a reader who has the page is told so', async () => {
  const tag = (await get('/docs/2030-01-01')).headers.get('ETag') ?? ''
  expect(await statusFor(tag)).toBe(304)
  expect(await statusFor('"other"')).toBe(200)
})

test.each([
  { given: { path: '/livez' }, want: { status: 200, type: 'text/plain; charset=utf-8', allow: null } },
  {
    given: { path: '/docs/2029-01-01' },
    want: { status: 404, type: 'application/json; charset=utf-8', allow: null },
  },
  {
    given: { path: '/docs/..%2fpackage.json' },
    want: { status: 404, type: 'application/json; charset=utf-8', allow: null },
  },
  {
    given: { path: '/', accept: 'text/html,*/*' },
    want: { status: 404, type: 'text/html; charset=utf-8', allow: null },
  },
  {
    given: { path: '/docs', method: 'POST' },
    want: { status: 405, type: 'application/json; charset=utf-8', allow: 'GET, HEAD' },
  },
])('$given.path → $want.status', async ({ given, want }) => {
  const { path, method = 'GET', accept = '*/*' } = given as { path: string; method?: string; accept?: string }
  const response = await get(path, { method, headers: { Accept: accept } })
  const { status, headers } = response
  expect({ status, type: headers.get('Content-Type'), allow: headers.get('Allow') }).toEqual(want)
})

test('every version has a generated reference', () => {
  const names = versions.map((version) => version.name)
  expect([...readReferences(names).keys()]).toEqual(names)
})
