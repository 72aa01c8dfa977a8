import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/** Layout of a sealed value: format (1 byte), nonce (12), tag (16), ciphertext. */
const FORMAT = 1
const NONCE_LENGTH = 12
const TAG_LENGTH = 16
const HEADER_LENGTH = 1 + NONCE_LENGTH + TAG_LENGTH

/**
 * Cached key objects. Node checks and copies raw key bytes at each use, which takes longer than decrypting a secret.
 */
const sealingKeys = new Map<string, KeyObject>()

function sealingKey(pepper: string): KeyObject {
  const known = sealingKeys.get(pepper)
  if (known) return known
  const derived = hkdfSync('sha256', pepper, '', 'sealing at rest, AES-256-GCM', 32)
  const key = createSecretKey(Buffer.from(derived))
  sealingKeys.set(pepper, key)
  return key
}

/** A value that cannot be unsealed: the pepper or context differs, or the bytes were modified. */
export class UnsealError extends Error {
  override name = 'UnsealError'
}

/**
 * Encrypts a secret for storage, with AES-256-GCM and a key derived from the pepper.
 *
 * @param context location of the value, such as `members.totp_secret ten_… mem_…`. Unsealing requires the same context,
 * so a value copied to a different row cannot be unsealed there.
 */
export function seal(pepper: string, plaintext: string, context: string): Buffer {
  return sealWith(sealingKey(pepper), plaintext, context)
}

/** Encrypts a secret like `seal`, with a 32-byte key. */
export function sealWith(key: KeyObject, plaintext: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), body])
}

/** Decrypts a value from `seal`. Throws `UnsealError`. */
export function unseal(pepper: string, sealed: Buffer, context: string): string {
  return unsealWith(sealingKey(pepper), sealed, context)
}

/** Decrypts a value from `sealWith` with the same key. Throws `UnsealError`. */
export function unsealWith(key: KeyObject, sealed: Buffer, context: string): string {
  if (sealed.length < HEADER_LENGTH || sealed[0] !== FORMAT)
    throw new UnsealError('the value is not sealed: its length or format byte is wrong')
  const nonce = sealed.subarray(1, 1 + NONCE_LENGTH)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(1 + NONCE_LENGTH, HEADER_LENGTH))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEADER_LENGTH)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw new UnsealError(
      `a sealed value cannot be unsealed as ${context}: the pepper or the context differs, or the value was modified`,
      { cause },
    )
  }
}

/** Sealing and unsealing with the pepper of this deployment. */
export interface Seals {
  seal(plaintext: string, context: string): Buffer
  unseal(sealed: Buffer, context: string): string
  /** See `deriveSecret`. */
  derive(purpose: string): string
}

export function createSeals(pepper: string): Seals {
  return {
    seal: (plaintext, context) => seal(pepper, plaintext, context),
    unseal: (sealed, context) => unseal(pepper, sealed, context),
    derive: (purpose) => deriveSecret(pepper, purpose),
  }
}

/** Derives a secret for a purpose from the pepper, as 64 hexadecimal digits. */
export function deriveSecret(pepper: string, purpose: string): string {
  return createHmac('sha256', pepper).update(`derived secret: ${purpose}`).digest('hex')
}
