/** What Apple or Google would refuse later is refused by field when a template is made; text stays text. */

import { generateKeyPairSync } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkTemplate } from '../../../runtime/passes/templates/rules.ts'
import type { WalletWarning } from '../../../runtime/passes/templates/warnings.ts'
import { passOf } from '../../../runtime/passes/wallets/render/apple/pass-json.ts'
import { issuePass, speakFor, TEMPLATE } from '../../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../../support/service.ts'
import { unzip } from './apple-files.ts'
import { chunk, ODD_TEXTS, png, stateOf } from './states.ts'

const service = useService()
let send: Send
beforeAll(async () => {
  send = await speakFor(service, await makeTenant(service))
})

const SIDE = 29
const ROW = 1 + 3 * SIDE
const pixels = (filter = 0) => Buffer.alloc(ROW * SIDE).fill(filter, 0, 1)
const GOOD = png({ width: SIDE, height: SIDE }, pixels())
const make = (content: object) => send('/v1/pass_templates', { body: { ...TEMPLATE, ...content } })
const withImage = (name: string, image: Buffer) =>
  make({ brand: { ...TEMPLATE.brand, [name]: image.toString('base64') } })

test('a template says what one of the wallets cannot show, and older versions do not see it', async () => {
  const options = {
    grouping_identifier: 'harbour',
    relevant_dates: [{ starts_at: '2026-06-01T18:00:00.000Z' }],
    semantics: { eventName: 'Nights' },
    app_links: { web_url: 'https://harbour.example' },
  }
  const brand = { background_color: '#102030', foreground_color: '#ffffff', logo_text: 'Hi' }
  const { body } = await send('/v1/pass_templates', { body: { ...TEMPLATE, brand, ...options } })
  expect(body).toMatchObject(options)
  expect(body.warnings.map(({ wallet, field }: Record<string, string>) => `${wallet} ${field}`)).toEqual([
    'apple grouping_identifier',
    'apple semantics.eventName',
    'apple app_links.web_url',
    'google brand.logo_text',
    'google relevant_dates[0]',
    'google semantics',
  ])
  const path = `/v1/pass_templates/${body.id}`
  const older = await send(path, { headers: { 'Service-Version': '2026-02-01' } })
  expect(Object.keys(older.body)).not.toContain('warnings')
  const change = { grouping_identifier: null, semantics: { eventName: null }, app_links: null }
  const changed = await send(path, { method: 'PATCH', body: { ...change, brand: { logo_text: null } } })
  expect(changed.body.warnings).toEqual([
    {
      field: 'relevant_dates[0]',
      wallet: 'google',
      message: 'Google Wallet shows only the first date, and only on event tickets.',
    },
  ])
  const dates = [{ starts_at: '2026-06-01T18:00:00.000Z', ends_at: '2026-06-01T18:00:00.000Z' }]
  const refused = await send(path, { method: 'PATCH', body: { relevant_dates: dates } })
  expect(refused.body.error.details).toEqual([
    { field: 'relevant_dates[0].ends_at', issue: 'must be after starts_at' },
  ])
})

test('images by language are checked, merged by language, and not shown to older versions', async () => {
  const logo = GOOD.toString('base64')
  const { body } = await make({ images: { de: { logo }, ja: { logo } } })
  expect(body.images).toEqual({ de: { logo }, ja: { logo } })
  const path = `/v1/pass_templates/${body.id}`
  const older = await send(path, { headers: { 'Service-Version': '2026-02-01' } })
  expect(Object.keys(older.body)).not.toContain('images')
  const rename = { method: 'PATCH', headers: { 'Service-Version': '2026-02-01' }, body: { name: 'Tea' } }
  expect((await send(path, rename)).status).toBe(200)
  const changed = await send(path, { method: 'PATCH', body: { images: { de: null, fr: { strip: logo } } } })
  expect(changed.body.images).toEqual({ ja: { logo }, fr: { strip: logo } })
  const bad = Buffer.from('no image').toString('base64')
  const refused = await send(path, { method: 'PATCH', body: { images: { fr: { logo: bad } } } })
  expect(refused.body.error.details).toEqual([{ field: 'images.fr.logo', issue: 'is not a PNG image' }])
  expect((await send(path, { method: 'PATCH', body: { images: null } })).body.images).toBeUndefined()
})

