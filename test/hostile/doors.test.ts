/** Routes that need no key and no session, with values that no browser and no phone sends. */
import { request as send } from 'node:http'
import express from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { TYPED_FIELD } from '../../runtime/dashboard/sign-in/pages.ts'
import { HOLDER_PREFIXES } from '../../runtime/passes/wallets/pages/holders.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { type RunningService, startService } from '../../runtime/process/compose.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { UNHURRIED } from '../support/programs.ts'
import { talk } from '../support/wire.ts'

/** Public routes of the console and beside the API, with the fields of their forms. */
const PUBLIC: Readonly<Record<string, readonly string[]>> = {
  '/sign-in': ['csrf', 'email', 'password', 'code', 'return_to', TYPED_FIELD],
  '/sign-in/passkey': ['csrf', 'challenge', 'credential', 'return_to', TYPED_FIELD],
  '/sign-out': ['csrf', 'where'],
  '/challenges/:token': ['csrf', 'email', 'password', 'code'],
  '/invitations/:link': ['csrf', 'totp', 'password', 'code'],
}

/** Holders' routes by prefix, with paths whose names are filled in. */
const HOLDERS: Readonly<Record<string, readonly string[]>> = {
  '/p/': [':token', ':token.pkpass', ':token/:file'],
  '/google/v1/': [`callback/ten_${'0'.repeat(26)}`, 'callback/:space', 'images/:image'],
  '/apple/v1/': [
    'passes/:type/:serial',
    'devices/:device/registrations/:type',
    'devices/:device/registrations/:type/:serial',
    'log',
  ],
  '/reports/': [':report', ':report/:file'],
  '/webhooks/': [':space/:endpoint/jwks.json'],
}

let database: TestDatabase
let service: RunningService
const routes = new Set<string>()
const errors: unknown[] = []

beforeAll(async () => {
  database = await openTestDatabase()
  const { route } = express.Router.prototype
  const spy = vi.spyOn(express.Router.prototype, 'route').mockImplementation(function (
    this: never,
    ...[path]: unknown[]
  ) {
    routes.add(String(path))
    return route.call(this, path as never)
  })
  const log = pino({
    level: 'error',
    hooks: {
      logMethod: (args) => void errors.push(args),
    },
  })
  const settings = readSettings({
    ...UNHURRIED,
    DATABASE_URL: database.url,
    SVC_PEPPER: database.pepper,
    SANDBOX_PORT: '0',
    LIVE_PORT: '0',
    CONSOLE_PORT: '0',
    TRUSTED_PROXIES: '1',
  })
  service = await startService({ ...settings, roles: new Set(['api', 'console']) }, log)
  spy.mockRestore()
})
afterAll(async () => {
  await service?.stop()
  await database.close()
})

interface Attack {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

let calls = 0

/** @returns the status. Each call comes from another address: limits of one address are not what is tested. */
function attack(origin: string, { method = 'GET', path, headers = {}, body }: Attack): Promise<number> {
  calls += 1
  const from = `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`
  return new Promise((resolve, reject) => {
    const request = send(
      new URL(origin),
      { method, path, headers: { 'X-Forwarded-For': from, ...headers }, timeout: 20_000 },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', reject)
      },
    )
    request.on('timeout', () => request.destroy(new Error(`no answer: ${method} ${path.slice(0, 200)}`)))
    request.on('error', (error: NodeJS.ErrnoException) => {
      // A body that is not read to its end: the answer came first, or the connection was closed on purpose.
      if (body !== undefined && (error.code === 'EPIPE' || error.code === 'ECONNRESET')) resolve(413)
      else reject(error)
    })
    request.end(body)
  })
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
/** Percent-encoded, as they stand in paths, queries and forms. */
const VALUES = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%FF%FE',
  '%',
  '%2e%2e%2f%2e%2e%2f',
  '__proto__',
  'x'.repeat(8192),
]
const FORGED = [
  'svc_session=%00',
  `svc_session=ten_${'0'.repeat(26)}.${'\xff'.repeat(43)}`,
  `svc_join=${'0'.repeat(32)}; svc_join=%00`,
]
const METHODS = ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const JSON_BODIES = [
  '"\\u0000"',
  '{"a":"\\ud800"}',
  '{"pushToken":"\\u0000","logs":["\\u0000","\\ud800"]}',
  '{"pushToken":["a"],"logs":{"length":9}}',
  '{"signedMessage":"\\u0000","signature":"\\u0000","intermediateSigningKey":{"signedKey":"\\u0000","signatures":["\\u0000"]}}',
  'null',
  '[]',
  '[[[['.repeat(10_000),
  '',
]

function forms(fields: readonly string[]): string[] {
  return [
    ...fields.flatMap((field) => VALUES.map((value) => `${field}=${value}`)),
    ...fields.map((field) => `${field}=a&${field}=b`),
    ...fields.map((field) => `${field}[a]=b&${field}[]=c`),
    Array.from({ length: 5000 }, (_, index) => `p${index}=1`).join('&'),
    `a=${'x'.repeat(65_536)}`,
    `a=${'x'.repeat(1_048_576)}`,
  ]
}

