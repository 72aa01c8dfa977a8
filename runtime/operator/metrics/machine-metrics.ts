import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Registry } from 'prom-client'
import { messageOf } from '../../database/errors.ts'
import type { Settings } from '../../platform/settings.ts'
import type { DeploymentReads } from './deployment-metrics.ts'
import { addGauge } from './series.ts'

export type CertificateSettings = Pick<Settings, 'roles'> &
  Partial<Pick<Settings, 'tls' | 'networkTls' | 'applePass'>>

/** A certificate of this process, and when it expires, in milliseconds since the epoch. */
export interface CertificateExpiry {
  readonly certificate: 'tls' | 'network_tls' | 'apple_pass' | 'apple_wwdr'
  readonly expiresAt: number
}

/**
 * Reads when the certificates expire that this process uses. Call it when the process reads their files: at the start, and
 * for those of listeners after SIGHUP.
 *
 * @param unreadable receives what cannot be read; the part that uses it reports the same.
 */
export function readCertificates(
  { roles, tls, networkTls, applePass }: CertificateSettings,
  unreadable: (words: string) => void,
): readonly CertificateExpiry[] {
  const files = [
    ['tls', tls?.cert],
    ['network_tls', roles.has('network') && networkTls !== tls ? networkTls?.cert : undefined],
    ['apple_pass', applePass?.certificate],
    ['apple_wwdr', applePass?.wwdr],
  ] as const
  return files.flatMap(([certificate, path]) => {
    if (path === undefined) return []
    try {
      return [{ certificate, expiresAt: Date.parse(new X509Certificate(readFileSync(path)).validTo) }]
    } catch (error) {
      unreadable(`The metrics do not have the expiry of ${path}: ${messageOf(error)}`)
      return []
    }
  })
}

/** Adds the expiry of certificates: those of this process, and those of card processors. */
export function addCertificates(
  registry: Registry,
  own: () => readonly CertificateExpiry[],
  ofProcessors: DeploymentReads['processorCertificates'],
): void {
  addGauge(
    registry,
    'svc_certificate_expiry_timestamp_seconds',
    'Expiry of a certificate in Unix time: tls, network_tls, apple_pass, apple_wwdr, and the last certificate of the card processor of each environment (processor_sandbox, processor_live).',
    ['certificate'],
    async () => [
      ...own().map(({ certificate, expiresAt }) => [{ certificate }, expiresAt / 1000] as const),
      ...((await ofProcessors()) ?? []).map(
        ({ environment, expiresAt }) =>
          [{ certificate: `processor_${environment}` }, expiresAt / 1000] as const,
      ),
    ],
  )
}

/** Adds the file system of `DATA_DIR`, where the embedded PostgreSQL keeps its data. */
export function addDisk(registry: Registry, dataDir: string): void {
  const read = async () => await statfs(dataDir).catch(() => undefined) // no such folder yet
  addGauge(
    registry,
    'svc_disk_free_ratio',
    'Free space of the file system of DATA_DIR as a fraction of its size. No series if the folder does not exist.',
    [],
    async () => {
      const found = await read()
      return found === undefined ? undefined : [[{}, found.blocks > 0 ? found.bavail / found.blocks : 1]]
    },
  )
}

/** Adds the results of the verification, which processes with the worker role store. */
export function addVerification(registry: Registry, read: DeploymentReads['verifications']): void {
  addGauge(
    registry,
    'svc_verification_faults',
    'Tenants whose ledger or audit log has a fault, according to the last verification of any process.',
    ['environment', 'of'],
    async () =>
      (await read())?.map(({ environment, log, faults }) => [{ environment, of: log }, faults] as const),
  )
  addGauge(
    registry,
    'svc_verification_timestamp_seconds',
    'Start of the last complete verification of all ledgers and audit logs in Unix time. Before the first one: first start of a process that verifies.',
    [],
    async () => (await read())?.slice(0, 1).map(({ verified_at: at }) => [{}, at / 1000] as const),
  )
}
