/** Google Wallet is told of templates and passes, whatever happens on the way. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { passMessageWorker } from '../../../runtime/passes/pass-messages/job.ts'
import { PASS_KINDS } from '../../../runtime/passes/wallets/render/pass-state.ts'
import { until } from '../../support/programs.ts'
import type { Send } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'
import { type GoogleStage, openGoogleStage } from './google-stage.ts'

let stage: GoogleStage
beforeEach(async () => {
  stage = await openGoogleStage()
})
afterEach(() => stage.close())

const TEMPLATE = {
  name: 'Coffee loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [{ key: 'points', label: 'Points', value: '0' }],
}

async function make(send: Send, path: string, body: object): Promise<string> {
  const answer = await send(path, { body })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return answer.body.id
}

const makeTemplate = (send: Send, changes: object = {}) =>
  make(send, '/v1/pass_templates', { ...TEMPLATE, kind: 'loyalty', ...changes })
const makePass = (send: Send, template_id: string, changes: object = {}) =>
  make(send, '/v1/passes', { template_id, ...changes })

/** @param count a multiple of 100, or fewer. */
async function makePasses(send: Send, template_id: string, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const passes = Array.from({ length: Math.min(100, count - ids.length) }, () => ({ template_id }))
    const { body } = await send('/v1/passes/batch', { body: { passes } })
    ids.push(...body.results.map(({ pass }: { pass: { id: string } }) => pass.id))
  }
  return ids
}

/** Waits until Google's object is like this. */
const untilAt = (kind: (typeof PASS_KINDS)[number], id: string, like: object) =>
  until(`${id} at Google`, () => {
    const found = stage.at(kind, id)
    return found !== undefined && matches(found, like) ? found : undefined
  })

const matches = (found: unknown, like: object) =>
  Object.entries(like).every(
    ([name, value]) => JSON.stringify((found as Record<string, unknown>)[name]) === JSON.stringify(value),
  )

test.each(PASS_KINDS)('%s: class and object are made, patched, and end with the pass', async (kind) => {
  const { send } = await stage.addTenant()
  stage.follow()
  const template = await makeTemplate(send, { kind })
  const pass = await makePass(send, template, { fields: { points: '7' }, holder: { name: 'Ada' } })
  await untilAt(kind, template, {})
  await untilAt(kind, pass, { textModulesData: [{ id: 'points', header: 'Points', body: '7' }] })
  await send(`/v1/passes/${pass}`, { method: 'PATCH', body: { fields: { points: '8' } } })
  await untilAt(kind, pass, {
    textModulesData: [{ id: 'points', header: 'Points', body: '8' }],
    state: 'ACTIVE',
  })
  await send(`/v1/passes/${pass}/revoke`, { method: 'POST' })
  await untilAt(kind, pass, { state: 'INACTIVE' })
  expect(stage.google.requests.filter(({ status }) => status >= 400)).toEqual([])
  expect(stage.google.requests.filter(({ path }) => path === '/token')).toHaveLength(1)
})

test('a change of a template reaches its class and the objects of all its passes', async () => {
  const { tenantId, send } = await stage.addTenant()
  const template = await makeTemplate(send)
  const passes = await makePasses(send, template, 120)
  stage.follow()
  await untilAt('loyalty', passes.at(-1)!, {})
  const fields = [{ key: 'points', label: 'Stars', value: '1' }]
  await send(`/v1/pass_templates/${template}`, { method: 'PATCH', body: { name: 'Stars', fields } })
  await untilAt('loyalty', template, { programName: 'Stars' })
  const textModulesData = [{ id: 'points', header: 'Stars', body: '1' }]
  for (const pass of passes) await untilAt('loyalty', pass, { textModulesData })
  await until('the end of the walk', async () => (await stage.cursor(tenantId))?.walks.length === 0)
})

