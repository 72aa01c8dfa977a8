/** Cards on their way to phones: payloads that only the device, or the card network, can open. */
import { execFileSync } from 'node:child_process'
import { createDecipheriv, createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { openPayTrust } from '../../runtime/cards/provisioning/encryption/trust.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { CARD_VERSIONS, make, makeCard, SHIPPING, speakAll } from './fixtures.ts'

const directory = mkdtempSync(join(tmpdir(), 'svc-pay-'))
const at = (name: string) => join(directory, name)
const openssl = (...words: readonly string[]) =>
  execFileSync('openssl', words, { stdio: ['ignore', 'pipe', 'pipe'], cwd: directory })

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

function makeRoot(name: string): void {
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
    '-days',
    '30',
    '-subj',
    `/CN=${name}`,
  )
}

/** Signs a key, new unless given, and gives the certificate as a device would: base64 of DER. */
function issue(
  name: string,
  issuer: string,
  ca: boolean,
  words: { days?: string; curve?: string } = {},
): string {
  const { days = '30', curve = 'prime256v1' } = words
  const key = ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`, '-nodes']
  openssl('req', '-new', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
  writeFileSync(at('ext'), `basicConstraints=critical,CA:${ca ? 'TRUE' : 'FALSE'}\n`)
  const signing = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial', '-days', days]
  openssl('x509', '-req', '-in', `${name}.csr`, ...signing, '-extfile', 'ext', '-out', `${name}.pem`)
  return new X509Certificate(readFileSync(at(`${name}.pem`))).raw.toString('base64')
}

let tenantId: string
let send: Send
let admin: Send
let leaf: string
let authority: string

const service = useService(async () => {
  makeRoot('root')
  authority = issue('authority', 'root', true)
  leaf = issue('leaf', 'authority', false)
  openssl('genrsa', '-out', 'network.key', '2048')
  openssl('rsa', '-in', 'network.key', '-pubout', '-out', 'network.pem')
  const env = { APPLE_PAY_ROOTS: at('root.pem'), GOOGLE_PAY_KEY: at('network.pem') }
  return { env, poolSize: 12 }
})
afterAll(() => rmSync(directory, { recursive: true }))
beforeEach(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  admin = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId, { scope: 'admin' })).secret,
  })
})

const INVALID = [409, 'conflict', 'invalid_state']
const GOOGLE = { wallet: 'google_pay', client_device_id: 'dev-1', client_wallet_account_id: 'wal-1' }
const apple = (content: object = {}) => ({
  wallet: 'apple_pay',
  certificates: [leaf, authority],
  nonce: '9c02a1f7',
  nonce_signature: '4082f8a1c0b2d4e6',
  ...content,
})
const payloadsOf = (cardId: string) => `/v1/cards/${cardId}/provisioning_payloads`

/** What the device reads, by openssl and its own private key. */
function openApple(payload: { encrypted_pass_data: string; ephemeral_public_key: string }) {
  const point = Buffer.from(payload.ephemeral_public_key, 'base64')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  writeFileSync(
    at('peer.pem'),
    createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }),
  )
  const secret = openssl('pkeyutl', '-derive', '-inkey', 'leaf.key', '-peerkey', 'peer.pem').toString('hex')
  const info = Buffer.concat([Buffer.from('\x0did-aes256-GCMApple'), point]).toString('hex')
  const options = ['digest:SHA256', `hexsecret:${secret}`, `hexinfo:${info}`].flatMap((option) => [
    '-kdfopt',
    option,
  ])
  const key = openssl('kdf', '-keylen', '32', '-binary', ...options, 'X963KDF')
  const sealed = Buffer.from(payload.encrypted_pass_data, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.alloc(16))
  decipher.setAuthTag(sealed.subarray(-16))
  return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]).toString())
}

/** What the card network reads. */
function openGoogle(opaque: string) {
  const jwe = Buffer.from(opaque, 'base64').toString()
  const [header, wrapped, iv, body, tag] = jwe.split('.').map((part) => Buffer.from(part, 'base64url'))
  writeFileSync(at('wrapped'), wrapped!)
  const padding = ['-pkeyopt', 'rsa_padding_mode:oaep', '-pkeyopt', 'rsa_oaep_md:sha256']
  const key = openssl('pkeyutl', '-decrypt', '-inkey', 'network.key', '-in', 'wrapped', ...padding)
  const decipher = createDecipheriv('aes-256-gcm', key, iv!)
  decipher.setAAD(Buffer.from(jwe.split('.')[0]!)).setAuthTag(tag!)
  const text = Buffer.concat([decipher.update(body!), decipher.final()]).toString()
  return { header: JSON.parse(header!.toString()), claims: JSON.parse(text) }
}

describe('a payload for Apple Pay', () => {
  test('a payload for Apple Pay is the card, encrypted to the leaf certificate', async () => {
    const card = await makeCard(send)
    const payload = await make(send, payloadsOf(card.id), apple())
    expect(payload).toMatchObject({ object: 'provisioning_payload', wallet: 'apple_pay', consumed_at: null })
    const { number } = (await admin(`/v1/cards/${card.id}/details`)).body
    expect(openApple(payload)).toEqual({
      primaryAccountNumber: number,
      expiration: '06/30',
      name: 'Ada Moreau',
      nonce: '9c02a1f7',
      nonceSignature: '4082f8a1c0b2d4e6',
    })
    const second = await make(send, payloadsOf(card.id), apple({ nonce: '9c02a1f8' }))
    expect(second.ephemeral_public_key).not.toBe(payload.ephemeral_public_key)
    expect(openApple(second).nonce).toBe('9c02a1f8')
  })

  test('a payload for Apple Pay is made once for a nonce, however that is written, and asked for at once', async () => {
    const card = await makeCard(send)
    const order = { body: apple({ nonce: 'ABCDEF01' }) }
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(payloadsOf(card.id), order)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422, 422])
    const again = await send(payloadsOf(card.id), { body: apple({ nonce: 'abcdef01' }) })
    expect(firstFault(again)).toEqual([
      422,
      'validation_failed',
      { field: 'nonce', issue: 'was already used for this card' },
    ])
    const other = await makeCard(send)
    expect((await send(payloadsOf(other.id), order)).status).toBe(201)
  })

  const CHAINS: Record<string, () => [string[], string]> = {
    'no certificates': () => [['AAAA', authority], 'certificates[0] is not an X.509 certificate'],
    'an authority that is none': () => [[leaf, 'AAAA'], 'certificates[1] is not an X.509 certificate'],
    'the wrong way round': () => [[authority, leaf], 'certificates[1] is not a certificate authority'],
    'of another authority': () => {
      makeRoot('stranger')
      const other = issue('other', 'stranger', true)
      return [[issue('lost', 'authority', false), other], 'certificates[0] was not signed by certificates[1]']
    },
    'of a root that nobody trusts': () => {
      makeRoot('stranger2')
      const other = issue('other2', 'stranger2', true)
      return [
        [issue('leaf2', 'other2', false), other],
        'certificates[1] was not signed by a trusted root certificate',
      ]
    },
    'of a root of the same name': () => {
      openssl(
        'req',
        '-x509',
        ...NEW_KEY,
        '-keyout',
        'fake.key',
        '-out',
        'fake.pem',
        '-days',
        '30',
        '-subj',
        '/CN=root',
      )
      const other = issue('other3', 'fake', true)
      return [
        [issue('leaf3', 'other3', false), other],
        'certificates[1] was not signed by a trusted root certificate',
      ]
    },
    'on another curve': () => [
      [issue('wide', 'authority', false, { curve: 'secp384r1' }), authority],
      'certificates[0] does not have a P-256 key',
    ],
    'over since yesterday': () => [
      [issue('old', 'authority', false, { days: '-1' }), authority],
      'certificates[0] is expired or not yet valid',
    ],
    'changed by a bit': () => {
      const bytes = Buffer.from(leaf, 'base64')
      bytes[bytes.length - 1]! ^= 1
      return [[bytes.toString('base64'), authority], 'certificates[0] was not signed by certificates[1]']
    },
  }

  test.each(Object.keys(CHAINS))('a payload for Apple Pay is refused for a chain: %s', async (about) => {
    const [certificates, message] = CHAINS[about]!()
    const card = await makeCard(send)
    const answer = await send(payloadsOf(card.id), { body: apple({ certificates }) })
    const [status, code, fault] = firstFault(answer) as [number, string, { field: string; issue: string }]
    expect([status, code, `${fault.field} ${fault.issue}`]).toEqual([422, 'validation_failed', message])
    // The nonce is not used up.
    expect((await send(payloadsOf(card.id), { body: apple() })).status).toBe(201)
  })
})

test('a payload for Google Pay is the card, encrypted to the network', async () => {
  const card = await makeCard(send)
  const payload = await make(send, payloadsOf(card.id), GOOGLE)
  expect(payload).toMatchObject({ wallet: 'google_pay', card_network: 'visa', last4: card.last4 })
  const { number, cvc } = (await admin(`/v1/cards/${card.id}/details`)).body
  const { header, claims } = openGoogle(payload.opaque_payment_card)
  expect(header).toMatchObject({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
  const { wallet: _, ...device } = GOOGLE
  const expiration = { month: 6, year: 2030 }
  expect(claims).toMatchObject({ account_number: number, cvc, expiration, name: 'Ada Moreau', ...device })
})

test.each(CARD_VERSIONS)(
  'payloads in %s are made, read and listed, afterwards without what was encrypted',
  async (version) => {
    const through = (await speakAll(service, tenantId))[version]
    const card = await makeCard(through)
    const google = await make(through, payloadsOf(card.id), GOOGLE)
    const { encrypted_pass_data, activation_data, ephemeral_public_key, ...forApple } = await make(
      through,
      payloadsOf(card.id),
      apple(),
    )
    const { opaque_payment_card, ...forGoogle } = google
    expect((await through(`${payloadsOf(card.id)}/${google.id}`)).body).toEqual(forGoogle)
    expect((await through(payloadsOf(card.id))).body.data).toEqual([forApple, forGoogle])
    const other = await makeCard(through)
    expect(refusal(await through(`${payloadsOf(other.id)}/${google.id}`))).toEqual([
      404,
      'not_found',
      'not_found',
    ])
    expect((await through(payloadsOf('card_00000000000000000000000000'))).status).toBe(404)
  },
)

test('an encrypted payload is kept in the stored response alone, which is sealed', async () => {
  const card = await makeCard(send)
  const call = { body: apple(), headers: { 'Idempotency-Key': crypto.randomUUID() } }
  const old = (await speakAll(service, tenantId))['2025-11-01']
  const first = await old(payloadsOf(card.id), call)
  const again = await old(payloadsOf(card.id), call)
  expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
  const tables = await service.database.control.query<{ name: string }>({
    text: `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('control', 'sandbox')`,
  })
  let everything = ''
  for (const { name } of tables.rows) {
    const { rows } = await service.database.control.query<{ row: string }>({
      text: `SELECT t::text AS row FROM ${name} t`,
    })
    everything += rows.map(({ row }) => row).join('\n')
  }
  expect(everything).toContain(first.body.id)
  for (const name of ['encrypted_pass_data', 'activation_data'])
    expect(everything).not.toContain(first.body[name])
})

test('a card that cannot be used is not added to a wallet', async () => {
  const act = (id: string, verb: string) => send(`/v1/cards/${id}/${verb}`, { method: 'POST' })
  const inactive = await makeCard(send, { type: 'physical', shipping: SHIPPING })
  const frozen = await makeCard(send)
  await act(frozen.id, 'freeze')
  const canceled = await makeCard(send)
  await act(canceled.id, 'cancel')
  for (const { id } of [inactive, frozen, canceled]) {
    expect(refusal(await send(payloadsOf(id), { body: GOOGLE }))).toEqual(INVALID)
  }
  const missing = await send(payloadsOf('card_00000000000000000000000000'), { body: GOOGLE })
  expect(refusal(missing)).toEqual([404, 'not_found', 'not_found'])
})

test('an installation for development trusts a root of its own and keeps it, one in production nobody unasked', () => {
  const settings = { dataDir: directory, pay: {}, production: false }
  const first = openPayTrust(settings, Date.now())
  const second = openPayTrust(settings, Date.now())
  expect(second.appleRoots[0]!.fingerprint256).toBe(first.appleRoots[0]!.fingerprint256)
  const keyOf = ({ googleKey }: typeof first) =>
    createHash('sha256')
      .update(googleKey!.export({ type: 'spki', format: 'der' }))
      .digest('hex')
  expect(keyOf(second)).toBe(keyOf(first))
  const inProduction = openPayTrust({ ...settings, production: true }, Date.now())
  expect(inProduction).toEqual({ appleRoots: [], googleKey: undefined })
  const file = join(directory, 'wallet', 'apple-pay-root.pem')
  expect(openssl('verify', '-CAfile', file, file).toString()).toContain('OK')
})
