/** What leaves the sandbox by way of the dashboard: configuration to live, by a plan, and everything, by a reset. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTemplate } from '../api/fixtures.ts'
import { make } from '../cards/fixtures.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  readMessages,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'

let dashboard: TestDashboard
let sandbox: Send
let live: Send
let ada: Visitor
let owner: Browser
let developer: Browser

beforeAll(async () => {
  dashboard = await startDashboard()
  const tenantId = await makeTenant(dashboard.service)
  ada = await dashboard.signIn(tenantId, 'owner')
  owner = new Browser(dashboard.origin, ada.cookie, ada)
  developer = new Browser(dashboard.origin, (await dashboard.signIn(tenantId, 'developer')).cookie)
  const keyOf = async (environment: 'sandbox' | 'live') =>
    speak(dashboard.service.urls[environment], {
      secret: (await makeKey(dashboard.service, tenantId, { scope: 'admin', environment })).secret,
    })
  sandbox = await keyOf('sandbox')
  live = await keyOf('live')
})

afterAll(() => dashboard?.stop())

const PLAN = '/live/promotions/plan'
const listLive = async () => (await live('/v1/pass_templates')).body.data

async function plan(type: string, ...ids: string[]): Promise<string> {
  const page = `/sandbox/promote?type=${type}&id=${ids[0]}`
  const fields = hiddenFields((await owner.get(page)).text, PLAN)
  const chosen = Object.fromEntries(ids.map((id) => [id, 'yes']))
  const { location, text } = await owner.upload(PLAN, { ...fields, ...chosen })
  expect(location, text).toMatch(/^\/live\/promotions\/prm_/)
  return location!
}

test('a template goes to live by a plan that is read first, once', async () => {
  const id = await makeTemplate(sandbox, { name: 'To <live>' })
  expect((await owner.get(`/sandbox/pass-templates/${id}`)).text).toContain(
    `/sandbox/promote?type=pass_template&amp;id=${id}`,
  )
  const choice = await owner.get(`/sandbox/promote?type=pass_template&id=${id}`)
  expect(choice.text).toContain(`name="${id}" value="yes" checked>`)
  expect(choice.text).toContain('To &lt;live&gt;')
  const planned = await plan('pass_template', id)
  expect((await owner.get(planned)).text).toContain('Creates a copy in live.')
  expect(await listLive()).toEqual([])

  const form = hiddenFields((await owner.get(planned)).text, `${planned}/apply`)
  const fields = { ...form, code: await ada.freshCode() }
  const [, address = ''] = /data-rows="([^"]+)"/.exec((await owner.get('/live/promotions')).text) ?? []
  const row = readMessages(dashboard.origin + address.replaceAll('&amp;', '&'), 1, ada.cookie)
  const done = await owner.post(`${planned}/apply`, fields)
  expect((await row)[0]).toContain(`data: <tr role="row" data-id="${done.location!.split('/').at(-1)}"`)
  expect((await owner.post(`${planned}/apply`, fields)).location).toBe(done.location)
  expect(await listLive()).toMatchObject([{ name: 'To <live>' }])
  const { text } = await owner.get(done.location!)
  expect(text).toContain('This promotion is complete.')
  expect(text).toContain(`href="/live/pass-templates/${(await listLive())[0].id}"`)

  await sandbox(`/v1/pass_templates/${id}`, { method: 'PATCH', body: { name: 'Another' } })
  const differing = (await owner.get(await plan('pass_template', id))).text
  expect(differing).toContain('&quot;Another&quot; in the sandbox')
  expect(differing).toContain('This plan contains no copies to create.')
})

test('a plan that is another one by now is not carried out, and the page says what has changed', async () => {
  const id = await makeTemplate(sandbox)
  const planned = await plan('pass_template', id)
  await sandbox(`/v1/pass_templates/${id}`, { method: 'PATCH', body: { name: 'Changed since' } })
  const before = await listLive()
  const { status, text } = await owner.submit(planned, `${planned}/apply`)
  expect([status, text]).toEqual([409, expect.stringContaining('Nothing was promoted')])
  expect(await listLive()).toEqual(before)
})

test('an object that live refuses is not promoted', async () => {
  const { id } = await make(sandbox, '/v1/webhook-endpoints', {
    url: 'http://93.184.215.14/',
    enabled_events: ['*'],
  })
  const { text } = await owner.get(await plan('webhook_endpoint', id))
  expect(text).toContain('The resource is not valid in live.')
  expect(text).not.toContain('/apply')
})

test('nothing chosen, and what cannot be', async () => {
  const fields = hiddenFields((await owner.get('/sandbox/promote')).text, PLAN)
  expect((await owner.upload(PLAN, fields)).status).toBe(422)
  expect((await owner.get('/sandbox/promote?type=members')).status).toBe(404)
  expect((await developer.get('/sandbox/promote')).status).toBe(403)
})

test('the sandbox is reset by an owner who types the word and has the code, and live stays', async () => {
  await makeTemplate(sandbox)
  const kept = await listLive()
  const count = async () => (await sandbox('/v1/pass_templates')).body.data.length
  const before = await count()
  const page = '/sandbox/reset'
  const wrong = await owner.submit(page, page, { confirm: 'yes' })
  expect(wrong.text).toContain('id="confirm-fault"')
  const unproven = await owner.submit(page, page, { confirm: 'wipe', code: '' })
  expect([unproven.status, unproven.text]).toEqual([403, expect.stringContaining('id="again-code"')])
  expect(await count()).toBe(before)
  const { status, text } = await owner.submit(page, page, { confirm: 'wipe' })
  expect([status, text]).toEqual([200, expect.stringContaining('All sandbox data was deleted.')])
  expect(text).toContain('Pass template')
  expect(await count()).toBe(0)
  expect(await listLive()).toEqual(kept)
  expect((await developer.get(page)).status).toBe(403)
})
