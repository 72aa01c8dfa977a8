/** Forms of our own pages, with their proof and a token that is good: hostile values get to what acts on them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { invite } from '../../runtime/account/members/invitations.ts'
import { SEND_AGAIN_PATH, TYPED_FIELD } from '../../runtime/dashboard/sign-in/pages.ts'
import { holdMachineClock, type MachineClock, openForm, serveChallenges } from '../account/confirmers.ts'
import { makeTemplate } from '../api/fixtures.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from '../dashboard/support/dashboard.ts'
import { makeKey, speak } from '../support/service.ts'

const VALUES = ['\0', 'a\0b', '\ud800', '\ufffe', '%', '__proto__', '{"a":"\\u0000"}', 'x'.repeat(3000)]
const PASSKEY = '/sign-in/passkey'
const ENDPOINT = '/sandbox/webhook-endpoints/new'

let dashboard: TestDashboard
let machine: MachineClock
let tenantId: string
let owner: Visitor

beforeAll(async () => {
  dashboard = await startDashboard({ named: true })
  machine = holdMachineClock(dashboard.service)
  tenantId = await makeTenant(dashboard.service)
  owner = await dashboard.signIn(tenantId, 'owner')
})
afterAll(() => dashboard?.stop())

/** A value in each of the fields, one at a time, beside those that are as they should be. */
const attacks = (fields: Readonly<Record<string, string>>) =>
  Object.keys(fields).flatMap((field) =>
    VALUES.map((value) => ({
      about: `${field}=${JSON.stringify(value).slice(0, 20)}`,
      fields: { ...fields, [field]: value },
    })),
  )

test('a challenge that is open', async () => {
  const { service } = dashboard
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const console = await serveChallenges(service)
  try {
    for (const { about, fields } of attacks({ email: 'a@b.example', password: 'x', code: '1' })) {
      machine.toNewCodes()
      const change = { method: 'PATCH', body: { billing_email: 'a@example.com' } }
      const { body } = await speak(service.urls.sandbox, { secret })('/v1/account/billing', change)
      const form = await openForm(console.origin + new URL(body.error.challenge_url).pathname)
      const { status, html } = await form.send(fields)
      expect([about, status, /The email, password, or code is incorrect/.test(html)]).toEqual([
        about,
        403,
        true,
      ])
    }
  } finally {
    console.close()
  }
})

test('an invitation that is open', async () => {
  const input = {
    tenantId,
    email: 'grace@example.com',
    role: 'developer',
    memberId: owner.memberId,
    once: 'a',
  } as const
  const path = `/invitations/${await invite(dashboard.service.operator, input)}`
  const browser = new Browser(dashboard.origin, '')
  const { text } = await browser.get(path)
  const [, totp = ''] = /name="totp" value="([^"]*)"/.exec(text) ?? []
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(text) ?? []
  for (const { about, fields } of attacks({ password: 'a long enough password', code: '1' })) {
    expect([about, (await browser.post(path, { csrf, totp, ...fields })).status]).toEqual([about, 422])
  }
  for (const { about, fields } of attacks({ totp })) {
    expect([about, (await browser.post(path, { csrf, ...fields })).status]).toEqual([about, 403])
  }
})

test('the passkey that is asked for', async () => {
  const browser = new Browser(dashboard.origin, '')
  const { text } = await browser.get('/sign-in')
  const own = hiddenFields(text, PASSKEY)
  expect(own).toMatchObject({ csrf: expect.any(String), challenge: expect.any(String) })
  const credential = (id: unknown, userHandle: unknown, data: unknown) => {
    const response = { clientDataJSON: data, authenticatorData: data, signature: data, userHandle }
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} })
  }
  const credentials = [
    ...VALUES,
    ...[null, '\0', '\ud800', 7, {}].flatMap((value) => [
      credential(value, 'AA', 'AA'),
      credential('AA', value, 'AA'),
      credential('AA', 'AA', value),
    ]),
    credential('AA', Buffer.from(`${tenantId}\0.${owner.memberId}`).toString('base64url'), 'AA'),
    ...['null', '[]', '{}', '{"id":"\\u0000"}', '['.repeat(1000)],
  ]
  for (const each of credentials) {
    const { status } = await browser.post(PASSKEY, { ...own, credential: each })
    expect([each.slice(0, 60), status]).toEqual([each.slice(0, 60), 403])
  }
})

/** Fields that no page has, beside those that it has. */
const STRANGE = {
  '\0': 'a',
  'a\0b': '\0',
  __proto__x: '\ud800',
  url: 'https://93.184.215.14/\0',
  description: 'Till \0 4',
}

test('a form that was typed when the session had ended comes back as text', async () => {
  const begun = await fetch(`${dashboard.origin}/begin/${tenantId}/${owner.memberId}`)
  const browser = new Browser(dashboard.origin, begun.headers.getSetCookie()[0]!.split(';')[0]!)
  const { text } = await browser.get(ENDPOINT)
  const ended = { text: 'DELETE FROM control.sessions WHERE tenant_id = $1' }
  await dashboard.service.database.control.query(ended, [tenantId])
  const late = await browser.post(ENDPOINT, { ...hiddenFields(text, ENDPOINT), ...STRANGE })
  expect([late.status, late.text.includes(`name="${TYPED_FIELD}"`)]).toEqual([401, true])
  machine.toNewCodes()
  const credentials = { email: owner.email, password: owner.password, code: owner.code() }
  const fields = { ...hiddenFields(late.text, '/sign-in'), ...credentials }
  expect((await browser.post('/sign-in', fields)).location).toBe(SEND_AGAIN_PATH)
  const again = await browser.post(SEND_AGAIN_PATH, fields)
  expect([again.status, again.text.includes('Submit form again')]).toEqual([200, true])
  const sent = await browser.post(ENDPOINT, { ...hiddenFields(again.text, ENDPOINT), ...STRANGE })
  expect([sent.status, sent.text.includes('<form')]).toEqual([422, true])
  for (const value of VALUES) {
    const { status } = await browser.post(SEND_AGAIN_PATH, { ...fields, [TYPED_FIELD]: value })
    expect([value.slice(0, 20), status]).toEqual([value.slice(0, 20), 403])
  }
})

test('forms of a member who is signed in', async () => {
  const begun = await fetch(`${dashboard.origin}/begin/${tenantId}/${owner.memberId}`)
  const browser = new Browser(dashboard.origin, begun.headers.getSetCookie()[0]!.split(';')[0]!)
  const plan = '/live/promotions/plan'
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  const template = await makeTemplate(speak(dashboard.service.urls.sandbox, { secret }))
  const own = hiddenFields((await browser.get('/sandbox/promote?type=pass_template')).text, plan)
  for (const { about, fields } of attacks({
    type: 'pass_template',
    key: 'k',
    [template]: 'yes',
  })) {
    const { status } = await browser.upload(plan, { ...own, ...fields, ...STRANGE })
    expect([about, status < 500 && status !== 403]).toEqual([about, true])
  }
  const password = '/sandbox/security/password'
  const page = hiddenFields((await browser.get('/sandbox/security')).text, password)
  for (const { about, fields } of attacks({
    current: owner.password,
    next: 'a new long password',
    code: '1',
  })) {
    const { status } = await browser.post(password, { ...page, ...fields, ...STRANGE })
    expect([about, status < 500]).toEqual([about, true])
  }
})
