/** What was typed when a session had ended: it comes back to who typed it, and to nobody else. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MAX_TYPED_BYTES } from '../../runtime/dashboard/pages/typed-forms.ts'
import { holdMachineClock, type MachineClock } from '../account/confirmers.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'

const ENDPOINT = '/sandbox/webhook-endpoints/new'
const AGAIN = '/send-again'

let dashboard: TestDashboard
let machine: MachineClock
let tenantId: string
let owner: Visitor
let browser: Browser

beforeAll(async () => {
  dashboard = await startDashboard({ named: true })
  machine = holdMachineClock(dashboard.service)
})
afterAll(() => dashboard?.stop())
beforeEach(async () => {
  machine.toNewCodes()
  tenantId = await makeTenant(dashboard.service)
  owner = await dashboard.signIn(tenantId, 'owner')
  await rename(owner)
  browser = new Browser(dashboard.origin, owner.cookie)
})

const query = (text: string, values: readonly unknown[] = [tenantId]) =>
  dashboard.service.database.control.query({ text }, values)

/** Addresses of all tests' members differ. */
const emailOf = ({ memberId }: Visitor) => `${memberId}@example.com`
const rename = (who: Visitor) =>
  query('UPDATE control.members SET email = $2 WHERE id = $1', [who.memberId, emailOf(who)])

const endSessions = () => query('DELETE FROM control.sessions WHERE tenant_id = $1')

/** Fills in a form, and sends it when the session has ended. */
async function sendLate(page: string, action: string, typed: Readonly<Record<string, string>>) {
  const { text } = await browser.get(page)
  await endSessions()
  return browser.post(action, { ...hiddenFields(text, action), ...typed })
}

async function beginAnother(): Promise<void> {
  const begun = await fetch(`${dashboard.origin}/begin/${tenantId}/${owner.memberId}`)
  browser = new Browser(dashboard.origin, begun.headers.getSetCookie()[0]!.split(';')[0]!)
}

/** Signs in on the page that is shown, and goes where that leads, as browsers do. */
async function signInOn(text: string, who = owner, by = browser, code = who.code()) {
  const fields = { ...hiddenFields(text, '/sign-in'), email: emailOf(who), password: who.password, code }
  const answer = await by.post('/sign-in', fields)
  return answer.status === 307 ? by.post(answer.location!, fields) : answer
}

const endpoints = async () =>
  (await query('SELECT url FROM sandbox.webhook_endpoints WHERE tenant_id = $1')).rows.length

const TYPED = {
  url: 'https://93.184.215.14/typed',
  enabled_events: 'pass.created',
  description: 'Till "4" <b>',
}

test('a form comes back after signing in, and is sent by hand', async () => {
  const late = await sendLate(ENDPOINT, ENDPOINT, TYPED)
  expect(late.status).toBe(401)
  expect(late.text).toContain('Your session has ended, and the form was not submitted.')
  expect(late.text).not.toContain('93.184.215.14')
  const again = await signInOn(late.text)
  expect(again.status).toBe(200)
  expect(again.text).toContain('Till &quot;4&quot; &lt;b&gt;')
  expect(again.text).toContain(`href="${ENDPOINT}">Cancel`)
  expect(await endpoints()).toBe(0)
  const sent = await browser.post(ENDPOINT, hiddenFields(again.text, ENDPOINT))
  expect([sent.status, sent.text]).toEqual([200, expect.stringMatching(/whsec_/)])
  expect(await endpoints()).toBe(1)
})

test('a form is kept while the code is wrong, and shows what cannot be kept', async () => {
  const path = '/sandbox/security/password'
  const late = await sendLate('/sandbox/security', path, {
    current: owner.password,
    next: 'a new long password',
    code: '1',
  })
  expect(late.status).toBe(401)
  expect(late.text).not.toMatch(/a new long password|name="typed"/)
  await beginAnother()
  const key = await sendLate('/sandbox/keys/new', '/sandbox/keys/new', { name: 'Till 7' })
  const wrong = await signInOn(key.text, owner, browser, '000000')
  expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining('name="typed"')])
  machine.toNewCodes()
  expect((await signInOn(wrong.text)).text).toContain('Till 7')
})

