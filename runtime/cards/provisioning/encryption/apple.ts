/**
 * A card encrypted for one device, as PassKit's in-app provisioning takes it (PKAddPaymentPassRequest): to the public key of
 * the leaf certificate that the device has supplied.
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

/** What a phone's wallet is given of a card. */
export interface CardForWallet {
  readonly number: string
  readonly cvc: string
  readonly exp_month: number
  readonly exp_year: number
  readonly holderName: string
}

/** What PassKit has supplied: certificates in base64 of DER, the leaf first; the rest in hexadecimal. */
export interface AppleRequest {
  readonly certificates: readonly string[]
  readonly nonce: string
  readonly nonce_signature: string
}

/** All in base64. */
export interface ApplePayload {
  readonly encrypted_pass_data: string
  readonly activation_data: string
  /** An uncompressed point. */
  readonly ephemeral_public_key: string
}

const CURVE = 'prime256v1'

/**
 * The leaf's public key, once the chain leads from it to one of the roots.
 *
 * @param now machine time. @returns what is wrong, by field, where it does not.
 */
export function checkChain(
  [leafText = '', authorityText = '']: readonly string[],
  roots: readonly X509Certificate[],
  now: number,
): KeyObject | Detail {
  const leaf = readCertificate(leafText)
  const authority = readCertificate(authorityText)
  const at = (index: number, issue: string): Detail => ({ field: `certificates[${index}]`, issue })
  if (!leaf) return at(0, 'is no certificate')
  if (!authority) return at(1, 'is no certificate')
  if (!isValid(leaf, now)) return at(0, 'is not valid now')
  if (!isValid(authority, now)) return at(1, 'is not valid now')
  if (!authority.ca) return at(1, 'may not sign certificates')
  if (!isIssuedBy(leaf, authority)) return at(0, 'was not signed by the other certificate')
  if (!roots.some((root) => isValid(root, now) && isIssuedBy(authority, root))) {
    return at(1, 'was not signed by a root that is trusted here')
  }
  const { publicKey } = leaf
  return publicKey.asymmetricKeyDetails?.namedCurve === CURVE ? publicKey : at(0, 'is not for a key on P-256')
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
 * Encrypts the card: ECDH on P-256 with a key of this payload alone, the KDF of ANSI X9.63 with SHA-256 over Apple's words and
 * that key, AES-256-GCM.
 *
 * @param network the secret that stands in for what issuer and card network share.
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

/** 32 bytes (ANSI X9.63, 5.6.3): one round of SHA-256, whose counter is 1. */
export function deriveKey(secret: Buffer, ephemeralPoint: Buffer): Buffer {
  const algorithm = Buffer.from('id-aes256-GCM')
  return createHash('sha256')
    .update(secret)
    .update(Buffer.of(0, 0, 0, 1))
    .update(Buffer.concat([Buffer.of(algorithm.length), algorithm, Buffer.from('Apple'), ephemeralPoint]))
    .digest()
}

/** The uncompressed point (SEC 1, 2.3.3), with which the key's DER ends. */
function pointOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' }).subarray(-65)
}
