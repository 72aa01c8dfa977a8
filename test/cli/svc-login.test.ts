/** `svc login`: as programs and a browser, against a service that checks what OAuth 2.1 has it check. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { configFolder } from '../../runtime/cli/sign-in/config-folder.ts'
import { openerFor } from '../../runtime/cli/sign-in/open-address.ts'
import type { Profile } from '../../runtime/cli/sign-in/profiles.ts'
import { endPrograms, type Program, startProgram, until } from '../support/programs.ts'
import { type AuthorizationStandIn, serveAuthorization } from './authorization-stand-in.ts'

let standIn: AuthorizationStandIn
let home: string
beforeEach(async () => {
  standIn = await serveAuthorization()
  home = mkdtempSync(join(tmpdir(), 'svc-login-'))
})
afterEach(async () => {
  await endPrograms()
  rmSync(home, { recursive: true })
})

/** @param browser the person's: follows where it is sent. */
function start(words: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  const surroundings = { XDG_CONFIG_HOME: home, SVC_AUTH_URL: standIn.url, SVC_BASE_URL: standIn.url }
  return startProgram(process.execPath, ['runtime/cli/svc.ts', ...words], { ...surroundings, ...env })
}

const addressIn = (program: Program) =>
  until('the address', () => /http\S+\/oauth\/authorize\S+/.exec(program.stderr())?.[0])

async function signIn(...words: readonly string[]) {
  const program = start(['login', '--no-browser', ...words])
  await fetch(await addressIn(program))
  return program.ended
}

const fileOf = (name: string) => join(home, 'svc', 'profiles', `${name}.json`)
const profileOf = (name = 'default'): Profile => JSON.parse(readFileSync(fileOf(name), 'utf8'))
const change = (members: Partial<Profile>, name = 'default') =>
  writeFileSync(fileOf(name), JSON.stringify({ ...profileOf(name), ...members }))
const makeDue = (name = 'default') => change({ expires_at: new Date(Date.now() + 1000).toISOString() }, name)

test('a sign-in ends with who it is; only the owner can read what is kept, and nothing of it is shown', async () => {
  const { code, stdout, stderr } = await signIn('--json')
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    {
      profile: 'default',
      tenant: 'Harbour Coffee',
      tenant_id: 'ten_01jx0000000000000000000001',
      environment: 'sandbox',
      base_url: standIn.url,
      scope: 'admin',
    },
  ])
  expect(statSync(fileOf('default')).mode & 0o777).toBe(0o600)
  expect(statSync(join(home, 'svc', 'profiles')).mode & 0o777).toBe(0o700)
  const { access_token, refresh_token, signing_seed } = profileOf()
  for (const secret of [access_token, refresh_token, signing_seed])
    expect(stdout + stderr).not.toContain(secret)
  const me = await start(['get', '/v1/me', '--json']).ended
  expect([me.code, JSON.parse(me.stdout).tenant.name]).toEqual([0, 'Harbour Coffee'])
})

test('the browser that is set gets the address as one word', async () => {
  const browser = join(home, 'browser')
  const script = `#!${process.execPath}\nfetch(process.argv[2])\n`
  writeFileSync(browser, script, { mode: 0o755 })
  expect((await start(['login'], { BROWSER: browser }).ended).code).toBe(0)
})

