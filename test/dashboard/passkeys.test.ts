/** Signing in with a passkey, and what members do with theirs. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { removeMember } from '../../runtime/account/members/members.ts'
import { sweepPasskeyChallenges } from '../../runtime/dashboard/sign-in/passkey-queries.ts'
import { MAX_PASSKEYS, relyingPartyOf } from '../../runtime/dashboard/sign-in/passkeys.ts'
import { holdMachineClock, type MachineClock } from '../account/confirmers.ts'
import { Authenticator, type Faults, optionsIn } from './support/authenticator.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'

const PAGE = '/sandbox/security'
const ADD = `${PAGE}/passkeys`
const REMOVE = `${ADD}/remove`
const SIGN_IN = '/sign-in/passkey'

let dashboard: TestDashboard
let machine: MachineClock
let tenantId: string
let owner: Visitor
let browser: Browser
let device: Authenticator

beforeAll(async () => {
  dashboard = await startDashboard({ named: true })
  machine = holdMachineClock(dashboard.service)
})
afterAll(() => dashboard?.stop())
beforeEach(async () => {
  tenantId = await makeTenant(dashboard.service)
  owner = await dashboard.signIn(tenantId, 'owner')
  browser = new Browser(dashboard.origin, owner.cookie)
  device = new Authenticator(dashboard.origin)
})

const query = (text: string) => dashboard.service.database.control.query({ text }, [tenantId])

async function add(as = device, faults: Faults = {}, fields: Readonly<Record<string, string>> = {}) {
  const { text } = await browser.get(PAGE)
  const typed = {
    name: 'Phone',
    code: await owner.freshCode(),
    credential: as.create(optionsIn(text), faults),
  }
  return browser.post(ADD, { ...hiddenFields(text, ADD), ...typed, ...fields })
}

/** A browser that nobody has signed in with. */
const newcomer = () => new Browser(dashboard.origin, '')

async function signIn(faults: Faults = {}, by = newcomer(), as = device) {
  const { text } = await by.get('/sign-in?return_to=/sandbox')
  const credential = as.get(optionsIn(text), faults)
  return by.post(SIGN_IN, { ...hiddenFields(text, SIGN_IN), credential })
}

const sessionOf = ({ headers }: { readonly headers: Headers }) =>
  headers.getSetCookie().find((each) => each.startsWith('svc_session='))

const audited = async () => {
  const text = `SELECT action, outcome FROM live.audit_log WHERE tenant_id = $1 AND action ~ 'passkey|signed'
                ORDER BY sequence`
  return (await query(text)).rows.map((row) => Object.values(row as object).join(' '))
}

test('a passkey replaces password and code: another session, told in the logs', async () => {
  const added = await add()
  expect(added.status).toBe(200)
  expect(added.text).toContain('Passkey added.')
  expect((await browser.get(PAGE)).text).toMatch(/<h3>Phone<\/h3>[\s\S]*<dt>Last used<\/dt><dd>Never/)
  const answer = await signIn()
  expect([answer.status, answer.location]).toEqual([303, '/sandbox'])
  const cookie = sessionOf(answer)!.split(';')[0]!
  expect(cookie).not.toBe(owner.cookie)
  expect((await new Browser(dashboard.origin, cookie).get('/sandbox')).status).toBe(200)
  expect(await audited()).toEqual([
    'member.passkey_added succeeded',
    'member.signed_in succeeded',
    'member.passkey_used succeeded',
  ])
  expect((await browser.get(PAGE)).text).not.toContain('<dd>Never')
})

