import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../../../database/errors.ts'
import { createFairQueue } from '../../../../platform/fairness/fair-queue.ts'
import type { Presence } from '../../../../platform/fairness/presence.ts'
import type { Clock } from '../../../../tenants/clock/clock.ts'
import { makeOnce } from '../development-file.ts'
import { PASS_KINDS } from '../pass-state.ts'
import { googleSaveUrl, textToSign, writeLink } from './link.ts'

/** The signer: a Google Wallet service account, or a generated key for development. */
export interface GoogleSigner {
  readonly issuerId: string
  /** Email address of the service account. */
  readonly email: string
  readonly key: KeyObject
}

export interface Wallet {
  /**
   * Signs a link that saves a tenant's pass to Google Wallet. Returns the part to store; `googleSaveUrl` builds the
   * link from it.
   */
  signGoogleLink(
    tenantId: string,
    pass: { readonly id: string; readonly templateId: string; readonly kind: string },
  ): Promise<string>
}

const signAsync = promisify(sign)

/** Threads that sign; the default of UV_THREADPOOL_SIZE. */
const THREADS = 4

/**
 * Creates the signer of save links. A link contains only the IDs of the pass and its class, so it stays well below the
 * 1,800 characters that all browsers accept. Signing runs in the libuv thread pool (0.8 ms of a core for 2048-bit RSA).
 * The fair queue gives a tenant all threads only while no other tenant is active, so a batch does not delay other
 * tenants.
 */
export function createWallet(
  { issuerId, email, key }: GoogleSigner,
  clock: Pick<Clock, 'machine'>,
  presence: Pick<Presence, 'isAlone'>,
  signText: (text: Buffer) => Promise<Buffer> = (text) => signAsync('RSA-SHA256', text, key),
): Wallet {
  const queue = createFairQueue({
    places: 2 * THREADS,
    share: (tenantId) => (tenantId === undefined || presence.isAlone(tenantId) ? THREADS : 1),
  })
  const inTurn = async <T>(tenantId: string, work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((start) => queue.acquire(tenantId, start))
    try {
      return await work()
    } finally {
      queue.release(tenantId)
    }
  }
  return {
    async signGoogleLink(tenantId, pass) {
      const signing = { issuerId, email, at: Math.floor(clock.machine() / 1000) }
      const text = Buffer.from(textToSign(pass, signing))
      return writeLink(signing, await inTurn(tenantId, () => signText(text)))
    },
  }
}

export interface GoogleWalletSettings {
  readonly dataDir: string
  /** Issuer ID, and path of the service account's JSON file from Google. */
  readonly googleWallet?: { readonly issuerId: string; readonly serviceAccount: string }
}

const DEVELOPMENT = { issuerId: '3388000000000000000', email: 'wallet@development.invalid' }

/**
 * Reads the service account, or creates a development key in the data directory if none is set. Blocks, so call it only
 * at the start of a process. Throws if the service account file is invalid.
 */
export function openGoogleSigner({ dataDir, googleWallet }: GoogleWalletSettings): GoogleSigner {
  if (!googleWallet)
    return { ...DEVELOPMENT, key: createPrivateKey(makeOnce(join(dataDir, 'wallet', 'google.pem'), makeKey)) }
  const { issuerId, serviceAccount } = googleWallet
  const account = JSON.parse(readFileSync(serviceAccount, 'utf8')) as Record<string, unknown>
  const { client_email: email, private_key: pem } = account
  if (typeof email !== 'string' || typeof pem !== 'string') {
    throw new Error(`${serviceAccount} is not a service account file: client_email or private_key is missing`)
  }
  if (/\s/.test(email))
    throw new Error(`${serviceAccount} is not a service account file: client_email contains a space`)
  const signer = { issuerId, email, key: readKey(serviceAccount, pem) }
  const length = longestLink(signer)
  if (length > MAX_LINK) {
    throw new Error(
      `${serviceAccount}: links would have up to ${length} characters, but the maximum is ${MAX_LINK}: use a 2048-bit key`,
    )
  }
  return signer
}

function readKey(file: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch (cause) {
    throw new Error(`${file}: private_key cannot be read: ${messageOf(cause)}`, { cause })
  }
  throw new Error(`${file}: private_key is not an RSA key`)
}

/** Maximum number of characters that all browsers accept in a link. */
const MAX_LINK = 1800

/** Returns the maximum length of a link by this signer. */
function longestLink({ issuerId, email, key }: GoogleSigner): number {
  const pass = { id: `pass_${'0'.repeat(26)}`, templateId: `tpl_${'0'.repeat(26)}` }
  const signature = Buffer.alloc((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
  const kept = writeLink({ issuerId, email, at: 9_999_999_999 }, signature)
  return Math.max(...PASS_KINDS.map((kind) => googleSaveUrl({ ...pass, kind }, kept).length))
}

function makeKey(): string {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey
}
