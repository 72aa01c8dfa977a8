/** Trust anchors of card provisioning: Apple root certificates and the card network's key. */
import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeCertificate } from '../../../passes/wallets/render/apple/certificate.ts'
import { makeOnce } from '../../../passes/wallets/render/development-file.ts'
import type { Settings } from '../../../platform/settings.ts'

export interface PayTrust {
  readonly appleRoots: readonly X509Certificate[]
  /** Undefined if cards cannot be added to Google Pay. */
  readonly googleKey: KeyObject | undefined
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * Loads the trust anchors. In development, a missing setting is replaced by a key that is generated below the data
 * directory. In production, it means that nothing is trusted. Throws if a file is missing or contains no certificate or key.
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
  if (roots !== undefined && appleRoots.length === 0)
    throw new Error(
      'APPLE_PAY_ROOTS contains no certificate: expected at least one PEM block "-----BEGIN CERTIFICATE-----"',
    )
  return { appleRoots, googleKey: key === undefined ? undefined : createPublicKey(key) }
}

type TrustSettings = Pick<Settings, 'dataDir' | 'pay' | 'production'>

const YEARS_10 = 3650 * 86_400_000

/** Generates a root certificate together with its private key, so that a developer can issue device certificates. */
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
