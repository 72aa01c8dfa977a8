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
  const [day] = new Date(dashboard.service.clock.now).toISOString().split('T')
  const rows = async (query: string) =>
    (await browser.get(`/sandbox/passes?${query}`)).text.split('<tr').length - 2
  expect([
    await rows(`from=${day}&to=${day}`),
    await rows('to=2020-01-01'),
    await rows('period=today'),
  ]).toEqual([25, -1, 25])
  const narrowed = await browser.get(`/sandbox/passes?template_id=${template_id}&to=${day}`)
  expect(narrowed.text).toMatch(/href="\?template_id=tpl_\w+" aria-label="Remove filter: Created until/)
  expect(narrowed.text).toMatch(/href="\?to=[\d-]+" aria-label="Remove filter: Template Coffee loyalty"/)
})

test('a list is narrowed to a record that is named, and offers those that match if there are several', async () => {
  const issue = async (name: string) => {
    const { id } = await make(send, '/v1/cardholders', { name })
    return { id, card: (await make(send, '/v1/cards', { cardholder_id: id, type: 'virtual' })).id }
  }
  const [hopper, jones] = [await issue('Grace Hopper'), await issue('Grace Jones')]
  const narrow = async (typed: string) =>
    (await browse('viewer').get(`/sandbox/cards?${new URLSearchParams({ 'find:cardholder_id': typed })}`))
      .text
  const one = await narrow('grace hopper')
  expect([one.includes(`data-id="${hopper.card}"`), one.includes(`data-id="${jones.card}"`)]).toEqual([
    true,
    false,
  ])
  expect(one).toContain('aria-label="Remove filter: Cardholder Grace Hopper"')
  expect(one).toContain(`/sandbox/cards/export.csv?cardholder_id=${hopper.id}`)
  expect(one).toContain('data-lookup="/sandbox/find/cardholders"')
  const several = await narrow('Grace')
  expect(several).toContain('<details class="pops" open>')
  expect(several).toContain('More than one cardholder matches “Grace”. Choose one.')
  for (const { id, card } of [hopper, jones]) {
    expect(several).toMatch(new RegExp(`type="radio" name="cardholder_id" value="${id}"`))
    expect(several).toContain(`data-id="${card}"`)
  }
  expect(await narrow('Nemo')).toContain('No cardholder matches “Nemo”.')
})

test('selected cards are frozen together: a preview names those that cannot be, and a repeated form acts once', async () => {
  const cards = [await makeCard(send), await makeCard(send), await makeCard(send)]
  for (const { id, status } of cards)
    if (status === 'inactive') await send(`/v1/cards/${id}/activate`, { method: 'POST', body: {} })
  const [frozen, gone, active] = cards as [{ id: string }, { id: string }, { id: string }]
  const change = (path: string) => send(`/v1/cards/${path}`, { method: 'POST', body: {} })
  await change(`${frozen.id}/freeze`)
  const browser = browse('developer')
  const list = await browser.get('/sandbox/cards')
  expect(list.text).toContain(`form="bulk" name="id" value="${active.id}"`)
  expect((await browse('viewer').get('/sandbox/cards')).text).not.toContain('form="bulk"')
  const action = '/sandbox/cards/bulk/freeze'
  const page = `${action}?${cards.map(({ id }) => `id=${id}`).join('&')}`
  const { text } = await browser.get(page)
  expect([text.includes('Selected records: 2'), text.includes('Not possible: 1')]).toEqual([true, true])
  const all = await browser.get(`${action}?all=yes&status=inactive`)
  expect(all.text).toContain('Select at least one record')
  const form = hiddenFields(text, action)
  // Canceled between the preview and the form.
  await send(`/v1/cards/${gone.id}/cancel`, { body: { reason: 'lost' } })
  const body = new URLSearchParams(form)
  body.delete('id')
  for (const { id } of [gone, active]) body.append('id', id)
  const once = await browser.post(action, body)
  expect(once.text).toContain('Succeeded: 1. Failed: 1.')
  await change(`${active.id}/unfreeze`)
  expect((await browser.post(action, body)).text).toContain('Succeeded: 1. Failed: 1.')
  expect((await send(`/v1/cards/${active.id}`)).body.frozen).toBe(false)
})

