/** Files for Apple Wallet, looked at with what others have written: openssl, unzip, passkit-generator. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PKPass } from 'passkit-generator'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { warningsOf } from '../../../runtime/passes/templates/warnings.ts'
import { createPassBuilder, type PassBuilder } from '../../../runtime/passes/wallets/render/apple/build.ts'
import { passOf } from '../../../runtime/passes/wallets/render/apple/pass-json.ts'
import { type AppleSigner, openAppleSigner } from '../../../runtime/passes/wallets/render/apple/signer.ts'
import { arrangeFields } from '../../../runtime/passes/wallets/render/layout.ts'
import { PASS_KINDS, type PassState } from '../../../runtime/passes/wallets/render/pass-state.ts'
import { readStrings, unzip, verifies } from './apple-files.ts'
import { ODD_TEXTS, picture, stateOf } from './states.ts'

let dataDir: string
let signer: AppleSigner
let builder: PassBuilder
let root: string

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  signer = openAppleSigner({ dataDir }, Date.now())
  builder = createPassBuilder(signer)
  root = join(dataDir, 'wallet', 'root.pem')
})
afterAll(() => rmSync(dataDir, { recursive: true }))

const EVERYTHING: Partial<PassState> = {
  fields: ODD_TEXTS,
  locations: [
    { latitude: 37.7763, longitude: -122.4231, relevant_text: 'Near' },
    { latitude: -90, longitude: 180, altitude: -3.5 },
  ],
  expiresAt: Date.parse('2027-01-02T03:04:05.678Z'),
  status: 'revoked',
}

describe.each(PASS_KINDS)('a %s', (kind) => {
  test('a pass file is signed: openssl takes it as it is, and no byte of it changed', async () => {
    const files = unzip(await builder.build(stateOf(kind)))
    const [manifest, signature] = [files.get('manifest.json')!, files.get('signature')!]
    expect(verifies(manifest, signature, root)).toBe(true)
    const other = Buffer.from(manifest)
    other[manifest.length >> 1]! ^= 1
    expect(verifies(other, signature, root)).toBe(false)
  })

  test('a pass file has a manifest of every other file', async () => {
    const files = unzip(await builder.build(stateOf(kind, EVERYTHING)))
    const manifest = JSON.parse(files.get('manifest.json')!.toString())
    const others = [...files].filter(([name]) => name !== 'manifest.json' && name !== 'signature')
    const hashes = others.map(([name, content]) => [name, createHash('sha1').update(content).digest('hex')])
    expect(manifest).toEqual(Object.fromEntries(hashes))
    expect(hashes.length).toBe(4)
  })

  test.each([
    ['plain', {}],
    ['everything', EVERYTHING],
  ])('a pass file has the pass.json that passkit-generator makes of the same: %s', async (_name, change) => {
    const state = stateOf(kind, change)
    const files = unzip(await builder.build(state))
    const { barcode, ...own } = JSON.parse(files.get('pass.json')!.toString())
    expect(own).toEqual(await byPasskit(state))
    const format = state.barcode.format === 'code128' ? 'PKBarcodeFormatPDF417' : own.barcodes[0].format
    expect(barcode).toEqual({ ...own.barcodes[0], format })
  })
})

const certificates = () => ({
  wwdr: signer.chain[1].toString(),
  signerCert: signer.chain[0].toString(),
  signerKey: signer.key.export({ type: 'pkcs1', format: 'pem' }).toString(),
})

/** The same pass, made by somebody else's program; the older `barcode` is not made by it. */
async function byPasskit(state: PassState): Promise<object> {
  const { brand, barcode, kind } = state
  const pass = new PKPass({ 'icon.png': Buffer.from('x') }, certificates(), {
    ...signer.passType,
    serialNumber: state.place.passId,
    organizationName: state.organization,
    description: state.name,
    logoText: brand.logo_text ?? state.organization,
    backgroundColor: 'rgb(30, 58, 95)',
    foregroundColor: 'rgb(255, 255, 255)',
    labelColor: 'rgb(255, 255, 255)',
    webServiceURL: state.webServiceUrl,
    authenticationToken: state.appleToken,
    ...(state.status === 'revoked' && { voided: true }),
  })
  const types = {
    loyalty: 'storeCard',
    gift_card: 'storeCard',
    coupon: 'coupon',
    event_ticket: 'eventTicket',
    boarding_pass: 'boardingPass',
    generic: 'generic',
  } as const
  pass.type = types[kind]
  if (kind === 'boarding_pass') pass.transitType = 'PKTransitTypeGeneric'
  const layout = arrangeFields(kind, state.fields)
  for (const field of layout.header) pass.headerFields.push({ ...field })
  for (const field of layout.primary) pass.primaryFields.push({ ...field })
  for (const field of layout.secondary) pass.secondaryFields.push({ ...field })
  for (const field of layout.auxiliary) pass.auxiliaryFields.push({ ...field })
  for (const field of layout.back) pass.backFields.push({ ...field, dataDetectorTypes: [] })
  const formats = {
    qr: 'PKBarcodeFormatQR',
    pdf417: 'PKBarcodeFormatPDF417',
    aztec: 'PKBarcodeFormatAztec',
    code128: 'PKBarcodeFormatCode128',
  } as const
  pass.setBarcodes({
    format: formats[barcode.format],
    message: barcode.message,
    messageEncoding: 'iso-8859-1',
  })
  if (state.locations.length > 0) {
    const [first, second] = state.locations
    pass.setLocations(
      { latitude: first!.latitude, longitude: first!.longitude, relevantText: 'Near' },
      { latitude: second!.latitude, longitude: second!.longitude, altitude: -3.5 },
    )
  }
  if (state.expiresAt !== null) pass.setExpirationDate(new Date('2027-01-02T03:04:05Z'))
  const made = JSON.parse(unzip(pass.getAsBuffer()).get('pass.json')!.toString())
  // For tickets with NFC, which these are not.
  if (kind === 'event_ticket') made.eventTicket.additionalInfoFields = undefined
  if (made.expirationDate) made.expirationDate = made.expirationDate.replace('.000Z', 'Z')
  return made
}

