/** What members do on the dashboard with passes, cards, money, keys and versions, over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filters } from '../../generated/canonical/records.ts'
import { current, versions } from '../../generated/versions.ts'
import { ROLES, type VisitRole } from '../../runtime/dashboard/engine/visit.ts'
import { RESOURCES } from '../../runtime/dashboard/pages/resources/resources.ts'
import { readPin, setPin } from '../../runtime/tenants/admin/pins.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'
import { readMarkup } from './support/markup.ts'
import { useCardByNetwork } from './support/network-use.ts'

let dashboard: TestDashboard
let tenantId: string
let send: Send
const members = {} as Record<VisitRole, Visitor>

beforeAll(async () => {
  dashboard = await startDashboard()
  tenantId = await makeTenant(dashboard.service)
  for (const role of ROLES) members[role] = await dashboard.signIn(tenantId, role)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
})

afterAll(() => dashboard?.stop())

const browse = (role: VisitRole) => new Browser(dashboard.origin, members[role].cookie, members[role])

const listed: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = filters

test('every list says what to do first, and offers all values of its filters, in both environments', async () => {
  const newcomer = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
  const browser = new Browser(dashboard.origin, newcomer.cookie)
  for (const environment of ['sandbox', 'live']) {
    for (const { path, list, environment: only } of Object.values(RESOURCES).flat()) {
      if (only !== undefined && only !== environment) continue
      const { status, text } = await browser.get(`/${environment}/${path}`)
      expect([path, status]).toEqual([path, 200])
      if (path !== 'audit-log') expect(text).toContain(list.empty.slice(0, 20))
      const offered = Object.keys(list.filters ?? {}).flatMap((name) => listed[list.operation]?.[name] ?? [])
      expect([path, offered.filter((value) => !text.includes(`<option value="${value}"`))]).toEqual([
        path,
        [],
      ])
    }
  }
})

const TEMPLATES = '/sandbox/pass-templates'

test('a template is made, a pass issued from it and revoked', async () => {
  const browser = browse('developer')
  const name = '<img src=x onerror=alert(1)>'
  const made = await browser.submit(`${TEMPLATES}/new`, `${TEMPLATES}/new`, {
    name,
    kind: 'loyalty',
    'brand.background_color': '#1e4f8f',
    'brand.foreground_color': '#ffffff',
  })
  expect(made.status).toBe(303)
  const shown = await browser.get(made.location!)
  expect(shown.text).not.toContain('<img')
  expect(shown.text).toContain('&lt;img src=x')
  const template_id = made.location!.split('/').at(-1)!
  const page = `/sandbox/passes/new?template_id=${template_id}`
  const issued = await browser.submit(page, '/sandbox/passes/new', { 'holder.name': 'Ada' })
  expect(issued.status).toBe(303)
  expect((await browser.get('/sandbox/passes')).text).toContain('Ada')
  expect((await browser.submit(`${issued.location}/revoke`, `${issued.location}/revoke`)).location).toBe(
    issued.location,
  )
  expect((await browser.get(issued.location!)).text).toContain('Revoked')
  expect((await browser.submit(`${made.location}/archive`, `${made.location}/archive`)).location).toBe(
    made.location,
  )
})

test('a list goes on by the cursors of the API, and keeps what it is narrowed to', async () => {
  const template_id = await makeTemplate(send)
  for (let count = 0; count < 26; count += 1) await make(send, '/v1/passes', { template_id })
  const browser = browse('viewer')
  const first = await browser.get('/sandbox/passes?status=issued')
  expect(first.text.split('<tr')).toHaveLength(1 + 1 + 25)
  const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
  const second = await browser.get(`/sandbox/passes${next}`)
  expect(second.text.split('<tr')).toHaveLength(1 + 1 + 1)
  expect(second.text).toContain('href="?status=issued">First page')
  expect((await browser.get('/sandbox/passes?starting_after=nonsense')).status).toBe(400)
})

test('a card is frozen and thawed, and a declined transaction says why', async () => {
  const card = await makeCard(send)
  const browser = browse('developer')
  const path = `/sandbox/cards/${card.id}`
  expect((await browser.get(path)).status).toBe(200)
  if (card.status === 'inactive') await browser.submit(path, `${path}/activate`)
  expect((await browser.submit(path, `${path}/freeze`)).location).toBe(path)
  const declined = await make(send, '/v1/test/cards/simulate_authorization', {
    card_id: card.id,
    amount: 1250,
    merchant: { name: '<b>Till</b>', category_code: '5812' },
  })
  const { text } = await browser.get(`/sandbox/card-transactions/${declined.id}`)
  expect(text).toContain('The card must not be frozen.')
  expect(text).toContain('12.50 USD')
  expect(text).toContain('&lt;b&gt;Till')
  expect(text).toContain('This transaction was simulated')
  expect((await browser.submit(path, `${path}/unfreeze`)).location).toBe(path)
  expect((await browser.submit(`${path}/cancel`, `${path}/cancel`)).location).toBe(path)
})

test('a transaction shows the messages of the card network, in the order in which they were sent', async () => {
  const { transactionId, card_number } = await useCardByNetwork(dashboard.service, send)
  const { status, text } = await browse('viewer').get(`/sandbox/card-transactions/${transactionId}`)
  const [, table = ''] = /aria-label="Messages of the card network">([\s\S]*?)<\/table>/.exec(text) ?? []
  const cells = table
    .split('<tr role="row">')
    .slice(2)
    .map((row) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => readMarkup(cell).text))
  expect([status, cells.map(([kind, , ...others]) => [kind, ...others])]).toEqual([
    200,
    [
      ['Authorization', '10.00 USD', 'Declined: insufficient funds. Replaced by an advice.', 'message-0'],
      ['Advice: authorization', '10.00 USD', 'Approved: 10.00 USD', 'message-1'],
      ['Increment', '7.77 USD', 'Declined: insufficient funds', 'message-2'],
      ['Reversal', '4.00 USD', 'Applied', 'message-3'],
      ['Refund', '2.50 USD', 'Waiting for a clearing', 'message-4'],
    ],
  ])
  expect(text).not.toContain(card_number)
  expect(text).not.toContain('<i>Diner')
})

describe('keys', () => {
  const KEYS = '/sandbox/keys'

  test('a key is made once however often the form is sent, works, is rotated and revoked', async () => {
    const browser = browse('owner')
    const fields = {
      ...hiddenFields((await browser.get(`${KEYS}/new`)).text, `${KEYS}/new`),
      scope: 'read',
      allow: '127.0.0.1, ::1',
      code: await members.owner.freshCode(),
    }
    const made = await browser.post(`${KEYS}/new`, fields)
    const secret = /svc_sk_\w+/.exec(made.text)![0]
    expect((await speak(dashboard.service.urls.sandbox, { secret })('/v1/passes')).status).toBe(200)
    expect((await browser.post(`${KEYS}/new`, fields)).status).toBe(409)
    const list = await browser.get(KEYS)
    expect(list.text).not.toContain(secret)
    // Service time stands still and the id of a form's key is a digest, so the key may stand in any row.
    const row = new RegExp(`…${secret.slice(-4)}</code>[\\s\\S]*?keys/(key_\\w+)/rotate`)
    const id = row.exec(list.text)![1]!
    const rotated = await browser.submit(`${KEYS}/${id}/rotate`, `${KEYS}/${id}/rotate`)
    expect(rotated.text).toMatch(/svc_sk_\w+/)
    expect((await browser.submit(`${KEYS}/${id}/revoke`, `${KEYS}/${id}/revoke`)).location).toBe(KEYS)
    dashboard.service.forget()
    expect((await speak(dashboard.service.urls.sandbox, { secret })('/v1/passes')).status).toBe(401)
    const { body } = await send(`/v1/audit_log?target_id=${id}`)
    const { memberId } = members.owner
    expect(body.data.map((entry: { action: string; actor: unknown }) => [entry.action, entry.actor])).toEqual(
      ['key.revoked', 'key.rotated', 'key.created'].map((action) => [
        action,
        { type: 'member', id: memberId },
      ]),
    )
  })

  test('a text that is not an address is named beside the field', async () => {
    const answer = await browse('owner').submit(`${KEYS}/new`, `${KEYS}/new`, {
      scope: 'read',
      allow: '10.0.0.1, x',
    })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('id="allow-fault"')
    expect(answer.text).toContain('value="10.0.0.1, x"')
  })

  test('keys of other tenants are not found', async () => {
    const other = await makeTenant(dashboard.service)
    const { id } = await makeKey(dashboard.service, other)
    expect((await browse('owner').get(`${KEYS}/${id}/revoke`)).status).toBe(404)
  })
})

test('live moves on without a warning once the sandbox has been there for 48 hours', async () => {
  const { service, origin } = dashboard
  const earlier = versions.at(-2)!.name
  const tenant = await makeTenant(service, 'enterprise', earlier)
  const owner = await dashboard.signIn(tenant, 'owner')
  const browser = new Browser(origin, owner.cookie, owner)
  const pinTo = (version: string, typed = {}) =>
    browser.submit('/live/version', '/live/version', { version, ...typed })
  const pinSandbox = (hoursAgo: number) => {
    const clock = { ...service.clock, service: () => service.clock.now - hoursAgo * 3_600_000 }
    return setPin(
      { ...service.operator, clock },
      { tenantId: tenant, environment: 'sandbox', version: current },
      versions,
    )
  }
  const pinned = () => readPin(service.database.control, tenant, 'live')
  expect((await browser.get('/live/version')).text).toContain(`href="/docs/upgrading/${earlier}/${current}"`)
  const warned = await pinTo(current)
  expect(warned.text).toContain(`is not pinned to version ${current}`)
  await pinSandbox(47)
  expect((await pinTo(current)).text).toContain(`has been pinned to version ${current} for 47 of 48 hours`)
  expect(await pinned()).toBe(earlier)
  const confirmed = { ...hiddenFields(warned.text, '/live/version'), code: await owner.freshCode() }
  expect((await browser.post('/live/version', confirmed)).status).toBe(303)
  expect(await pinned()).toBe(current)
  expect((await pinTo(earlier, { anyway: 'yes' })).status).toBe(303)
  await pinSandbox(48)
  expect((await pinTo(current)).status).toBe(303)
  expect(await pinned()).toBe(current)
})

test('an environment is pinned to a deprecated and an earlier version after a warning, and taken back', async () => {
  const browser = browse('owner')
  const PAGE = '/sandbox/version'
  const [oldest, earlier] = [versions[0]!, versions.at(-2)!.name]
  const warned = await browser.submit(PAGE, PAGE, { version: oldest.name })
  expect(warned.text).toContain(`supported until ${oldest.sunset!.slice(0, 10)}`)
  expect(warned.text).toContain(`earlier than the version that applies now, ${current}`)
  expect(warned.text).toContain('<li>Return merchant category code ')
  expect((await browser.get(PAGE)).text).toContain(`<dd>${current}</dd>`)
  const confirmed = { ...hiddenFields((await browser.submit(PAGE, PAGE, { version: earlier })).text, PAGE) }
  expect(confirmed).toMatchObject({ version: earlier, anyway: 'yes' })
  for (const fields of [confirmed, { ...confirmed, version: current }]) {
    expect((await browser.post(PAGE, fields)).status).toBe(303)
    expect((await browser.get(PAGE)).text).toContain(`<dd>${fields.version}</dd>`)
  }
  expect(
    (await browser.submit('/sandbox/version', '/sandbox/version', { version: '1999-01-01' })).status,
  ).toBe(422)
  expect((await browse('viewer').get('/sandbox/version')).text).not.toContain('name="version"')
})
