/** Signing in to the console and out of it, over HTTP. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { TOTP } from 'otpauth'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { disableUser, resetUser, showMember } from '../../runtime/account/members/members.ts'
import { addRecoveryCodes, sweepSessions } from '../../runtime/dashboard/sign-in/queries.ts'
import { createSessions } from '../../runtime/dashboard/sign-in/sessions.ts'
import { createSignIn, ownPath, requireMember } from '../../runtime/dashboard/sign-in/sign-in.ts'
import { toTimestamp } from '../../runtime/database/types.ts'
import { hashPassword } from '../../runtime/platform/passwords.ts'
import { createWrongCodes } from '../../runtime/tenants/factors/wrong-codes.ts'
import { digestKey } from '../../runtime/tenants/keys/keys.ts'
import { type Confirmer, holdMachineClock, type MachineClock, makeConfirmer } from '../account/confirmers.ts'
import { makeTenant, useService } from '../support/service.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const service = useService()
let machine: MachineClock
let tenantId: string
let ada: Confirmer
const servers: Server[] = []

/** A console of one node. `/mine` needs a session. */
async function startConsole(secure = false): Promise<string> {
  const { control, pepper } = service.database
  const { clock } = service
  const consoleUrl = secure ? 'https://console.example' : 'http://console.example'
  const sessions = createSessions({ control, pepper, clock, secure })
  const log = pino({ level: 'silent' })
  const wrongCodes = createWrongCodes(control, clock, () => {})
  const app = express()
  app.use(
    createSignIn({
      control,
      pepper,
      clock,
      wrongCodes,
      sessions,
      csrfKey: 'key',
      consoleUrl,
      proxies: 0,
      log,
    }),
  )
  app.all('/mine', async (request, response) => {
    const member = await requireMember(sessions, request, response)
    if (member) response.json(member)
  })
  const server = createServer(app)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What a browser keeps, and its address line. */
interface Browser {
  readonly cookies: Map<string, string>
  go(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; text: string }>
  /** Fills in the form at a path and sends it. */
  send(path: string, fields: Readonly<Record<string, string>>): ReturnType<Browser['go']>
}

function openBrowser(origin: string): Browser {
  const cookies = new Map<string, string>()
  const go: Browser['go'] = async (path, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('Cookie', [...cookies].map((pair) => pair.join('=')).join('; '))
    const response = await fetch(origin + path, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return {
    cookies,
    go,
    async send(path, fields) {
      const { text } = await go(path)
      // The form with a password stands first.
      const hidden = [
        ...text.split('</form>')[0]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g),
      ]
      const form = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...fields }
      return go(path.split('?')[0]!, { method: 'POST', body: new URLSearchParams(form) })
    },
  }
}

let origin: string
let browser: Browser

beforeAll(async () => {
  machine = holdMachineClock(service)
  origin = await startConsole()
})
beforeEach(async () => {
  machine.toNewCodes()
  tenantId = await makeTenant(service)
  ada = await makeConfirmer(service, machine, tenantId)
  browser = openBrowser(origin)
})
afterAll(async () => {
  for (const server of servers) server.close()
})

const wordsOf = (member: Confirmer) => ({
  email: member.email,
  password: member.password,
  code: member.code(),
})
const signIn = (who = browser, member = ada, returnTo = '/mine') =>
  who.send(`/sign-in?return_to=${encodeURIComponent(returnTo)}`, wordsOf(member))

async function auditOf(environment: 'sandbox' | 'live'): Promise<unknown[]> {
  const text = `SELECT action, outcome, actor_id, target_id FROM ${environment}.audit_log
                WHERE tenant_id = $1 AND action LIKE 'member.signed%' ORDER BY sequence`
  return (await service.database.control.query({ text }, [tenantId])).rows as unknown[]
}

describe('what an operator does to a member', () => {
  test('disabled, the member is out at once and stays out, also with a sign-in that was just ending', async () => {
    await signIn()
    const session = browser.cookies.get('svc_session')!
    const { control } = service.database
    const kept = { text: 'SELECT * FROM control.sessions WHERE tenant_id = $1' }
    const [row] = (await control.query<Record<string, unknown>>(kept, [tenantId])).rows
    await disableUser(service.operator, ada.id)
    expect((await browser.go('/mine')).status).toBe(303)
    machine.toNewCodes()
    expect((await browser.send('/sign-in', wordsOf(ada))).status).toBe(403)
    const names = Object.keys(row!)
    const places = names.map((_, index) => `$${index + 1}`)
    const columns = names.map((name) =>
      ['created', 'seen_at', 'expires_at'].includes(name) ? toTimestamp(Number(row![name])) : row![name],
    )
    await control.query(
      { text: `INSERT INTO control.sessions (${names.join(', ')}) VALUES (${places.join(', ')})` },
      columns,
    )
    browser.cookies.set('svc_session', session)
    expect((await browser.go('/mine')).status).toBe(303)
    expect(await actionsOn(ada.id)).toContain('member.disabled')
  })

  test('reset, the old password and sessions end, and what is shown once signs in', async () => {
    await signIn()
    const { password, totp_secret: secret } = await resetUser(service.operator, ada.id)
    expect((await browser.go('/mine')).status).toBe(303)
    machine.toNewCodes()
    expect((await browser.send('/sign-in', wordsOf(ada))).status).toBe(403)
    const code = new TOTP({ secret }).generate({ timestamp: machine.now })
    const fields = { email: ada.email, password, code }
    expect((await openBrowser(origin).send('/sign-in?return_to=%2Fmine', fields)).status).toBe(303)
    expect(await actionsOn(ada.id)).toContain('member.reset')
  })

  test('a member who was disabled is let in again by a reset', async () => {
    await disableUser(service.operator, ada.id)
    expect((await showMember(service.operator, ada.id)).can_sign_in).toBe(false)
    await resetUser(service.operator, ada.id)
    expect((await showMember(service.operator, ada.id)).can_sign_in).toBe(true)
  })
})

/** What the audit log of the sandbox has of a member. */
async function actionsOn(memberId: string): Promise<readonly string[]> {
  const text = 'SELECT action FROM sandbox.audit_log WHERE tenant_id = $1 AND target_id = $2'
  const { rows } = await service.database.control.query<{ action: string }>({ text }, [tenantId, memberId])
  return rows.map(({ action }) => action)
}

describe('signing in', () => {
  test('signing in leads to where one wanted to go, as who one is', async () => {
    const refused = await browser.go('/mine?tab=2')
    expect([refused.status, refused.headers.get('Location')]).toEqual([
      303,
      '/sign-in?return_to=%2Fmine%3Ftab%3D2',
    ])
    const { status, headers } = await signIn(browser, ada, '/mine?tab=2')
    expect([status, headers.get('Location'), headers.get('Cache-Control')]).toEqual([
      303,
      '/mine?tab=2',
      'no-store',
    ])
    const { text } = await browser.go('/mine')
    expect(JSON.parse(text)).toMatchObject({ tenantId, memberId: ada.id, email: ada.email, role: 'owner' })
  })

  test('signing in is written into the logs of both environments, tries too', async () => {
    await browser.send('/sign-in', { ...wordsOf(ada), password: 'wrong' })
    machine.toNewCodes()
    await signIn()
    for (const environment of ['sandbox', 'live'] as const) {
      expect(await auditOf(environment)).toEqual([
        { action: 'member.signed_in', outcome: 'failed', actor_id: null, target_id: ada.id },
        { action: 'member.signed_in', outcome: 'succeeded', actor_id: ada.id, target_id: ada.id },
      ])
    }
  })

  test.each([
    ['another password', () => ({ ...wordsOf(ada), password: 'wrong' })],
    ['another code', () => ({ ...wordsOf(ada), code: ada.code(9) })],
    ['no code', () => ({ ...wordsOf(ada), code: '' })],
    ['a code that is none', () => ({ ...wordsOf(ada), code: '12345６' })],
    ['nobody’s address', () => ({ ...wordsOf(ada), email: 'nobody@example.com' })],
    ['an address of 10 kB', () => ({ ...wordsOf(ada), email: `${'a'.repeat(10_000)}@example.com` })],
  ])('signing in with %s shows the form again, which says no more than that', async (_, fields) => {
    const { status, text } = await browser.send('/sign-in', fields())
    expect([status, browser.cookies.has('svc_session')]).toEqual([403, false])
    expect(text).toContain('The email, password, or code is incorrect')
    expect(text).not.toContain(ada.password)
  })

  test('signing in keeps the address that was typed, as text', async () => {
    const { text } = await browser.send('/sign-in', { ...wordsOf(ada), email: '"><script>x</script>' })
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;x&lt;/script&gt;"')
  })

  test('signing in takes a code once, in whatever spelling', async () => {
    const code = ada.code()
    const spelt = `${code.slice(0, 3)} ${code.slice(3)}`
    const fields = { email: ` ${ada.email.toUpperCase()} `, password: ada.password, code: spelt }
    expect((await browser.send('/sign-in', fields)).status).toBe(303)
    expect((await openBrowser(origin).send('/sign-in', fields)).status).toBe(403)
  })

  test('signing in takes a recovery code in the place of a code, once, and says so in the log', async () => {
    const { control, pepper } = service.database
    await addRecoveryCodes(control, tenantId, ada.id, [digestKey(pepper, '012345678901')])
    const words = { ...wordsOf(ada), code: '0123-4567 8901' }
    expect((await browser.send('/sign-in', words)).status).toBe(303)
    expect((await openBrowser(origin).send('/sign-in', words)).status).toBe(403)
    const text = `SELECT action, actor_id FROM sandbox.audit_log
                  WHERE tenant_id = $1 AND action LIKE 'member.recovery%'`
    expect((await control.query({ text }, [tenantId])).rows).toEqual([
      { action: 'member.recovery_code_used', actor_id: ada.id },
    ])
  })

  test('pauses after ten wrong tries, for right ones too, and lets nobody else wait', async () => {
    const grace = await makeConfirmer(service, machine, tenantId)
    for (let tries = 0; tries < 10; tries += 1) {
      await browser.send('/sign-in', { ...wordsOf(ada), password: `wrong ${tries}` })
    }
    expect((await signIn()).status).toBe(403)
    expect((await signIn(openBrowser(origin), grace)).status).toBe(303)
    machine.now += 16 * MINUTE
    expect((await signIn()).status).toBe(303)
  })

  test('signing in of one address in two tenants leads to the one whose password it is, and counts against neither', async () => {
    const other = await makeTenant(service)
    const there = await makeConfirmer(service, machine, other)
    const text = 'UPDATE control.members SET email = $2, password_hash = $3 WHERE id = $1'
    await service.database.control.query({ text }, [there.id, ada.email, await hashPassword('another horse')])
    for (let times = 0; times < 12; times += 1) {
      machine.toNewCodes()
      const fields = { email: ada.email, password: 'another horse', code: there.code() }
      expect((await browser.send('/sign-in', fields)).status).toBe(303)
    }
    expect(JSON.parse((await browser.go('/mine')).text)).toMatchObject({
      tenantId: other,
      memberId: there.id,
    })
    machine.toNewCodes()
    expect((await signIn()).status).toBe(303)
    expect(JSON.parse((await browser.go('/mine')).text)).toMatchObject({ tenantId })
  })

  test('signing in of one address in two tenants takes back no try at the other', async () => {
    const there = await makeConfirmer(service, machine, await makeTenant(service))
    const text = 'UPDATE control.members SET email = $2, password_hash = $3 WHERE id = $1'
    await service.database.control.query({ text }, [there.id, ada.email, await hashPassword('another horse')])
    const wrong = () => browser.send('/sign-in', { ...wordsOf(ada), password: 'wrong' })
    for (let tries = 0; tries < 9; tries += 1) await wrong()
    machine.toNewCodes()
    const fields = { email: ada.email, password: 'another horse', code: there.code() }
    expect((await browser.send('/sign-in', fields)).status).toBe(303)
    await wrong()
    expect((await signIn()).status).toBe(403)
  })

  test('hashes a password anew that was hashed as before', async () => {
    const text = 'SELECT password_hash FROM control.members WHERE id = $1'
    const hash = async () =>
      (await service.database.control.query<{ password_hash: string }>({ text }, [ada.id])).rows[0]
        ?.password_hash
    expect(await hash()).toMatch(/^\$scrypt/)
    await signIn()
    expect(await hash()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1/)
    machine.toNewCodes()
    expect((await signIn()).status).toBe(303)
  })

  test('signing in takes only a form that this browser was given', async () => {
    const theirs = openBrowser(origin)
    const { text } = await theirs.go('/sign-in')
    const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? ''
    const body = new URLSearchParams({ ...wordsOf(ada), csrf })
    for (const headers of [{}, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const { status } = await browser.go('/sign-in', { method: 'POST', body, headers })
      expect([status, browser.cookies.has('svc_session')]).toEqual([403, false])
    }
    const crossSite = { method: 'POST', body, headers: { 'Sec-Fetch-Site': 'cross-site' } }
    expect((await theirs.go('/sign-in', crossSite)).status).toBe(403)
  })

  test.each([
    ['/mine', '/mine'],
    ['/mine?a=1&b=%2F', '/mine?a=1&b=%2F'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['https://evil.example/', '/'],
    ['/\t/evil.example', '/'],
    ['javascript:alert(1)', '/'],
    [['/a', '/b'], '/'],
    [undefined, '/'],
  ])('signing in with return_to %j leads to %s', (asked, path) => {
    expect(ownPath('http://console.example', asked)).toBe(path)
  })
})

describe('a session', () => {
  test('a session is told to scripts, frames, caches and other sites by nobody', async () => {
    const secure = openBrowser(await startConsole(true))
    const form = await secure.go('/sign-in')
    expect(form.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'")
    expect(form.headers.get('Cache-Control')).toBe('no-store')
    const { headers } = await signIn(secure)
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-svc_session=ten_[0-9a-z]{26}\.[0-9A-Za-z]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ])
  })

  test('a session begins and ends with its entry in the logs, or not at all', async () => {
    const { control } = service.database
    const refuse = (action: string) =>
      control.query({
        text: `ALTER TABLE live.audit_log ADD CONSTRAINT refused CHECK (action <> '${action}') NOT VALID`,
      })
    const accept = () => control.query({ text: 'ALTER TABLE live.audit_log DROP CONSTRAINT refused' })
    await refuse('member.signed_in')
    expect((await signIn()).status).toBe(500)
    await accept()
    expect((await browser.go('/mine')).status).toBe(303)
    const begun = 'SELECT count(*)::integer AS count FROM control.sessions WHERE tenant_id = $1'
    expect((await control.query({ text: begun }, [tenantId])).rows).toEqual([{ count: 0 }])
    expect(await auditOf('sandbox')).toEqual([])
    machine.toNewCodes()
    await signIn()
    await refuse('member.signed_out')
    expect((await browser.send('/sign-out', { where: 'here' })).status).toBe(500)
    await accept()
    expect((await browser.go('/mine')).status).toBe(200)
  })

  test('a session is another after each sign-in, and the one before ends', async () => {
    await signIn()
    const before = browser.cookies.get('svc_session')!
    machine.toNewCodes()
    await signIn()
    expect(browser.cookies.get('svc_session')).not.toBe(before)
    browser.cookies.set('svc_session', before)
    expect((await browser.go('/mine')).status).toBe(303)
  })

  test.each([
    ['a made-up secret', (value: string) => value.slice(0, -1) + (value.endsWith('a') ? 'b' : 'a')],
    ['another tenant', (value: string) => value.replace(/^ten_.{26}/, `ten_${'0'.repeat(26)}`)],
    ['no form at all', () => 'x'],
  ])('a session cookie with %s is refused', async (_, change) => {
    await signIn()
    browser.cookies.set('svc_session', change(browser.cookies.get('svc_session')!))
    expect((await browser.go('/mine')).status).toBe(303)
  })

  test('a session ends after 12 hours without a page, and after 7 days with', async () => {
    await signIn()
    machine.now += 12 * HOUR - 1000
    expect((await browser.go('/mine')).status).toBe(200)
    machine.now += 12 * HOUR + 1000
    expect((await browser.go('/mine')).status).toBe(303)
    await signIn()
    for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
      machine.now += 8 * HOUR
      expect((await browser.go('/mine')).status).toBe(200)
    }
    machine.now += 8 * HOUR
    expect((await browser.go('/mine')).status).toBe(303)
    await sweepSessions(service.database.control, machine.now)
    const text = 'SELECT count(*) AS count FROM control.sessions WHERE tenant_id = $1 AND expires_at <= now()'
    expect(
      (await service.database.control.query<{ count: number }>({ text }, [tenantId])).rows[0]?.count,
    ).toBe(0)
  })

  test('a session follows its member’s role, and ends with the member', async () => {
    await signIn()
    const { control } = service.database
    await control.query({ text: `UPDATE control.members SET role = 'viewer' WHERE id = $1` }, [ada.id])
    expect(JSON.parse((await browser.go('/mine')).text)).toMatchObject({ role: 'viewer' })
    await control.query({ text: 'DELETE FROM control.members WHERE id = $1' }, [ada.id])
    expect((await browser.go('/mine')).status).toBe(303)
  })

  test('a session counts on every node; what writes without one is told, and nothing is done', async () => {
    await signIn()
    const other = openBrowser(await startConsole())
    other.cookies.set('svc_session', browser.cookies.get('svc_session')!)
    expect((await other.go('/mine')).status).toBe(200)
    const { status, text } = await openBrowser(origin).go('/mine', { method: 'POST' })
    expect([status, /No changes were made/.test(text)]).toEqual([401, true])
  })

  test('a member has twenty sessions at most: the oldest gives way', async () => {
    const browsers = Array.from({ length: 21 }, () => openBrowser(origin))
    for (const each of browsers) {
      machine.toNewCodes()
      await signIn(each)
    }
    const seen = await Promise.all(browsers.map(async (each) => (await each.go('/mine')).status))
    expect(seen).toEqual([303, ...Array.from({ length: 20 }, () => 200)])
  })
})

describe('signing out', () => {
  test('signing out ends this session, and no other', async () => {
    const other = openBrowser(origin)
    await signIn()
    machine.toNewCodes()
    await signIn(other)
    const value = browser.cookies.get('svc_session')!
    expect((await browser.send('/sign-out', { where: 'here' })).text).toContain('Signed out')
    expect(browser.cookies.has('svc_session')).toBe(false)
    browser.cookies.set('svc_session', value)
    expect((await browser.go('/mine')).status).toBe(303)
    expect((await other.go('/mine')).status).toBe(200)
    expect((await auditOf('live')).at(-1)).toMatchObject({ action: 'member.signed_out', actor_id: ada.id })
  })

  test('everywhere ends them all', async () => {
    const other = openBrowser(origin)
    await signIn()
    machine.toNewCodes()
    await signIn(other)
    await browser.send('/sign-out', { where: 'everywhere' })
    expect((await other.go('/mine')).status).toBe(303)
    expect((await auditOf('live')).at(-1)).toMatchObject({ action: 'member.signed_out_everywhere' })
  })

  test('signing out needs the form of the page', async () => {
    await signIn()
    const { status } = await browser.go('/sign-out', {
      method: 'POST',
      body: new URLSearchParams({ where: 'here' }),
    })
    expect([status, (await browser.go('/mine')).status]).toEqual([403, 200])
  })
})
