/** Classes and objects fit the table of what Google publishes, and the stand-in takes exactly that. */
import { describe, expect, test } from 'vitest'
import {
  CLASS_SHAPES,
  MESSAGE_REQUEST,
  OBJECT_SHAPES,
} from '../../../runtime/passes/wallets/fakes/google-fields.ts'
import { classOf } from '../../../runtime/passes/wallets/render/google/class.ts'
import { requireFit } from '../../../runtime/passes/wallets/render/google/fit.ts'
import { GOOGLE_KINDS } from '../../../runtime/passes/wallets/render/google/kinds.ts'
import { changeMessage } from '../../../runtime/passes/wallets/render/google/messages.ts'
import { objectOf } from '../../../runtime/passes/wallets/render/google/object.ts'
import { withoutEmpty } from '../../../runtime/passes/wallets/render/google/resource.ts'
import { PASS_KINDS, type PassState } from '../../../runtime/passes/wallets/render/pass-state.ts'
import type { KeyTable } from '../../../runtime/passes/wallets/render/tables/fit.ts'
import table from '../../../runtime/passes/wallets/render/tables/google-keys.json' with { type: 'json' }
import { ISSUER, makePass, makePlainPass, templateOf } from './google-states.ts'

const classFor = (pass: PassState, issuer = ISSUER) => withoutEmpty(classOf(templateOf(pass), issuer))
const objectFor = (pass: PassState) => withoutEmpty(objectOf(pass, ISSUER))

const TYPES: KeyTable = table.types
/** Members that Google requires of a type, such as `loyaltyClass`. */
const requiredOf = (type: string) =>
  Object.entries(TYPES[type[0]!.toUpperCase() + type.slice(1)]!).flatMap(([name, { required }]) =>
    required ? [name] : [],
  )

describe.each(PASS_KINDS)('%s', (kind) => {
  const { classes, objects } = GOOGLE_KINDS[kind]

  test.each([
    ['with everything', makePass(kind)],
    ['with nothing that is not needed', makePlainPass(kind)],
  ])('%s: members are published, none that is required is missing, and the stand-in agrees', (_, pass) => {
    requireFit(classes, classFor(pass))
    requireFit(objects, objectFor(pass))
    expect(CLASS_SHAPES[classes]!(classFor(pass), 'resource')).toBeUndefined()
    expect(OBJECT_SHAPES[objects]!(objectFor(pass), 'resource')).toBeUndefined()
  })

  test('the stand-in refuses each required member that is missing, unknown ones, and wrong types', () => {
    for (const [type, shape, resource] of [
      [classes, CLASS_SHAPES[classes]!, classFor(makePass(kind))],
      [objects, OBJECT_SHAPES[objects]!, objectFor(makePass(kind))],
    ] as const) {
      for (const name of requiredOf(type)) {
        const { [name]: _, ...without } = resource
        expect(shape(without, 'resource')).toBe(`Missing required field: resource.${name}`)
        expect(() => requireFit(type, without)).toThrow(`${name} is missing`)
      }
      expect(shape({ ...resource, colour: 'x' }, 'resource')).toContain('Unknown name "colour"')
      for (const [name, value] of Object.entries(resource)) {
        const wrong = typeof value === 'string' ? 7 : 'text'
        expect(shape({ ...resource, [name]: wrong }, 'resource')).toContain(`resource.${name}`)
        expect(() => requireFit(type, { ...resource, [name]: wrong })).toThrow(`${name} does not fit`)
      }
    }
  })
})

test.each([
  ['an unknown member', { colour: 'red' }, 'colour'],
  ['a value outside its list', { state: 'VOID' }, 'state'],
  [
    'more items than Google takes',
    { merchantLocations: Array(11).fill({ latitude: 0, longitude: 0 }) },
    'merchantLocations',
  ],
  ['a wrong type within a list', { textModulesData: [{ id: 'a', body: 7 }] }, 'textModulesData[0].body'],
])('%s does not fit, and the error has no value', (_, wrong, path) => {
  const fit = () => requireFit('loyaltyObject', { ...objectFor(makePass('loyalty')), ...wrong })
  expect(fit).toThrow(
    new Error(
      `The service did not send a loyaltyObject to Google Wallet: ${path} does not fit google-keys.json.`,
    ),
  )
})

