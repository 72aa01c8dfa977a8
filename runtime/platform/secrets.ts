import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/** Layout of a sealed value: one byte of format, 12 of nonce, 16 of tag, then the ciphertext. */
const FORMAT = 1
const NONCE_LENGTH = 12
const TAG_LENGTH = 16
const HEADER_LENGTH = 1 + NONCE_LENGTH + TAG_LENGTH

/** Key objects: bytes would be checked and copied at each use, which takes longer than to decipher a secret. */
const sealingKeys = new Map<string, KeyObject>()

function sealingKey(pepper: string): KeyObject {
  const known = sealingKeys.get(pepper)
  if (known) return known
  const derived = hkdfSync('sha256', pepper, '', 'sealing at rest, AES-256-GCM', 32)
  const key = createSecretKey(Buffer.from(derived))
  sealingKeys.set(pepper, key)
  return key
}

/** A value that could not be opened: another pepper, another context, or bytes that were changed. */
export class UnsealError extends Error {
  override name = 'UnsealError'
}

/**
 * Encrypts a secret for storage (AES-256-GCM under a key derived from the pepper).
 *
 * @param context where the value stands (`members.totp_secret ten_… mem_…`); it must be the same when unsealing, so
 *   that a value copied into another row does not open there.
 */
export function seal(pepper: string, plaintext: string, context: string): Buffer {
  return sealWith(sealingKey(pepper), plaintext, context)
}

/** The same under a key of 32 bytes. */
export function sealWith(key: KeyObject, plaintext: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), body])
}

/** Opens what `seal` made. Throws `UnsealError`. */
export function unseal(pepper: string, sealed: Buffer, context: string): string {
  return unsealWith(sealingKey(pepper), sealed, context)
}

/** Opens what `sealWith` made under the same key. Throws `UnsealError`. */
export function unsealWith(key: KeyObject, sealed: Buffer, context: string): string {
  if (sealed.length < HEADER_LENGTH || sealed[0] !== FORMAT) throw new UnsealError('not a sealed value')
  const nonce = sealed.subarray(1, 1 + NONCE_LENGTH)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(1 + NONCE_LENGTH, HEADER_LENGTH))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEADER_LENGTH)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw new UnsealError(`a sealed value does not open as ${context}`, { cause })
  }
}

/** What seals and opens under the pepper of this deployment. */
export interface Seals {
  seal(plaintext: string, context: string): Buffer
  unseal(sealed: Buffer, context: string): string
}

export function createSeals(pepper: string): Seals {
  return {
    seal: (plaintext, context) => seal(pepper, plaintext, context),
    unseal: (sealed, context) => unseal(pepper, sealed, context),
  }
}

/** A secret of its own for each purpose, from the one pepper: 64 hex characters. */
export function deriveSecret(pepper: string, purpose: string): string {
  return createHmac('sha256', pepper).update(`derived secret: ${purpose}`).digest('hex')
}
