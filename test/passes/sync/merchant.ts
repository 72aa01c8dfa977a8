/** A ticket as a merchant makes it and its holder gets it, in both wallets: languages, a message, a poster, and a code that changes. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { PKPass } from 'passkit-generator'
import { PNG } from 'pngjs'
import { expect } from 'vitest'
import type { GoogleStandIn } from '../../../runtime/passes/wallets/fakes/google-wallet.ts'
import { openAppleSigner } from '../../../runtime/passes/wallets/render/apple/signer.ts'
import table from '../../../runtime/passes/wallets/render/tables/apple-keys.json' with { type: 'json' }
import { fitMembers } from '../../../runtime/passes/wallets/render/tables/fit.ts'
import { issuePass, makeTemplate } from '../../api/fixtures.ts'
import { until } from '../../support/programs.ts'
import type { Send } from '../../support/service.ts'
import { type Files, readStrings, unzip, verifies } from '../render/apple-files.ts'
import { picture } from '../render/states.ts'

const semantics = {
  eventType: 'PKEventTypeLivePerformance',
  eventName: 'Night of the Organ',
  performerNames: 'Ada\nBen',
  venueName: 'Harbour Hall',
  venueRegionName: 'Harbour',
  venueRoom: 'Great Hall',
}

/** Reads a file as a phone does: the signature, the manifest, and the keys of Apple's tables. */
async function download(url: string, dataDir: string) {
  const files = unzip(Buffer.from(await (await fetch(url)).arrayBuffer()))
  const manifest = files.get('manifest.json')!
  expect(verifies(manifest, files.get('signature')!, join(dataDir, 'wallet', 'root.pem'))).toBe(true)
  for (const [name, sha1] of Object.entries(JSON.parse(manifest.toString())))
    expect([name, createHash('sha1').update(files.get(name)!).digest('hex')]).toEqual([name, sha1])
  const pass = JSON.parse(files.get('pass.json')!.toString())
  expect(fitMembers(table.types, 'Pass', pass, 'eventTicket')).toMatchObject({ removed: [], missing: [] })
  return { files, pass, read: readByPasskit(files, dataDir) }
}

function readByPasskit(files: Files, dataDir: string): PKPass {
  const signer = openAppleSigner({ dataDir }, Date.now())
  return new PKPass(Object.fromEntries(files), {
    wwdr: signer.chain[1].toString(),
    signerCert: signer.chain[0].toString(),
    signerKey: signer.key.export({ type: 'pkcs1', format: 'pem' }).toString(),
  })
}

/** The code that a phone with Google Wallet shows for an object. */
function codeOf({ valuePattern, totpDetails }: RotatingObject['rotatingBarcode']): string {
  const [{ key, valueLength }] = totpDetails.parameters
  const period = Number(totpDetails.periodMillis) / 1000
  const secret = Secret.fromHex(key)
  return valuePattern.replace('{totp_value_0}', TOTP.generate({ secret, digits: valueLength, period }))
}

interface RotatingObject {
  readonly rotatingBarcode: {
    readonly valuePattern: string
    readonly totpDetails: {
      readonly periodMillis: string
      readonly parameters: readonly [{ readonly key: string; readonly valueLength: number }]
    }
  }
}

export async function proveTicket(
  send: Send,
  google: GoogleStandIn,
  issuerId: string,
  dataDir: string,
): Promise<void> {
  const base64 = async (width: number, height: number) => (await picture(width, height)).toString('base64')
  const translations = { de: { name: 'Orgelnacht' }, ja: { name: 'オルガンの夜' } }
  const introduction = { header: 'News', body: 'None yet.', translations: { de: { header: 'Neues' } } }
  const templateId = await makeTemplate(send, {
    kind: 'event_ticket',
    name: 'Night of the Organ',
    brand: { background_color: '#102030', foreground_color: '#ffffff', logo: await base64(160, 50) },
    translations,
    semantics,
    nfc: {
      encryption_public_key:
        'MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgAC/Bu9nyAtG1DQe7t7jszLb+dZ1GbXoR8G0rIXoak67NM=',
    },
    apple_poster: { artwork: await base64(358, 448), secondary_logo: await base64(135, 12) },
    rotating_barcode: { period: 30, digits: 6, fallback: 'no_code' },
    message_introduction: introduction,
  })
  const { warnings } = (await send(`/v1/pass_templates/${templateId}`)).body
  expect(warnings.filter(({ wallet }: { wallet: string }) => wallet === 'apple')).toMatchObject([
    { field: 'rotating_barcode' },
  ])
  const issued = await issuePass(send, templateId)
  await send('/v1/test/passes/simulate_install', { body: { pass_id: issued.id, platform: 'apple' } })

  const { apple_url, page_url } = issued.download
  const first = await download(apple_url, dataDir)
  expect(first.read.preferredStyleSchemes).toEqual(['posterEventTicket', 'eventTicket'])
  expect(first.read.languages.toSorted()).toEqual(['de', 'en', 'ja'])
  const sizes = ['artwork@2x.png', 'primaryLogo@3x.png', 'secondaryLogo.png'].map((name) => {
    const { width, height } = PNG.sync.read(first.files.get(name)!)
    return `${name} ${width}×${height}`
  })
  expect(sizes).toEqual(['artwork@2x.png 716×896', 'primaryLogo@3x.png 288×90', 'secondaryLogo.png 135×12'])
  expect([first.pass.barcodes, first.pass.nfc.message]).toEqual([undefined, expect.any(String)])
  const [{ changeMessage: _none, ...introduced }] = first.pass.eventTicket.backFields
  expect(introduced).toMatchObject({ key: 'newest-message', value: introduction.body })

  // The holder gets a message, in the place of the introduction: a phone notifies of it.
  const body = 'Doors open at 18:30.'
  const text = { header: 'Doors', body, translations: { de: { body: 'Einlass ab 18:30 Uhr.' } } }
  await send(`/v1/passes/${issued.id}/messages`, { body: text })
  await until('the message to be sent', async () => {
    const { data } = (await send(`/v1/pass_messages?pass_id=${issued.id}`)).body
    return data[0].status === 'sent'
  })
  const second = await download(apple_url, dataDir)
  const { backFields } = second.read
  expect(backFields[0]).toMatchObject({ key: 'newest-message', value: body, changeMessage: '%@' })
  expect(readStrings(second.files.get('de.lproj/pass.strings')!)).toMatchObject({
    'Night of the Organ': 'Orgelnacht',
    [body]: 'Einlass ab 18:30 Uhr.',
  })

  // Google Wallet shows a code that changes, the page shows the same, and scanners take it once.
  const object = () =>
    google.resource(`eventTicketObject/${issuerId}.${issued.id}`) as unknown as RotatingObject | undefined
  await until('the object to be at Google', () => object()?.rotatingBarcode !== undefined)
  const scan = async (barcode_message: string) =>
    (await send('/v1/scans', { body: { barcode_message, mode: 'redeem' } })).body.result
  expect((await fetch(page_url)).headers.get('refresh')).toMatch(/^\d+$/)
  const code = codeOf(object()!.rotatingBarcode)
  expect([await scan(`${code.slice(0, -6)}000000`), await scan(code), await scan(code)]).toEqual([
    'outdated_code',
    'accepted',
    'already_redeemed',
  ])
  expect(await scan(second.pass.nfc.message)).toBe('already_redeemed')
}