test.each([
  ['issued', 'ACTIVE'],
  ['installed', 'ACTIVE'],
  ['active', 'ACTIVE'],
  ['redeemed', 'COMPLETED'],
  ['revoked', 'INACTIVE'],
  ['expired', 'EXPIRED'],
] as const)('a pass that is %s has an object that is %s', (status, state) => {
  expect(objectFor(makePass('loyalty', { status })).state).toBe(state)
})

test.each([
  ['qr', 'QR_CODE'],
  ['pdf417', 'PDF_417'],
  ['aztec', 'AZTEC'],
  ['code128', 'CODE_128'],
] as const)('a barcode %s is a %s', (format, type) => {
  const barcode = { format, message: 'code' }
  expect(objectFor(makePass('coupon', { barcode })).barcode).toEqual({ type, value: 'code' })
})

test('text is text, whatever it looks like, and an object says what the pass says', () => {
  expect(objectFor(makePass('generic'))).toMatchObject({
    id: `3388000000000000042.pass_${'1'.repeat(26)}`,
    classId: `3388000000000000042.tpl_${'2'.repeat(26)}`,
    cardTitle: { defaultValue: { language: 'en', value: 'Harbour Coffee' } },
    header: {
      defaultValue: { language: 'en', value: 'Coffee loyalty' },
      translatedValues: [{ language: 'de', value: 'Kaffeekarte' }],
    },
    hexBackgroundColor: '#1E3A5F',
    textModulesData: [
      {
        id: 'points',
        header: 'Points',
        body: '120',
        localizedHeader: {
          defaultValue: { language: 'en', value: 'Points' },
          translatedValues: [{ language: 'de', value: 'Punkte' }],
        },
      },
      { id: 'tier', header: 'Tier', body: '<b>Gold</b> https://example.com 🚀' },
    ],
    validTimeInterval: { end: { date: '2027-01-01T00:00:00.000Z' } },
    linksModuleData: { uris: [{ uri: 'https://passes.example/p/token' }] },
  })
})

test('twenty fields are ten texts, of which the last holds what is left', () => {
  const fields = Array.from({ length: 20 }, (_, at) => ({ key: `k${at}`, label: `L${at}`, value: `v${at}` }))
  const textModulesData = objectFor(makePass('loyalty', { fields })).textModulesData as object[]
  expect(textModulesData).toHaveLength(10)
  expect(textModulesData[8]).toEqual({ id: 'k8', header: 'L8', body: 'v8' })
  expect(textModulesData[9]).toEqual({
    id: 'k9',
    body: Array.from({ length: 11 }, (_, at) => `L${at + 9}: v${at + 9}`).join('\n'),
  })
})

test('a change message is in the language of the holder, with the new value', () => {
  const known = { textModulesData: [{ id: 'points', body: '100' }], messages: [] }
  const message = changeMessage(makePass('loyalty'), known)
  expect(message).toMatchObject({
    header: 'Coffee loyalty',
    body: 'You have 120 points now.',
    localizedBody: { translatedValues: [{ language: 'de', value: 'Sie haben jetzt 120 Punkte.' }] },
  })
  expect(MESSAGE_REQUEST({ message }, 'request')).toBeUndefined()
  const same = { textModulesData: [{ id: 'points', body: '120' }] }
  expect(changeMessage(makePass('loyalty'), same)).toBeUndefined()
  expect(changeMessage(makePass('loyalty'), { ...known, messages: [{ id: message!.id }] })).toBeUndefined()
})

