/** Programs as readers write them, each of a page, in a project that has installed the built package: compiled, then run. */

import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createClient, testHeaders } from '../../generated/client/src/2026-05-19/index.ts'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { openDelivery } from '../../runtime/events/delivery/open-delivery.ts'
import {
  Browser,
  type Console,
  REDIRECT,
  registerClient,
  signIn,
  startConsole,
} from '../account/oauth/browser.ts'
import { endPrograms, type Program, startProgram, until } from '../support/programs.ts'
import { makeKey, makeTenant, useService } from '../support/service.ts'
import { compileIn, installClient } from './installed.ts'
import { notedClock } from './scripted.ts'

const FOLDER = 'test/client/programs'
const sources = Object.fromEntries(
  readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]),
)
const before = sources['upgrade.before.ts']!
/** What follows from the change of the date alone. */
const changed = before.replace('/2025-11-01', '/2026-05-19')

const BRAND = { background_color: '#123456', foreground_color: '#FFFFFF' }

let project: string
const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' } })
let delivery: ReturnType<typeof openDelivery>
let backtests: ReturnType<typeof backtestWorker>
let console: Console
let errors: ReadonlyMap<string, readonly string[]>
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  project = installClient()
  errors = compileIn(project, { ...sources, 'upgrade.changed.ts': changed })
  const { database, clock, outbound, wakeUps } = service
  const wakeUpChannel = { publish: wakeUps.notify }
  const parts = { database, clock, wakeUps, wakeUpChannel, log: pino({ level: 'silent' }) }
  delivery = openDelivery({ ...parts, outbound })
  backtests = backtestWorker(parts)
  backtests.start()
  console = await startConsole(service)
  const { secret } = await makeKey(service, await makeTenant(service))
  env = { BASE_URL: service.urls.sandbox, API_KEY: secret }
}, 240_000)

afterAll(async () => {
  await endPrograms()
  console.stop()
  await Promise.all([delivery.stop(), backtests.stop()])
  rmSync(project, { recursive: true })
})

const start = (name: string, more: Readonly<Record<string, string>> = {}): Program =>
  startProgram(process.execPath, [`${name}.ts`], { ...env, ...more }, { cwd: project })

