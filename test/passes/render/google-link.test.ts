import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { GOOGLE_KINDS } from '../../../runtime/passes/wallets/render/google/kinds.ts'
import { googleSaveUrl } from '../../../runtime/passes/wallets/render/google/link.ts'
import { createWallet, openGoogleSigner } from '../../../runtime/passes/wallets/render/google/signer.ts'
import { PASS_KINDS } from '../../../runtime/passes/wallets/render/pass-state.ts'

const AT = Date.parse('2026-06-01T12:00:00.900Z')
const ALONE = { isAlone: () => true }
const PASS = { id: `pass_${'z'.repeat(26)}`, templateId: `tpl_${'z'.repeat(26)}`, kind: 'coupon' }

test('a save link is a JWT that Google can verify, and stays short', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  try {
    const signer = openGoogleSigner({ dataDir })
    const kept = await createWallet(signer, { machine: () => AT }, ALONE).signGoogleLink('ten_1', PASS)
    expect(kept.length).toBeLessThan(420)
    const link = googleSaveUrl(PASS, kept)
    expect(link.length).toBeLessThanOrEqual(1800)
    const [head, claims, signature] = link.replace('https://pay.google.com/gp/v/save/', '').split('.')
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(read(head!)).toEqual({ alg: 'RS256', typ: 'JWT' })
    expect(read(claims!)).toEqual({
      iss: signer.email,
      aud: 'google',
      typ: 'savetowallet',
      iat: 1780315200,
      origins: [],
      payload: {
        offerObjects: [
          { id: `${signer.issuerId}.${PASS.id}`, classId: `${signer.issuerId}.${PASS.templateId}` },
        ],
      },
    })
    const publicKey = createPublicKey(signer.key)
    const signed = Buffer.from(`${head}.${claims}`)
    expect(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature!, 'base64url'))).toBe(true)

    // The key stays, for its owner's eyes only.
    expect(createPublicKey(openGoogleSigner({ dataDir }).key).equals(publicKey)).toBe(true)
    expect(statSync(join(dataDir, 'wallet', 'google.pem')).mode & 0o777).toBe(0o600)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

describe('with the longest settings that are taken', () => {
  // The longest address of a mailbox (RFC 5321, 4.5.3.1) and the largest key that leaves room for it.
  const issuerId = '9'.repeat(30)
  const email = `${'a'.repeat(64)}@${'b'.repeat(185)}.com`
  const { privateKey: key, publicKey } = generateKeyPairSync('rsa', { modulusLength: 4096 })
  const wallet = createWallet({ issuerId, email, key }, { machine: () => AT }, ALONE)

  test.each(PASS_KINDS)(
    'a link of kind %s has 1,800 characters at most, and jose verifies it',
    async (kind) => {
      const pass = { ...PASS, kind }
      const link = googleSaveUrl(pass, await wallet.signGoogleLink('ten_1', pass))
      expect(link.length).toBeLessThanOrEqual(1800)
      const jwt = link.slice('https://pay.google.com/gp/v/save/'.length)
      const { payload } = await jwtVerify(jwt, publicKey, {
        algorithms: ['RS256'],
        audience: 'google',
        issuer: email,
      })
      const objects = [{ id: `${issuerId}.${pass.id}`, classId: `${issuerId}.${pass.templateId}` }]
      expect(payload.payload).toEqual({ [`${GOOGLE_KINDS[kind].objects}s`]: objects })
      const tampered = `${jwt.slice(0, -8)}AAAAAAAA`
      await expect(jwtVerify(tampered, publicKey, { audience: 'google' })).rejects.toThrow('signature')
    },
  )
})

