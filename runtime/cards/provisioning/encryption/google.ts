/** Encrypts a card for its network in the format of Google Pay push provisioning: a base64-encoded JWE (RFC 7516). */
import {
  constants,
  createCipheriv,
  createHash,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import type { CardForWallet } from './apple.ts'

/** The identifiers that the app supplied. */
export interface GoogleRequest {
  readonly client_device_id: string
  readonly client_wallet_account_id: string
}

/**
 * Returns the opaque payment card, encrypted to the network's key with RSA-OAEP-256 and A256GCM.
 * @param now seconds since the epoch.
 */
export function encryptForGoogle(
  card: CardForWallet,
  { client_device_id, client_wallet_account_id }: GoogleRequest,
  network: KeyObject,
  now: number,
): string {
  const claims = {
    account_number: card.number,
    cvc: card.cvc,
    expiration: { month: card.exp_month, year: card.exp_year },
    name: card.holderName,
    client_device_id,
    client_wallet_account_id,
    iat: now,
  }
  return Buffer.from(encryptJwe(JSON.stringify(claims), network)).toString('base64')
}

function encryptJwe(plaintext: string, recipient: KeyObject): string {
  const kid = createHash('sha256')
    .update(recipient.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  const header = Buffer.from(JSON.stringify({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid })).toString(
    'base64url',
  )
  const [key, iv] = [randomBytes(32), randomBytes(12)]
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const wrapped = publicEncrypt({ key: recipient, padding, oaepHash: 'sha256' }, key)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(header))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const parts = [wrapped, iv, body, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  return [header, ...parts].join('.')
}
