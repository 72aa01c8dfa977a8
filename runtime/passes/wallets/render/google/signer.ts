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

/** Who signs: a service account of Google Wallet, or a key of our own for development. */
export interface GoogleSigner {
  readonly issuerId: string
  /** The service account's address. */
  readonly email: string
  readonly key: KeyObject
}

/** Signs what the holder's wallet app takes. */
export interface Wallet {
  /** What is to be kept of the link that saves a tenant's pass to Google Wallet: `googleSaveUrl` makes the link of it. */
  signGoogleLink(
    tenantId: string,
    pass: { readonly id: string; readonly templateId: string; readonly kind: string },
  ): Promise<string>
}

const signAsync = promisify(sign)

/** Threads that sign (UV_THREADPOOL_SIZE unless it is set). */
const THREADS = 4

/**
 * Signs links that save a pass to Google Wallet. They name the pass and its class only, so they stay well below the 1,800
 * characters that browsers are sure to take. Signing runs beside the event loop (0.8 ms of a core for RSA with 2048 bits):
 * a batch of one tenant takes all threads only while it is alone, and nobody's signature waits behind those of a batch.
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

/** Where the signer comes from. */
export interface GoogleWalletSettings {
  readonly dataDir: string
  /** Issuer and path of the service account's JSON file, as Google hands it out. */
  readonly googleWallet?: { readonly issuerId: string; readonly serviceAccount: string }
}

const DEVELOPMENT = { issuerId: '3388000000000000000', email: 'wallet@development.invalid' }

/**
 * Reads the service account, or makes a key below the data directory when there is none. Blocks: for the start of a
 * process. Throws when what is there cannot be read.
 */
export function openGoogleSigner({ dataDir, googleWallet }: GoogleWalletSettings): GoogleSigner {
  if (!googleWallet)
    return { ...DEVELOPMENT, key: createPrivateKey(makeOnce(join(dataDir, 'wallet', 'google.pem'), makeKey)) }
  const { issuerId, serviceAccount } = googleWallet
  const account = JSON.parse(readFileSync(serviceAccount, 'utf8')) as Record<string, unknown>
  const { client_email: email, private_key: pem } = account
  if (typeof email !== 'string' || typeof pem !== 'string') {
    throw new Error(`${serviceAccount}: no service account: client_email or private_key is missing`)
  }
  if (/\s/.test(email))
    throw new Error(`${serviceAccount}: no service account: client_email has a space in it`)
  const signer = { issuerId, email, key: readKey(serviceAccount, pem) }
  const length = longestLink(signer)
  if (length > MAX_LINK) {
    throw new Error(
      `${serviceAccount}: links would have up to ${length} characters of ${MAX_LINK} at most: use a key of 2048 bits`,
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
  throw new Error(`${file}: private_key is no key for RSA`)
}

/** Browsers are sure to take so many characters. */
const MAX_LINK = 1800

/** Characters of the longest link that the signer makes, whatever the pass. */
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