test('a request of another page to the login port is refused, and svc waits on', async () => {
  const program = start(['login', '--no-browser'])
  const address = await addressIn(program)
  const callback = new URL(address).searchParams.get('redirect_uri')!
  expect((await fetch(`${callback}?code=x&state=y`)).status).toBe(400)
  expect((await fetch(new URL('/', callback))).status).toBe(404)
  expect((await fetch(callback, { method: 'POST' })).status).toBe(404)
  const page = await fetch(address)
  expect([page.status, page.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  expect((await program.ended).code).toBe(0)
})

test.each<{ how: string; set: (standIn: AuthorizationStandIn) => void; say: string }>([
  {
    how: 'denied',
    set: (it) => Object.assign(it, { decision: 'deny' }),
    say: 'sign-in failed: access_denied',
  },
  {
    how: 'answered by another issuer',
    set: (it) => Object.assign(it, { issuer: 'https://elsewhere.example' }),
    say: 'the sign-in response is not from',
  },
])('a sign-in that is $how leaves nothing: exit code 3', async ({ set, say }) => {
  set(standIn)
  const { code, stderr } = await signIn()
  expect([code, stderr]).toEqual([3, expect.stringContaining(say)])
  expect(readdirSync(home)).toEqual([])
})

test('an interruption while the person is in the browser: exit code 130', async () => {
  const program = start(['login', '--no-browser'])
  await addressIn(program)
  const { code, signal, stderr } = await program.end('SIGINT')
  expect([code, signal, stderr.trimEnd().split('\n').at(-1)]).toEqual([130, null, 'interrupted'])
  expect(readdirSync(home)).toEqual([])
})

test('a token that is due is exchanged, and one that the service calls expired too', async () => {
  await signIn()
  const first = profileOf()
  makeDue()
  expect((await start(['get', '/v1/me']).ended).code).toBe(0)
  const second = profileOf()
  expect(second.refresh_token).not.toBe(first.refresh_token)
  standIn.expire()
  expect((await start(['get', '/v1/me']).ended).code).toBe(0)
  expect(profileOf().refresh_token).not.toBe(second.refresh_token)
  expect(standIn.reused).toEqual([])
})

test('one of the processes that find a token due exchanges it and the others use what it got', async () => {
  await signIn()
  makeDue()
  let waiting: () => void = () => {}
  standIn.beforeRefresh = () =>
    new Promise((resolve) => {
      waiting = resolve
    })
  const programs = Array.from({ length: 4 }, () => start(['get', '/v1/me', '--json']))
  const refreshes = () => standIn.asked.filter((path) => path === '/oauth/token refresh_token').length
  await until('the first refresh', () => refreshes() === 1)
  await until('the lock', () => readdirSync(join(home, 'svc', 'profiles')).includes('default.json.lock'))
  waiting()
  const endings = await Promise.all(programs.map((program) => program.ended))
  expect(endings.map(({ code, stderr }) => [code, stderr])).toEqual(programs.map(() => [0, '']))
  expect([refreshes(), standIn.reused, standIn.alive()]).toEqual([1, [], 1])
  expect(readdirSync(join(home, 'svc', 'profiles'))).toEqual(['default.json'])
})

test('the lock of a process that was killed is taken over', async () => {
  await signIn()
  makeDue()
  standIn.beforeRefresh = () => new Promise(() => {})
  const killed = start(['get', '/v1/me'])
  const lock = join(home, 'svc', 'profiles', 'default.json.lock')
  await until('its refresh', () => standIn.asked.includes('/oauth/token refresh_token'))
  await killed.end('SIGKILL')
  expect(JSON.parse(readFileSync(lock, 'utf8')).pid).toBe(killed.pid)
  standIn.beforeRefresh = async () => {}
  expect((await start(['get', '/v1/me']).ended).code).toBe(0)
  expect(readdirSync(join(home, 'svc', 'profiles'))).toEqual(['default.json'])
})

test('a sign-in that was ended elsewhere: exit code 3, with what to do', async () => {
  await signIn()
  makeDue()
  change({ refresh_token: 'svc_rt_unknown' })
  const { code, stderr } = await start(['get', '/v1/me']).ended
  expect([code, stderr]).toEqual([
    3,
    'error: the sign-in is no longer valid (grant request is invalid): run svc login\n',
  ])
})

test('profiles are apart; signing out revokes and removes one', async () => {
  await signIn()
  await signIn('--profile', 'other', '--env', 'live', '--scope', 'read')
  expect(profileOf('other')).toMatchObject({ client_id: 'svc-cli-live', environment: 'live', scope: 'read' })
  expect(standIn.alive()).toBe(2)
  const out = await start(['logout', '--profile', 'other']).ended
  expect([out.code, standIn.alive()]).toEqual([0, 1])
  expect(readdirSync(join(home, 'svc', 'profiles'))).toEqual(['default.json'])
  expect((await start(['get', '/v1/me']).ended).code).toBe(0)
  const gone = await start(['get', '/v1/me', '--profile', 'other']).ended
  expect([gone.code, gone.stderr]).toEqual([
    3,
    'error: not signed in: run svc login --profile other, or set SVC_API_KEY\n',
  ])
})

test.each([
  { words: ['--profile', '../x'], say: 'a profile name consists of' },
  { words: ['--auth-url', 'ftp://x'], say: '--auth-url must be an http:// or https:// address' },
  { words: ['--env', 'prod'], say: 'Allowed choices are sandbox, live' },
])('svc login $words is refused: exit code 2', async ({ words, say }) => {
  const { code, stderr } = await start(['login', ...words]).ended
  expect([code, stderr]).toEqual([2, expect.stringContaining(say)])
})

test('a damaged profile says how to have a new one', async () => {
  await signIn()
  writeFileSync(fileOf('default'), '{')
  const { code, stderr } = await start(['get', '/v1/me']).ended
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('run svc login --profile default to replace it'),
  ])
})

test('tokens are kept where the system keeps what people set', () => {
  expect(configFolder({ XDG_CONFIG_HOME: '/x', HOME: '/h' }, 'darwin')).toBe('/x/svc')
  expect(configFolder({ XDG_CONFIG_HOME: 'x', HOME: '/h' }, 'linux')).toBe('/h/.config/svc')
  expect(configFolder({ HOME: '/h' }, 'darwin')).toBe('/h/Library/Application Support/svc')
  expect(configFolder({ APPDATA: '/r', HOME: '/h' }, 'win32')).toBe('/r/svc')
})

test('a browser is opened where there is a screen', () => {
  expect(openerFor('linux', {})).toBeUndefined()
  expect(openerFor('linux', { DISPLAY: ':0' })).toEqual(['xdg-open'])
  expect(openerFor('linux', { BROWSER: 'w3m' })).toEqual(['w3m'])
  expect(openerFor('darwin', {})).toEqual(['open'])
  expect(openerFor('darwin', { SSH_CONNECTION: '1' })).toBeUndefined()
  expect(openerFor('win32', {})?.[0]).toBe('rundll32')
})