/** @returns what it printed, as JSON. */
async function run(name: string, more: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await start(name, more).ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** @returns the address of a program that listens. */
async function addressOf(program: Program): Promise<string> {
  const port = await until('the program to listen', () => /^listening (\d+)$/m.exec(program.stdout())?.[1])
  return `http://127.0.0.1:${port}`
}

const client = (baseUrl = env.BASE_URL!, apiKey = env.API_KEY!) =>
  createClient({ baseUrl, apiKey, clock: notedClock() })

/** Makes a tenant that has a template, and a card with a purchase. */
async function makeAccount() {
  const { secret } = await makeKey(service, await makeTenant(service))
  const { passTemplates, test, cardholders, cards } = client(env.BASE_URL, secret)
  const template = await passTemplates.create({ name: 'Loyalty', kind: 'loyalty', brand: BRAND })
  await test.funding.simulate({ amount: 100_000 })
  const { id: cardholder_id } = await cardholders.create({ name: 'Ada Moreau' })
  const card = await cards.create({ cardholder_id, type: 'virtual' })
  const merchant = { name: 'Harbor Diner', category_code: '5812' }
  const amount = 1_250
  await test.cards.simulateAuthorization({ card_id: card.id, amount, merchant })
  const monthStart = new Date(service.clock.now - 3_600_000).toISOString()
  service.clock.now += 1_000 // the purchase is before NOW
  const now = new Date(service.clock.now).toISOString()
  return { API_KEY: secret, TEMPLATE_ID: template.id, CARD_ID: card.id, MONTH_START: monthStart, NOW: now }
}

test('programs compile; one whose version was changed does where the versions differ, and nowhere else', () => {
  expect(Object.fromEntries(errors)).toEqual({
    'upgrade.changed.ts': [
      expect.stringContaining("'cardTransaction' does not exist"),
      expect.stringContaining("'allowed_categories' does not exist"),
      expect.stringContaining("'allowed_categories' does not exist"),
    ],
  })
})

/** What each program prints that needs no other program and no browser. */
const PRINTED = {
  retry: { same: true, replayed: 'true' },
  errors: {
    failures: [
      'there is no such pass',
      expect.stringMatching(/^template_id must look like/),
      'check the key',
      'too late',
      'try again later',
    ],
  },
  options: { versions: ['2026-05-19', '2026-02-01'], counted: true },
  cancel: { attempt: 20, whole: 'TimeoutError', left: 'The customer left' },
  'with-response': { status: 200, isSame: true, left: expect.stringMatching(/^\d+$/) },
  log: { byStatus: { 200: 1, 404: 1 } },
  'injected-fetch': { bytes: 28, expected: 28 },
  'debug-log': { passes: 1 },
  'sign-webhook': { signed: 'welcome Ada', forged: 'no_match', old: 'timestamp_out_of_tolerance' },
  mock: {
    greeting: 'Hello Ada, your pass is issued',
    sent: { template_id: 'tpl_01jx4b9c8d7e6f5g4h3j2k1m0n', holder: { name: 'Ada' } },
    retries: 1,
    refused: expect.stringContaining('template_id must match'),
  },
  functions: { status: 'issued' },
  settle: { status: 'settled', net: 18, paid: 18, toOurs: true },
  authorize: {
    lunch: 'authorized',
    banquet: ['declined', 'spending_limit_exceeded'],
    collected: ['cleared', 1_250],
  },
  balance: { byKind: { card_transaction: -2_500, funding: 200_000 }, explained: true },
  dispute: { provisional_credit: 4_200, status: 'won' },
  translate: {
    translations: { de: { name: 'Kaffeekarte' }, fr: { name: 'Carte café' } },
    status: 'installed',
  },
  'control-draft': { status: 'succeeded', declined: ['spending_limit_exceeded 1250'] },
  recover: { scope: 'all', recoveries: 1, status: 'canceled' },
  versions: { allowed: false, blocked: ['7995'] },
}

/** Runs the programs in one process. */
const ONE_BY_ONE = `for (const name of process.argv.slice(2)) {
  console.log('# ' + name)
  await import('./' + name + '.ts').catch((error) => console.error(name, error))
}`

test('each program does its task, and its debug log has no secrets', async () => {
  writeFileSync(join(project, 'one-by-one.mjs'), ONE_BY_ONE)
  const words = ['one-by-one.mjs', ...Object.keys(PRINTED)]
  const more = { ...(await makeAccount()), SLOW_URL: await startSilentServer(), DATELINE_LOG: 'debug' }
  const program = startProgram(process.execPath, words, { ...env, ...more }, { cwd: project })
  const { code, stdout, stderr } = await program.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const sections = stdout.split(/^# /m).slice(1)
  const lines = sections.map((section) => section.trimEnd().split('\n'))
  expect(Object.fromEntries(lines.map((each) => [each[0], JSON.parse(each.at(-1)!)]))).toEqual(PRINTED)
  const logged = stdout.match(/^\[dateline\] .*$/gm) ?? []
  expect(logged).toContainEqual(expect.stringMatching(/GET \S+\/v1\/passes → 200 in \d+ ms, attempt 1$/))
  expect(logged.join()).not.toMatch(/svc_sk_|limit=|Ada/)
})

test('a program says the same before its upgrade and after', async () => {
  const [old, current] = await Promise.all([run('upgrade.before'), run('upgrade.after')])
  expect(current).toEqual(old)
  expect(old).toMatchObject({ open: true })
})

test('a pass is issued and updated; what is sent of it is received, and what was missed brought in', async () => {
  const { id, secret } = await client().createWebhookEndpoint({
    body: { url: 'http://127.0.0.1:8080/away', enabled_events: ['pass.created', 'pass.updated'] },
  })
  const receiver = start('receiver', { WEBHOOK_SECRETS: secret! })
  const receiving = `${await addressOf(receiver)}/webhooks`
  await client().updateWebhookEndpoint({ path: { whe_id: id }, body: { url: receiving } })
  const { pass, link, points } = await run('issue-and-update')
  expect([points, new URL(link).pathname]).toEqual(['25', expect.stringContaining('/p/')])
  await until(
    'both deliveries',
    () => /^updated/m.test(receiver.stdout()) && /^created/m.test(receiver.stdout()),
  )
  expect(receiver.stdout().split('\n').slice(1, -1).toSorted()).toEqual([
    `created ${pass} issued`,
    `updated ${pass} fields`,
  ])

  const body = JSON.stringify({ id: 'evt_1', type: 'pass.scanned', data: {} })
  const deliver = async (by: string) => {
    const headers = await testHeaders(body, by)
    return (await fetch(receiving, { method: 'POST', body, headers })).status
  }
  expect([await deliver(secret!), await deliver(secret!), await deliver('whsec_other')]).toEqual([
    204, 204, 400,
  ])
  expect(receiver.stdout().match(/left alone/g)).toHaveLength(1)

  const { port } = new URL(receiving)
  const gone = connect(Number(port), '127.0.0.1').on('error', () => undefined)
  gone.write('POST /webhooks HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{', () => gone.destroy())
  await until('it sees that the sender has gone', () => /aborted|ECONNRESET/.test(receiver.stderr()))
  expect(await deliver(secret!)).toBe(204)

  const { data: events } = await client().listEvents({ query: { limit: 100 } })
  const known = events.filter(({ type }) => type !== 'pass.created').map((event) => event.id)
  expect(await run('reconcile', { KNOWN_EVENTS: known.join() })).toEqual({ missed: ['created Ada Lovelace'] })
})

test('pages are walked to the end in each way', async () => {
  const template = await makeTemplate()
  await issue(template, 5)
  const { walked, everything, pages, byHand } = await run('page')
  expect(new Set(walked).size).toBe((await client().passes.count()).count)
  expect([everything, byHand]).toEqual([walked, walked])
  expect(pages.slice(0, -1).every((length: number) => length === 2)).toBe(true)
})

test('an application is let in, renews its access, and reads', async () => {
  const member = await signIn(service, console)
  const { id } = await registerClient(service)
  const app = start('oauth-app', {
    ISSUER: console.url,
    CLIENT_ID: id,
    PUBLIC_URL: new URL(REDIRECT).origin,
    // As long as access lasts: it is renewed at once.
    RENEW_EARLY_SECONDS: '3600',
  })
  const address = await addressOf(app)
  const begun = await fetch(`${address}/connect`, { redirect: 'manual' })
  const browser = new Browser(console.url, member)
  const asked = await browser.go(begun.headers.get('Location')!)
  const { url } = await browser.submit(asked, { decision: 'allow', code: await member.freshCode() })
  expect(url.origin + url.pathname).toBe(REDIRECT)
  const answer = await fetch(`${address}/callback${url.search}`)
  expect([answer.status, await answer.json()]).toEqual([200, { count: 0, passes: [] }])
  const again = await fetch(`${address}/callback${url.search}`)
  expect(again.status).toBe(400)
})

test('an answer that is lost twice after its commit leaves one pass', async () => {
  const template = await makeTemplate()
  const proxy = await startProxy((request, number) => request.method === 'POST' && number <= 2)
  const before = (await client().countPasses()).count
  const { data, response } = await client(proxy.url)
    .createPass({ body: { template_id: template } })
    .withResponse()
  expect(proxy.answered).toEqual([201, 201, 201])
  expect(response.headers.get('Idempotency-Replayed')).toBe('true')
  expect((await client().countPasses()).count).toBe(before + 1)
  expect((await client().listPasses({ query: { template_id: template } })).data).toEqual([data])
})

async function makeTemplate(): Promise<string> {
  return (await client().passTemplates.create({ name: 'Loyalty', kind: 'loyalty', brand: BRAND })).id
}

async function issue(template: string, count: number): Promise<void> {
  const passes = Array.from({ length: count }, () => ({ template_id: template }))
  await client().createPassBatch({ body: { passes } })
}

/** @returns the address of a server that accepts requests and never answers. */
async function startSilentServer(): Promise<string> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Forwards to the service; where `loses` says so, the connection ends in place of an answer that has come. */
async function startProxy(loses: (request: IncomingMessage, number: number) => boolean) {
  const answered: (number | undefined)[] = []
  const server = createServer((request, response) => {
    const { method, headers } = request
    const onward = send(new URL(request.url ?? '/', env.BASE_URL), { method, headers }, async (answer) => {
      const body = Buffer.concat(await answer.toArray())
      answered.push(answer.statusCode)
      if (loses(request, answered.length)) return void request.socket.destroy()
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(body)
    })
    request.pipe(onward)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered }
}
