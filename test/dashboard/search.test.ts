/** The dashboard's search by what things are called. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { make } from '../cards/fixtures.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import { Browser, makeTenant, startDashboard, type TestDashboard, type Visitor } from './support/dashboard.ts'

let dashboard: TestDashboard
let tenantId: string
let send: Send
let viewer: Visitor
let browser: Browser

beforeAll(async () => {
  dashboard = await startDashboard()
  tenantId = await makeTenant(dashboard.service)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
  viewer = await dashboard.signIn(tenantId, 'viewer')
  browser = new Browser(dashboard.origin, viewer.cookie)
})
afterAll(() => dashboard?.stop())

const find = (text: string, by = browser, environment = 'sandbox') =>
  by.get(`/${environment}/search?q=${encodeURIComponent(text)}`)

const NOTHING = 'No results found'

const makeHolder = async (name: string, email?: string): Promise<string> =>
  (await make(send, '/v1/cardholders', { type: 'individual', name, email, date_of_birth: '1990-04-12' })).id

test('a cardholder is found by the beginning of the name, of its last word and of the e-mail address', async () => {
  const id = await makeHolder('Grace Brewster Hopper', 'Rear.Admiral@example.com')
  for (const text of ['grace', 'GRACE BREW', 'brew', 'brewster HOP', 'hopp', 'rear.admiral@', ' Grace ']) {
    expect([text, (await find(text)).location]).toEqual([text, `/sandbox/cardholders/${id}`])
  }
  for (const text of ['race', 'admiral', '%', '_race', 'grace\0', `grace${'x'.repeat(3000)}`]) {
    const { status, text: page } = await find(text)
    expect([text, status, page.includes(NOTHING)]).toEqual([text, 200, true])
  }
})

test('any of the first four words of a name and the last are found', async () => {
  const id = await makeHolder('María del Carmen García de Ledesma')
  for (const text of ['maría', 'del', 'carmen', 'garcía de', 'ledesma'])
    expect([text, (await find(text)).location]).toEqual([text, `/sandbox/cardholders/${id}`])
})

test('a letter is found in either case, whatever its alphabet', async () => {
  const id = await makeHolder('Åsa Żółć')
  for (const text of ['åsa', 'ÅSA', 'żółć']) {
    expect([text, (await find(text)).location]).toEqual([text, `/sandbox/cardholders/${id}`])
  }
})

test('templates, passes, card programs, webhook endpoints and API versions are found by what they are called', async () => {
  const template = await makeTemplate(send, { name: 'Kettle club' })
  const pass = await issuePass(send, template, { holder: { name: 'Olga Quint', email: 'oq@example.org' } })
  const nameless = await issuePass(send, template, { holder: { email: 'zebra@example.org' } })
  const program = await make(send, '/v1/card_programs', { name: 'Travel budget', kind: 'virtual' })
  const endpoint = await make(send, '/v1/webhook-endpoints', {
    url: 'https://93.184.215.14/Orders',
    enabled_events: ['*'],
    description: 'Warehouse in Oslo',
  })
  for (const [text, place] of [
    ['kettle', `pass-templates/${template}`],
    ['olga q', `passes/${pass.id}`],
    ['quint', `passes/${pass.id}`],
    ['OQ@', `passes/${pass.id}`],
    ['zebra', `passes/${nameless.id}`],
    ['travel', `card-programs/${program.id}`],
    ['215.14/orders', `webhook-endpoints/${endpoint.id}`],
    ['in oslo', `webhook-endpoints/${endpoint.id}`],
    [versions[0]!.name, `version?version=${versions[0]!.name}`],
  ] as const) {
    expect([text, (await find(text)).location]).toEqual([text, `/sandbox/${place}`])
  }
})

test('records are found by what they contain: member numbers, last digits, account holders, and merchants', async () => {
  const template = await makeTemplate(send, { name: 'Bakery' })
  const fields = { tier: 'M-"77"-Q' }
  const pass = await issuePass(send, template, { holder: { name: 'Nils Berg' }, fields })
  const cardholder_id = await makeHolder('Tove Lind')
  const card = await make(send, '/v1/cards', { cardholder_id, type: 'virtual' })
  const destination = await make(send, '/v1/payout_destinations', {
    type: 'usdc_address',
    address: `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`,
    holder_name: 'Quayside Coffee LLC',
  })
  const purchase = await make(send, '/v1/test/cards/simulate_authorization', {
    card_id: card.id,
    amount: 1250,
    merchant: { name: 'Harbor Grocer', category_code: '5411' },
  })
  for (const [text, place] of [
    ['m-"77"-q', `passes/${pass.id}`],
    [card.last4, `cards/${card.id}`],
    ['quayside', `payout-destinations/${destination.id}`],
    ['grocer', `card-transactions/${purchase.id}`],
  ] as const)
    expect([text, (await find(text)).location]).toEqual([text, `/sandbox/${place}`])
  for (const text of ['m-"77"', card.last4.slice(1)]) expect((await find(text)).text).toContain(NOTHING)
})

test('several are shown with what they are, a few of each kind, beside the pages that are called so', async () => {
  const ids: string[] = []
  for (const name of ['Ada One', 'Ada Two', 'Ada Three', 'Ada Four', 'Ada Five', 'Ada Six']) {
    ids.push(await makeHolder(name, 'ada@example.com'))
  }
  const template = await makeTemplate(send, { name: 'Adage & <b>' })
  const { status, text } = await find('ada')
  expect(status).toBe(200)
  const shown = [...text.matchAll(/href="\/sandbox\/cardholders\/(chd_\w+)"/g)].map(([, id]) => id)
  expect([shown.length, new Set(shown).size]).toEqual([5, 5])
  expect(ids).toEqual(expect.arrayContaining(shown))
  expect(text).toContain(`href="/sandbox/pass-templates/${template}"`)
  expect(text).toContain('Adage &amp; &lt;b&gt;')
  expect(text).toMatch(/<h2>Cardholders<\/h2>[\s\S]+ada@example.com/)
  expect(text).toContain('More results may match')
  await makeTemplate(send, { name: 'Payout thanks' })
  const both = (await find('payout')).text
  expect(both).toContain('href="/sandbox/payout-destinations"')
  expect(both).toContain('Payout thanks')
  expect(both).not.toContain('More results may match')
})

test('the command palette gets the same results as JSON, and only the actions of its role', async () => {
  const owner = await dashboard.signIn(tenantId, 'owner')
  const ask = async (text: string, cookie: string) => {
    const address = `${dashboard.origin}/sandbox/search?q=${text}`
    const answer = await fetch(address, { headers: { Cookie: cookie, Accept: 'application/json' } })
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    return ((await answer.json()) as { readonly items: unknown[] }).items
  }
  const id = await makeHolder('Cardea Fen', 'fen@example.com')
  const found = await ask('card', owner.cookie)
  const href = `/sandbox/cardholders/${id}`
  expect(found).toContainEqual({ kind: 'Cardholders', title: 'Cardea Fen', about: 'fen@example.com', href })
  const action = { kind: 'Actions', title: 'Issue card', about: 'Cards', href: '/sandbox/cards/new' }
  expect(found).toContainEqual(action)
  expect(await ask('card', viewer.cookie)).not.toContainEqual(action)
  expect(await ask(id, viewer.cookie)).toEqual([{ kind: 'Cardholders', title: id, about: '', href }])
})

test('an object of another tenant or the other environment is not found', async () => {
  await makeHolder('Katherine Johnson', 'kj@example.com')
  const other = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
  const stranger = new Browser(dashboard.origin, other.cookie)
  for (const text of ['katherine', 'johnson', 'kj@example']) {
    expect((await find(text)).status).toBe(303)
    expect((await find(text, stranger)).text).toContain(NOTHING)
    expect((await find(text, browser, 'live')).text).toContain(NOTHING)
  }
})
