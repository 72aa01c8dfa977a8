/** Passes issued on the dashboard, one with its code or many from a file, and what is seen of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DashboardVisit } from '../../runtime/dashboard/engine/visit.ts'
import { issueTable, readTable } from '../../runtime/dashboard/pages/passes/batch.ts'
import { parseCsv, writeCsv } from '../../runtime/dashboard/pages/passes/csv.ts'
import { step } from '../../runtime/dashboard/pages/passes/steps.ts'
import { findPlace } from '../../runtime/dashboard/pages/watch/watching.ts'
import { writeRegistration } from '../../runtime/passes/passes/registration-queries.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { make } from '../cards/fixtures.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'
import { callsOf } from './support/markup.ts'

let dashboard: TestDashboard
let send: Send
let developer: Visitor
let browser: Browser
let template_id: string

beforeAll(async () => {
  dashboard = await startDashboard()
  const tenantId = await makeTenant(dashboard.service)
  developer = await dashboard.signIn(tenantId, 'developer')
  browser = new Browser(dashboard.origin, developer.cookie)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
  template_id = await makeTemplate(send, {
    name: 'Card of <points>',
    fields: [
      { key: 'points', label: 'Points', value: '0' },
      { key: 'tier', label: '', value: '' },
    ],
  })
})

afterAll(() => dashboard?.stop())

const PASSES = '/sandbox/passes'

test('a pass is issued from a template that is chosen, with values of its own, and shown with its code', async () => {
  for (const query of ['', `?find:template_id=${template_id}`])
    expect((await browser.get(`${PASSES}/new${query}`)).text).toMatch(
      new RegExp(`value="${template_id}" data-text="Card of &lt;points&gt;"`),
    )
  expect((await browser.get(`${PASSES}/new?find:template_id=nothing`)).text).toContain('No active template')
  const page = `${PASSES}/new?template_id=${template_id}`
  expect((await browser.get(page)).text).toMatch(/name="fields\.points"[^>]* value="0"/)
  const wrong = await browser.submit(page, `${PASSES}/new`, {
    'holder.email': 'nobody',
    'fields.points': '12',
  })
  expect(wrong.status).toBe(422)
  expect(wrong.text).toContain('id="holder.email-fault"')
  expect(wrong.text).toContain('value="12"')
  const shown = await browser.submit(page, `${PASSES}/new`, { 'fields.points': '34', do: 'preview' })
  expect(shown.text.split('id="preview"')[1]).toContain('<dd dir="auto">34</dd>')
  expect(callsOf(shown.text)).toContain(`await client.createPass({
  body: {
    template_id: '${template_id}',
    holder: {},
    fields: {
      points: '34',
    },
  },
})`)
  const { location } = await browser.submit(page, `${PASSES}/new`, {
    'holder.name': 'Ada',
    'fields.points': '12',
    expires_at: '2099-01-31',
  })
  const id = location!.split('/').at(-1)!
  expect((await send(`/v1/passes/${id}`)).body).toMatchObject({
    holder: { name: 'Ada', email: null },
    fields: { points: '12', tier: '' },
    expires_at: '2099-01-31T23:59:59.000Z',
  })
  const { text } = await browser.get(location!)
  expect(text).toMatch(/<figure class="qr"[^>]*><svg [^>]*viewBox/)
  expect(text).toContain('Not in a wallet yet.')
  expect(text).toContain('<h1>Ada</h1>')
  const [, apple] = text.split('<template shadowrootmode="open">')
  expect(apple).toContain('<dd dir="auto">12</dd>')
})

describe('a pass', () => {
  const read = async (id: string) => (await send(`/v1/passes/${id}`)).body
  const makePass = async (rest: object = {}) =>
    (await make(send, '/v1/passes', { template_id, fields: { points: '120', tier: 'Silver' }, ...rest })).id
  /** Nothing happens at the same time. */
  const passTime = () => {
    dashboard.service.clock.now += 1000
  }
  beforeEach(passTime)

  /** What the page says of a pass, from the newest to the oldest. */
  const timelineOf = (text: string) =>
    [...text.matchAll(/<span class="what">([^<]*)</g)].map(([, what]) => what)

  test('is changed, with what wallets will show beside the form, and its timeline tells from what to what', async () => {
    const id = await makePass({ holder: { name: 'Ada', email: 'ada@example.com' } })
    await send('/v1/test/passes/simulate_install', { body: { pass_id: id, platform: 'apple' } })
    passTime()
    const form = `${PASSES}/${id}/change`
    const typed = { 'holder.name': 'Ada <b>', 'fields.points': '130', expires_at: '2099-06-01T18:30' }
    const kept = { 'holder.email': 'ada@example.com', 'fields.tier': 'Silver' }
    const shown = await browser.submit(form, form, { ...kept, ...typed, do: 'preview' })
    const preview = shown.text.split('id="preview"')[1]!
    expect(preview).toContain('<dt>Points</dt><dd><span class="was">120</span> → <strong>130</strong></dd>')
    expect(preview).toContain('Apple Wallet gets the new values')
    expect(preview).toContain('<dd dir="auto">130</dd>')
    const [curl, client] = callsOf(shown.text).split('TypeScript')
    expect(curl).toContain(`curl -X PATCH '${dashboard.service.urls.sandbox}/v1/passes/${id}'`)
    expect(client).toContain("fields: {\n      points: '130',\n    },")
    expect(await read(id)).toMatchObject({ fields: { points: '120' } })
    expect((await browser.submit(form, form, { ...kept, ...typed, 'fields.tier': '' })).status).toBe(303)
    expect(await read(id)).toMatchObject({
      holder: { name: 'Ada <b>', email: 'ada@example.com' },
      fields: { points: '130', tier: '' },
      expires_at: '2099-06-01T18:30:00.000Z',
    })
    const { text } = await browser.get(`${PASSES}/${id}`)
    expect(timelineOf(text)).toEqual(['Expires', 'Changed', 'Added to Apple Wallet', 'Issued'])
    for (const change of [
      '<dt>Points</dt><dd><span class="was">120</span> → <strong>130</strong></dd>',
      '<dt>Holder name</dt><dd><span class="was">Ada</span> → <strong>Ada &lt;b&gt;</strong></dd>',
    ])
      expect(text).toContain(change)
    const wrong = await browser.submit(form, form, { ...kept, ...typed, 'holder.email': 'nobody' })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('id="holder.email-fault"')])
  })

  test('that two members change at the same time loses neither change', async () => {
    const id = await makePass()
    const form = `${PASSES}/${id}/change`
    const opened = hiddenFields((await browser.get(form)).text, form)
    await send(`/v1/passes/${id}`, { method: 'PATCH', body: { fields: { points: '500', tier: 'Gold' } } })
    const mine = { 'fields.points': '130', 'fields.tier': 'Silver', 'holder.name': 'Ada' }
    const told = await browser.post(form, { ...opened, ...mine })
    expect([told.status, told.text]).toEqual([409, expect.stringContaining('Now 500')])
    expect(told.text).toMatch(/name="fields\.tier"[^>]* value="Gold"/)
    expect(await read(id)).toMatchObject({ fields: { points: '500', tier: 'Gold' }, holder: { name: null } })
    const again = { ...hiddenFields(told.text, form), ...mine, 'fields.tier': 'Gold' }
    for (const _ of ['once', 'twice']) expect((await browser.post(form, again)).status).toBe(303)
    expect(await read(id)).toMatchObject({ fields: { points: '130', tier: 'Gold' }, holder: { name: 'Ada' } })
  })

  test('takes a step once, even if the form is sent twice', async () => {
    const id = await makePass()
    const [page, address] = [`${PASSES}/${id}`, `${PASSES}/${id}/step`]
    const form = { ...hiddenFields((await browser.get(page)).text, address), by: '25', do: 'add' }
    expect((await browser.post(address, form)).status).toBe(303)
    const again = await browser.post(address, form)
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('Points changed since')])
    expect((await read(id)).fields.points).toBe('145')
    const below = await browser.submit(page, address, { by: '146', do: 'subtract' })
    expect([below.status, below.text]).toEqual([409, expect.stringContaining('cannot go below 0')])
  })

  test('is checked in and archived from its page', async () => {
    const id = await makePass()
    const page = `${PASSES}/${id}`
    passTime()
    await browser.submit(page, `${page}/scan`, { mode: 'verify' })
    expect(await read(id)).toMatchObject({ status: 'active' })
    passTime()
    await browser.submit(`${page}/revoke`, `${page}/revoke`)
    await browser.submit(page, `${page}/archive`)
    const { text } = await browser.get(page)
    expect(timelineOf(text)).toEqual(['Archived', 'Revoked', 'Checked in', 'Issued'])
    expect((await browser.get(`${page}/change`)).status).toBe(409)
  })

  test('shows its timeline in parts', async () => {
    const id = await makePass()
    for (let points = 1; points <= 12; points += 1) {
      passTime()
      await send(`/v1/passes/${id}`, { method: 'PATCH', body: { fields: { points: String(points) } } })
      await make(send, '/v1/scans', { pass_id: id, mode: 'redeem' })
    }
    passTime()
    await send(`/v1/passes/${id}`, { method: 'PATCH', body: { fields: { points: '0' } } })
    let page = `${PASSES}/${id}`
    const told: (string | undefined)[] = []
    for (let parts = 0; parts < 2; parts += 1) {
      const { text } = await browser.get(page)
      told.push(...timelineOf(text))
      page = /href="([^"]*before=[^"]*)">Earlier/.exec(text)?.[1] ?? ''
    }
    expect(page).toBe('')
    expect(told).toHaveLength(13 + 12 + 1)
    expect(told.filter((what) => what === 'Changed')).toHaveLength(13)
    expect(told.at(-1)).toBe('Issued')
  })
})