test('a pass in three languages: each has the strings of its texts, and the pass is signed as a whole', async () => {
  const field = {
    key: 'gate',
    label: 'Gate "A"',
    value: 'one\ntwo\\',
    change_message: 'Gate changed to %@',
    translations: {
      de: { label: 'Flugsteig', change_message: 'Neuer Flugsteig: %@' },
      'pt-BR': { label: 'Portão', value: 'um\n"dois"' },
    },
  }
  const state = stateOf('event_ticket', {
    fields: [field],
    options: { translations: { de: { name: 'Eintritt', logo_text: 'nicht gezeigt' } } },
    locations: [{ latitude: 1, longitude: 2, relevant_text: 'Near', translations: { de: 'Nahe' } }],
  })
  const built = await builder.build(state)
  const files = unzip(built)
  const strings = (language: string) => readStrings(files.get(`${language}.lproj/pass.strings`)!)
  const texts = [field.label, field.value, field.change_message, 'A event_ticket', 'Near']
  expect(strings('en')).toEqual(Object.fromEntries(texts.map((text) => [text, text])))
  expect(strings('de')).toEqual({
    'A event_ticket': 'Eintritt',
    [field.label]: 'Flugsteig',
    [field.change_message]: 'Neuer Flugsteig: %@',
    Near: 'Nahe',
  })
  expect(strings('pt-BR')).toEqual({ [field.label]: 'Portão', [field.value]: 'um\n"dois"' })
  // The texts of pass.json are the keys, by which Wallet finds the translations.
  const { eventTicket, description, locations } = JSON.parse(files.get('pass.json')!.toString())
  const { label, value, changeMessage } = [...eventTicket.primaryFields, ...eventTicket.backFields][0]
  expect([label, value, changeMessage, description, locations[0].relevantText]).toEqual(texts)
  const read = new PKPass(Object.fromEntries(files), certificates())
  expect(read.languages.toSorted()).toEqual(['de', 'en', 'pt-BR'])
  const manifest = files.get('manifest.json')!
  expect(Object.keys(JSON.parse(manifest.toString())).toSorted()).toEqual(
    [...files.keys()].filter((name) => name !== 'manifest.json' && name !== 'signature').toSorted(),
  )
  expect(verifies(manifest, files.get('signature')!, root)).toBe(true)
})