describe('is shown to nobody', () => {
  test('a kept form is shown to no other member, and not in another browser', async () => {
    const late = await sendLate(ENDPOINT, ENDPOINT, TYPED)
    const colleague = await dashboard.signIn(tenantId, 'developer')
    await rename(colleague)
    const shown = await signInOn(late.text, colleague)
    expect([shown.status, shown.text]).toEqual([403, expect.not.stringContaining('Till')])
    const elsewhere = new Browser(dashboard.origin, '')
    const page = await elsewhere.get('/sign-in')
    const typed = hiddenFields(late.text, '/sign-in').typed!
    const own = hiddenFields(page.text, '/sign-in')
    const fields = { ...own, typed, email: emailOf(owner), password: owner.password, code: owner.code() }
    const answer = await elsewhere.post('/sign-in', fields)
    expect(answer.status).toBe(307)
    expect((await elsewhere.post(AGAIN, fields)).status).toBe(403)
  })

  test('a kept form is not shown after half an hour, or when a letter of its address is another', async () => {
    const late = await sendLate(ENDPOINT, ENDPOINT, TYPED)
    machine.now += 30 * 60_000
    expect((await signInOn(late.text)).status).toBe(403)
    const { typed = '' } = hiddenFields(late.text, '/sign-in')
    machine.now -= 30 * 60_000
    expect((await browser.post(AGAIN, { typed })).status).toBe(200)
    const other = `${typed.slice(0, -2)}${typed.at(-2) === 'A' ? 'B' : 'A'}${typed.at(-1)}`
    expect((await browser.post(AGAIN, { typed: other })).status).toBe(403)
    expect((await browser.post(AGAIN, {})).status).toBe(403)
  })
})

test('a form that is too long to keep is said to be, and not cut', async () => {
  const late = await sendLate(ENDPOINT, ENDPOINT, { ...TYPED, description: 'x'.repeat(MAX_TYPED_BYTES) })
  expect(late.status).toBe(401)
  expect(late.text).toContain('too long to keep')
  expect(late.text).not.toContain('name="typed"')
  expect([(await signInOn(late.text)).status, await endpoints()]).toEqual([303, 0])
})

test('a button for which nothing was typed asks to sign in, and does nothing', async () => {
  await endSessions()
  const late = await browser.post(ENDPOINT, {})
  expect([late.status, late.text]).toEqual([401, expect.not.stringContaining('name="typed"')])
  const answer = await signInOn(late.text)
  expect([answer.status, answer.location]).toEqual([303, ENDPOINT])
})

test.each([
  ['/sandbox/keys/key_1/revoke', '/sandbox/keys/key_1/revoke'],
  ['/sandbox/security/password', '/sandbox/security'],
  ['/sandbox/members/invitations/inv_1/withdraw', '/sandbox/members'],
])('a button of %s leads to the page that it stands on', async (action, page) => {
  await endSessions()
  const late = await browser.post(action, {})
  expect((await signInOn(late.text)).location).toBe(page)
})

test('a code is typed again, and stands on no page', async () => {
  const late = await sendLate('/sandbox/reset', '/sandbox/reset', { confirm: 'wipe', code: '135792' })
  const again = await signInOn(late.text)
  expect([again.status, again.text]).toEqual([200, expect.not.stringContaining('135792')])
  expect(again.text).toContain('name="code" type="text" autocomplete="one-time-code"')
})

test('files are chosen again', async () => {
  const page = '/sandbox/disputes/new'
  const { text } = await browser.get(page)
  await endSessions()
  const png = { 'order.png': new Uint8Array([137, 80, 78, 71]) }
  const late = await browser.upload(page, { ...hiddenFields(text, page), explanation: 'Not ours' }, png)
  expect(late.status).toBe(401)
  const again = await signInOn(late.text)
  expect(again.text).toMatch(
    /<form method="post" action="\/sandbox\/disputes\/new" enctype="multipart\/form-data">/,
  )
  expect(again.text).toContain('name="order.png" type="file"')
  expect(again.text).toContain('Not ours')
})

test('a form is sent at once while its session lasts', async () => {
  const sent = await browser.submit(ENDPOINT, ENDPOINT, TYPED)
  expect([sent.status, await endpoints()]).toEqual([200, 1])
})
