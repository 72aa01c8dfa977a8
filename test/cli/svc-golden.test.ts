/**
 * What each command of `svc` shows: its help, a success, a mistake and an interruption, in a pipe and in a terminal, against the
 * service itself. `UPDATE_GOLDEN=1 npx vitest run test/cli/svc-golden.test.ts` writes `test/golden/svc`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeCardholder } from '../cards/fixtures.ts'
import { planAll } from '../support/planning.ts'
import { until } from '../support/programs.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { type AuthorizationStandIn, serveAuthorization } from './authorization-stand-in.ts'
import { type Mode, type Running, runIn } from './shells.ts'
import { type Endpoint, serveEndpoint, serveHttp } from './stream-server.ts'

const service = useService({ logsRequests: true })
let standIn: AuthorizationStandIn
let endpoint: Endpoint
let silent: { readonly url: string; asked: number }
let send: Send
let secret: string
let liveSecret: string
let home: string
let template: string
let card: string
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-golden-'))
  const tenant = await makeTenant(service)
  secret = (await makeKey(service, tenant, { scope: 'admin' })).secret
  liveSecret = (await makeKey(service, tenant, { environment: 'live', scope: 'admin' })).secret
  send = speak(service.urls.sandbox, { secret, version: '2026-05-19' })
  writeFileSync(join(home, 'template.json'), JSON.stringify(TEMPLATE))
  template = (await send('/v1/pass_templates', { body: TEMPLATE })).body.id
  await send('/v1/test/funding', { body: { amount: 10_000 } })
  const cardholder_id = await makeCardholder(send)
  card = (await send('/v1/cards', { body: { cardholder_id, type: 'virtual' } })).body.id
})
beforeEach(async () => {
  standIn = await serveAuthorization()
  endpoint = await serveEndpoint()
  let asked = 0
  const url = await serveHttp(() => {
    asked += 1
  })
  silent = {
    url,
    get asked() {
      return asked
    },
  }
})
afterAll(() => rmSync(home, { recursive: true }))

const TEMPLATE = {
  name: 'Coffee club',
  kind: 'loyalty',
  brand: { background_color: '#112233', foreground_color: '#ffffff' },
  fields: [{ key: 'points', label: 'Points', value: '0' }],
}

/** Reaches nobody, and is asked of nobody until somebody is there. */
const PUBLIC = 'https://93.184.216.34/hooks'

interface Case {
  /** Words behind the command. Called for each run. */
  readonly success: () => readonly string[] | Promise<readonly string[]>
  readonly during?: (running: Running) => Promise<void>
  readonly mistake: () => readonly string[]
  /** Words that have it wait for an answer; none for a command that never does. */
  readonly interrupted?: () => readonly string[]
}

const signIn = async ({ shown }: Running) => {
  const address = await until('the address', () => /http\S+\/oauth\/authorize\S+/.exec(shown())?.[0])
  await fetch(address)
}