test('a pass with images by language: each folder has the logo of its language or of the brand, and no other hides them', async () => {
  const [own, german] = [await picture(160, 50), await picture(80, 40)].map((png) => png.toString('base64'))
  const state = stateOf('boarding_pass', {
    fields: [],
    brand: { background_color: '#102030', foreground_color: '#ffffff', logo: own! },
    options: {
      translations: { ja: { name: '搭乗券' } },
      images: { de: { logo: german!, strip: german! } },
    },
  })
  const files = unzip(await builder.build(state))
  const sizeOf = (name: string) => {
    const { width, height } = PNG.sync.read(files.get(name)!)
    return [width, height]
  }
  const images = [...files.keys()].filter((name) => name.endsWith('.png'))
  const logos = (language: string) => ['', '@2x', '@3x'].map((scale) => `${language}.lproj/logo${scale}.png`)
  expect(images.filter((name) => !name.startsWith('icon')).toSorted()).toEqual(
    [...logos('de'), ...logos('en'), ...logos('ja')].toSorted(),
  )
  expect([sizeOf('en.lproj/logo@2x.png'), sizeOf('ja.lproj/logo@2x.png')]).toEqual([
    [320, 100],
    [320, 100],
  ])
  expect(sizeOf('de.lproj/logo@2x.png')).toEqual([160, 80])
  const read = unzip(new PKPass(Object.fromEntries(files), certificates()).getAsBuffer())
  expect(read.get('de.lproj/logo@3x.png')).toEqual(files.get('de.lproj/logo@3x.png'))
  expect(warningsOf(state).map(({ wallet, field }) => `${wallet} ${field}`)).toEqual([
    'apple images.de.strip',
    'google images.de.logo',
    'google images.de.strip',
  ])
})

test('a pass has what Apple reads for its kind, and nothing else, whatever the template has', async () => {
  const options: PassState['options'] = {
    relevant_dates: [
      { starts_at: '2026-06-01T18:00:00.123Z', ends_at: '2026-06-01T21:00:00Z' },
      { starts_at: '2026-06-02T18:00:00Z' },
    ],
    sharing_prohibited: true,
    grouping_identifier: 'harbour',
    associated_store_identifiers: [1234567890],
    app_links: { apple_url: 'harbour://card' },
    semantics: { eventName: 'Nights', duration: 'long', departureGate: 'B', unheard: '1' },
  }
  const made = async (kind: PassState['kind'], change = options) => {
    const files = unzip(await builder.build(stateOf(kind, { options: change })))
    return new PKPass(Object.fromEntries(files), certificates()).props as Record<string, unknown>
  }
  const ticket = {
    relevantDate: '2026-06-01T18:00:00Z',
    relevantDates: [
      { startDate: '2026-06-01T18:00:00Z', endDate: '2026-06-01T21:00:00Z' },
      { date: '2026-06-02T18:00:00Z', relevantDate: '2026-06-02T18:00:00Z' },
    ],
    sharingProhibited: true,
    groupingIdentifier: 'harbour',
    associatedStoreIdentifiers: [1234567890],
    appLaunchURL: 'harbour://card',
    semantics: { eventName: 'Nights' },
  }
  // passkit-generator writes dates in its own form.
  const { relevantDates, relevantDate, ...read } = ticket
  expect(await made('event_ticket')).toMatchObject(read)
  const sample = stateOf('event_ticket', { options })
  expect(passOf(sample, signer.passType)).toMatchObject({
    pass: { relevantDate, relevantDates },
    removed: ['semantics.duration', 'semantics.departureGate', 'semantics.unheard'],
  })
  const card = passOf(stateOf('loyalty', { options }), signer.passType)
  expect(card.removed).toEqual(['groupingIdentifier', 'semantics.eventName', ...ORDERED])
  const app_links = { apple_url: 'harbour://card' }
  expect(warningsOf(stateOf('loyalty', { fields: [], options: { app_links } }))).toEqual([
    {
      wallet: 'apple',
      field: 'app_links.apple_url',
      message: 'Apple Wallet opens an app only if the template has associated_store_identifiers.',
    },
  ])
  const semantics = { balance: '12.50 USD' }
  expect(passOf(stateOf('gift_card', { options: { semantics } }), signer.passType)).toMatchObject({
    removed: [],
    pass: { semantics: { balance: { amount: '12.50', currencyCode: 'USD' } } },
  })
  for (const kind of PASS_KINDS)
    expect(passOf(stateOf(kind, EVERYTHING), signer.passType).removed).toEqual([])
})

