import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'

export interface ProcessorRow {
  readonly environment: Environment
  readonly name: string
  readonly created: number
  readonly updated: number
}

const SET: Statement = {
  text: `INSERT INTO control.network_processors (environment, name, created, updated) VALUES ($1, $2, $3, $3)
         ON CONFLICT (environment) DO UPDATE SET name = excluded.name, updated = excluded.updated
         RETURNING environment, name, created, updated`,
}

/** Creates or renames the processor of an environment. @param now machine time. */
export async function setProcessor(
  tx: Database,
  environment: Environment,
  name: string,
  now: number,
): Promise<ProcessorRow> {
  return (await tx.query<ProcessorRow>(SET, [environment, name, toTimestamp(now)])).rows[0]!
}

const LOCK: Statement = {
  text: `SELECT environment, name, created, updated FROM control.network_processors WHERE environment = $1 FOR UPDATE`,
}

/** Locks the processor of an environment until the end of the transaction, so that its keys are counted one by one. */
export async function lockProcessor(
  tx: Database,
  environment: Environment,
): Promise<ProcessorRow | undefined> {
  return (await tx.query<ProcessorRow>(LOCK, [environment])).rows[0]
}

const READ: Statement = {
  text: 'SELECT environment, name, created, updated FROM control.network_processors ORDER BY environment',
}

export async function readProcessors(control: Database): Promise<readonly ProcessorRow[]> {
  return (await control.query<ProcessorRow>(READ)).rows
}

export interface CertificateRow {
  readonly id: string
  readonly environment: Environment
  /** SHA-256 of the certificate. */
  readonly fingerprint: Buffer
  readonly subject: string
  readonly valid_from: number
  readonly expires_at: number
  readonly created: number
  readonly retired_at: number | null
}

const INSERT_CERTIFICATE: Statement = {
  text: `INSERT INTO control.network_certificates (id, environment, fingerprint, subject, valid_from, expires_at, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

/** Pins a certificate. Fails with a unique violation if it is pinned already. */
export async function insertCertificate(
  tx: Database,
  { id, environment, fingerprint, subject, ...row }: Omit<CertificateRow, 'retired_at'>,
): Promise<void> {
  const times = [row.valid_from, row.expires_at, row.created].map(toTimestamp)
  await tx.query(INSERT_CERTIFICATE, [id, environment, fingerprint, subject, ...times])
}

const READ_CERTIFICATES: Statement = {
  text: `SELECT id, environment, fingerprint, subject, valid_from, expires_at, created, retired_at
         FROM control.network_certificates ORDER BY id`,
}

export async function readCertificates(control: Database): Promise<readonly CertificateRow[]> {
  return (await control.query<CertificateRow>(READ_CERTIFICATES)).rows
}

export interface SigningKeyRow {
  readonly id: string
  readonly environment: Environment
  readonly sealed: Buffer
  /** Last four characters of the secret. */
  readonly hint: string
  readonly created: number
  readonly retired_at: number | null
}

const INSERT_KEY: Statement = {
  text: 'INSERT INTO control.network_keys (id, environment, sealed, hint, created) VALUES ($1, $2, $3, $4, $5)',
}

export async function insertSigningKey(
  tx: Database,
  { id, environment, sealed, hint, created }: Omit<SigningKeyRow, 'retired_at'>,
): Promise<void> {
  await tx.query(INSERT_KEY, [id, environment, sealed, hint, toTimestamp(created)])
}

const READ_KEYS: Statement = {
  text: 'SELECT id, environment, sealed, hint, created, retired_at FROM control.network_keys ORDER BY id',
}

export async function readSigningKeys(db: Database): Promise<readonly SigningKeyRow[]> {
  return (await db.query<SigningKeyRow>(READ_KEYS)).rows
}

const retire = (table: 'network_certificates' | 'network_keys'): Statement => ({
  text: `UPDATE control.${table} SET retired_at = $2 WHERE id = $1 AND retired_at IS NULL RETURNING environment`,
})

export const RETIRE_CERTIFICATE = retire('network_certificates')
export const RETIRE_KEY = retire('network_keys')