test.each([
  [
    'that makes links too long',
    'a'.repeat(900),
    makePem(),
    /links would have up to \d+ characters, but the maximum is 1800/,
  ],
  ['whose key is none', 'wallet', 'none', /private_key cannot be read/],
])('a service account %s is refused', (_, name, private_key, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  const serviceAccount = join(folder, 'account.json')
  writeFileSync(serviceAccount, JSON.stringify({ client_email: `${name}@shop.example`, private_key }))
  try {
    const open = () => openGoogleSigner({ dataDir: '.', googleWallet: { issuerId: '1', serviceAccount } })
    expect(open).toThrow(message)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function makePem(): string | Buffer {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' })
}

test('a link that stands comes out the same for ever, whoever signs today', () => {
  const kept = '3388000000000000042 wallet@shop.example 1780315200 c2ln'
  expect(googleSaveUrl({ id: 'pass_1', templateId: 'tpl_1', kind: 'gift_card' }, kept)).toBe(
    'https://pay.google.com/gp/v/save/eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJ3YWxsZXRAc2hvcC5leGFtcGxlIiwiYXVkIjoiZ29vZ2xlIiwidHlwIjoic2F2ZXRvd2FsbGV0IiwiaWF0IjoxNzgwMzE1MjAwLCJvcmlnaW5zIjpbXSwicGF5bG9hZCI6eyJnaWZ0Q2FyZE9iamVjdHMiOlt7ImlkIjoiMzM4ODAwMDAwMDAwMDAwMDA0Mi5wYXNzXzEiLCJjbGFzc0lkIjoiMzM4ODAwMDAwMDAwMDAwMDA0Mi50cGxfMSJ9XX19.c2ln',
  )
})

test.each([
  ['loyalty', 'loyaltyObjects'],
  ['gift_card', 'giftCardObjects'],
  ['coupon', 'offerObjects'],
  ['event_ticket', 'eventTicketObjects'],
  ['boarding_pass', 'transitObjects'],
  ['generic', 'genericObjects'],
])('a template of kind %s is named in %s', (kind, name) => {
  const [, claims = ''] = googleSaveUrl({ id: 'pass_1', templateId: 'tpl_1', kind }, '1 a@b 2 c')
    .split('.')
    .slice(-3)
  expect(Object.keys(JSON.parse(Buffer.from(claims, 'base64url').toString()).payload)).toEqual([name])
})

test('a service account that is none is refused by name', () => {
  const googleWallet = { issuerId: '1', serviceAccount: join(process.cwd(), 'package.json') }
  expect(() => openGoogleSigner({ dataDir: '.', googleWallet })).toThrow(
    /package\.json is not a service account file/,
  )
})

test('nor is one whose address would not come back out of what is kept of a link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  const serviceAccount = join(folder, 'account.json')
  writeFileSync(serviceAccount, JSON.stringify({ client_email: 'wallet @shop.example', private_key: '' }))
  try {
    const open = () => openGoogleSigner({ dataDir: '.', googleWallet: { issuerId: '1', serviceAccount } })
    expect(open).toThrow('client_email contains a space')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the signatures of a batch let another tenant’s through', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  try {
    const beside = { isAlone: () => false }
    const wallet = createWallet(openGoogleSigner({ dataDir }), { machine: () => AT }, beside)
    let signed = 0
    const batch = Array.from({ length: 100 }, () =>
      wallet.signGoogleLink('ten_1', PASS).then(() => (signed += 1)),
    )
    await wallet.signGoogleLink('ten_2', PASS)
    expect(signed).toBeLessThan(25)
    await Promise.all(batch)
    expect(signed).toBe(100)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

describe('signatures under way at once', () => {
  /** Signs nothing: what is begun stays under way. */
  const beginAll = (isAlone: boolean) => {
    const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const begun: (() => void)[] = []
    const hold = () => new Promise<Buffer>((resolve) => begun.push(() => resolve(Buffer.from('signed'))))
    const signer = { issuerId: '1', email: 'wallet@shop.example', key }
    const wallet = createWallet(signer, { machine: () => AT }, { isAlone: () => isAlone }, hold)
    const ask = (tenantId: string) => wallet.signGoogleLink(tenantId, PASS)
    return { begun, ask }
  }

  test.each([
    ['alone it has all threads', true, 4],
    ['beside others it has one', false, 1],
  ])('a batch of signatures shares the threads fairly: %s', async (_, isAlone, want) => {
    const { begun, ask } = beginAll(isAlone)
    const batch = Array.from({ length: 10 }, () => ask('ten_1'))
    await setImmediate()
    expect(begun).toHaveLength(want)
    const other = ask('ten_2')
    await setImmediate()
    expect(begun).toHaveLength(want + 1)
    begun[want]!()
    expect(await other).toMatch(/ 1780315200 /)
    // Each that ends begins another, until all are signed.
    for (let next = 0; next < begun.length; next++) {
      begun[next]!()
      await setImmediate()
    }
    expect(await Promise.all(batch)).toHaveLength(10)
  })
})
