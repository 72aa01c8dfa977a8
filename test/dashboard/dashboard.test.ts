/** The dashboard over HTTP, without a browser: every page, every action, every role. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mayAct, ROLES, type VisitRole } from '../../runtime/dashboard/engine/visit.ts'
import { doneOf } from '../../runtime/dashboard/html/toasts.ts'
import { listRoutes } from '../../runtime/dashboard/pages/dashboard.ts'
import { RESOURCES } from '../../runtime/dashboard/pages/resources/resources.ts'
import { HELPERS } from '../../runtime/dashboard/pages/simulator/forms.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { makeKey, speak } from '../support/service.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'

let dashboard: TestDashboard
let tenantId: string
const members = {} as Record<VisitRole, Visitor>

beforeAll(async () => {
  dashboard = await startDashboard()
  tenantId = await makeTenant(dashboard.service)
  for (const role of ROLES) members[role] = await dashboard.signIn(tenantId, role)
})

afterAll(() => dashboard?.stop())

const browse = (role: VisitRole) => new Browser(dashboard.origin, members[role].cookie, members[role])

const ENDPOINTS = '/sandbox/webhook-endpoints'

async function addEndpoint(role: VisitRole = 'developer', url = 'https://93.184.215.14/hooks') {
  const answer = await browse(role).submit(`${ENDPOINTS}/new`, `${ENDPOINTS}/new`, {
    url,
    enabled_events: '*',
    description: '<script>alert(1)</script>',
  })
  expect(answer.status).toBe(200)
  return { answer, path: /href="(\/sandbox\/webhook-endpoints\/whe_\w+)"/.exec(answer.text)![1]! }
}

describe('who may', () => {
  test('a visitor who has not signed in is sent to sign in, and back afterwards', async () => {
    const stranger = new Browser(dashboard.origin, '')
    for (const { method, path } of listRoutes(dashboard.watching)) {
      const address = path.replaceAll(/:\w+/g, 'x')
      const { status, location } =
        method === 'GET' ? await stranger.get(address) : await stranger.post(address, {})
      expect([address, status]).toEqual([address, method === 'GET' ? 303 : 401])
      if (method === 'GET') expect(location).toBe(`/sign-in?return_to=${encodeURIComponent(address)}`)
    }
  })

  test.each(ROLES)('a %s gets what the table of routes says, and no form without its guard', async (role) => {
    const browser = browse(role)
    for (const { method, path, needs } of listRoutes(dashboard.watching)) {
      const address = path.replaceAll(/:\w+/g, 'x')
      const { status, text } = method === 'GET' ? await browser.get(address) : await browser.post(address, {})
      const refused = text.includes('Access denied')
      expect([method, address, status, refused]).toEqual([
        method,
        address,
        expect.any(Number),
        !mayAct(role, needs),
      ])
      if (refused || method === 'POST') expect([address, status]).toEqual([address, 403])
      else expect([address, [200, 404].includes(status)]).toEqual([address, true])
    }
  })

  test('a member who has become less is held to it at once, in the middle of a form', async () => {
    const ownTenant = await makeTenant(dashboard.service)
    const { memberId, cookie } = await dashboard.signIn(ownTenant, 'developer')
    const browser = new Browser(dashboard.origin, cookie)
    const fields = hiddenFields((await browser.get(`${ENDPOINTS}/new`)).text, `${ENDPOINTS}/new`)
    await dashboard.service.database.control.query(
      { text: `UPDATE control.members SET role = 'viewer' WHERE tenant_id = $1 AND id = $2` },
      [ownTenant, memberId],
    )
    const answer = await browser.post(`${ENDPOINTS}/new`, fields)
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Access denied')])
  })

  test('an operation asked for past the pages is held to the role too', async () => {
    const { operate } = dashboard.service
    const input = {
      body: { url: 'https://93.184.215.14/', enabled_events: ['*'] },
      idempotencyKey: crypto.randomUUID(),
    }
    const ask = (role: VisitRole) =>
      operate({ ...members[role], address: '127.0.0.1' }, 'sandbox', 'createWebhookEndpoint', input)
    expect(await ask('viewer')).toMatchObject({
      ok: false,
      status: 403,
      error: { code: 'insufficient_scope' },
    })
    expect(await ask('developer')).toMatchObject({ ok: true, status: 201 })
    const nobody = { tenantId, memberId: 'mem_00000000000000000000000000', address: '127.0.0.1' }
    expect(await operate(nobody, 'sandbox', 'listEvents')).toMatchObject({ ok: false, status: 401 })
  })

  test('nothing of another tenant is found', async () => {
    const { path } = await addEndpoint()
    const other = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    const browser = new Browser(dashboard.origin, other.cookie)
    expect((await browser.get(path)).status).toBe(404)
    expect((await browser.get(ENDPOINTS)).text).toContain('No webhook endpoints yet')
  })
})

describe('forms', () => {
  test('an endpoint is added once however often the form is sent, and its secret is in no later page', async () => {
    const browser = browse('developer')
    const shown = await browser.get(`${ENDPOINTS}/new`)
    const fields = {
      ...hiddenFields(shown.text, `${ENDPOINTS}/new`),
      url: 'https://93.184.215.14/twice',
      enabled_events: 'pass.created\npass.updated',
    }
    const [first, second] = [
      await browser.post(`${ENDPOINTS}/new`, fields),
      await browser.post(`${ENDPOINTS}/new`, fields),
    ]
    const secret = /whsec_[\w-]+/.exec(first.text)?.[0]
    expect([first.status, secret ?? first.text]).toEqual([200, expect.stringMatching(/^whsec_/)])
    expect(second.text).toContain(secret)
    const list = await browser.get(ENDPOINTS)
    expect(list.text.split('>https://93.184.215.14/twice<')).toHaveLength(2)
    expect(list.text).not.toContain('whsec_')
  })

  test('a fault of a form is shown beside its field, and the typed text stays', async () => {
    const answer = await browse('developer').submit(`${ENDPOINTS}/new`, `${ENDPOINTS}/new`, {
      url: 'no address',
      enabled_events: 'pass.created',
      description: 'Till "4" & more',
    })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('id="url-fault"')
    expect(answer.text).toContain('value="no address"')
    expect(answer.text).toContain('value="Till &quot;4&quot; &amp; more"')
    expect(answer.text).toContain('value="pass.created" checked')
    expect(answer.text).toContain('>Enter a URL such as https://example.com/hooks.<')
    const none = await browse('developer').submit(`${ENDPOINTS}/new`, `${ENDPOINTS}/new`, {
      url: 'https://93.184.215.14/hooks',
    })
    expect([none.status, none.text]).toEqual([422, expect.stringContaining('>Choose the events.<')])
  })

  test('text that others set is shown as text, wherever it is', async () => {
    const { path } = await addEndpoint()
    for (const page of [path, ENDPOINTS]) {
      const { text } = await browse('viewer').get(page)
      expect(text).not.toContain('<script>')
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    }
  })

  test('the audit log is verified on its page, and what was changed in it is said', async () => {
    await addEndpoint()
    const browser = browse('owner')
    const ask = () => browser.submit('/sandbox/audit-log', '/sandbox/audit-log/verify')
    const whole = await ask()
    expect([whole.status, whole.text]).toEqual([200, expect.stringContaining('no entry was changed')])
    const { control } = dashboard.service.database
    const change = (ip: string) =>
      control.query({ text: 'UPDATE sandbox.audit_log SET ip = $2 WHERE tenant_id = $1 AND sequence = 2' }, [
        tenantId,
        ip,
      ])
    const { rows } = await control.query<{ ip: string }>(
      { text: 'SELECT ip FROM sandbox.audit_log WHERE tenant_id = $1 AND sequence = 2' },
      [tenantId],
    )
    await change('192.0.2.1')
    const broken = await ask()
    expect([broken.status, broken.text]).toEqual([409, expect.stringMatching(/tampered with: entry 2 /)])
    await change(rows[0]!.ip)
  })

  test('a form is good for its own address, its own member and its own browser', async () => {
    const { path } = await addEndpoint()
    const browser = browse('developer')
    const fields = hiddenFields((await browser.get(path)).text, `${path}/disable`)
    expect((await browser.post(`${path}/test`, fields)).status).toBe(403)
    expect((await browser.post(`${path}/disable`, { ...fields, csrf: '' })).status).toBe(403)
    expect((await browse('developer').post(`${path}/disable`, fields)).status).toBe(403)
    const owner = new Browser(
      dashboard.origin,
      `${members.owner.cookie}; ${(await browser.get(path)).cookie}`,
    )
    expect((await owner.post(`${path}/disable`, fields)).status).toBe(403)
    expect((await browser.post(`${path}/disable`, fields)).status).toBe(303)
  })
})

test('an endpoint is disabled, enabled, rotated and deleted, and the log says who did it', async () => {
  const { path } = await addEndpoint()
  const id = path.split('/').at(-1)!
  const browser = browse('developer')
  const disabled = await browser.submit(path, `${path}/disable`)
  expect(disabled.location).toBe(path)
  const shown = (await browser.get(path)).text
  expect(shown).toContain('Disabled')
  expect(shown).toMatch(/role="status">.*<span>Endpoint disabled<\/span>/)
  expect((await browser.get(path)).text).not.toContain('Endpoint disabled')
  // A message that was signed for another member is not shown.
  const done = disabled.headers.getSetCookie().find((each) => each.startsWith('svc_done='))!
  const showTo = async ({ cookie }: Visitor) =>
    (await fetch(dashboard.origin + path, { headers: { Cookie: `${cookie}; ${done.split(';')[0]}` } })).text()
  expect(await showTo(members.developer)).toContain('Endpoint disabled')
  expect(await showTo(members.owner)).not.toContain('Endpoint disabled')
  expect((await browser.submit(path, `${path}/enable`)).location).toBe(path)
  expect((await browser.submit(`${path}/rotate`, `${path}/rotate`)).text).toMatch(/whsec_/)
  expect((await browser.submit(`${path}/delete`, `${path}/delete`)).location).toBe(ENDPOINTS)
  expect((await browser.get(path)).status).toBe(404)
  const key = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  const send = speak(dashboard.service.urls.sandbox, { secret: key.secret })
  const { body } = await send(`/v1/audit_log?target_id=${id}`)
  const { memberId } = members.developer
  expect(body.data.map((entry: { actor: unknown; outcome: string }) => [entry.actor, entry.outcome])).toEqual(
    Array(body.data.length).fill([{ type: 'member', id: memberId }, 'succeeded']),
  )
  expect(body.data.length).toBeGreaterThanOrEqual(4)
})

test('an event shows its payload and its deliveries, and an attempt is made again', async () => {
  const { path } = await addEndpoint()
  const browser = browse('developer')
  expect((await browser.submit(path, `${path}/test`)).location).toBe(path)
  const event = /href="(\/sandbox\/events\/evt_\w+)"/.exec((await browser.get('/sandbox/events')).text)![1]!
  const page = await browser.get(event)
  expect(page.status).toBe(200)
  expect(page.text).toContain('<h2>Payload</h2>')
  expect((await browser.get('/sandbox')).text).toContain(event)
})

test('every page is reached by links from home', async () => {
  const browser = browse('owner')
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  await makeTemplate(speak(dashboard.service.urls.sandbox, { secret }))
  await addEndpoint()
  // One page of each kind of record is enough.
  const kindOf = (path: string) => path.replaceAll(/_[0-9a-z]{26}|^\/(sandbox|live)/g, '')
  const seen = new Map([['', '/sandbox']]).set('live', '/live')
  for (const path of seen.values()) {
    const links = (await browser.get(path)).text.matchAll(/href="(\/(?:sandbox|live)[^"#]*)"/g)
    for (const [, link = ''] of links) {
      const kind = kindOf(link.split('?')[0]!)
      if (!seen.has(kind)) seen.set(kind, link)
    }
  }
  // Not data for scripts, parts of the documentation, downloads, and the questions that buttons of lists ask.
  const pages = listRoutes(dashboard.watching)
    .filter(
      ({ method, path }) => method === 'GET' && !/:|\/(find|bulk)\/|.\/(live|export)$|^\/docs\//.test(path),
    )
    .map(({ path }) => kindOf(path))
  expect(pages.filter((path) => !seen.has(path))).toEqual([])
})

test('at most 12 entries of the menu are in view, and the group of the current page is open', async () => {
  for (const [environment, paths] of [
    ['sandbox', ['', '/cards', '/keys', '/members', '/balance', '/passes']],
    ['live', ['/audit-log']],
  ] as const)
    for (const path of paths) {
      const { text } = await browse('owner').get(`/${environment}${path}`)
      const menu = text.split('<nav class="menu"')[1]!.split('</nav>')[0]!
      const shown = menu.replaceAll(/<details name="menu">(<summary>)[\s\S]*?<\/details>/g, '$1')
      expect([path, shown.match(/<li>|<summary>/g)!.length <= 12]).toEqual([path, true])
      expect([path, shown.includes(`href="/${environment}${path}" aria-current="page"`)]).toEqual([
        path,
        true,
      ])
    }
})

test('a member chooses the time zone of all times, and others keep theirs', async () => {
  const { path } = await addEndpoint()
  const browser = browse('developer')
  const page = '/sandbox/preferences'
  expect((await browser.submit(page, page, { time_zone: 'Mars/Olympus' })).status).toBe(422)
  const typed = { time_zone: 'Asia/Tokyo', return_to: 'https://elsewhere.example/' }
  expect((await browser.submit(page, page, typed)).location).toBe('/')
  const shown = (await browser.get(path)).text
  expect(shown).toContain('<span>Times are shown in Asia/Tokyo</span>')
  expect(shown).toMatch(
    /<time datetime="2026-06-01T12:00:00.000Z" title="(2026-06-01 21:00:00 GMT\+9)"[^>]*>\1</,
  )
  expect((await browse('viewer').get(path)).text).toContain('>2026-06-01 12:00:00 UTC</time>')
  await browser.submit(page, page, { time_zone: 'Asia/Tokyo' })
  const { rows } = await dashboard.service.database.control.query(
    {
      text: `SELECT action FROM live.audit_log WHERE tenant_id = $1 AND action = 'member.time_zone_changed'`,
    },
    [tenantId],
  )
  expect(rows).toHaveLength(1)
})

test('what an action did follows from its button', () => {
  const forms = Object.values(RESOURCES)
    .flat()
    .flatMap(({ create, detail }) => [
      ...(create && 'fields' in create ? [create] : []),
      ...(detail?.actions ?? []),
    ])
  const said = [...forms, ...HELPERS.flatMap(({ helpers }) => helpers)].map(
    ({ button, done = doneOf(button) }) => done,
  )
  expect(said).toEqual(
    expect.arrayContaining(['Card frozen', 'Card issued', 'Dispute withdrawn', 'Clock advanced']),
  )
  expect(
    said.filter(
      (done) => !/^[A-Z].+ (\w+ed|frozen|unfrozen|sent|withdrawn|rolled back)$|^Set as default$/.test(done),
    ),
  ).toEqual([])
})

test('pages hold no script or style of their own, are not kept, and are not framed', async () => {
  const { headers, text } = await browse('viewer').get('/sandbox')
  expect(headers.get('Content-Security-Policy')).toMatch(
    /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src/,
  )
  expect(headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(text).not.toMatch(
    /<script(?! type="module" src="\/assets\/[0-9a-f]{16}\/\w+\.js" blocking="render"><\/script>)|<style|style="/,
  )
})
