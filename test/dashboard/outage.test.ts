/** The database goes away while members look at the dashboard, and comes back. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRelayedDatabase } from '../support/database.ts'
import type { Relay } from '../support/relay.ts'
import { Browser, hiddenFields, makeTenant, startDashboard, type TestDashboard } from './support/dashboard.ts'

const FORM = '/sandbox/webhook-endpoints/new'

let relay: Relay
let dashboard: TestDashboard
let browser: Browser

beforeAll(async () => {
  const opened = await openRelayedDatabase()
  relay = opened.relay
  dashboard = await startDashboard({ named: true, database: opened.database })
  const owner = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
  browser = new Browser(dashboard.origin, owner.cookie)
})
afterAll(() => dashboard?.stop())

test('each page and form says so, and a form sent again afterwards is done once', async () => {
  const shown = await browser.get(FORM)
  const typed = { url: 'https://93.184.215.14/away', enabled_events: 'pass.created' }
  const fields = { ...hiddenFields(shown.text, FORM), ...typed }
  const entrance = await browser.get('/sign-in')
  const signIn = {
    ...hiddenFields(entrance.text, '/sign-in'),
    email: 'a@example.com',
    password: 'p',
    code: '1',
  }
  await relay.down()
  for (const ask of [
    () => browser.get('/sandbox'),
    () => browser.get('/sandbox/passes'),
    () => browser.post(FORM, fields),
    () => browser.post('/sign-in', signIn),
  ]) {
    const answer = await ask()
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('Try again in a moment')])
  }
  await relay.up()
  expect((await browser.post(FORM, fields)).text).toContain('whsec_')
  expect((await browser.post(FORM, fields)).status).toBe(200)
  const list = await browser.get('/sandbox/webhook-endpoints')
  expect(list.text.split(`>${typed.url}<`)).toHaveLength(2)
})
