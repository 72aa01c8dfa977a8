import {
  argon2,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  scrypt,
  timingSafeEqual,
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

/** OWASP's password storage cheat sheet: 19 MiB, two passes, one lane. */
const ARGON2 = { memory: 19_456, passes: 2, parallelism: 1 }
const HASH_LENGTH = 32

const ARGON2_PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** How passwords were hashed before; they are hashed anew when they are next used. */
const SCRYPT_PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

function runArgon2(password: string, nonce: Buffer, cost: typeof ARGON2, tagLength: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message: password.normalize('NFKC'), nonce, tagLength, ...cost }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    )
  })
}

interface ScryptCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

function runScrypt(
  password: string,
  salt: Buffer,
  { ln, r, p }: ScryptCost,
  length: number,
): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, length, options, (error, hash) =>
      error ? reject(error) : resolve(hash),
    )
  })
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

/** Hashes a password with argon2id (RFC 9106), as a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await runArgon2(password, salt, ARGON2, HASH_LENGTH)
  const { memory, passes, parallelism } = ARGON2
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`
}

/** Whether the password is the one that was hashed; false for what is no PHC string of argon2id or scrypt. */
export async function verifyPassword(password: string, phc: string): Promise<boolean> {
  const bytes = (text = '') => Buffer.from(text, 'base64')
  const [, m, t, p, salt, hash] = ARGON2_PHC.exec(phc) ?? []
  if (hash !== undefined) {
    const cost = { memory: Number(m), passes: Number(t), parallelism: Number(p) }
    const wanted = bytes(hash)
    return timingSafeEqual(await runArgon2(password, bytes(salt), cost, wanted.length), wanted)
  }
  const [, ln, r, lanes, oldSalt, oldHash] = SCRYPT_PHC.exec(phc) ?? []
  if (oldHash === undefined) return false
  const cost = { ln: Number(ln), r: Number(r), p: Number(lanes) }
  const wanted = bytes(oldHash)
  return timingSafeEqual(await runScrypt(password, bytes(oldSalt), cost, wanted.length), wanted)
}

/** Whether a hash is made as `hashPassword` makes them today. */
export function isHashedAsToday(phc: string): boolean {
  const [, m, t, p] = ARGON2_PHC.exec(phc) ?? []
  const { memory, passes, parallelism } = ARGON2
  return Number(m) === memory && Number(t) === passes && Number(p) === parallelism
}
