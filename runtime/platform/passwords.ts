/** Password hashing with limited concurrency: each hash uses 19 MiB and a core. */
import { argon2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/**
 * Maximum number of concurrent hashes. libuv has 4 threads, which files and signatures also need. Further hashes wait
 * in order of arrival.
 */
export const MAX_HASHES = 2

/**
 * Maximum number of waiting hashes; further ones are rejected. At 50 ms per hash and two at a time, the last one waits
 * 2.5 s.
 */
export const MAX_WAITING_HASHES = 100

/** Too many password hashes are waiting. The caller can retry shortly. */
export class PasswordQueueFull extends Error {
  override name = 'PasswordQueueFull'
  constructor() {
    super(`${MAX_WAITING_HASHES} passwords are already waiting to be hashed; try again in a second`)
  }
}

let running = 0
const waiting: (() => void)[] = []

/**
 * Whether a password can be hashed now or after waiting. If not, `hashPassword` and `verifyPassword` throw
 * `PasswordQueueFull`.
 */
export function canHash(): boolean {
  return running < MAX_HASHES || waiting.length < MAX_WAITING_HASHES
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (!canHash()) throw new PasswordQueueFull()
  if (running < MAX_HASHES) running += 1
  else await new Promise<void>((start) => void waiting.push(start))
  try {
    return await work()
  } finally {
    // Hands the slot to the next waiter, if there is one.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}

/** Parameters of OWASP's password storage cheat sheet: 19 MiB, two passes, one lane. */
const ARGON2 = { memory: 19_456, passes: 2, parallelism: 1 }
const HASH_LENGTH = 32

const ARGON2_PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** The former hash format. A password in this format is rehashed at its next use. */
const SCRYPT_PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

function runArgon2(password: string, nonce: Buffer, cost: typeof ARGON2, tagLength: number): Promise<Buffer> {
  return inTurn(
    () =>
      new Promise((resolve, reject) => {
        argon2(
          'argon2id',
          { message: password.normalize('NFKC'), nonce, tagLength, ...cost },
          (error, hash) => (error ? reject(error) : resolve(hash)),
        )
      }),
  )
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
  return inTurn(
    () =>
      new Promise((resolve, reject) => {
        scrypt(password.normalize('NFKC'), salt, length, options, (error, hash) =>
          error ? reject(error) : resolve(hash),
        )
      }),
  )
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function writePhc(salt: Buffer, hash: Buffer): string {
  const { memory, passes, parallelism } = ARGON2
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`
}

/**
 * Hashes a password with argon2id (RFC 9106) to a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. Throws
 * `PasswordQueueFull`.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return writePhc(salt, await runArgon2(password, salt, ARGON2, HASH_LENGTH))
}

/** A hash that matches no password, for unknown members: verifying it takes as long as verifying a real one. */
export const NO_PASSWORD: string = writePhc(randomBytes(16), randomBytes(HASH_LENGTH))

/**
 * Whether the password matches the hash. Returns false if the text is not a PHC string of argon2id or scrypt. Throws
 * `PasswordQueueFull`.
 */
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

/** Whether a hash uses the current algorithm and cost. */
export function isHashedAsToday(phc: string): boolean {
  const [, m, t, p] = ARGON2_PHC.exec(phc) ?? []
  const { memory, passes, parallelism } = ARGON2
  return Number(m) === memory && Number(t) === passes && Number(p) === parallelism
}