test('nfc is refused without Apple’s entitlement, and needs a key that readers can use', async () => {
  const key = 'MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgAC/Bu9nyAtG1DQe7t7jszLb+dZ1GbXoR8G0rIXoak67NM='
  const nfc = { encryption_public_key: key }
  const { status, body } = await make({ nfc })
  expect([status, body.error.details[0].field]).toEqual([422, 'nfc'])
  expect(checkTemplate({ options: { nfc } })).toEqual([])
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const long = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const wrong = { encryption_public_key: long, message: 'é'.repeat(33) }
  expect(checkTemplate({ options: { nfc: wrong } }).map(({ field }) => field)).toEqual([
    'nfc.message',
    'nfc.encryption_public_key',
  ])
  const made = passOf(stateOf('loyalty', { options: { nfc } }), {
    passTypeIdentifier: 'pass.example',
    teamIdentifier: 'EXAMPLE',
  })
  expect(made).toMatchObject({ removed: [], pass: { nfc: { encryptionPublicKey: key } } })
})

test('Smart Tap needs a barcode in ASCII, and older versions do not see it; each wallet warns of what it lacks', async () => {
  const smart_tap = { redemption_issuers: ['3388000000022904000'] }
  const { body } = await make({ kind: 'generic', smart_tap, notify_on_update: true })
  expect(body).toMatchObject({ smart_tap, notify_on_update: true })
  expect(body.warnings.map(({ field, wallet }: WalletWarning) => `${wallet} ${field}`)).toEqual([
    'apple smart_tap',
    'apple notify_on_update',
    'google notify_on_update',
  ])
  const path = `/v1/pass_templates/${body.id}`
  const older = await send(path, { headers: { 'Service-Version': '2026-02-01' } })
  expect(Object.keys(older.body)).not.toContain('smart_tap')
  const barcode = { format: 'qr', message: 'żółw' }
  const refused = await send(path, { method: 'PATCH', body: { barcode } })
  expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'barcode.message'])
  const off = await send(path, {
    method: 'PATCH',
    body: { barcode, smart_tap: null, notify_on_update: null },
  })
  expect([off.status, off.body.smart_tap, off.body.warnings]).toEqual([200, undefined, undefined])
})

test('a template with one key for two fields is refused, in a change too', async () => {
  const field = { key: 'points', label: 'Points', value: '0' }
  const details = [{ field: 'fields[1].key', issue: 'is already the key of another field' }]
  const made = await make({ fields: [field, { ...field, label: 'More points' }] })
  expect([made.status, made.body.error.details]).toEqual([422, details])
  const { id } = (await make({})).body
  const body = { fields: [field, field] }
  const changed = await send(`/v1/pass_templates/${id}`, { method: 'PATCH', body })
  expect([changed.status, changed.body.error.details]).toEqual([422, details])
})

describe('images that are none', () => {
  const bomb = Buffer.alloc(60_000_000)
  const palette = chunk('PLTE', Buffer.alloc(6, 200))
  test.each([
    ['unpacks to more than it says', png({ width: SIDE, height: SIDE }, bomb)],
    ['unpacks to less than it says', png({ width: SIDE, height: SIDE }, pixels().subarray(1))],
    ['has a filter that there is not', png({ width: SIDE, height: SIDE }, pixels(5))],
    ['has a depth that its colours do not have', png({ width: SIDE, height: SIDE, depth: 4 }, pixels())],
    ['has a type of colour that there is not', png({ width: SIDE, height: SIDE, type: 5 }, pixels())],
    ['has no palette', png({ width: SIDE, height: SIDE, type: 3 }, Buffer.alloc(30 * SIDE))],
    [
      'has colours that its palette does not have',
      png({ width: SIDE, height: SIDE, type: 3 }, Buffer.alloc(30 * SIDE, 0).fill(9, 1, 5), [palette]),
    ],
    [
      'is packed by no zlib',
      Buffer.concat([GOOD.subarray(0, 33), chunk('IDAT', Buffer.from('xx')), GOOD.subarray(-12)]),
    ],
    ['is another kind of image', Buffer.from('GIF89a')],
  ])('POST /v1/pass_templates refuses an image that %s', async (_name, image) => {
    const { status, body } = await withImage('icon', image)
    expect([status, body.error.details]).toEqual([
      422,
      [{ field: 'brand.icon', issue: 'is not a PNG image' }],
    ])
  })

  test.each([
    ['icon', 87, 88, 'is not a square of 29 to 174 pixels'],
    ['logo', 481, 150, 'is larger than 480 × 150 pixels'],
    ['strip', 1125, 433, 'is larger than 1125 × 432 pixels'],
  ])(
    'POST /v1/pass_templates judges a picture of other sizes: %s, %i × %i',
    async (name, width, height, issue) => {
      const image = png({ width, height }, Buffer.alloc((1 + 3 * width) * height))
      const { status, body } = await withImage(name, image)
      expect([status, body.error.details]).toEqual([422, [{ field: `brand.${name}`, issue }]])
    },
  )

  test('an image that says it is huge is not unpacked', async () => {
    const { status, body } = await withImage('logo', png({ width: 2 ** 31 - 1, height: 2 ** 31 - 1 }, bomb))
    expect([status, body.error.details[0].issue]).toEqual([422, 'is larger than 480 × 150 pixels'])
  })

  test('POST /v1/pass_templates refuses ten megabytes of images', async () => {
    const { status } = await make({ brand: { ...TEMPLATE.brand, strip: 'A'.repeat(10_000_000) } })
    expect(status).toBe(413)
  })
})