test.each([
  ['120', '5', '125'],
  ['4 of 10', '1', '5 of 10'],
  ['3/10', '-3', '0/10'],
  ['$25.00', '-2.5', '$22.50'],
  ['9', '0.25', '9.25'],
  ['0.10 EUR', '-0.1', '0.00 EUR'],
  ['1', '-2', undefined],
  ['Silver', '1', undefined],
  ['2027-06-12', '1', undefined],
  ['5', 'x', undefined],
])('a step from %s by %s leads to %s', (value, by, next) => {
  expect(step(value, by)).toBe(next)
})

test('devices and scans of a pass are shown, and all scans in a list', async () => {
  const pass = await make(send, '/v1/passes', { template_id })
  await send('/v1/test/passes/simulate_install', { body: { pass_id: pass.id, platform: 'apple' } })
  const place = { member: developer, environment: 'sandbox' } as const
  const { db, space } = await findPlace(dashboard.watching, place)
  for (const deviceId of ['telephone', 'watch']) {
    const push = { pushToken: deviceId, changed: 0, registeredAt: Date.now() }
    await writeRegistration(db, space, { deviceId, passId: pass.id, templateId: template_id, ...push })
  }
  await make(send, '/v1/scans', { pass_id: pass.id, mode: 'verify', scanner: 'Gate <1>' })
  for (const path of [`${PASSES}/${pass.id}`, '/sandbox/scans', `/sandbox/scans?pass_id=${pass.id}`]) {
    const { text } = await browser.get(path)
    expect(text).toContain('Gate &lt;1&gt;')
    expect(text).toContain(path.includes(`/${pass.id}`) ? 'Checked in' : 'Accepted')
  }
  expect((await browser.get(`${PASSES}/${pass.id}`)).text).toContain('<li>Apple Wallet, on 2 devices</li>')
})