test('a field that becomes empty is null, so that a PATCH removes its value', () => {
  expect(objectOf(makePlainPass('loyalty'), ISSUER)).toMatchObject({
    accountName: null,
    textModulesData: null,
    validTimeInterval: null,
  })
  expect(classOf(templateOf(makePlainPass('loyalty')), ISSUER)).toMatchObject({
    heroImage: null,
    merchantLocations: null,
    classTemplateInfo: null,
  })
})

test('places lose what Google has no member for', () => {
  expect(classFor(makePass('coupon')).merchantLocations).toEqual([
    { latitude: 37.7763, longitude: -122.4231 },
  ])
})

test('a picture has an address of its own: another one has another', () => {
  const uriOf = (logo: string | undefined) => {
    const brand = { background_color: '#000000', foreground_color: '#FFFFFF', ...(logo && { logo }) }
    const { programLogo } = classFor(makePass('loyalty', { brand }))
    return (programLogo as { sourceUri: { uri: string } }).sourceUri.uri
  }
  const place = `ten_${'0'.repeat(26)}/tpl_${'2'.repeat(26)}`
  expect(uriOf('AAAA')).toMatch(
    new RegExp(`^https://passes\\.example/google/v1/images/${place}/logo-[0-9a-f]{16}\\.png$`),
  )
  expect(new Set([uriOf('AAAA'), uriOf('AAAA'), uriOf('BBBB'), uriOf(undefined)]).size).toBe(3)
})

test('Smart Tap and notifications of updates are on while the template has them, but generic passes do not notify', () => {
  const on = {
    enableSmartTap: true,
    redemptionIssuers: ['3388000000000000043'],
    notifyPreference: 'NOTIFY_ON_UPDATE',
  }
  expect(classFor(makePass('coupon'))).toMatchObject(on)
  expect(objectFor(makePass('coupon'))).toMatchObject({
    smartTapRedemptionValue: '1111SCAN',
    notifyPreference: 'NOTIFY_ON_UPDATE',
  })
  expect(objectFor(makePass('generic'))).toMatchObject({ smartTapRedemptionValue: '1111SCAN' })
  const off = { enableSmartTap: null, redemptionIssuers: null, notifyPreference: null }
  expect(classOf(templateOf(makePlainPass('coupon')), ISSUER)).toMatchObject(off)
  expect(objectOf(makePlainPass('coupon'), ISSUER)).toMatchObject({
    smartTapRedemptionValue: null,
    notifyPreference: null,
  })
})

test('callbacks are asked for where Google can reach the service', () => {
  expect(classFor(makePass('coupon')).callbackOptions).toEqual({
    url: `https://passes.example/google/v1/callback/ten_${'0'.repeat(26)}`,
  })
  const local = { ...ISSUER, baseUrl: 'http://127.0.0.1:4010' }
  expect(classFor(makePass('coupon'), local)).not.toHaveProperty('callbackOptions')
})

test('a barcode that changes takes the place of the fixed one, of which nothing is left', () => {
  const rotation = { period: 30, digits: 6, fallback: 'no_code', prefix: 'PREFIX' } as const
  const secret = Buffer.from('12345678901234567890')
  const object = objectOf(makePass('gift_card', { rotation: { ...rotation, secret }, options: {} }), ISSUER)
  expect(object).toMatchObject({
    barcode: null,
    rotatingBarcode: {
      type: 'QR_CODE',
      valuePattern: 'PREFIX-{totp_value_0}',
      totpDetails: {
        algorithm: 'TOTP_SHA1',
        periodMillis: '30000',
        parameters: [{ key: '3132333435363738393031323334353637383930', valueLength: 6 }],
      },
    },
  })
  expect(JSON.stringify(object)).not.toContain('1111SCAN')
  requireFit('giftCardObject', withoutEmpty(object))
  expect(objectOf(makePass('gift_card'), ISSUER)).toMatchObject({ rotatingBarcode: null })
})