describe('exports', () => {
  const fetchAs = ({ cookie }: Visitor, path: string) =>
    fetch(dashboard.origin + path, { headers: { Cookie: cookie }, redirect: 'manual' })

  test('a list is exported as CSV without formulas and as JSON, with its filters, also without rows', async () => {
    const template_id = await makeTemplate(send)
    await make(send, '/v1/passes', { template_id, holder: { name: '=1+1, "Ada"', email: 'ada@example.com' } })
    const query = `template_id=${template_id}&period=today`
    const csv = await fetchAs(members.viewer, `/sandbox/passes/export.csv?${query}`)
    expect(csv.headers.get('Content-Disposition')).toMatch(
      /^attachment; filename="passes-sandbox-\d{4}-\d\d-\d\d\.csv"$/,
    )
    const [header = '', row = '', end] = (await csv.text()).split('\r\n')
    expect([header.split(',').slice(0, 2), end]).toEqual([['id', 'object'], ''])
    expect(header).toContain(',holder.email,holder.name,')
    expect(row).toContain(`,ada@example.com,"'=1+1, ""Ada""",`)
    const json = await (await fetchAs(members.viewer, `/sandbox/passes/export.json?${query}`)).json()
    expect(json).toMatchObject([{ template_id, holder: { name: '=1+1, "Ada"' } }])
    const none = await fetchAs(members.viewer, '/sandbox/passes/export.json?to=2020-01-01')
    expect(await none.json()).toEqual([])
    const refused = await fetchAs(members.viewer, '/sandbox/passes/export.csv?template_id=nonsense&from=soon')
    expect([refused.status, refused.headers.get('Content-Type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect((await fetchAs(members.viewer, '/sandbox/audit-log/export.csv')).status).toBe(403)
  })

  test('an export has every row, and breaks visibly if it ends early', async () => {
    const visitor = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    const text = `INSERT INTO sandbox.scans (tenant_id, id, pass_id, mode, result, created)
      SELECT $1, 'scan_' || lpad(n::text, 26, '0'), NULL, 'verify', 'unknown', now() FROM generate_series(1, 2150) n`
    await dashboard.service.database.control.query({ text }, [visitor.tenantId])
    const path = '/sandbox/scans/export.json'
    const all = (await (await fetchAs(visitor, path)).json()) as readonly { readonly id: string }[]
    expect(new Set(all.map(({ id }) => id)).size).toBe(2150)
    const broken = await fetchAs(visitor, path)
    expect((await fetchAs(visitor, path)).status).toBe(429)
    await dashboard.service.database.control.query(
      { text: 'DELETE FROM control.sessions WHERE tenant_id = $1' },
      [visitor.tenantId],
    )
    await expect(broken.text()).rejects.toThrow('terminated')
  })
})

test('a view of a list is saved once, renamed, and deleted, and is shown only to its member', async () => {
  const browser = browse('viewer')
  const page = '/sandbox/passes?status=revoked&period=7d'
  const query = 'status=revoked&period=7d'
  const save = (name: string, at = page) => browser.submit(at, '/sandbox/views/save', { name })
  expect((await save('<b>Revoked</b>')).location).toBe(`/sandbox/passes?${query}`)
  const { text } = await browser.get(page)
  expect(text).toContain(`<a href="?status=revoked&amp;period=7d" aria-current="page">&lt;b&gt;Revoked`)
  expect((await browse('owner').get('/sandbox/passes')).text).not.toContain('&lt;b&gt;Revoked')
  const other = page.replace('revoked', 'issued')
  const filled = hiddenFields((await browser.get(other)).text, '/sandbox/views/save')
  const again = await browser.post('/sandbox/views/save', { ...filled, query, name: '<b>Revoked</b>' })
  expect(again.status).toBe(303)
  expect((await save('<b>Revoked</b>', other)).text).toContain('You have another view with this name.')
  expect((await browser.submit(page, '/sandbox/views/rename', { name: 'Gone' })).status).toBe(303)
  for (let count = 2; count <= 20; count += 1) {
    const sent = await browser.post('/sandbox/views/save', { ...filled, name: `View ${count}` })
    expect([count, sent.status]).toEqual([count, 303])
  }
  const full = await browser.post('/sandbox/views/save', { ...filled, name: 'View 21' })
  expect([full.status, full.text.includes('A list has at most 20 views.')]).toEqual([422, true])
  expect((await browser.submit(page, '/sandbox/views/delete')).location).toBe('/sandbox/passes?')
  expect((await browser.get(page)).text).not.toContain('Gone')
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
