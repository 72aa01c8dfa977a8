/** What wallets are shown of a pass, as it is read from the database. */
import { beforeAll, expect, test } from 'vitest'
import { readChanged, readPassState, type StateSources } from '../../../runtime/passes/passes/state.ts'
import { openPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { createTenantNames } from '../../../runtime/tenants/keys/tenant-names.ts'
import { issuePass, someoneWaits, speakFor } from '../../api/fixtures.ts'
import { makeTenant, type Send, START, useService } from '../../support/service.ts'

const service = useService({ keepsTime: true })
let tenantId: string
let send: Send
let sources: StateSources

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  sources = {
    baseUrl: service.urls.sandbox,
    passTokens: openPassTokens(service.database.pepper).sandbox,
    tenantNames: createTenantNames(service.database.control),
  }
})

const TEMPLATE = {
  name: 'Boarding',
  kind: 'boarding_pass',
  brand: { background_color: '#102030', foreground_color: '#ffffff', logo_text: 'Hi' },
  fields: [
    { key: 'gate', label: 'GATE', value: 'A1' },
    { key: 'seat', label: 'SEAT', value: '' },
  ],
  barcode: { format: 'pdf417' },
  relevant_locations: [{ latitude: 1.5, longitude: -2, relevant_text: 'Near' }],
}

async function make(own: object = {}, template: object = {}) {
  const { body } = await send('/v1/pass_templates', { body: { ...TEMPLATE, ...template } })
  const pass = await issuePass(send, body.id, own)
  const place = { space: tenantId, passId: pass.id }
  const read = (now = service.clock.now) => readPassState(service.database.sandbox, place, sources, now)
  return { templateId: body.id as string, pass, place, read }
}

test('all of it, with the pass’s own values over the template’s', async () => {
  const expiresAt = START + 3_600_000
  const { templateId, pass, place, read } = await make({
    fields: { seat: '12F' },
    holder: { name: 'Ada', email: 'ada@example.com' },
    expires_at: new Date(expiresAt).toISOString(),
  })
  expect(await read()).toEqual({
    messages: [],
    isOptedOut: false,
    place,
    templateId,
    kind: 'boarding_pass',
    organization: 'Harbour Coffee',
    name: 'Boarding',
    status: 'issued',
    brand: TEMPLATE.brand,
    fields: [
      { key: 'gate', label: 'GATE', value: 'A1' },
      { key: 'seat', label: 'SEAT', value: '12F' },
    ],
    barcode: { format: 'pdf417', message: sources.passTokens.scanCode(place) },
    locations: TEMPLATE.relevant_locations,
    options: {},
    holder: { name: 'Ada', email: 'ada@example.com' },
    expiresAt,
    changed: START,
    pageUrl: pass.download.page_url,
    appleToken: sources.passTokens.write('apple', place),
    webServiceUrl: `${service.urls.sandbox}/apple`,
  })
  expect(await read(expiresAt)).toMatchObject({ status: 'expired', changed: expiresAt })
  expect(await readChanged(service.database.sandbox, place, expiresAt)).toBe(expiresAt)
})