test('locations reach the class of a tenant whose version has none, in whose events nothing changed', async () => {
  const { tenantId, send } = await stage.addTenant('2025-06-01')
  const template = await makeTemplate(send)
  const pass = await makePass(send, template)
  stage.follow()
  await untilAt('loyalty', pass, {})
  const put = (latitude: number) =>
    send(`/v1/pass_templates/${template}`, {
      method: 'PATCH',
      body: { relevant_locations: [{ latitude, longitude: 2 }] },
    })
  for (const latitude of [1, 2, 3]) expect((await put(latitude)).status).toBe(200)
  await untilAt('loyalty', template, { merchantLocations: [{ latitude: 3, longitude: 2 }] })
  expect((await send('/v1/events?type=pass_template.updated')).body.data).toEqual([])
  await until('the end of the walk', async () => (await stage.cursor(tenantId))?.walks.length === 0)
})

test('change messages reach Google once for a change: three notify in a day, the fourth is only a text', async () => {
  const { send } = await stage.addTenant()
  stage.follow()
  const fields = [{ ...TEMPLATE.fields[0], change_message: 'You have %@ points now.' }]
  const template = await makeTemplate(send, { fields })
  const pass = await makePass(send, template)
  await untilAt('loyalty', pass, {})
  const change = async (points: string) => {
    await send(`/v1/passes/${pass}`, { method: 'PATCH', body: { fields: { points } } })
    await untilAt('loyalty', pass, { textModulesData: [{ id: 'points', header: 'Points', body: points }] })
  }
  await change('1')
  // Google adds the message, but refuses the new value once, so the update is tried again.
  let isAway = true
  stage.google.fault = (method) => {
    if (!isAway || method !== 'PATCH') return undefined
    isAway = false
    return { status: 503 }
  }
  await change('2')
  await change('3')
  await change('4')
  expect(isAway).toBe(false)
  const { messages } = stage.at('loyalty', pass) as { readonly messages: readonly object[] }
  expect(messages).toEqual(
    ['1', '2', '3', '4'].map((points) => ({
      id: expect.stringMatching(/^change-\d+$/),
      header: 'Coffee loyalty',
      body: `You have ${points} points now.`,
      messageType: points === '4' ? 'TEXT' : 'TEXT_AND_NOTIFY',
    })),
  )
})

test('messages to the holder reach the object once and in order, also of a pass that Google does not have yet', async () => {
  const { tenantId, send } = await stage.addTenant('2025-06-01') // a version without events of messages
  const template = await makeTemplate(send)
  const pass = await makePass(send, template)
  await send('/v1/test/passes/simulate_install', { body: { pass_id: pass, platform: 'google' } })
  const say = (header: string, more: object = {}) =>
    make(send, `/v1/passes/${pass}/messages`, { header, body: 'Doors open at 18:30.', ...more })
  const worker = passMessageWorker({ ...stage.service, log: strictLog, wakeUpChannel: { publish: () => {} } })
  const sent = () => (stage.at('loyalty', pass)?.messages ?? []) as unknown[]
  const first = await say('One', { translations: { de: { header: 'Eins' } } })
  await worker.runOnce()
  stage.follow()
  await until('the first message', () => sent().length === 1)
  const pool = stage.service.database.sandbox
  const due = { text: 'SELECT FROM pass_messages WHERE is_due_at_google' }
  await until('the record of it', async () => (await pool.query(due, [])).count === 0)
  // As if the process had stopped after Google got the message, and before it recorded that.
  await pool.query({ text: 'UPDATE pass_messages SET is_due_at_google = true' }, [])
  const ends_at = new Date(stage.service.clock.now + 3_600_000).toISOString()
  const second = await say('Two', { ends_at })
  await worker.runOnce()
  await until('the second message', () => sent().length === 2)
  await until('the end of the walk', async () => (await stage.cursor(tenantId))?.walks.length === 0)
  expect(sent()).toEqual([
    {
      id: first,
      header: 'One',
      body: 'Doors open at 18:30.',
      localizedHeader: {
        defaultValue: { language: 'en', value: 'One' },
        translatedValues: [{ language: 'de', value: 'Eins' }],
      },
      localizedBody: { defaultValue: { language: 'en', value: 'Doors open at 18:30.' } },
      messageType: 'TEXT_AND_NOTIFY',
    },
    {
      id: second,
      header: 'Two',
      body: 'Doors open at 18:30.',
      messageType: 'TEXT_AND_NOTIFY',
      displayInterval: { end: { date: ends_at } },
    },
  ])
})

