/** Whom cards are encrypted to: roots that devices' certificates have to lead to, and the key of the card network. */
import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeCertificate } from '../../../passes/wallets/render/apple/certificate.ts'
import { makeOnce } from '../../../passes/wallets/render/development-file.ts'
import type { Settings } from '../../../platform/settings.ts'

export interface PayTrust {
  readonly appleRoots: readonly X509Certificate[]
  /** Undefined where cards cannot be added to Google Pay. */
  readonly googleKey: KeyObject | undefined
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * What is not set is made for development, below the data directory; in production nobody is trusted then. Throws where a file
 * is missing or holds nothing of the kind.
 *
 * @param now machine time.
 */
export function openPayTrust({ dataDir, pay, production }: TrustSettings, now: number): PayTrust {
  const read = (path: string | undefined, name: string, develop: () => string) => {
    if (path !== undefined) return readFileSync(path, 'utf8')
    return production ? undefined : makeOnce(join(dataDir, 'wallet', name), develop)
  }
  const roots = read(pay.appleRoots, 'apple-pay-root.pem', () => makeRoot(now))
  const key = read(pay.googleKey, 'google-pay-key.pem', makeKey)
  const appleRoots = (roots?.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem))
  if (roots !== undefined && appleRoots.length === 0) throw new Error('APPLE_PAY_ROOTS holds no certificate')
  return { appleRoots, googleKey: key === undefined ? undefined : createPublicKey(key) }
}

type TrustSettings = Pick<Settings, 'dataDir' | 'pay' | 'production'>

const YEARS_10 = 3650 * 86_400_000

/** A root with its key, so that a developer can issue what a device would supply. */
function makeRoot(now: number): string {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const subject = { CN: 'Wallet Development Pay Root', O: 'Wallet Development' }
  const issuer = { subject, key: privateKey }
  const life = { from: now - 86_400_000, to: now + YEARS_10 }
  const certificate = writeCertificate({ ...life, subject, publicKey, issuer, isAuthority: true })
  return `${certificate}${privateKey.export({ type: 'pkcs8', format: 'pem' })}`
}

function makeKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}