/** Everything that one route is sent. */
function attacksOn(route: string, fields: readonly string[]): Attack[] {
  const fill = (value: string) => route.replaceAll(/[:*]\w+/g, value)
  const named = /[:*]\w/.test(route) ? VALUES.map((value) => ({ path: fill(value) })) : []
  const path = fill('x')
  return [
    ...named,
    ...named.map((each) => ({ ...each, method: 'POST' })),
    ...VALUES.map((value) => ({
      path: `${path}?return_to=/${value}&v=${value}&passesUpdatedSince=${value}&${value}=`,
    })),
    { path: `${path}?v=a&v=b&return_to[a]=/&return_to=/&passesUpdatedSince=1&passesUpdatedSince=2` },
    ...METHODS.map((method) => ({ path, method })),
    ...FORGED.map((Cookie) => ({ path, headers: { Cookie } })),
    {
      path,
      headers: {
        Accept: '\xff',
        'Accept-Encoding': 'gzip;q=x',
        'If-None-Match': '\xff',
        Authorization: 'ApplePass \xff',
      },
    },
    ...forms(fields).map((body) => ({ path, method: 'POST', headers: FORM, body })),
    ...JSON_BODIES.map((body) => ({ path, method: 'POST', headers: JSON_TYPE, body })),
    { path, method: 'POST', headers: FORM, body: Buffer.from('email=\0\xff\xfe', 'latin1') },
    {
      path,
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=nope' },
      body: 'a=b',
    },
    { path, method: 'POST', headers: { 'Content-Type': 'multipart/form-data' }, body: 'a=b' },
    { path, method: 'POST', headers: { ...FORM, 'Content-Encoding': 'gzip' }, body: 'not gzip' },
  ]
}

/** The attacks that were not answered as a caller's fault, or that were logged as ours. */
async function failing(origin: string, attacks: readonly Attack[]): Promise<string[]> {
  const wrong: string[] = []
  for (const each of attacks) {
    errors.length = 0
    const status = await attack(origin, each)
    // Without a network the keys of Google's callbacks are out of reach, which is answered with 503.
    const isKeyless = status === 503 && each.path.startsWith('/google/v1/callback/')
    if ((status >= 500 && !isKeyless) || status === 0 || errors.length > 0) {
      const [about] = (errors[0] ?? []) as [{ err?: Error }?]
      wrong.push(
        `${status} ${each.method ?? 'GET'} ${each.path.slice(0, 100)} ${String(each.body ?? '').slice(0, 60)} ${about?.err?.message ?? ''}`,
      )
    }
  }
  return wrong
}

const isOauth = (path: string) => path.startsWith('/oauth') || path.startsWith('/.well-known')

test('each public form has a row here, and each prefix of holders', () => {
  const forms = [...routes].filter((path) => /^\/(sign-|challenges|invitations|password)/.test(path))
  expect(forms.sort()).toEqual(Object.keys(PUBLIC).sort())
  expect([...HOLDER_PREFIXES].sort()).toEqual(Object.keys(HOLDERS).sort())
})

test('no route of the console fails', { timeout: 120_000 }, async () => {
  const paths = [...routes].filter((path) => !isOauth(path))
  expect(paths.length).toBeGreaterThan(20)
  const attacks = paths.flatMap((path) => attacksOn(path, PUBLIC[path] ?? []))
  expect(await failing(service.baseUrls.console, attacks)).toEqual([])
})

test('no route beside the API fails', { timeout: 120_000 }, async () => {
  const paths = Object.entries(HOLDERS).flatMap(([prefix, rest]) => rest.map((each) => prefix + each))
  const others = [
    '/livez',
    '/readyz',
    '/llms.txt',
    '/robots.txt',
    '/openapi.json',
    '/openapi/:file',
    '/:nothing',
  ]
  const attacks = [...paths, ...others].flatMap((path) => attacksOn(path, []))
  expect(await failing(service.baseUrls.sandbox, attacks)).toEqual([])
})

test('no operation fails without a key', { timeout: 120_000 }, async () => {
  const attacks = versions
    .flatMap(({ operations }) => operations)
    .flatMap(({ path }) => {
      const filled = path.replaceAll(/\{\w+\}/g, '%00')
      return [
        { path: filled },
        {
          path: `${filled}?limit=%00&%00=%ED%A0%80`,
          method: 'POST',
          headers: JSON_TYPE,
          body: '{"a":"\\u0000"}',
        },
        { path: filled, headers: { Authorization: 'Bearer svc_sk_sandbox_\xff' } },
      ]
    })
  expect(attacks.length).toBeGreaterThan(100)
  expect(await failing(service.baseUrls.sandbox, attacks)).toEqual([])
})

/** A form of sign-in as a browser has it: without its proof, no value gets beyond the check of the form. */
async function openForm() {
  const page = await fetch(`${service.baseUrls.console}/sign-in`, {
    headers: { 'X-Forwarded-For': '10.9.9.9' },
  })
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1]
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0]
  if (csrf === undefined || cookie === undefined) throw new Error('the page has no form')
  return { csrf, cookie }
}

test('signing in by a form of ours fails for no value', { timeout: 120_000 }, async () => {
  const { csrf, cookie } = await openForm()
  const headers = { ...FORM, Cookie: cookie }
  const attacks = ['email', 'password', 'code', 'return_to', TYPED_FIELD].flatMap((field) =>
    VALUES.map((value) => {
      const others = { email: 'a%40b.example', password: 'x', code: '1', return_to: '/', [field]: value }
      const body = `csrf=${csrf}&${Object.entries(others)
        .map((pair) => pair.join('='))
        .join('&')}`
      return { path: '/sign-in', method: 'POST', headers, body }
    }),
  )
  expect(await failing(service.baseUrls.console, attacks)).toEqual([])
})

test.each(['Cookie: svc_session=a\0b', 'Authorization: ApplePass a\0b'])(
  '%j is refused on the wire',
  async (header) => {
    for (const origin of [service.baseUrls.console, service.baseUrls.sandbox]) {
      const { answers } = await talk(origin, `GET /livez HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`)
      expect(answers.map(({ status }) => status)).toEqual([400])
    }
  },
)