test.each([
  ['interlaced', png({ width: SIDE, height: SIDE, interlace: 1 }, Buffer.alloc(interlaced(SIDE)))],
  [
    'of a palette',
    png({ width: SIDE, height: SIDE, type: 3 }, Buffer.alloc(30 * SIDE), [chunk('PLTE', Buffer.alloc(3))]),
  ],
  [
    'of sixteen bits',
    png({ width: SIDE, height: SIDE, depth: 16, type: 6 }, Buffer.alloc((1 + 8 * SIDE) * SIDE)),
  ],
  ['of one bit', png({ width: SIDE, height: SIDE, depth: 1, type: 0 }, Buffer.alloc(5 * SIDE))],
  [
    'with a text that unpacks to a lot',
    png({ width: SIDE, height: SIDE }, pixels(), [
      chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(30_000_000))])),
    ]),
  ],
])('an image %s is one, and passes have it', async (_name, image) => {
  const { status, body } = await withImage('icon', image)
  expect(status).toBe(201)
  const { download } = await issuePass(send, body.id)
  const file = Buffer.from(await (await fetch(download.apple_url)).arrayBuffer())
  expect(unzip(file).get('icon@2x.png')!.readUInt32BE(16)).toBe(58)
})

/** Bytes of an interlaced square of three channels, a pass at a time. */
function interlaced(side: number): number {
  const passes = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
  ]
  let bytes = 0
  for (const [x, y, dx, dy] of passes as [number, number, number, number][]) {
    for (let row = y; row < side; row += dy) bytes += 1 + 3 * Math.ceil((side - x) / dx)
  }
  return bytes
}

test.each([
  ['brand.background_color', { brand: { ...TEMPLATE.brand, background_color: 'rgb(1, 2, 3)' } }],
  ['brand.background_color', { brand: { ...TEMPLATE.brand, background_color: '#fff' } }],
  ['brand.foreground_color', { brand: { ...TEMPLATE.brand, foreground_color: 'red' } }],
  ['brand.label_color', { brand: { ...TEMPLATE.brand, label_color: '#12345G' } }],
  ['brand.thumbnail', { brand: { ...TEMPLATE.brand, thumbnail: 'x' } }],
  ['barcode.message', { barcode: { format: 'code128', message: 'żółw' } }],
  ['barcode.message', { barcode: { format: 'code128', message: 'a\tb' } }],
  ['barcode.message', { barcode: { format: 'code128', message: 'A'.repeat(81) } }],
  ['barcode.format', { barcode: { format: 'ean13' } }],
  ['relevant_locations', { relevant_locations: Array(11).fill({ latitude: 0, longitude: 0 }) }],
  ['relevant_locations[0].latitude', { relevant_locations: [{ latitude: 91, longitude: 0 }] }],
  ['fields[0].attributed_value', { fields: [{ key: 'a', label: '', value: '', attributed_value: '<a>' }] }],
])('POST /v1/pass_templates refuses a wrong %s: %j', async (field, content) => {
  const { status, body } = await make(content)
  expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  expect(body.error.details.map((detail: { field: string }) => detail.field)).toEqual([field])
})

test('a change is held to the same', async () => {
  const { body } = await make({ barcode: { format: 'qr', message: 'żółw' } })
  const path = `/v1/pass_templates/${body.id}`
  const refused = await send(path, { method: 'PATCH', body: { barcode: { format: 'code128' } } })
  expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'barcode.message'])
})

test('any text is shown as it is', async () => {
  const { body } = await make({ fields: ODD_TEXTS, name: '<i>‮name</i>' })
  const { download } = await issuePass(send, body.id)
  const file = Buffer.from(await (await fetch(download.apple_url)).arrayBuffer())
  const made = JSON.parse(unzip(file).get('pass.json')!.toString())
  expect(made.description).toBe('<i>‮name</i>')
  const shown = Object.values(made.storeCard as Record<string, { key: string; value: string }[]>).flat()
  expect(shown.length).toBe(ODD_TEXTS.length)
  for (const { key, label, value } of ODD_TEXTS) {
    const field = shown.find((each) => each.key === key)
    expect(field).toMatchObject({ label, value })
    expect(field).not.toHaveProperty('attributedValue')
  }
})
