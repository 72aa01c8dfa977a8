/** Who signs passes: settings that do not fit are named, with what to do. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkAppleWallet } from '../../../runtime/operator/doctor/apple.ts'
import {
  type CertificateDraft,
  writeCertificate,
} from '../../../runtime/passes/wallets/render/apple/certificate.ts'
import { openAppleSigner, readSigner } from '../../../runtime/passes/wallets/render/apple/signer.ts'
import { readSettings } from '../../../runtime/platform/settings.ts'
import type { ApplePassSettings } from '../../../runtime/platform/wallet-settings.ts'

const NOW = Date.parse('2026-06-01T12:00:00Z')
const DAY = 86_400_000
const PASSWORD = 'correct horse'

let directory: string
let good: ApplePassSettings
const at = (name: string) => join(directory, name)
const write = (name: string, content: string | Buffer) => {
  writeFileSync(at(name), content)
  return at(name)
}

const makeKeys = () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { publicKey, key: privateKey }
}
const life = { from: NOW - DAY, to: NOW + 90 * DAY }
const authority = { subject: { CN: 'Worldwide Developer Relations', O: 'Fruit' }, ...makeKeys() }
const stranger = { subject: authority.subject, ...makeKeys() }
const own = makeKeys()
const draft: CertificateDraft = {
  ...life,
  subject: { UID: 'pass.com.example', CN: 'Pass Type ID: pass.com.example', OU: 'ABCDE12345' },
  publicKey: own.publicKey,
  issuer: authority,
  isAuthority: false,
}
const certify = (change: Partial<CertificateDraft>) => writeCertificate({ ...draft, ...change })

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-signer-'))
  good = {
    certificate: write('pass.pem', certify({})),
    key: write('key.pem', own.key.export({ type: 'pkcs8', format: 'pem' }).toString()),
    wwdr: write('wwdr.pem', certify({ ...authority, isAuthority: true })),
  }
})
afterAll(() => rmSync(directory, { recursive: true }))

test('pass type and team are read from the certificate', () => {
  const signer = readSigner({ ...good, passType: 'pass.com.example', team: 'ABCDE12345' }, NOW)
  expect(signer.passType).toEqual({ passTypeIdentifier: 'pass.com.example', teamIdentifier: 'ABCDE12345' })
})

test('a key may have a password', () => {
  const pem = own.key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSWORD })
  const key = write('locked.pem', pem.toString())
  expect(readSigner({ ...good, key, keyPassword: PASSWORD }, NOW).key.equals(own.key)).toBe(true)
  for (const keyPassword of [undefined, 'wrong']) {
    const settings = { ...good, key, ...(keyPassword && { keyPassword }) }
    expect(() => readSigner(settings, NOW)).toThrow(/^APPLE_PASS_KEY: .*APPLE_PASS_KEY_PASSWORD/)
  }
})

describe('what does not fit', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  test.each<[string, () => Partial<ApplePassSettings>, RegExp]>([
    [
      'a certificate that is not there',
      () => ({ certificate: at('none') }),
      /^APPLE_PASS_CERTIFICATE: .* cannot be read/,
    ],
    [
      'one that is none',
      () => ({ certificate: good.key }),
      /^APPLE_PASS_CERTIFICATE: .* is not a PEM or DER certificate/,
    ],
    [
      'one that has ended',
      () => ({ certificate: write('a.pem', certify({ to: NOW - 1000 })) }),
      /^APPLE_PASS_CERTIFICATE: .* expired at 2026-06-01T11:59:59.000Z: get a new certificate from Apple/,
    ],
    [
      'one of tomorrow',
      () => ({ certificate: write('a.pem', certify({ from: NOW + DAY })) }),
      /^APPLE_PASS_CERTIFICATE: .* is not valid before 2026-06-02T12:00:00.000Z/,
    ],
    [
      'one of a person',
      () => ({ certificate: write('a.pem', certify({ subject: { CN: 'Somebody' } })) }),
      /^APPLE_PASS_CERTIFICATE: .* is not a pass type certificate/,
    ],
    [
      'another’s key',
      () => ({ key: write('a.pem', stranger.key.export({ type: 'pkcs8', format: 'pem' }).toString()) }),
      /^APPLE_PASS_KEY: .* does not belong to the certificate/,
    ],
    ['no key', () => ({ key: good.wwdr }), /^APPLE_PASS_KEY: .* is not a PEM private key/],
    [
      'a key of another kind',
      () => ({ key: write('a.pem', ec.export({ type: 'pkcs8', format: 'pem' }).toString()) }),
      /^APPLE_PASS_KEY: .* is a key of type ec/,
    ],
    ['an authority that is not there', () => ({ wwdr: at('none') }), /^APPLE_PASS_WWDR: .* cannot be read/],
    [
      'one that has ended',
      () => ({ wwdr: write('a.pem', certify({ ...authority, isAuthority: true, to: NOW - 1000 })) }),
      /^APPLE_PASS_WWDR: .* expired/,
    ],
    [
      'one of the same name that did not issue it',
      () => ({ wwdr: write('a.pem', certify({ ...stranger, issuer: stranger, isAuthority: true })) }),
      /^APPLE_PASS_WWDR: .* did not issue .*CN=Worldwide Developer Relations/,
    ],
    [
      'one that did not sign it, though it is called its issuer',
      () => {
        const der = Buffer.from(certify({}).replaceAll(/-----.*-----|\n/g, ''), 'base64')
        der[der.length - 1]! ^= 1
        return { certificate: write('a.pem', der) }
      },
      /^APPLE_PASS_WWDR: .* did not issue/,
    ],
    [
      'another pass type',
      () => ({ passType: 'pass.other' }),
      /^APPLE_PASS_TYPE: "pass.other".* is for "pass.com.example"/,
    ],
    ['another team', () => ({ team: 'ZZZZZ99999' }), /^APPLE_PASS_TEAM: "ZZZZZ99999".* is for "ABCDE12345"/],
  ])('the settings of the pass signer are refused by name: %s', (_name, change, words) => {
    const settings = { ...good, ...change() }
    expect(() => readSigner(settings, NOW)).toThrow(words)
    expect(checkAppleWallet({ applePass: settings, production: true }, NOW).verdict).toBe('fail')
  })

  test('settings that go together and are not', () => {
    const read = (env: Record<string, string>) => () => readSettings(env)
    expect(read({ APPLE_PASS_KEY: 'a', APPLE_PASS_WWDR: 'b' })).toThrow(/^APPLE_PASS_CERTIFICATE: is missing/)
    expect(read({ APPLE_PASS_TEAM: 'a' })).toThrow(/APPLE_PASS_WWDR: is missing/)
  })
})

test('doctor says how many days are left', () => {
  const found = (now: number) => checkAppleWallet({ applePass: good, production: true }, now)
  expect(found(NOW)).toMatchObject({ verdict: 'ok', words: expect.stringContaining('90 days left') })
  expect(found(NOW + 61 * DAY)).toMatchObject({
    verdict: 'warn',
    words: expect.stringContaining('29 days left'),
  })
  const wwdr = write('short.pem', certify({ ...authority, isAuthority: true, to: NOW + 10 * DAY }))
  expect(checkAppleWallet({ applePass: { ...good, wwdr }, production: true }, NOW)).toMatchObject({
    verdict: 'warn',
    words: expect.stringContaining('10 days left'),
  })
  expect(checkAppleWallet({ production: true }, NOW)).toMatchObject({
    verdict: 'warn',
    words: expect.stringContaining('no device accepts'),
  })
  expect(checkAppleWallet({ production: false }, NOW).verdict).toBe('ok')
})

test('a chain for development is made once, its key for its owner’s eyes only', () => {
  const dataDir = at('data')
  const signer = openAppleSigner({ dataDir }, NOW)
  const file = (name: string) => join(dataDir, 'wallet', name)
  const root = readFileSync(file('root.pem'), 'utf8')
  expect(openAppleSigner({ dataDir }, NOW + DAY).chain[0].fingerprint256).toBe(signer.chain[0].fingerprint256)
  for (const name of ['apple.pem', 'pass-key.pem']) expect(statSync(file(name)).mode & 0o777).toBe(0o600)
  expect(createPrivateKey(readFileSync(file('pass-key.pem'))).equals(signer.key)).toBe(true)
  // What is lost or broken beside it is written again.
  rmSync(file('root.pem'))
  chmodSync(file('wwdr.pem'), 0o600)
  writeFileSync(file('wwdr.pem'), 'x')
  openAppleSigner({ dataDir }, NOW)
  expect(readFileSync(file('root.pem'), 'utf8')).toBe(root)
})