test('translations: a change merges them, older versions keep them, and a pass’s own value has none', async () => {
  const [gate, seat] = TEMPLATE.fields
  const german = { label: 'FLUGSTEIG', value: 'A eins' }
  const { templateId, pass, read } = await make(
    {},
    {
      language: 'en',
      translations: { de: { name: 'Bordkarte' }, fr: { name: 'Carte' } },
      fields: [{ ...gate, translations: { de: german } }, seat],
    },
  )
  const path = `/v1/pass_templates/${templateId}`
  const patch = (body: object, version?: string) =>
    send(path, { method: 'PATCH', body, headers: version ? { 'Service-Version': version } : {} })
  const older = await patch({ name: 'Boarding card', fields: [gate, seat] }, '2026-02-01')
  expect(Object.keys(older.body)).not.toContain('translations')
  expect(older.body.fields).toEqual([gate, seat])
  const { body } = await patch({ language: null, translations: { fr: null, 'pt-BR': { name: 'Cartão' } } })
  expect(body).toMatchObject({
    name: 'Boarding card',
    translations: { de: { name: 'Bordkarte' }, 'pt-BR': { name: 'Cartão' } },
    fields: [{ ...gate, translations: { de: german } }, seat],
  })
  expect(Object.keys(body)).not.toContain('language')
  expect(Object.keys(body.translations)).toEqual(['de', 'pt-BR'])
  expect((await read())?.fields).toEqual(body.fields)
  await send(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { fields: { gate: 'B2' } } })
  expect((await read())?.fields[0]).toEqual({
    ...gate,
    value: 'B2',
    translations: { de: { label: 'FLUGSTEIG' } },
  })
  expect((await patch({ translations: { German: { name: 'x' } } })).status).toBe(422)
  const message = { ...gate, change_message: '%@', translations: { de: { change_message: '%@ %@' } } }
  expect((await patch({ fields: [message] })).body.error.details).toEqual([
    { field: 'fields[0].translations.de.change_message', issue: 'must have %@ exactly once' },
  ])
})

test('nothing of a pass that is not there', async () => {
  const { place } = await make()
  const others = [
    { ...place, passId: `${place.passId.slice(0, -1)}${place.passId.endsWith('0') ? '1' : '0'}` },
    { ...place, space: await makeTenant(service) },
    { ...place, space: `${tenantId}.1` },
  ]
  for (const other of others) {
    expect(await readPassState(service.database.sandbox, other, sources, START)).toBeUndefined()
    expect(await readChanged(service.database.sandbox, other, START)).toBeUndefined()
  }
})

test('a message of the template stands for the pass’s own code', async () => {
  const { read } = await make({}, { barcode: { format: 'aztec', message: 'M1' } })
  expect((await read())?.barcode).toEqual({ format: 'aztec', message: 'M1' })
})

test('pages of passes whose token was random are named as all are', async () => {
  const { pass, place, read } = await make()
  await service.database.control.query(
    { text: 'UPDATE sandbox.passes SET page_token = $3 WHERE tenant_id = $1 AND id = $2' },
    [place.space, place.passId, 'k3Jd81nQ0vXzk3Jd81nQ0vXz'],
  )
  const shown = (await send(`/v1/passes/${pass.id}`)).body
  expect(shown.download).toEqual(pass.download)
  expect((await read())?.pageUrl).toBe(pass.download.page_url)
})

test('revoking and patching move Last-Modified; archiving a pass or its template does not', async () => {
  const { templateId, pass, read } = await make()
  const seen: number[] = []
  const look = async () => seen.push((await read())!.changed - START)
  await send(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { fields: { gate: 'B2' } } })
  await look()
  await send(`/v1/pass_templates/${templateId}`, { method: 'PATCH', body: { name: 'Other' } })
  await look()
  await send(`/v1/pass_templates/${templateId}/archive`, { method: 'POST' })
  await look()
  await send(`/v1/passes/${pass.id}/revoke`, { method: 'POST' })
  await look()
  await send(`/v1/passes/${pass.id}/archive`, { method: 'POST' })
  await look()
  expect(seen).toEqual([1000, 2000, 2000, 3000, 3000])
})

test('a change of a pass is not hidden by one of its template that is committed meanwhile', async () => {
  const { templateId, pass, read } = await make()
  const later = new Date(START + 10_000).toISOString()
  const { control } = service.database
  let patching: ReturnType<Send> | undefined
  await control.transaction(async (db) => {
    await db.query(
      {
        text: `UPDATE sandbox.pass_templates SET name = 'Later', changed = $3, revision = revision + 1
                WHERE tenant_id = $1 AND id = $2`,
      },
      [tenantId, templateId, later],
    )
    patching = send(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { fields: { gate: 'B2' } } })
    await someoneWaits(service)
  })
  expect((await patching)?.status).toBe(200)
  const state = (await read())!
  expect([state.name, state.fields[0]!.value]).toEqual(['Later', 'B2'])
  expect(state.changed).toBeGreaterThan(START + 10_000)
})