test('a poster stands beside the classic layout, as passkit-generator reads it, and says what it lacks', async () => {
  const [artwork, logo] = [await picture(400, 500), await picture(126, 30)].map((png) =>
    png.toString('base64'),
  )
  const brand = { background_color: '#102030', foreground_color: '#ffffff', logo: logo! }
  const poster = { apple_poster: { artwork: artwork!, secondary_logo: logo! } }
  const made = async (kind: PassState['kind']) => {
    const state = stateOf(kind, { brand, options: poster })
    const files = unzip(await builder.build(state))
    const { pass, removed } = passOf(state, signer.passType)
    const { types } = new PKPass(Object.fromEntries(files), certificates())
    const warned = warningsOf(state).filter(({ wallet }) => wallet === 'apple')
    return { files, pass, removed, types, warned: warned.map(({ field }) => field) }
  }
  const keysOf = (fields: unknown) => (fields as readonly { key: string }[]).map(({ key }) => key)
  const loyalty = await made('loyalty')
  const { posterGeneric, storeCard } = loyalty.pass as Record<string, Record<string, unknown>>
  expect(loyalty.removed).toEqual([])
  expect(keysOf(posterGeneric!.primaryFields)).toEqual(['field_0', 'field_1', 'field_2', 'field_3'])
  expect([posterGeneric!.headerFields, posterGeneric!.footerFields].map(keysOf)).toEqual([
    ['field_4'],
    ['field_5'],
  ])
  expect(keysOf(storeCard!.primaryFields)).toEqual(['field_0'])
  expect(loyalty.types.map(({ type }) => type)).toEqual(['storeCard', 'posterGeneric'])
  expect(loyalty.types[1]!.footerFields[0]).toMatchObject({ key: 'field_5', value: 'Value 5' })
  expect(loyalty.files.has('artwork@3x.png')).toBe(true)
  expect(loyalty.warned).toEqual(['apple_poster.secondary_logo'])
  const ticket = await made('event_ticket')
  expect(ticket.pass.preferredStyleSchemes).toEqual(['posterEventTicket', 'eventTicket'])
  expect(ticket.warned).toEqual([
    ...['eventName', 'venueName', 'venueRegionName', 'venueRoom'].map((name) => `semantics.${name}`),
    'nfc',
  ])
  const trip = await made('boarding_pass')
  expect([trip.files.has('artwork.png'), trip.warned]).toEqual([false, ['apple_poster']])
})

const ORDERED = ['semantics.duration', 'semantics.departureGate', 'semantics.unheard']

test('a signature is refused where any of its bytes that count is another', async () => {
  const files = unzip(await builder.build(stateOf('coupon')))
  const [manifest, signature] = [files.get('manifest.json')!, files.get('signature')!]
  const taken: number[] = []
  for (let at = 0; at < signature.length; at += 67) {
    const other = Buffer.from(signature)
    other[at]! ^= 0x40
    if (verifies(manifest, other, root)) taken.push(at)
  }
  // Of the authority's certificate, its own signature is looked at by whoever trusts the root only.
  expect(taken).toEqual([])
})