test.each([
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    '\uFEFFa;b\r\n"x;1";"say ""hi"""\r\n\r\n;\r\n',
    [
      ['a', 'b'],
      ['x;1', 'say "hi"'],
    ],
  ],
  ['a\tb\r1\t', [['a', 'b'], ['1']]],
  ['a\n"two\nlines"', [['a'], ['two\nlines']]],
])('a file of passes is read as a table: %j', (text, cells) => {
  const rows = parseCsv(text)
  if (typeof rows === 'string') throw new Error(rows)
  expect(rows.map((row) => row.cells)).toEqual(cells)
  const again = parseCsv(writeCsv(cells))
  if (typeof again === 'string') throw new Error(again)
  expect(again.map((row) => row.cells)).toEqual(cells)
})

describe('a file', () => {
  const UPLOAD = `${PASSES}/upload`
  const open = async () =>
    hiddenFields((await browser.get(`${UPLOAD}?template_id=${template_id}`)).text, UPLOAD)
  const sendTable = async (text: string) =>
    browser.upload(UPLOAD, await open(), { file: new TextEncoder().encode(text) })
  const count = async () => (await send('/v1/passes/count')).body.count as number
  const issued = (text: string) => [...text.matchAll(/passes\/(pass_\w+)"/g)].map(([, id]) => id)

  test('issues a pass a row, says what is wrong with which, and takes those again alone', async () => {
    const rows = Array.from({ length: 130 }, (_, index) => `Holder ${index},h${index}@example.com,${index}`)
    rows[7] = '<b>Eve</b>,not an address,7'
    rows[120] = 'Cell,c@example.com,1,2'
    const table = `name,email,points\n${rows.join('\n')}\n`
    const before = await count()
    const first = await sendTable(table)
    expect(first.status).toBe(200)
    expect(first.text).toContain('128 of 130 passes were issued, 2 failed.')
    expect(first.text).toContain('&lt;b&gt;Eve&lt;/b&gt;, not an address')
    expect(first.text).toMatch(/data-title="Line"><div>9<\/div>.*Failed.*email must be/)
    expect(issued(first.text)).toHaveLength(128)
    expect(await count()).toBe(before + 128)
    expect((await send(`/v1/passes/${issued(first.text)[100]}`)).body.holder.name).toBe('Holder 101')

    const second = await sendTable(table)
    expect(issued(second.text)).toEqual(issued(first.text))
    expect(await count()).toBe(before + 128)

    const left = /name="table"[^>]*>\n([^<]*)</.exec(first.text)![1]!.replaceAll(/&\w+;/g, '')
    expect(left.split('\n')).toHaveLength(1 + 2 + 1)
    const mended = { ...hiddenFields(first.text, UPLOAD), table: 'name,email,points\nEve,e@example.com,7\n' }
    for (const _ of ['once', 'twice']) {
      expect((await browser.upload(UPLOAD, mended)).text).toContain('1 of 1 passes were issued.')
      expect(await count()).toBe(before + 129)
    }
  })

  test('names its columns by label, and may contain the errors of an earlier one', async () => {
    const { text } = await sendTable('Holder name,Points,error\nAda,12,email must be an address\n')
    const [id] = issued(text)
    expect((await send(`/v1/passes/${id}`)).body).toMatchObject({
      holder: { name: 'Ada' },
      fields: { points: '12' },
    })
    const failed = (await sendTable('points,email\n12,nobody\n')).text
    const forms = failed.split('<form').filter((each) => each.includes('value="download"'))
    const [, table] = /name="table"[^>]*>\n([^<]*)</.exec(forms[0]!)!
    const file = await browser.upload(UPLOAD, { ...(await open()), table: table!, do: 'download' })
    expect(file.headers.get('Content-Disposition')).toContain('passes.csv')
    expect(file.text).toMatch(/^points,email,error\n12,nobody,"?email must be/)
  })

  test.each([
    ['', 'a header line'],
    ['name,colour\nAda,red', 'Unknown column: colour'],
    ['name,name\nAda,Ben', 'more than once'],
    ['name\n"Ada', 'quotation mark'],
    [`name\n${'Ada\n'.repeat(1001)}`, '1001 passes'],
  ])('%# that is no table of passes is not sent', async (text, words) => {
    const before = await count()
    const { status, text: page } = await browser.upload(UPLOAD, { ...(await open()), table: text })
    expect([status, page]).toEqual([422, expect.stringContaining(words)])
    expect(await count()).toBe(before)
  })

  test('a file of passes that was stopped in the middle continues where it stopped', async () => {
    const { body: template } = await send(`/v1/pass_templates/${template_id}`)
    const table = readTable(`name\n${'Noor\n'.repeat(250)}`, template)
    if (typeof table === 'string') throw new Error(table)
    const before = await count()
    const { tenantId, memberId } = developer
    let calls = 0
    const visitOf = (failing: number) => {
      const operate = (operationId: string, input: object) => {
        calls += 1
        const member = calls === failing ? 'mem_00000000000000000000000000' : memberId
        const acting = { tenantId, memberId: member, address: '127.0.0.1' }
        return dashboard.service.operate(acting, 'sandbox', operationId, input)
      }
      return { operate } as unknown as DashboardVisit
    }
    const first = await issueTable(visitOf(2), template_id, table, '')
    expect([calls, first.stopped]).toEqual([2, expect.stringMatching(/req_/)])
    expect(first.outcomes.map(({ passId, fault }) => [passId !== undefined, fault])).toEqual([
      ...Array(100).fill([true, undefined]),
      ...Array(150).fill([false, undefined]),
    ])
    const second = await issueTable(visitOf(0), template_id, table, '')
    expect(second.outcomes.slice(0, 100)).toEqual(first.outcomes.slice(0, 100))
    expect(second.outcomes.every(({ passId }) => passId !== undefined)).toBe(true)
    expect(await count()).toBe(before + 250)
  })

  test('a file of passes in another encoding is refused, not guessed at', async () => {
    const { status, text } = await browser.upload(UPLOAD, await open(), {
      file: new Uint8Array([0x6e, 0xe9, 0x0a]),
    })
    expect([status, text]).toEqual([422, expect.stringContaining('UTF-8')])
  })
})
