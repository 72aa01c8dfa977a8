/** What another version would change for a tenant: counted by its own requests, shown on the page of the pin. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changes } from '../../generated/changelog.ts'
import { current, versions } from '../../generated/versions.ts'
import { findDifferences } from '../../generators/runtime/differences.ts'
import { showVersionBlockers } from '../../runtime/operator/version-blockers.ts'
import { sweep } from '../../runtime/process/cleanup-job.ts'
import { setPin } from '../../runtime/tenants/admin/pins.ts'
import { createUsageMeter } from '../../runtime/tenants/usage/meter.ts'
import { MAX_LINES, readTouches, TOUCHED_DAYS } from '../../runtime/tenants/usage/touches.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import { Browser, makeTenant, startDashboard, type TestDashboard } from './support/dashboard.ts'

const OLD = '2025-11-01'
const PAGE = '/sandbox/version'

let dashboard: TestDashboard

beforeAll(async () => {
  dashboard = await startDashboard({ countsUse: true })
})

afterAll(() => dashboard?.stop())

interface Tenant {
  readonly id: string
  /** Names no version. */
  readonly send: Send
  readonly browser: Browser
}

async function makePinned(version = OLD): Promise<Tenant> {
  const id = await makeTenant(dashboard.service, 'enterprise', version)
  const { secret } = await makeKey(dashboard.service, id, { scope: 'admin' })
  const owner = await dashboard.signIn(id, 'owner')
  return {
    id,
    send: speak(dashboard.service.urls.sandbox, { secret }),
    browser: new Browser(dashboard.origin, owner.cookie, owner),
  }
}

/** What has been counted, by change. */
async function countsOf({ id }: Tenant, version = OLD) {
  const { database, flush } = dashboard.service
  await flush()
  const touches = await readTouches(database.sandbox.forTenant(id), id, version, '2000-01-01')
  return Object.fromEntries(touches.map(({ change, requests }) => [change.split('/')[1], requests]))
}

