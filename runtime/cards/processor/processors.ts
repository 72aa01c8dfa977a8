/** Operators' changes to card processors: names, pinned certificates and signing keys. */
import { X509Certificate } from 'node:crypto'
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, messageOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import { makeSigningSecret } from '../../events/outbound/signing.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { seal } from '../../platform/secrets.ts'
import { NETWORK_AUDIT } from '../../tenants/admin/audit.ts'
import { ControlError, change, isoTime, type Operator } from '../../tenants/admin/change.ts'
import { readAuditChain, readAuditHead } from '../../tenants/audit/queries.ts'
import {
  type CertificateRow,
  insertCertificate,
  insertSigningKey,
  lockProcessor,
  RETIRE_CERTIFICATE,
  RETIRE_KEY,
  readCertificates,
  readProcessors,
  readSigningKeys,
  type SigningKeyRow,
  setProcessor,
} from './queries.ts'

/** Maximum number of active signing keys: each one is tried on each request. */
const MAX_KEYS = 5

const MAX_NAME = 100

/** Number of changes that `showProcessor` returns. */
const SHOWN_CHANGES = 20

export const signingKeyContext = (environment: Environment, id: string) =>
  `network_keys.sealed ${environment} ${id}`

const noted = (environment: Environment, action: string, targetId: string) => ({
  tenantId: NETWORK_AUDIT,
  environment,
  action,
  targetId,
})

/** Creates or renames the processor of an environment. @throws ControlError `invalid`. */
export async function nameProcessor(operator: Operator, environment: Environment, name: string) {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > MAX_NAME)
    throw new ControlError('invalid', `the name must have 1 to ${MAX_NAME} characters`)
  return change(operator, async (tx, note) => {
    const row = await setProcessor(tx, environment, trimmed, operator.clock.machine())
    note(noted(environment, 'network_processor.set', environment))
    return { environment, name: row.name, created: isoTime(row.created), updated: isoTime(row.updated) }
  })
}

async function requireProcessor(tx: Database, environment: Environment): Promise<void> {
  if (await lockProcessor(tx, environment)) return
  throw new ControlError(
    'not_found',
    `${environment} has no processor: run "admin network processor set --env ${environment} --name NAME" first`,
  )
}

/** Returns the name, certificates and keys of an environment's processor, and its latest changes, newest first. */
export async function showProcessor({ control, clock }: Operator, environment: Environment) {
  const [processors, certificates, keys, head] = await Promise.all([
    readProcessors(control),
    listCertificates(control, environment, clock.machine()),
    listSigningKeys(control, environment),
    readAuditHead(control, environment, NETWORK_AUDIT),
  ])
  const after = Math.max(0, (head?.sequence ?? 0) - SHOWN_CHANGES)
  const changes = await readAuditChain(control, environment, NETWORK_AUDIT, after, SHOWN_CHANGES)
  return {
    environment,
    name: processors.find((each) => each.environment === environment)?.name ?? null,
    certificates,
    keys,
    changes: changes.toReversed().map(({ action, target_id, actor_type, created }) => ({
      action,
      target_id,
      actor: actor_type,
      created: isoTime(created),
    })),
  }
}

type CertificateStatus = 'active' | 'not_yet_valid' | 'expired' | 'retired'

/** @param now machine time. */
export function statusOf(
  { valid_from, expires_at, retired_at }: Pick<CertificateRow, 'valid_from' | 'expires_at' | 'retired_at'>,
  now: number,
): CertificateStatus {
  if (retired_at !== null) return 'retired'
  if (now >= expires_at) return 'expired'
  return now < valid_from ? 'not_yet_valid' : 'active'
}

export async function listCertificates(control: Database, environment: Environment, now: number) {
  const rows = await readCertificates(control)
  return rows
    .filter((row) => row.environment === environment)
    .map((row) => ({
      id: row.id,
      status: statusOf(row, now),
      fingerprint: row.fingerprint.toString('hex'),
      subject: row.subject,
      expires_at: isoTime(row.expires_at),
      created: isoTime(row.created),
      retired_at: isoTime(row.retired_at),
    }))
}

