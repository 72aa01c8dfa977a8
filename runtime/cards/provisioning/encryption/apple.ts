/**
 * Encrypts a card for one device in the format of Apple's in-app provisioning (PKAddPaymentPassRequest). The recipient is
 * the public key in the leaf certificate that the device supplied.
 */
import {
  createCipheriv,
  createHash,
  createHmac,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import type { Detail } from 'dateline/runtime'

/** The card data that a device's wallet receives. */
export interface CardForWallet {
  readonly number: string
  readonly cvc: string
  readonly exp_month: number
  readonly exp_year: number
  readonly holderName: string
}

/** The request that PassKit supplied: certificates as base64 DER, leaf first; the other fields in hexadecimal. */
export interface AppleRequest {
  readonly certificates: readonly string[]
  readonly nonce: string
  readonly nonce_signature: string
}

/** All fields are base64. */
export interface ApplePayload {
  readonly encrypted_pass_data: string
  readonly activation_data: string
  /** An uncompressed elliptic-curve point. */
  readonly ephemeral_public_key: string
}

const CURVE = 'prime256v1'

/**
 * Verifies that the certificate chain leads from the leaf to one of the roots.
 * @param now machine time.
 * @returns the leaf's public key, or the invalid certificate with the problem.
 */
export function checkChain(
  [leafText = '', authorityText = '']: readonly string[],
  roots: readonly X509Certificate[],
  now: number,
): KeyObject | Detail {
  const leaf = readCertificate(leafText)
  const authority = readCertificate(authorityText)
  const at = (index: number, issue: string): Detail => ({ field: `certificates[${index}]`, issue })
  if (!leaf) return at(0, 'is not an X.509 certificate')
  if (!authority) return at(1, 'is not an X.509 certificate')
  if (!isValid(leaf, now)) return at(0, 'is expired or not yet valid')
  if (!isValid(authority, now)) return at(1, 'is expired or not yet valid')
  if (!authority.ca) return at(1, 'is not a certificate authority')
  if (!isIssuedBy(leaf, authority)) return at(0, 'was not signed by certificates[1]')
  if (!roots.some((root) => isValid(root, now) && isIssuedBy(authority, root))) {
    return at(1, 'was not signed by a trusted root certificate')
  }
  const { publicKey } = leaf
  return publicKey.asymmetricKeyDetails?.namedCurve === CURVE ? publicKey : at(0, 'does not have a P-256 key')
}

function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(text, 'base64'))
  } catch {
    return undefined
  }
}

function isValid({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

const IV = Buffer.alloc(16)

/**
 * Encrypts a card: ECDH on P-256 with a new ephemeral key, key derivation by `deriveKey`, then AES-256-GCM.
 * @param network a secret used in place of the key that the issuer and the card network share.
 */
export function encryptForApple(
  card: CardForWallet,
  { nonce, nonce_signature }: AppleRequest,
  leaf: KeyObject,
  network: string,
): ApplePayload {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: CURVE })
  const point = pointOf(publicKey)
  const key = deriveKey(diffieHellman({ privateKey, publicKey: leaf }), point)
  const expiration = `${String(card.exp_month).padStart(2, '0')}/${String(card.exp_year % 100).padStart(2, '0')}`
  const pass = {
    primaryAccountNumber: card.number,
    expiration,
    name: card.holderName,
    nonce,
    nonceSignature: nonce_signature,
  }
  const cipher = createCipheriv('aes-256-gcm', key, IV)
  const body = Buffer.concat([cipher.update(JSON.stringify(pass)), cipher.final(), cipher.getAuthTag()])
  const activation = createHmac('sha256', network)
    .update(`${card.number} ${expiration} ${nonce}`)
    .digest('base64')
  return {
    encrypted_pass_data: body.toString('base64'),
    activation_data: activation,
    ephemeral_public_key: point.toString('base64'),
  }
}

/**
 * Derives 32 bytes with the KDF of ANSI X9.63 (5.6.3), in one round of SHA-256 with counter 1. The shared info is the
 * algorithm identifier, `Apple`, and the ephemeral public key.
 */
export function deriveKey(secret: Buffer, ephemeralPoint: Buffer): Buffer {
  const algorithm = Buffer.from('id-aes256-GCM')
  return createHash('sha256')
    .update(secret)
    .update(Buffer.of(0, 0, 0, 1))
    .update(Buffer.concat([Buffer.of(algorithm.length), algorithm, Buffer.from('Apple'), ephemeralPoint]))
    .digest()
}

/** Returns the uncompressed point (SEC 1, 2.3.3): the last 65 bytes of the key's DER encoding. */
function pointOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' }).subarray(-65)
}