const CASES: Readonly<Record<string, Case>> = {
  login: {
    success: () => ['--no-browser', '--base-url', standIn.url],
    during: signIn,
    mistake: () => ['--env', 'production'],
    interrupted: () => ['--auth-url', silent.url],
  },
  logout: {
    success: async () => {
      await runIn('pipe', ['login', '--no-browser', '--base-url', standIn.url], variables(), signIn)
      return []
    },
    mistake: () => ['--profile', 'nobody'],
  },
  status: {
    success: () => [],
    mistake: () => ['now'],
    interrupted: () => ['--base-url', silent.url],
  },
  open: {
    success: () => ['pass_01jx1a2b3c4d5e6f7g8h9j0k1m', '--no-browser'],
    mistake: () => ['passes'],
  },
  get: {
    success: () => [`/v1/pass_templates/${template}`, '--version', '2026-02-01'],
    mistake: () => ['v1/passes'],
    interrupted: () => ['/v1/me', '--base-url', silent.url],
  },
  post: {
    success: () => ['/v1/pass_templates', '-d', `@${join(home, 'template.json')}`],
    mistake: () => ['/v1/pass_templates', '-d', '{"name":'],
    interrupted: () => ['/v1/passes', '-d', '{}', '--base-url', silent.url],
  },
  put: {
    success: () => ['/v1/authorization_endpoint', '-d', JSON.stringify({ url: PUBLIC })],
    mistake: () => ['/v1/authorization_endpoint', '-d', '@missing.json'],
    interrupted: () => ['/v1/authorization_endpoint', '-d', '{}', '--base-url', silent.url],
  },
  patch: {
    success: () => [`/v1/pass_templates/${template}`, '-d', '{"name":"Tea club"}'],
    mistake: () => [`/v1/pass_templates/${template}`, '-d', '{"nme":"Tea club"}'],
    interrupted: () => ['/v1/passes/pass_1', '-d', '{}', '--base-url', silent.url],
  },
  delete: {
    success: async () => {
      const made = await send('/v1/webhook-endpoints', { body: { url: PUBLIC, enabled_events: ['*'] } })
      return [`/v1/webhook-endpoints/${made.body.id}`]
    },
    mistake: () => ['/v1/webhook-endpoints/whe_01jx1a2b3c4d5e6f7g8h9j0k1m'],
    interrupted: () => ['/v1/webhook-endpoints/whe_1', '--base-url', silent.url],
  },
  listen: {
    success: () => ['--forward-to', endpoint.url, '--events', 'pass_template.created'],
    during: async ({ shown, interrupt }) => {
      await until('the stream', () => shown().includes('Connected.'))
      await send('/v1/pass_templates', { body: TEMPLATE })
      await until('the event', () => shown().includes('→ 204'))
      interrupt()
    },
    mistake: () => ['--forward-to', endpoint.url, '--events', 'pass_template.creatde'],
    interrupted: () => ['--forward-to', endpoint.url, '--base-url', silent.url],
  },
  trigger: {
    success: () => ['pass_template.created'],
    mistake: () => ['pass_template.creatde'],
    interrupted: () => ['pass_template.created', '--base-url', silent.url],
  },
  seed: {
    success: () => ['--months', '1', '--passes', '3', '--cards', '1'],
    mistake: () => ['--months', 'many'],
    interrupted: () => ['--base-url', silent.url],
  },
  'sandboxes create': {
    success: () => ['Checkout tests'],
    mistake: () => ['Copy', '--from', 'snap_01jx1a2b3c4d5e6f7g8h9j0k1m'],
    interrupted: () => ['Copy', '--base-url', silent.url],
  },
  'cards simulate': {
    success: () => ['force-post', card, '--amount', '100'],
    mistake: () => ['authorization', card],
    interrupted: () => ['expiry', 'ctx_1', '--base-url', silent.url],
  },
  events: {
    success: () => ['--type', 'card.created', '--limit', '1'],
    mistake: () => ['--limit', 'many'],
    interrupted: () => ['--base-url', silent.url],
  },
  'events resend': {
    success: async () => {
      await send('/v1/webhook-endpoints', {
        body: { url: PUBLIC, enabled_events: ['pass_template.created'] },
      })
      await send('/v1/pass_templates', { body: TEMPLATE })
      await planAll(service.database.sandbox)
      const { body } = await send('/v1/events?type=pass_template.created&limit=1')
      return [body.data[0].id]
    },
    mistake: () => ['evt_01jx1a2b3c4d5e6f7g8h9j0k1m'],
    interrupted: () => ['evt_1', '--base-url', silent.url],
  },
  'logs tail': {
    success: () => ['--method', 'GET'],
    during: async ({ shown, interrupt }) => {
      await until('the tail', () => shown().includes('Connected.'))
      await send('/v1/pass_templates?limit=1')
      await service.flush()
      await until('the request', () => shown().includes('limit=1'))
      interrupt()
    },
    mistake: () => ['--status', '4'],
    interrupted: () => ['--base-url', silent.url],
  },
  'logs list': {
    success: async () => {
      await send('/v1/passes?limit=0')
      await service.flush()
      return ['--path', '/v1/passes', '--limit', '1']
    },
    mistake: () => ['--path', 'passes'],
    interrupted: () => ['--base-url', silent.url],
  },
  promote: {
    success: () => ['templates', template, '--dry-run'],
    mistake: () => ['passes', 'pass_1'],
    interrupted: () => ['templates', template, '--live-base-url', silent.url, '--dry-run'],
  },
  completion: { success: () => ['bash'], mistake: () => ['tcsh'] },
}

