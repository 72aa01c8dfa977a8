/** Templates made and edited on the dashboard without a script: all they have, their preview, and two members at one of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  contentOf,
  digest,
  draftOf,
  mergeDrafts,
  patchBody,
} from '../../runtime/dashboard/pages/templates/draft.ts'
import type { OptionTexts } from '../../runtime/dashboard/pages/templates/options.ts'
import { encodePng } from '../../runtime/passes/wallets/render/png.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import { Browser, hiddenFields, makeTenant, startDashboard, type TestDashboard } from './support/dashboard.ts'
import { callsOf } from './support/markup.ts'

let dashboard: TestDashboard
let send: Send
let ada: Browser
let ben: Browser

beforeAll(async () => {
  dashboard = await startDashboard()
  const tenantId = await makeTenant(dashboard.service)
  ada = new Browser(dashboard.origin, (await dashboard.signIn(tenantId, 'developer')).cookie)
  ben = new Browser(dashboard.origin, (await dashboard.signIn(tenantId, 'owner')).cookie)
  const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin' })
  send = speak(dashboard.service.urls.sandbox, { secret })
})

afterAll(() => dashboard?.stop())

const LIST = '/sandbox/pass-templates'
const NEW = `${LIST}/new`
const logo = new Uint8Array(await encodePng({ width: 4, height: 4, pixels: Buffer.alloc(64, 200) }))

const TYPED = {
  name: 'Harbour <Coffee>',
  kind: 'event_ticket',
  'brand.background_color': '#0b2239',
  'brand.foreground_color': '#ffffff',
  'brand.label_color': '#b8c7d9',
  'brand.logo_text': 'Harbour',
  'fields[0].key': 'seat',
  'fields[0].label': 'Seat <b>',
  'fields[0].value': '12A',
  'fields[1].key': 'gate',
  'fields[1].label': 'Gate',
  'fields[1].value': 'West',
  'barcode.format': 'aztec',
  'barcode.message': 'HARBOUR-1',
  'relevant_locations[0].latitude': '37.7763',
  'relevant_locations[0].longitude': '-122.4231',
  'relevant_locations[0].altitude': '16',
  'relevant_locations[0].relevant_text': 'Near',
  semantics: 'eventName = Harbour Nights\nperformerNames = Ada\\nBen',
  metadata: 'campaign = summer\nnote = a\\nb = c',
}

async function open(browser: Browser, path: string): Promise<Record<string, string>> {
  return hiddenFields((await browser.get(path)).text, path)
}

async function makeOne(): Promise<string> {
  const { location, text } = await ada.upload(
    NEW,
    { ...(await open(ada, NEW)), ...TYPED },
    { logo_file: logo },
  )
  expect(location, text).toMatch(/\/sandbox\/pass-templates\/tpl_/)
  return location!.split('/').at(-1)!
}

const read = async (id: string) => (await send(`/v1/pass_templates/${id}`)).body

test('all that a template has is typed, stored, and in the form that edits it', async () => {
  const id = await makeOne()
  expect(await read(id)).toMatchObject({
    name: TYPED.name,
    kind: 'event_ticket',
    brand: {
      label_color: '#b8c7d9',
      logo_text: 'Harbour',
      logo: Buffer.from(logo).toString('base64'),
      strip: null,
    },
    fields: [{ key: 'seat' }, { key: 'gate', label: 'Gate', value: 'West' }],
    barcode: { format: 'aztec', message: 'HARBOUR-1' },
    relevant_locations: [{ latitude: 37.7763, longitude: -122.4231, altitude: 16, relevant_text: 'Near' }],
    semantics: { eventName: 'Harbour Nights', performerNames: 'Ada\nBen' },
    metadata: { campaign: 'summer', note: 'a\nb = c' },
  })
  expect((await ada.get(`${LIST}/${id}`)).text).toContain('semantics: Google Wallet has no semantic tags.')
  const before = await read(id)
  const edit = `${LIST}/${id}/edit`
  const { text } = await ada.get(edit)
  expect(text).toMatch(/name="fields\[0\]\.value"[^>]*>\n12A</)
  for (const value of ['HARBOUR-1', '-122.4231', 'Near', 'Harbour'])
    expect(text).toContain(`value="${value}"`)
  expect(callsOf(text)).toContain(`await client.updatePassTemplate({
  path: {
    template_id: '${id}',
  },
  body: {},
})`)
  const { kind: _kind, ...kept } = TYPED
  const sent = { ...(await open(ada, edit)), ...kept }
  expect((await ada.upload(edit, sent)).location).toBe(`${LIST}/${id}`)
  expect(await read(id)).toEqual(before)
  expect(
    (
      await ada.upload(edit, {
        ...sent,
        'brand.label_color': '',
        logo_remove: 'yes',
        'fields[1].key': '',
        'fields[1].label': '',
        'fields[1].value': '',
        semantics: 'eventName = Winter Nights',
        metadata: 'campaign = winter',
      })
    ).status,
  ).toBe(303)
  expect(await read(id)).toMatchObject({
    brand: { label_color: null, logo: null, background_color: '#0b2239' },
    fields: [{ key: 'seat' }],
    semantics: { eventName: 'Winter Nights' },
    metadata: { campaign: 'winter' },
    relevant_locations: before.relevant_locations,
  })
})

test('nfc and Smart Tap are sent as a whole, and a refusal is shown at its key', async () => {
  const template = await read(await makeOne())
  const nfc = { encryption_public_key: 'a2V5', message: 'COFFEE', requires_authentication: true }
  const before = draftOf({ ...template, nfc })
  const contentWith = (options: OptionTexts) =>
    contentOf({ ...before, options: { ...before.options, ...options } })
  const began = contentOf(before)
  expect(began.nfc).toEqual(nfc)
  expect(patchBody(began, contentWith({ 'nfc.message': '' }))).toEqual({ nfc: { ...nfc, message: null } })
  const none = { 'nfc.encryption_public_key': '', 'nfc.message': '', 'nfc.requires_authentication': '' }
  expect(patchBody(began, contentWith(none))).toEqual({ nfc: null })
  const smart_tap = { redemption_issuers: ['3388000000022904000', '7'] }
  expect(contentOf(draftOf({ ...template, smart_tap })).smart_tap).toEqual(smart_tap)
  expect(patchBody(began, contentWith({ smart_tap: '7' }))).toEqual({
    smart_tap: { redemption_issuers: ['7'] },
  })
  const theirs = draftOf({ ...template, nfc, name: 'Theirs' })
  const mine = { ...before, options: { ...before.options, 'nfc.message': 'TEA' } }
  const merged = mergeDrafts(digest(began), mine, theirs)
  expect([merged.name, merged.options['nfc.message']]).toEqual(['Theirs', 'TEA'])

  const key = 'MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgAC/Bu9nyAtG1DQe7t7jszLb+dZ1GbXoR8G0rIXoak67NM='
  const sent = { ...(await open(ada, NEW)), ...TYPED, 'nfc.encryption_public_key': key }
  const wrong = await ada.upload(NEW, { ...sent, smart_tap: 'Harbour' })
  expect(wrong.text).toMatch(/name="smart_tap"[^>]*aria-invalid="true"/)
  const { status, text } = await ada.upload(NEW, sent)
  expect(status).toBe(422)
  expect(text).toMatch(/name="nfc\.encryption_public_key"[^>]*aria-invalid="true"/)
  expect(text).toContain('APPLE_PASS_NFC')
})

test('a button shows the pass as both wallets draw it, and nothing is stored', async () => {
  const count = (await send('/v1/pass_templates?limit=100')).body.data.length
  const { status, text } = await ada.upload(
    NEW,
    { ...(await open(ada, NEW)), ...TYPED, do: 'preview' },
    { logo_file: logo },
  )
  expect(status).toBe(200)
  expect(callsOf(text)).toContain('await client.createPassTemplate({')
  expect(callsOf(text)).toContain("logo: 'LOGO_AS_BASE64',")
  const [, apple, google] = text.split('<template shadowrootmode="open">')
  for (const drawing of [apple, google]) {
    expect(drawing).toContain('Seat &lt;b&gt;')
    expect(drawing).toContain('12A')
    expect(drawing).toContain('<svg')
    expect(drawing).toContain('background_color=%230b2239')
  }
  expect(apple).toContain('class="front pass event_ticket"')
  expect(google).toContain('Harbour &lt;Coffee&gt;')
  expect((await send('/v1/pass_templates?limit=100')).body.data).toHaveLength(count)
  const again = { ...hiddenFields(text, NEW), ...TYPED }
  expect(again['brand.logo' as keyof typeof again]).toBe(Buffer.from(logo).toString('base64'))
  const { location } = await ada.upload(NEW, again)
  expect((await read(location!.split('/').at(-1)!)).brand.logo).not.toBeNull()
})

test('text that is hard to read on its background is told beside the preview', async () => {
  const warnings = async (colors: object) => {
    const { text } = await ada.upload(NEW, { ...(await open(ada, NEW)), ...TYPED, ...colors, do: 'preview' })
    return text.split('id="preview"')[1]!.match(/class="notice warn"/g)?.length ?? 0
  }
  expect(await warnings({})).toBe(0)
  expect(await warnings({ 'brand.foreground_color': '#33475f' })).toBe(1)
  expect(await warnings({ 'brand.foreground_color': '#33475f', 'brand.label_color': '#0b2240' })).toBe(2)
})

test('a test pass of a template is issued from its page, and the page counts it', async () => {
  const id = await makeOne()
  const page = `${LIST}/${id}`
  const { location } = await ada.submit(page, `${page}/test-pass`)
  expect((await ada.get(location!)).text).toContain('<h1>Test pass</h1>')
  expect((await ada.get(page)).text).toMatch(/Issued<\/p><p class="value">1</)
})

test.each(['background_color', 'foreground_color', 'label_color'])(
  'colours of a preview are colours and nothing else: %s',
  async (name) => {
    const query = new URLSearchParams({ background_color: '#000000', [name]: '#000;}*{background:red' })
    const { text, headers } = await ada.get(`${LIST}/colors.css?${query}`)
    expect(headers.get('Content-Type')).toMatch(/^text\/css/)
    const color = '#[0-9a-f]{6}'
    expect(text).toMatch(
      new RegExp(`^:host\\{--brand:${color};--value:${color};--label:${color};--google-text:${color}\\}$`),
    )
  },
)

test.each([
  ['add-fields', ['seat', 'gate', '']],
  ['remove-fields-0', ['gate']],
  ['up-fields-1', ['gate', 'seat']],
  ['up-fields-7', ['seat', 'gate']],
  ['down-fields-0', ['gate', 'seat']],
  ['down-fields-1', ['seat', 'gate']],
])('the button %s changes the fields of a template form', async (button, keys) => {
  const { text } = await ada.upload(NEW, { ...(await open(ada, NEW)), ...TYPED, do: button })
  const shown = [...text.matchAll(/name="fields\[\d+\]\.key"[^>]*? value="([^"]*)"/g)].map(([, key]) => key)
  expect(shown).toEqual(keys)
})

test('a fault of a template is shown beside its field, and nothing is lost', async () => {
  const wrong = { ...TYPED, 'fields[1].key': 'Not A Key', 'relevant_locations[0].latitude': 'north' }
  const { status, text } = await ada.upload(NEW, { ...(await open(ada, NEW)), ...wrong }, { logo_file: logo })
  expect(status).toBe(422)
  for (const name of ['fields[1].key', 'relevant_locations[0].latitude'])
    expect(text).toContain(`id="${name}-fault"`)
  expect(text).toContain('value="north"')
  expect(hiddenFields(text, NEW)['brand.logo']).toBe(Buffer.from(logo).toString('base64'))
})

test('a picture that is none, or too large, is refused beside its field', async () => {
  const fields = { ...(await open(ada, NEW)), ...TYPED }
  const large = await ada.upload(NEW, fields, { strip_file: new Uint8Array(600 * 1024) })
  expect([large.status, large.text]).toEqual([
    422,
    expect.stringContaining('The picture is larger than 512 KB.'),
  ])
  const { status, text } = await ada.upload(NEW, fields, { icon_file: new Uint8Array(4) })
  expect(status).toBe(422)
  expect(text).toContain('id="icon_file-fault"')
})

test('a form that is too large, or no form, is refused', async () => {
  const fields = await open(ada, NEW)
  expect((await ada.upload(NEW, fields, { logo_file: new Uint8Array(6 * 1024 * 1024) })).status).toBe(413)
  const session = { Cookie: (await ada.get(NEW)).cookie, 'Content-Type': 'multipart/form-data; boundary=x' }
  expect(
    (await fetch(dashboard.origin + NEW, { method: 'POST', headers: session, body: 'none' })).status,
  ).toBe(400)
})

test('the second of two members is told what the first has changed, and neither loses anything', async () => {
  const id = await makeOne()
  const edit = `${LIST}/${id}/edit`
  const { kind: _kind, ...kept } = TYPED
  const [adas, bens] = [
    { ...(await open(ada, edit)), ...kept },
    { ...(await open(ben, edit)), ...kept },
  ]
  await ada.upload(edit, {
    ...adas,
    name: 'Ada’s name',
    'brand.background_color': '#111111',
    metadata: 'campaign = ada',
  })
  const told = await ben.upload(edit, {
    ...bens,
    'brand.background_color': '#222222',
    'fields[0].value': '14C',
  })
  expect(told.status).toBe(409)
  expect(told.text).toContain('developer@example.com changed this template')
  expect((await read(id)).fields[0].value).toBe('12A')
  const table = told.text
    .split('aria-label="Changes since you opened the template"')[1]!
    .split('</table>')[0]!
  expect(table.split('<tr')).toHaveLength(1 + 1 + 4)
  for (const each of ['Ada’s name', '#111111', '#222222', 'metadata.note']) expect(table).toContain(each)
  expect(table).not.toContain('14C')
  const again = {
    ...bens,
    ...hiddenFields(told.text, edit),
    name: /name="name"[^>]* value="([^"]*)"/.exec(told.text)![1]!,
    'brand.background_color': '#222222',
    'fields[0].value': '14C',
    metadata: /name="metadata"[^>]*>\n([^<]*)</.exec(told.text)![1]!,
  }
  expect((await ben.upload(edit, again)).status).toBe(303)
  expect(await read(id)).toMatchObject({
    name: 'Ada’s name',
    brand: { background_color: '#222222' },
    fields: [{ value: '14C' }, {}],
    metadata: { campaign: 'ada' },
  })
})

test('a rotating barcode, a poster, an introduction and images by language are typed, drawn and stored', async () => {
  const image = Buffer.from(logo).toString('base64')
  const typed = {
    ...TYPED,
    'barcode.format': 'qr',
    'barcode.message': '',
    'rotating_barcode.period': '30',
    'rotating_barcode.digits': '6',
    'rotating_barcode.fallback': 'no_code',
    'message_introduction.header': 'News',
    'message_introduction.body': 'Soon.',
    'message_introduction.translations': 'de.header = Neues',
    'images[0].language': 'de',
    'images[1].language': 'pt-BR',
  }
  const files = {
    apple_poster_artwork_file: logo,
    images_0_logo_file: logo,
    images_1_strip_file: logo,
    images_1_logo_file: logo,
  }
  const drawn = await ada.upload(NEW, { ...(await open(ada, NEW)), ...typed, do: 'preview' }, files)
  const [, apple, poster, google] = drawn.text.split('<template shadowrootmode="open">')
  expect([apple, poster, google].map((each) => each!.includes('role="img"'))).toEqual([false, false, true])
  expect(poster).toContain('Harbour Nights')
  for (const warning of [
    'rotating_barcode: Apple Wallet has',
    'semantics.venueRoom: Apple',
    'apple_poster: Google',
  ])
    expect(drawn.text).toContain(warning)
  // The files that were uploaded for the preview come back with the form.
  const { location, text } = await ada.upload(NEW, { ...hiddenFields(drawn.text, NEW), ...typed })
  expect(location, text).toMatch(/tpl_/)
  const id = location!.split('/').at(-1)!
  const stored = await read(id)
  expect(stored).toMatchObject({
    rotating_barcode: { period: 30, digits: 6, fallback: 'no_code' },
    apple_poster: { artwork: image },
    message_introduction: { header: 'News', body: 'Soon.', translations: { de: { header: 'Neues' } } },
    images: { de: { logo: image }, 'pt-BR': { logo: image, strip: image } },
  })
  const edit = `${LIST}/${id}/edit`
  const { kind: _kind, ...kept } = typed
  expect((await ada.upload(edit, { ...(await open(ada, edit)), ...kept })).location).toBe(`${LIST}/${id}`)
  expect({ ...(await read(id)), updated: stored.updated }).toEqual(stored)
  const changed = {
    ...kept,
    'rotating_barcode.period': '5',
    'images[0].language': 'fr',
    images_1_strip_remove: 'yes',
    apple_poster_artwork_remove: 'yes',
  }
  const refused = await ada.upload(edit, { ...(await open(ada, edit)), ...changed })
  expect([refused.status, /name="rotating_barcode\.period"[^>]*aria-invalid/.test(refused.text)]).toEqual([
    422,
    true,
  ])
  const cleared = {
    ...changed,
    'rotating_barcode.period': '',
    'rotating_barcode.digits': '',
    'rotating_barcode.fallback': '',
  }
  expect((await ada.upload(edit, { ...(await open(ada, edit)), ...cleared })).status).toBe(303)
  const { images, ...rest } = await read(id)
  expect(images).toEqual({ fr: { logo: image }, 'pt-BR': { logo: image } })
  expect([rest.rotating_barcode, rest.apple_poster]).toEqual([undefined, undefined])
})
