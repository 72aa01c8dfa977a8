/** TLS of the network listener: the server's certificate, and a request for the client's. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import type { TlsOptions } from 'node:tls'
import { writeCertificate } from '../../passes/wallets/render/apple/certificate.ts'
import { makeOnce } from '../../passes/wallets/render/development-file.ts'
import type { Settings, TlsFiles } from '../../platform/settings.ts'

const DAY_MS = 86_400_000

/**
 * Asks every client for a certificate. TLS proves that the client has its private key. The listener itself compares the
 * certificate with those of the processors: they are pinned, so no authority vouches for them, and a health check
 * needs none.
 */
const OPTIONS: TlsOptions = { requestCert: true, rejectUnauthorized: false }

/**
 * Returns the files and options of TLS. In development, a missing certificate is made below `DATA_DIR`, for the address
 * 127.0.0.1 and the name localhost.
 *
 * @param now machine time in milliseconds since the epoch.
 */
export function networkTls(
  { networkTls: files, dataDir }: Pick<Settings, 'networkTls' | 'dataDir'>,
  now: number,
): TlsFiles & { readonly options: TlsOptions } {
  if (files) return { ...files, options: OPTIONS }
  const bundle = join(dataDir, 'network', 'server.pem')
  makeOnce(bundle, () => makeServerCertificate(now))
  return { cert: bundle, key: bundle, variables: ['NETWORK_TLS_CERT', 'NETWORK_TLS_KEY'], options: OPTIONS }
}

/** Generates a self-signed certificate and its private key, which clients on this machine can trust. */
function makeServerCertificate(now: number): string {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const subject = { CN: 'localhost', O: 'Card Network Development' }
  const certificate = writeCertificate({
    subject,
    publicKey,
    issuer: { subject, key: privateKey },
    isAuthority: false,
    server: { dns: 'localhost', ipv4: [127, 0, 0, 1] },
    from: now - DAY_MS,
    to: now + 3650 * DAY_MS,
  })
  return `${certificate}${privateKey.export({ type: 'pkcs8', format: 'pem' })}`
}