/**
 * Pins a client certificate, which identifies the environment from then on.
 *
 * @param pem the certificate; of several, the first one.
 * @throws ControlError `invalid`, `not_found` if the environment has no processor, `conflict` if it is pinned already.
 */
export async function addCertificate(operator: Operator, environment: Environment, pem: string) {
  const now = operator.clock.machine()
  const certificate = readCertificate(pem)
  const row = {
    id: newId('ncrt', now),
    environment,
    fingerprint: Buffer.from(certificate.fingerprint256.replaceAll(':', ''), 'hex'),
    // Undefined for an empty subject, although its type does not say that.
    subject: (certificate.subject ?? '').replaceAll('\n', ', '),
    valid_from: Date.parse(certificate.validFrom),
    expires_at: Date.parse(certificate.validTo),
    created: now,
  }
  if (row.expires_at <= now)
    throw new ControlError('invalid', `the certificate expired on ${certificate.validTo}: issue a new one`)
  try {
    return await change(operator, async (tx, note) => {
      await requireProcessor(tx, environment)
      await insertCertificate(tx, row)
      note(noted(environment, 'network_certificate.added', row.id))
      const { id, subject } = row
      const fingerprint = row.fingerprint.toString('hex')
      return { id, environment, fingerprint, subject, expires_at: isoTime(row.expires_at) }
    })
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    const message = `the certificate ${certificate.fingerprint256} is pinned already: an environment needs its own`
    throw new ControlError('conflict', message, { cause: error })
  }
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    const message = `the file is not a certificate (${messageOf(cause)}): expected a PEM block "BEGIN CERTIFICATE"`
    throw new ControlError('invalid', message, { cause })
  }
}

export async function listSigningKeys(control: Database, environment: Environment) {
  const rows = await readSigningKeys(control)
  return rows
    .filter((row) => row.environment === environment)
    .map((row) => ({
      id: row.id,
      status: isActive(row) ? 'active' : 'retired',
      hint: row.hint,
      created: isoTime(row.created),
      retired_at: isoTime(row.retired_at),
    }))
}

const isActive = ({ retired_at }: Pick<SigningKeyRow, 'retired_at'>) => retired_at === null

/** Creates a signing key. Its secret is shown once. @throws ControlError `not_found`, `conflict` at the limit. */
export async function createSigningKey(operator: Operator, environment: Environment) {
  const now = operator.clock.machine()
  const id = newId('nkey', now)
  const secret = makeSigningSecret('netsec')
  const sealed = seal(operator.pepper, secret, signingKeyContext(environment, id))
  return change(operator, async (tx, note) => {
    await requireProcessor(tx, environment)
    const rows = await readSigningKeys(tx)
    const active = rows.filter((row) => row.environment === environment && isActive(row))
    if (active.length >= MAX_KEYS)
      throw new ControlError('conflict', `${environment} has ${MAX_KEYS} active keys: retire one first`)
    await insertSigningKey(tx, { id, environment, sealed, hint: secret.slice(-4), created: now })
    note(noted(environment, 'network_key.created', id))
    return { id, environment, created: isoTime(now), secret }
  })
}

/** Stops accepting a certificate at once. @throws ControlError `not_found` if it is unknown or retired. */
export function retireCertificate(operator: Operator, id: string) {
  return retire(operator, id, RETIRE_CERTIFICATE, 'network_certificate')
}

/** Stops accepting and using a signing key at once. @throws ControlError `not_found` if it is unknown or retired. */
export function retireSigningKey(operator: Operator, id: string) {
  return retire(operator, id, RETIRE_KEY, 'network_key')
}

function retire(
  operator: Operator,
  id: string,
  statement: Statement,
  what: 'network_certificate' | 'network_key',
) {
  const now = operator.clock.machine()
  return change(operator, async (tx, note) => {
    const { rows } = await tx.query<{ environment: Environment }>(statement, [id, toTimestamp(now)])
    const [row] = rows
    if (!row) throw new ControlError('not_found', `there is no active ${what.replace('network_', '')} ${id}`)
    note(noted(row.environment, `${what}.retired`, id))
    return { id, environment: row.environment, retired_at: isoTime(now) }
  })
}