test('changes while Google was away are made up for, in the end', async () => {
  const { tenantId, send } = await stage.addTenant()
  stage.google.fault = () => ({ status: 503 })
  stage.follow()
  const template = await makeTemplate(send)
  const passes = await makePasses(send, template, 10)
  await until('a failure', async () => ((await stage.cursor(tenantId))?.failures ?? 0) > 0)
  expect(stage.at('loyalty', template)).toBeUndefined()
  stage.google.fault = () => undefined
  for (const pass of passes) await untilAt('loyalty', pass, { state: 'ACTIVE' })
})

test('an object that Google has lost, and its class, are made again', async () => {
  const { send } = await stage.addTenant()
  stage.follow()
  const template = await makeTemplate(send)
  const pass = await makePass(send, template)
  await untilAt('loyalty', pass, {})
  stage.google.forget()
  await send(`/v1/passes/${pass}`, { method: 'PATCH', body: { fields: { points: '3' } } })
  await untilAt('loyalty', pass, { state: 'ACTIVE' })
  expect(stage.at('loyalty', template)).toBeDefined()
})

test('a token that is worth nothing any more is replaced, once', async () => {
  const { send } = await stage.addTenant()
  stage.follow()
  const template = await makeTemplate(send)
  await untilAt('loyalty', template, {})
  stage.google.revokeTokens()
  const pass = await makePass(send, template)
  await untilAt('loyalty', pass, {})
  const statuses = stage.google.requests.map(({ path, status }) => `${path.split('/').at(-1)} ${status}`)
  expect(statuses.filter((each) => each.startsWith('token'))).toEqual(['token 200', 'token 200'])
  expect(statuses.filter((each) => each.endsWith('401'))).toHaveLength(1)
})

test('a resource that Google refuses is recorded once, stops no other, and is forgotten when it is taken', async () => {
  const { tenantId, send } = await stage.addTenant()
  stage.google.fault = (method, path) =>
    method === 'POST' && path.endsWith('loyaltyObject') ? { status: 400 } : undefined
  stage.follow()
  const template = await makeTemplate(send)
  const pass = await makePass(send, template)
  const refusals = async () => {
    const text = 'SELECT target_id, status, message FROM google_refusals WHERE tenant_id = $1'
    return (await stage.service.database.sandbox.query({ text }, [tenantId])).rows
  }
  const [refusal] = await until('a refusal', async () => {
    const rows = await refusals()
    return rows.length > 0 && rows
  })
  expect(refusal).toMatchObject({ target_id: pass, status: 400 })
  const coupons = await makeTemplate(send, { kind: 'coupon' })
  await untilAt('coupon', coupons, {})
  const asked = () => stage.google.requests.filter(({ path }) => path.endsWith('loyaltyObject')).length
  expect(asked()).toBe(1)
  stage.google.fault = () => undefined
  await send(`/v1/passes/${pass}`, { method: 'PATCH', body: { fields: { points: '3' } } })
  await untilAt('loyalty', pass, {})
  await until('no refusal', async () => (await refusals()).length === 0)
})

test('two nodes share the work and send nothing twice', async () => {
  const tenants = await Promise.all(Array.from({ length: 6 }, () => stage.addTenant()))
  stage.follow()
  stage.follow()
  const passes = await Promise.all(
    tenants.flatMap(({ send }) =>
      Array.from({ length: 3 }, async () => makePass(send, await makeTemplate(send))),
    ),
  )
  for (const pass of passes) await untilAt('loyalty', pass, {})
  for (const { tenantId } of tenants) {
    await until('the end of the visits', async () => (await stage.cursor(tenantId))?.token === null)
  }
  const inserted = stage.google.requests.filter(({ method, path }) => method === 'POST' && path !== '/token')
  expect(inserted).toHaveLength(2 * passes.length)
})

test('a tenant with much to send does not hold up another', async () => {
  const [busy, quiet] = [await stage.addTenant(), await stage.addTenant()]
  const template = await makeTemplate(busy.send)
  await makePasses(busy.send, template, 400)
  const pass = await makePass(quiet.send, await makeTemplate(quiet.send))
  stage.follow()
  await untilAt('loyalty', pass, {})
  const objects = stage.google.requests.filter(({ path }) => path.endsWith('loyaltyObject'))
  expect(objects.length).toBeLessThan(210)
})