test('a message that Latin-1 cannot hold says so', async () => {
  const barcode = { format: 'aztec', message: 'żółw' } as const
  const files = unzip(await builder.build(stateOf('generic', { barcode })))
  const made = JSON.parse(files.get('pass.json')!.toString())
  expect(made.barcodes).toEqual([
    { format: 'PKBarcodeFormatAztec', message: 'żółw', messageEncoding: 'utf-8' },
  ])
})

test('images come in three sizes, an icon always, a strip where the style has one', async () => {
  const brand = {
    background_color: '#102030',
    foreground_color: '#ffffff',
    icon: (await picture(100, 100)).toString('base64'),
    logo: (await picture(480, 90, 128)).toString('base64'),
    strip: (await picture(700, 200)).toString('base64'),
  }
  const sizes = async (kind: PassState['kind']) => {
    const files = unzip(await builder.build(stateOf(kind, { brand })))
    const images = [...files].filter(([name]) => name.endsWith('.png'))
    return Object.fromEntries(
      images.map(([name, content]) => {
        const { width, height } = PNG.sync.read(content)
        return [name, `${width}×${height}`]
      }),
    )
  }
  const without = {
    'icon.png': '29×29',
    'icon@2x.png': '58×58',
    'icon@3x.png': '87×87',
    'logo.png': '160×30',
    'logo@2x.png': '320×60',
    'logo@3x.png': '480×90',
  }
  expect(await sizes('generic')).toEqual(without)
  expect(await sizes('loyalty')).toEqual({
    ...without,
    'strip.png': '375×107',
    'strip@2x.png': '750×214',
    'strip@3x.png': '1125×321',
  })
})

test('an image from before images were looked into is left out', async () => {
  const brand = {
    background_color: '#102030',
    foreground_color: '#ffffff',
    icon: 'bm90IGEgUE5H',
    strip: 'AAAA',
  }
  const files = unzip(await builder.build(stateOf('coupon', { brand })))
  expect([...files.keys()].filter((name) => name.endsWith('.png')).toSorted()).toEqual([
    'icon.png',
    'icon@2x.png',
    'icon@3x.png',
  ])
})

test('a pass file has the same bytes for the same state, in another process too; others for another', async () => {
  const brand = {
    background_color: '#102030',
    foreground_color: '#ffffff',
    strip: (await picture(300, 100)).toString('base64'),
  }
  const state = stateOf('event_ticket', { brand, ...EVERYTHING })
  const built = await builder.build(state)
  expect((await builder.build(structuredClone(state))).equals(built)).toBe(true)
  const program = `
    import { createPassBuilder } from './runtime/passes/wallets/render/apple/build.ts'
    import { openAppleSigner } from './runtime/passes/wallets/render/apple/signer.ts'
    const [dataDir, state] = process.argv.slice(1)
    const builder = createPassBuilder(openAppleSigner({ dataDir }, Date.now()))
    process.stdout.write(await builder.build(JSON.parse(state)))`
  const elsewhere = execFileSync(
    'node',
    ['--input-type=module', '-e', program, dataDir, JSON.stringify(state)],
    {
      maxBuffer: 2 ** 24,
    },
  )
  expect(elsewhere.equals(built)).toBe(true)
  expect((await builder.build({ ...state, name: 'Other' })).equals(built)).toBe(false)
})

test('the chain is that of Apple: a root, which is not sent, and two certificates below it', () => {
  const words = ['verify', '-CAfile', root, '-untrusted', join(dataDir, 'wallet', 'wwdr.pem')]
  execFileSync('openssl', [...words, '-x509_strict', join(dataDir, 'wallet', 'pass.pem')])
  expect(readFileSync(root, 'utf8')).toContain('BEGIN CERTIFICATE')
})
