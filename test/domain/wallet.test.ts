import { createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createWallet, openGoogleSigner } from '../../runtime/wallet/google.ts'

const AT = Date.parse('2026-06-01T12:00:00.900Z')
const PASS = { id: `pass_${'z'.repeat(26)}`, templateId: `tpl_${'z'.repeat(26)}`, kind: 'coupon' }

test('a save link is a JWT that Google can verify, and stays short', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-wallet-'))
  try {
    const signer = openGoogleSigner({ dataDir })
    const link = await createWallet(signer, { machine: () => AT }).googleSaveUrl(PASS)
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

test('a service account that is none is refused by name', () => {
  const googleWallet = { issuerId: '1', serviceAccount: join(process.cwd(), 'package.json') }
  expect(() => openGoogleSigner({ dataDir: '.', googleWallet })).toThrow(/package\.json: no service account/)
})
