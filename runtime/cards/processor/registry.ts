/** The certificates and signing keys that are accepted, kept in memory: requests need no database to be identified. */
import type { Logger } from 'pino'
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { unseal } from '../../platform/secrets.ts'
import { signingKeyContext, statusOf } from './processors.ts'
import { type CertificateRow, readCertificates, readSigningKeys, type SigningKeyRow } from './queries.ts'

export interface ProcessorRegistry {
  /**
   * Returns the environment of a certificate that is pinned and valid; undefined for others.
   *
   * @param fingerprint SHA-256 as lower-case hexadecimal digits. @param now machine time.
   */
  environmentOf(fingerprint: string, now: number): Environment | undefined
  /** Returns the active signing secrets of an environment, oldest first. */
  secretsOf(environment: Environment): readonly string[]
  /** Reads everything again. Called after a change. */
  refresh(): Promise<void>
}

/**
 * Opens the registry.
 *
 * @param control the owner's connections. @param log receives keys that cannot be unsealed. @param refuses returns whether a pinned certificate is not accepted here.
 */
export async function openRegistry(
  control: Database,
  pepper: string,
  log: Logger,
  refuses: (certificate: CertificateRow) => boolean = () => false,
): Promise<ProcessorRegistry> {
  let certificates: ReadonlyMap<string, CertificateRow> = new Map()
  let secrets: Readonly<Record<Environment, readonly string[]>> = { sandbox: [], live: [] }
  /** A key that cannot be unsealed must not keep the others, or a retirement, from taking effect. */
  const openKey = ({ environment, id, sealed }: SigningKeyRow): string | undefined => {
    try {
      return unseal(pepper, sealed, signingKeyContext(environment, id))
    } catch (err) {
      log.error({ err, environment, id }, 'signing key of a processor cannot be used: create a new one')
      return undefined
    }
  }
  const refresh = async () => {
    const [pinned, keys] = await Promise.all([readCertificates(control), readSigningKeys(control)])
    // A certificate that was retired and added again has two rows; the newer one, which comes later, applies.
    certificates = new Map(
      pinned.filter((row) => !refuses(row)).map((row) => [row.fingerprint.toString('hex'), row]),
    )
    const active = keys.filter(({ retired_at }) => retired_at === null)
    const open = (environment: Environment) =>
      active.filter((row) => row.environment === environment).flatMap((row) => openKey(row) ?? [])
    secrets = { sandbox: open('sandbox'), live: open('live') }
  }
  await refresh()
  return {
    environmentOf(fingerprint, now) {
      const row = certificates.get(fingerprint)
      return row && statusOf(row, now) === 'active' ? row.environment : undefined
    },
    secretsOf: (environment) => secrets[environment],
    refresh,
  }
}
