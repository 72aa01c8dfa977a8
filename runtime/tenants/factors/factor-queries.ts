import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'

/** Statements for second factors, on the control schema. Times are machine time in milliseconds. */

/** A member who may confirm requests of the tenant's keys. */
export interface Confirmer {
  readonly id: string
  readonly email: string
  readonly password_hash: string
  readonly totp_secret: Buffer
}

const CONFIRMERS: Statement = {
  text: `SELECT id, email, password_hash, totp_secret FROM control.members
         WHERE tenant_id = $1 AND role IN ('owner', 'developer') AND totp_secret IS NOT NULL
         ORDER BY created, id`,
}

export async function readConfirmers(db: Database, tenantId: string): Promise<readonly Confirmer[]> {
  const { rows } = await db.query<Confirmer>(CONFIRMERS, [tenantId])
  return rows
}

const USE_STEP: Statement = {
  text: `INSERT INTO control.totp_uses AS used (tenant_id, member_id, step, form_hash) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, member_id, step) DO UPDATE SET form_hash = excluded.form_hash
         WHERE used.form_hash = excluded.form_hash`,
}

/**
 * Marks a time step of the member's codes as used. Returns false if it was used before, unless it was for the same
 * form.
 *
 * @param formHash hash of the confirmed form; absent: any second use is refused.
 */
export async function useStep(
  db: Database,
  tenantId: string,
  memberId: string,
  step: number,
  formHash?: Buffer,
): Promise<boolean> {
  const { count } = await db.query(USE_STEP, [tenantId, memberId, step, formHash ?? null])
  return count === 1
}

/** The request that a challenge belongs to. */
export interface FactorSubject {
  readonly tenantId: string
  readonly environment: Environment
  readonly keyId: string
  readonly operation: string
  /** SHA-256 of the request. */
  readonly requestHash: Buffer
}

const MAKE_CHALLENGE: Statement = {
  text: `WITH crowded AS (
           DELETE FROM control.challenges WHERE tenant_id = $1 AND digest IN (
             SELECT digest FROM control.challenges WHERE tenant_id = $1 AND digest IN (
               SELECT digest FROM control.challenges WHERE tenant_id = $1 AND key_id = $4 AND completed_at IS NULL
               ORDER BY created DESC OFFSET $9)
             FOR UPDATE SKIP LOCKED)
         )
         INSERT INTO control.challenges
           (tenant_id, digest, environment, key_id, operation, request_hash, created, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
}

/** Inserts a challenge. @param open number of the key's newest open challenges to keep; older ones are deleted. */
export function makeChallenge(
  db: Database,
  digest: Buffer,
  subject: FactorSubject,
  now: number,
  expires: number,
  open: number,
): Promise<unknown> {
  const { tenantId, environment, keyId, operation, requestHash } = subject
  const times = [toTimestamp(now), toTimestamp(expires)]
  return db.query(MAKE_CHALLENGE, [
    tenantId,
    digest,
    environment,
    keyId,
    operation,
    requestHash,
    ...times,
    open,
  ])
}

export interface ChallengeRow {
  readonly tenant_id: string
  readonly tenant_name: string
  readonly environment: Environment
  readonly key_id: string
  /** Null if the request has a token of an app. */
  readonly key_hint: string | null
  readonly operation: string
  readonly expires_at: number
  readonly failures: number
  readonly completed_at: number | null
}

// The page is opened by its URL, which does not name the tenant, so the digest identifies the challenge.
const FIND_CHALLENGE: Statement = {
  text: `SELECT c.tenant_id, t.name AS tenant_name, c.environment, c.key_id, k.hint AS key_hint, c.operation,
                c.expires_at, c.failures, c.completed_at
         FROM control.challenges c
         JOIN control.tenants t ON t.id = c.tenant_id
         LEFT JOIN control.keys k ON k.tenant_id = c.tenant_id AND k.id = c.key_id
         WHERE c.digest = $1`,
}

export async function findChallenge(db: Database, digest: Buffer): Promise<ChallengeRow | undefined> {
  const { rows } = await db.query<ChallengeRow>(FIND_CHALLENGE, [digest])
  return rows[0]
}

const COUNT_FAILURE: Statement = {
  text: `UPDATE control.challenges SET failures = failures + 1
         WHERE tenant_id = $1 AND digest = $2 AND failures < $3 AND completed_at IS NULL AND expires_at > $4`,
}

/** Counts an attempt before it is checked. Returns false if the challenge accepts no more attempts. */
export async function countFailure(
  db: Database,
  tenantId: string,
  digest: Buffer,
  most: number,
  now: number,
): Promise<boolean> {
  const { count } = await db.query(COUNT_FAILURE, [tenantId, digest, most, toTimestamp(now)])
  return count === 1
}

const COMPLETE: Statement = {
  text: `UPDATE control.challenges SET completed_at = $3, token_digest = $4, token_expires_at = $5
         WHERE tenant_id = $1 AND digest = $2 AND completed_at IS NULL AND expires_at > $3`,
}

/** Completes a challenge. Returns false if it was already completed or has expired. */
export async function completeChallenge(
  db: Database,
  tenantId: string,
  digest: Buffer,
  tokenDigest: Buffer,
  now: number,
  tokenExpires: number,
): Promise<boolean> {
  const values = [tenantId, digest, toTimestamp(now), tokenDigest, toTimestamp(tokenExpires)]
  const { count } = await db.query(COMPLETE, values)
  return count === 1
}

const USE_TOKEN: Statement = {
  text: `UPDATE control.challenges SET used_at = $6
         WHERE tenant_id = $1 AND token_digest = $2 AND environment = $3 AND key_id = $4 AND request_hash = $5
           AND used_at IS NULL AND token_expires_at > $6`,
}

/** Uses up a token. Returns false if it is unknown, used, expired, or for a different request. */
export async function useToken(
  db: Database,
  tokenDigest: Buffer,
  { tenantId, environment, keyId, requestHash }: FactorSubject,
  now: number,
): Promise<boolean> {
  const values = [tenantId, tokenDigest, environment, keyId, requestHash, toTimestamp(now)]
  const { count } = await db.query(USE_TOKEN, values)
  return count === 1
}

const SWEEP_CHALLENGES: Statement = { text: 'DELETE FROM control.challenges WHERE created <= $1' }

const SWEEP_STEPS: Statement = { text: 'DELETE FROM control.totp_uses WHERE step < $1' }

/** Deletes old challenges and time steps of all tenants. @param before first time step to keep. */
export async function sweepFactors(db: Database, createdBy: number, before: number): Promise<void> {
  await db.query(SWEEP_CHALLENGES, [toTimestamp(createdBy)])
  await db.query(SWEEP_STEPS, [before])
}