const variables = () => ({
  HOME: home,
  XDG_CONFIG_HOME: join(home, 'config'),
  SVC_AUTH_URL: standIn.url,
  SVC_BASE_URL: service.urls.sandbox,
  SVC_API_KEY: secret,
  SVC_LIVE_API_KEY: liveSecret,
  SVC_LIVE_BASE_URL: service.urls.live,
})

/** What differs from run to run, by what it is. */
function settle(text: string): string {
  return text
    .replaceAll(service.urls.sandbox, 'http://api')
    .replaceAll(service.urls.live, 'http://live')
    .replaceAll(standIn.url, 'http://console')
    .replaceAll(encodeURIComponent(standIn.url), 'http%3A%2F%2Fconsole')
    .replaceAll(silent.url, 'http://silent')
    .replaceAll(endpoint.url, 'http://endpoint/')
    .replaceAll(home, '~')
    .replace(/whsec_[\w-]+/g, 'whsec_…')
    .replace(/svc_sk_sandbox_\w+/g, 'svc_sk_sandbox_…')
    .replace(/\b([a-z]+)_01(?!jx1a2b3c)[0-9a-hjkmnp-tv-z]{24}/g, '$1_…')
    .replace(/\b(tpl|card|ctx|evt|ten|key|whe|wdla|req)_0[0-9a-hjkmnp-tv-z]{25}/g, (id) =>
      id.includes('jx1a2b3c') ? id : `${id.split('_')[0]}_…`,
    )
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replace(/\b\d\d:\d\d:\d\d\b/g, '<hour>')
    .replace(DURATION, '<n> ms$2')
    .replace(/"remaining":\d+/g, '"remaining":<n>')
    .replace(/redirect_uri=http%3A%2F%2F127.0.0.1%3A\d+/g, 'redirect_uri=http%3A%2F%2F127.0.0.1%3A<port>')
    .replace(/(state|code_challenge)=[\w-]{43}/g, '$1=<random>')
}

/** With the padding of its column, which depends on its digits. */
const DURATION = /\b\d+(\.\d+)? ms\b(?:( {2}) *)?/g

const HANGING = async ({ interrupt }: Running) => {
  const before = silent.asked
  await until('a question', () => silent.asked > before)
  interrupt()
}

async function session(mode: Mode, what: string, words: readonly string[], during?: Case['during']) {
  const { code, text } = await runIn(mode, words, variables(), during)
  return settle(
    `=== ${what}, in a ${mode}\n$ svc ${words.join(' ')}\n${text.trimEnd()}\n--- exit code ${code}\n`,
  )
}

async function sessionsOf(name: string, one: Case): Promise<string> {
  const command = name.split(' ')
  const sessions = [await session('pipe', 'help', [...command, '--help'])]
  for (const mode of ['pipe', 'terminal'] as const) {
    sessions.push(await session(mode, 'success', [...command, ...(await one.success())], one.during))
    sessions.push(await session(mode, 'mistake', [...command, ...one.mistake()]))
    if (one.interrupted)
      sessions.push(await session(mode, 'interruption', [...command, ...one.interrupted()], HANGING))
  }
  return sessions.join('\n')
}

test.each(Object.entries(CASES))('svc %s', async (name, one) => {
  const file = join(import.meta.dirname, '../golden/svc', `${name.replace(' ', '-')}.txt`)
  const shown = await sessionsOf(name, one)
  for (const key of [secret, liveSecret]) expect(shown).not.toContain(key)
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, shown)
  expect(shown).toBe(readFileSync(file, 'utf8'))
})