describe('nobody is let in', () => {
  beforeEach(async () => {
    expect((await add()).status).toBe(200)
  })

  test.each<[string, Faults]>([
    ['by a signature for another site', { origin: 'https://console.example.evil' }],
    ['by a signature for another relying party', { rpId: 'example.com' }],
    ['by a signature over another challenge', { challenge: Buffer.from('mine').toString('base64url') }],
    ['by what was signed when the passkey was made', { type: 'webauthn.create' }],
    ['where nobody was asked for a finger or a PIN', { unverified: true }],
    ['as a member that does not exist', { userHandle: Buffer.from('ten_x.mem_x').toString('base64url') }],
    ['without a name', { userHandle: '' }],
  ])('a member is not signed in %s', async (_, faults) => {
    const answer = await signIn(faults)
    expect([answer.status, sessionOf(answer)]).toEqual([403, undefined])
    expect(answer.text).toContain('The passkey is not registered here')
  })

  test('a passkey does not let in another member, or one of another tenant', async () => {
    const colleague = await dashboard.signIn(tenantId, 'developer')
    const stranger = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    for (const each of [colleague, stranger]) {
      const userHandle = Buffer.from(`${each.tenantId}.${each.memberId}`).toString('base64url')
      expect((await signIn({ userHandle })).status).toBe(403)
    }
  })

  test('a passkey’s identifier from another device is refused', async () => {
    const { text } = await newcomer().get('/sign-in')
    const real = JSON.parse(device.get(optionsIn(text)))
    const other = new Authenticator(dashboard.origin)
    const by = newcomer()
    const page = await by.get('/sign-in')
    const forged = JSON.parse(other.get(optionsIn(page.text), { userHandle: real.response.userHandle }))
    const credential = JSON.stringify({ ...forged, id: real.id, rawId: real.id })
    expect((await by.post(SIGN_IN, { ...hiddenFields(page.text, SIGN_IN), credential })).status).toBe(403)
  })

  test('a passkey’s answer that was used is refused, in the same browser or another', async () => {
    const by = newcomer()
    const { text } = await by.get('/sign-in')
    const sent = { ...hiddenFields(text, SIGN_IN), credential: device.get(optionsIn(text), { counter: 0 }) }
    expect((await newcomer().post(SIGN_IN, sent)).status).toBe(403)
    expect((await by.post(SIGN_IN, sent)).status).toBe(303)
    expect((await by.post(SIGN_IN, sent)).status).toBe(403)
    expect((await audited()).at(-1)).toBe('member.signed_in failed')
  })

  test('a passkey is refused when the page was open for five minutes', async () => {
    const by = newcomer()
    const { text } = await by.get('/sign-in')
    const credential = device.get(optionsIn(text))
    machine.now += 5 * 60_000
    expect((await by.post(SIGN_IN, { ...hiddenFields(text, SIGN_IN), credential })).status).toBe(403)
  })

  test('a passkey is refused when the device has counted less than before: there is a copy of it', async () => {
    expect((await signIn({ counter: 7 })).status).toBe(303)
    expect((await signIn({ counter: 7 })).status).toBe(403)
    expect((await signIn({ counter: 3 })).status).toBe(403)
    expect((await signIn({ counter: 8 })).status).toBe(303)
    expect((await audited()).filter((each) => each === 'member.signed_in failed')).toHaveLength(2)
  })

  test('once the passkey is removed, or its member', async () => {
    const shown = await browser.get(PAGE)
    const wrong = await browser.post(REMOVE, { ...hiddenFields(shown.text, REMOVE), code: '000000' })
    expect([wrong.status, (await signIn()).status]).toEqual([403, 303])
    const sent = { ...hiddenFields(shown.text, REMOVE), code: await owner.freshCode() }
    expect((await browser.post(REMOVE, sent)).text).toContain('Passkey removed')
    expect((await signIn()).status).toBe(403)
    const colleague = await dashboard.signIn(tenantId, 'developer')
    await query(`UPDATE control.members SET role = 'owner' WHERE tenant_id = $1`)
    const other = new Authenticator(dashboard.origin)
    expect((await add(other)).status).toBe(200)
    await removeMember(dashboard.service.operator, tenantId, owner.memberId, colleague.memberId)
    expect((await signIn({}, newcomer(), other)).status).toBe(403)
    const left = await query('SELECT count(*)::integer AS count FROM control.passkeys WHERE tenant_id = $1')
    expect(left.rows).toEqual([{ count: 0 }])
  })
})

describe('no passkey is added', () => {
  test.each<[string, Faults]>([
    ['made for another site', { origin: 'https://console.example.evil' }],
    ['made for another relying party', { rpId: 'example.com' }],
    ['made with another challenge', { challenge: 'bWluZQ' }],
    ['made without asking for a finger or a PIN', { unverified: true }],
  ])('a passkey is not added when it is %s', async (_, faults) => {
    expect((await add(device, faults)).status).toBe(422)
    expect((await signIn()).status).toBe(403)
  })

  test.each([
    ['with a wrong code', { code: '000000' }, 403, 'The code is incorrect', ['member.passkey_added failed']],
    ['that is none', { credential: '{"id":7}' }, 422, 'The passkey could not be read', []],
    [
      'with a challenge of one’s own',
      { challenge: `${'a'.repeat(43)}.99999999999999.${'a'.repeat(43)}` },
      422,
      'The passkey could not be read',
      [],
    ],
  ])('a passkey is not added when it comes %s', async (_, fields, answered, said, told) => {
    const { status, text } = await add(device, {}, fields)
    expect(status).toBe(answered)
    expect(text).toContain(said)
    expect(await audited()).toEqual(told)
  })

  test('twice, or beyond what one member can have', async () => {
    expect((await add()).status).toBe(200)
    expect((await add()).text).toContain('already registered')
    for (let more = 1; more < MAX_PASSKEYS; more++)
      expect((await add(new Authenticator(dashboard.origin))).status).toBe(200)
    expect((await browser.get(PAGE)).text).not.toContain(`action="${ADD}"`)
  })
})

test('challenges that were answered are forgotten when they have run out', async () => {
  expect((await add()).status).toBe(200)
  const count = async () =>
    (await query('SELECT count(*)::integer AS count FROM control.passkey_challenges WHERE tenant_id = $1'))
      .rows
  expect(await count()).toEqual([{ count: 1 }])
  const { control } = dashboard.service.database
  await sweepPasskeyChallenges(control, dashboard.service.clock.machine() + 4 * 60_000)
  expect(await count()).toEqual([{ count: 1 }])
  await sweepPasskeyChallenges(control, dashboard.service.clock.machine() + 5 * 60_000)
  expect(await count()).toEqual([{ count: 0 }])
})

test.each([
  { url: 'https://console.example', id: 'console.example' },
  { url: 'https://console.example:8443', id: 'console.example' },
  { url: 'http://localhost:4000', id: 'localhost' },
  { url: 'http://console.example', id: undefined },
  { url: 'http://127.0.0.1:4000', id: undefined },
  { url: 'https://[::1]:4000', id: undefined },
])('a dashboard at $url takes passkeys of $id', ({ url, id }) => {
  expect(relyingPartyOf(url)?.id).toBe(id)
})