/** What stands under the heading of a change, as text; undefined where the page does not show it as met. */
function metIn(page: string, title: string): string | undefined {
  const [, section] = new RegExp(`<section class="change"><h3>${title}</h3>(.*?)<h4>|$`, 's').exec(page) ?? []
  return section?.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

const WITHOUT_KEY = { 'Idempotency-Key': null }

describe('what is counted', () => {
  test('requests count for the changes that made a difference to them, and for no other', async () => {
    const tenant = await makePinned()
    for (const path of ['/v1/pass_templates', '/v1/disputes', '/v1/disputes?reason=fraudulent'])
      expect([path, (await tenant.send(path)).status]).toEqual([path, 200])
    expect((await tenant.send('/v1/passes?include_archived=false')).status).toBe(200)
    expect(await countsOf(tenant)).toEqual({})
    expect((await tenant.send('/v1/passes?include_archived=true')).status).toBe(200)
    expect((await tenant.send('/v1/disputes?reason=customer_dispute')).status).toBe(200)
    expect(await countsOf(tenant)).toEqual({ 'return-archived-passes': 1, 'rename-customer-dispute': 1 })
  })

  test('a translation counts once a request, however many values it changed', async () => {
    const tenant = await makePinned()
    const card = await makeCard(tenant.send)
    expect(await countsOf(tenant)).toEqual({ 'block-categories': 1 })
    const authorize = (category_code: string) =>
      make(tenant.send, '/v1/test/cards/simulate_authorization', {
        card_id: card.id,
        amount: 100,
        merchant: { name: 'Till', category_code },
      })
    await authorize('restaurants')
    await authorize('restaurants')
    expect(await countsOf(tenant)).toEqual({ 'block-categories': 1, 'return-merchant-category-code': 2 })
    expect((await tenant.send('/v1/card_transactions')).body.data).toHaveLength(2)
    expect(await countsOf(tenant)).toMatchObject({ 'return-merchant-category-code': 3 })
  })

  test('a POST without a key counts, with one it does not', async () => {
    const tenant = await makePinned()
    const body = {
      name: 'T',
      kind: 'loyalty',
      brand: { background_color: '#112233', foreground_color: '#ffffff' },
    }
    expect((await tenant.send('/v1/pass_templates', { body })).status).toBe(201)
    expect(await countsOf(tenant)).toEqual({})
    expect((await tenant.send('/v1/pass_templates', { body, headers: WITHOUT_KEY })).status).toBe(201)
    expect(await countsOf(tenant)).toEqual({ 'require-idempotency-key': 1 })
  })

  test('requests in the newest version are not counted', async () => {
    const tenant = await makePinned(current)
    await makeCard(tenant.send)
    expect((await tenant.send('/v1/passes?include_archived=true')).status).toBe(200)
    for (const { name } of versions) expect(await countsOf(tenant, name)).toEqual({})
  })

  test('a count that could not be written is written once, and one without room is left out and counted', async () => {
    const { database, clock } = dashboard.service
    const tenant = await makeTenant(dashboard.service)
    let fails = true
    const broken = {
      ...database,
      sandbox: {
        ...database.sandbox,
        async query(...given: Parameters<typeof database.sandbox.query>) {
          const answer = await database.sandbox.query(...given)
          if (fails) throw new Error('the answer got lost')
          return answer
        },
      },
    } as unknown as typeof database
    const meter = createUsageMeter(broken, clock)
    const request = { version: OLD, named: false, id: 'req_1', operation: 'listPasses', at: clock.now }
    meter.touch('sandbox', { ...request, space: tenant, changes: ['2026-05-19/block-categories'] })
    await expect(meter.flush()).rejects.toThrow('got lost')
    fails = false
    for (let n = 0; n <= MAX_LINES; n += 1)
      meter.touch('sandbox', { ...request, space: tenant, changes: [`2026-05-19/${n}`] })
    expect(meter.droppedTouches()).toBe(1)
    await meter.flush()
    const touches = await readTouches(database.sandbox, tenant, OLD, '2026-01-01')
    expect(touches).toHaveLength(MAX_LINES + 1)
    expect(new Set(touches.map(({ requests }) => requests))).toEqual(new Set([1]))
  })

  test('days before the last thirty are swept', async () => {
    const { database, clock } = dashboard.service
    const tenant = await makeTenant(dashboard.service)
    const meter = createUsageMeter(database, clock)
    for (const [days, change] of [
      [TOUCHED_DAYS - 1, 'kept'],
      [TOUCHED_DAYS, 'gone'],
    ] as const)
      meter.touch('sandbox', {
        space: tenant,
        version: OLD,
        named: false,
        id: 'req_1',
        operation: 'listPasses',
        changes: [change],
        at: clock.now - days * 86_400_000,
      })
    await meter.flush()
    await sweep(database, clock)
    const touches = await readTouches(database.sandbox, tenant, OLD, '2000-01-01')
    expect(touches.map(({ change }) => change)).toEqual(['kept'])
  })
})

describe('the page of the version', () => {
  test('the page of the version says what was met, how often, and by which request; the rest follows', async () => {
    const tenant = await makePinned()
    const stranger = await makePinned()
    await stranger.send('/v1/disputes?reason=customer_dispute')
    await tenant.send('/v1/passes?include_archived=true')
    const named = { 'Service-Version': OLD }
    const last = await tenant.send('/v1/passes?include_archived=true', { headers: named })
    await dashboard.service.flush()
    const { text } = await tenant.browser.get(PAGE)
    expect(text).toContain(`Changes in ${current} that affect you`)
    const met = metIn(text, 'Return archived passes')
    expect(met).toContain('Requests 2; 1 with a Service-Version header')
    expect(met).toContain('listPasses')
    expect(text).toContain(`href="/sandbox/requests/${last.headers.get('Request-Id')}"`)
    const onWay = changes.filter(({ version }) => version > OLD)
    for (const { title } of onWay) {
      const isMet = metIn(text, title) !== undefined
      expect([title, isMet]).toEqual([title, title === 'Return archived passes'])
      expect([title, text.includes(`<summary>${title} `)]).toEqual([title, !isMet])
    }
    expect((await stranger.browser.get(PAGE)).text).toContain('<summary>Return archived passes ')

    const guide = `/docs/account/upgrading/${OLD}/${current}`
    const ownParts = await tenant.browser.get(guide)
    expect(ownParts.headers.get('Cache-Control')).toBe('private, no-store')
    expect(ownParts.text).toContain(`<b>1 of ${onWay.length} changes</b> affect`)
    const { name } = onWay.find(({ title }) => title === 'Return archived passes')!
    const counts = `data-after="${name.replace('/', '-')}">`
    expect(ownParts.text).toContain(`${counts}Sandbox: <b>2</b> of your requests, last listPasses`)
    expect((await stranger.browser.get(guide)).text).toContain(`${counts}Affects none of your requests`)
  })

  test('the page of the version shows examples before and after, and the way to any later version', async () => {
    const { browser } = await makePinned()
    const { text } = await browser.get(PAGE)
    expect(text).toContain('customer_complaint')
    const { text: shorter } = await browser.get(`${PAGE}?to=2026-02-01`)
    expect(shorter).toContain('Changes in 2026-02-01 that affect you')
    expect(shorter).not.toContain('customer_complaint')
    expect((await browser.get(`${PAGE}?to=${OLD}`)).text).not.toContain('that affect you')
    expect((await browser.get(`${PAGE}?to=<b>`)).text).toContain(`Changes in ${current} that affect you`)
  })

  test('events of the version are looked at as they were written', async () => {
    const tenant = await makePinned()
    const card = await makeCard(tenant.send)
    await make(tenant.send, '/v1/test/cards/simulate_authorization', {
      card_id: card.id,
      amount: 100,
      merchant: { name: 'Till', category_code: 'restaurants' },
    })
    const { text } = await tenant.browser.get(PAGE)
    expect(metIn(text, 'Return merchant category code')).toContain('Events 1 recent event affected')
    expect(metIn(text, 'Block categories')).toContain('Events 1 recent event affected')
    expect(metIn(text, 'Rename signature header')).toBeUndefined()
    expect(metIn(text, 'Rename customer dispute')).toBeUndefined()
  })

  test('the page of the version says how long a deprecated version is answered, and how long the sandbox has been at its own', async () => {
    const { id, browser } = await makePinned()
    const { operator, clock } = dashboard.service
    const { sunset } = versions.find(({ name }) => name === OLD)!
    const days = Math.ceil((Date.parse(sunset!) - clock.now) / 86_400_000)
    expect((await browser.get(PAGE)).text).toContain(`${days} days left`)
    const pinned = (hours: number) =>
      setPin(
        { ...operator, clock: { ...clock, service: () => clock.now - hours * 3_600_000 } },
        { tenantId: id, environment: 'sandbox', version: current },
        versions,
      )
    await pinned(47)
    for (const path of [PAGE, '/live/version'])
      expect((await browser.get(path)).text).toContain(`Pinned to ${current} for 47 of 48 hours`)
    await pinned(48)
    expect((await browser.get('/live/version')).text).toContain(`Pinned to ${current} for 48 hours or more`)
  })
})

describe('a rehearsal', () => {
  const FORM = '/sandbox/version/rehearsal'
  const rehearse = (browser: Browser, to = current) => browser.submit(`${PAGE}?to=${to}`, FORM)

  /** Numbers of rows in every table of the tenant but those of what is counted and asked. */
  async function rowsOf(tenantId: string): Promise<Record<string, string>> {
    const { control } = dashboard.service.database
    const { rows } = await control.query<{ name: string }>({
      text: `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
              WHERE c.table_schema = 'sandbox' AND c.column_name = 'tenant_id' AND t.table_type = 'BASE TABLE' ORDER BY 1`,
    })
    const counts: Record<string, string> = {}
    for (const { name } of rows.filter(({ name }) => name !== 'usage_counters')) {
      const found = await control.query<{ digest: string | null }>(
        {
          text: `SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) AS digest FROM sandbox.${name} t WHERE tenant_id = $1`,
        },
        [tenantId],
      )
      counts[name] = found.rows[0]!.digest ?? ''
    }
    return counts
  }

  test('a rehearsal makes the last requests again in both versions and shows where they differ; nothing is written', async () => {
    const tenant = await makePinned()
    const stranger = await makePinned()
    const card = await makeCard(tenant.send)
    const path = `/v1/cards/${card.id}`
    await stranger.send('/v1/scans')
    for (const each of [path, path, '/v1/disputes?reason=customer_dispute', '/v1/passes', '/v1/cards/crd_no'])
      await tenant.send(each)
    await dashboard.service.flush()
    const before = await rowsOf(tenant.id)
    const { status, text } = await rehearse(tenant.browser)
    expect(status).toBe(200)
    await dashboard.service.flush()
    expect(await rowsOf(tenant.id)).toEqual(before)
    expect(text).toContain('5 requests repeated')
    expect(text).toContain('1 with differences, 1 with different errors, 3 the same; 1 skipped')
    expect(text).toContain(`<h2>GET ${path}</h2>`)
    expect(text).toContain('<code>spending_controls.blocked_categories</code>')
    expect(text).toContain('reason')
    expect(text).not.toContain('/v1/scans')
    const same = text.slice(text.indexOf('Same in both versions'))
    for (const each of ['/v1/passes', '/v1/cards/crd_no']) expect(same).toContain(`GET ${each}<`)
    expect(await countsOf(tenant)).toMatchObject({ 'block-categories': 3 })
  })

  test('a rehearsal repeats writes in transactions that are rolled back, and shows what requests must change', async () => {
    const tenant = await makePinned()
    const card = await makeCard(tenant.send)
    const update = `/v1/cards/${card.id}`
    const template = {
      name: 'T',
      kind: 'loyalty',
      brand: { background_color: '#112233', foreground_color: '#ffffff' },
    }
    await tenant.send('/v1/pass_templates', { body: template })
    await tenant.send(update, {
      method: 'PATCH',
      body: { spending_controls: { allowed_categories: ['5812'] } },
    })
    await tenant.send('/v1/webhook-endpoints', {
      body: { url: 'https://example.com/hooks', enabled_events: ['*'] },
    })
    await dashboard.service.flush()
    const before = await rowsOf(tenant.id)
    const { text } = await rehearse(tenant.browser)
    await dashboard.service.flush()
    expect(await rowsOf(tenant.id)).toEqual(before)
    expect(text).toContain('1 with differences, 1 with different errors, 1 the same; 2 skipped')
    // Identifiers and times differ between two runs of the same request, so only the new property is shown.
    expect(text).toContain('<h2>POST /v1/pass_templates</h2>')
    expect(text).toContain('<code>relevant_locations</code>')
    expect(text).not.toContain('<code>id</code>')
    expect(text).toContain('What your requests must change')
    expect(text).toContain('<code>body.spending_controls.allowed_categories</code>')
    expect(text).toContain(`<h2>PATCH ${update}</h2>`)
    expect(text.slice(text.indexOf('Skipped'))).toContain('POST /v1/webhook-endpoints')
  })

  test('a read that is audited, streams, or is long is not made again', async () => {
    const tenant = await makePinned(current)
    const { database, clock } = dashboard.service
    const add = (id: string, target: string, operation: string) =>
      database.sandbox.query(
        {
          text: `INSERT INTO request_log (tenant_id, id, created, written, method, target, path, operation, version, status, key_id, address, ms)
                 VALUES ($1, $2, $3, $3, 'GET', $4, $4, $5, '2026-02-01', '200', 'key_1', '127.0.0.1', 1)`,
        },
        [tenant.id, id, new Date(clock.now).toISOString(), target, operation],
      )
    const audited = versions
      .at(-1)!
      .operations.find(
        ({ method, extensions, path }) =>
          method === 'GET' && extensions.auditAction !== undefined && path.includes('{'),
      )!
    const streamed = versions.at(-1)!.operations.find(({ method, stream }) => method === 'GET' && stream)!
    await add('req_1', audited.path.replaceAll(/\{\w+\}/g, 'x'), audited.id)
    await add('req_2', streamed.path, streamed.id)
    await add('req_3', `/v1/passes?starting_after=${'x'.repeat(475)}`, 'listPasses')
    const { text } = await tenant.browser.submit(`${PAGE}?from=2026-02-01`, FORM)
    expect(text).toContain('3 skipped')
    expect(text).toContain('each read is recorded in the audit log')
    expect(text).toContain('its answer is a stream')
    expect(text).toContain('the log contains only part of it')
  })

  test('a rehearsal is for developers, by a form of the page', async () => {
    const { id } = await makePinned()
    const viewer = new Browser(dashboard.origin, (await dashboard.signIn(id, 'viewer')).cookie)
    expect((await viewer.get(PAGE)).text).not.toContain(FORM)
    expect((await viewer.post(FORM, {})).status).toBe(403)
    const developer = new Browser(dashboard.origin, (await dashboard.signIn(id, 'developer')).cookie)
    expect((await developer.post(FORM, { from: OLD, to: current })).status).toBe(403)
    expect((await rehearse(developer)).text).toContain(`no sandbox requests to ${OLD} from the last 7 days`)
    expect((await developer.submit(PAGE, FORM, { to: '1999-01-01', from: current })).status).toBe(422)
    expect((await developer.get('/live/version')).text).toContain(
      `href="${PAGE}?from=${OLD}&amp;to=${current}#rehearsal"`,
    )
  })
})

describe('who blocks the sunset of a version', () => {
  test('tenants that are pinned to it or name it, with their keys, operations and properties', async () => {
    const pinned = await makePinned()
    const card = await makeCard(pinned.send)
    await pinned.send(`/v1/cards/${card.id}`, {
      method: 'PATCH',
      body: { spending_controls: { allowed_categories: ['5812'] } },
    })
    const naming = await makePinned(current)
    await naming.send('/v1/passes?include_archived=true', { headers: { 'Service-Version': OLD } })
    const quiet = await makePinned()
    const upgraded = await makePinned(current)
    await upgraded.send('/v1/passes')
    await dashboard.service.flush()
    const found = await showVersionBlockers(dashboard.service.operator, OLD, versions)
    const of = ({ id }: Tenant) =>
      found.blockers.find(({ tenant_id, environment }) => tenant_id === id && environment === 'sandbox')
    expect(found).toMatchObject({ version: OLD, upgrade_to: current })
    expect(of(pinned)).toMatchObject({
      pinned: true,
      keys: [
        {
          requests: 3,
          operations: { createCardholder: 1, createCard: 1, updateCard: 1 },
          findings: expect.arrayContaining([
            expect.objectContaining({
              kind: 'breaks',
              operation: 'updateCard',
              field: 'body.spending_controls.allowed_categories',
              exchanges: 1,
            }),
          ]),
        },
      ],
    })
    expect(of(naming)).toMatchObject({
      pinned: false,
      keys: [
        { operations: { listPasses: 1 }, findings: [{ kind: 'silent', field: 'query.include_archived' }] },
      ],
      changes: [{ change: '2026-05-19/return-archived-passes', requests: 1 }],
    })
    expect(of(quiet)).toMatchObject({ pinned: true, keys: [], changes: [] })
    expect(of(upgraded)).toBe(undefined)
    await expect(showVersionBlockers(dashboard.service.operator, current, versions)).rejects.toThrow(
      `there is no older version ${current}`,
    )
  })
})

test('differences are found by name, identifier and place', () => {
  const table: [unknown, unknown, unknown][] = [
    [{ a: 1 }, { a: 1 }, []],
    [
      { a: 1 },
      { a: 2, b: [] },
      [
        ['a', 1, 2],
        ['b', undefined, []],
      ],
    ],
    [
      { a: [1, 2] },
      { a: [1, 3, 4] },
      [
        ['a[1]', 2, 3],
        ['a[2]', undefined, 4],
      ],
    ],
    [
      [
        { id: 'x', n: 1 },
        { id: 'y', n: 2 },
      ],
      [{ id: 'y', n: 3 }],
      [
        ['[x]', { id: 'x', n: 1 }, undefined],
        ['[y].n', 2, 3],
      ],
    ],
    [{ a: null }, { a: { b: 1 } }, [['a', null, { b: 1 }]]],
    [{ a: [] }, { a: {} }, [['a', [], {}]]],
  ]
  for (const [before, after, want] of table)
    expect(findDifferences(before, after, 10).map((each) => [each.path, each.before, each.after])).toEqual(
      want,
    )
  expect(findDifferences([1, 2, 3], [4, 5, 6], 2)).toHaveLength(2)
})
