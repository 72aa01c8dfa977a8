import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

/** Statements of passkeys, on the control schema. Times are machine time in milliseconds. */

export interface Passkey {
  readonly credential_id: Buffer
  readonly name: string
  readonly transports: readonly string[]
  readonly created: number
  readonly used_at: number | null
}

const LIST: Statement = {
  text: `SELECT credential_id, name, transports, created, used_at FROM control.passkeys
         WHERE tenant_id = $1 AND member_id = $2 ORDER BY created, credential_id`,
}

export async function listPasskeys(
  db: Database,
  tenantId: string,
  memberId: string,
): Promise<readonly Passkey[]> {
  return (await db.query<Passkey>(LIST, [tenantId, memberId])).rows
}

export interface NewPasskey {
  readonly tenantId: string
  readonly memberId: string
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  readonly now: number
}

const ADD: Statement = {
  text: `INSERT INTO control.passkeys
           (tenant_id, credential_id, member_id, public_key, counter, transports, name, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
}

/** Adds the passkey. @returns false if the tenant already has it. */
export async function insertPasskey(db: Database, passkey: NewPasskey): Promise<boolean> {
  const { tenantId, credentialId, memberId, publicKey, counter, transports, name, now } = passkey
  const values = [tenantId, credentialId, memberId, publicKey, counter, transports, name, toTimestamp(now)]
  return (await db.query(ADD, values)).count > 0
}

const DELETE: Statement = {
  text: 'DELETE FROM control.passkeys WHERE tenant_id = $1 AND member_id = $2 AND credential_id = $3',
}

/** Deletes the passkey. @returns false if the member does not have it. */
export async function deletePasskey(
  db: Database,
  tenantId: string,
  memberId: string,
  credentialId: Buffer,
): Promise<boolean> {
  return (await db.query(DELETE, [tenantId, memberId, credentialId])).count > 0
}

/** The fields that are needed to verify a passkey signature. */
export interface KnownPasskey {
  readonly member_id: string
  readonly public_key: Buffer
}

const FIND: Statement = {
  text: `SELECT p.member_id, p.public_key FROM control.passkeys p
         JOIN control.members m ON m.tenant_id = p.tenant_id AND m.id = p.member_id
         WHERE p.tenant_id = $1 AND p.credential_id = $2`,
}

export async function findPasskey(
  db: Database,
  tenantId: string,
  credentialId: Buffer,
): Promise<KnownPasskey | undefined> {
  return (await db.query<KnownPasskey>(FIND, [tenantId, credentialId])).rows[0]
}

const USE: Statement = {
  text: `UPDATE control.passkeys SET counter = $3, used_at = $4
         WHERE tenant_id = $1 AND credential_id = $2 AND (counter < $3 OR (counter = 0 AND $3 = 0))`,
}

/** Stores the new counter. @returns false if the counter did not increase, so the passkey may be cloned (WebAuthn, 6.1.1). */
export async function usePasskey(
  db: Database,
  tenantId: string,
  credentialId: Buffer,
  counter: number,
  now: number,
): Promise<boolean> {
  return (await db.query(USE, [tenantId, credentialId, counter, toTimestamp(now)])).count > 0
}

const TAKE_CHALLENGE: Statement = {
  text: `INSERT INTO control.passkey_challenges (tenant_id, challenge, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING`,
}

/** Marks the challenge as used. @returns false if it was already used. */
export async function answerChallenge(
  db: Database,
  tenantId: string,
  challenge: string,
  expiresAt: number,
): Promise<boolean> {
  return (await db.query(TAKE_CHALLENGE, [tenantId, challenge, toTimestamp(expiresAt)])).count > 0
}

const SWEEP: Statement = { text: 'DELETE FROM control.passkey_challenges WHERE expires_at <= $1' }

/** Deletes expired challenges of all tenants. */
export function sweepPasskeyChallenges(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}
