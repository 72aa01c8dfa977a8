import type { MemberRole } from '../../account/members/users.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

/** Statements of sign-in, on the control schema. Times are machine time in milliseconds. */

/** A member who can sign in. */
export interface CandidateRow {
  readonly tenant_id: string
  readonly id: string
  readonly email: string
  readonly password_hash: string
  readonly totp_secret: Buffer
}

// A sign-in does not specify a tenant, so this statement finds members of all tenants by email address.
const CANDIDATES: Statement = {
  text: `SELECT tenant_id, id, email, password_hash, totp_secret FROM control.members
         WHERE lower(email) = $1 AND totp_secret IS NOT NULL ORDER BY created LIMIT $2`,
}

/** Returns members with the email address, oldest first. @param email in lower case. @param most maximum number of members. */
export async function findCandidates(
  db: Database,
  email: string,
  most: number,
): Promise<readonly CandidateRow[]> {
  return (await db.query<CandidateRow>(CANDIDATES, [email, most])).rows
}

const RENEW_HASH: Statement = {
  text: `UPDATE control.members SET password_hash = $4
         WHERE tenant_id = $1 AND id = $2 AND password_hash = $3`,
}

/** Replaces the hash with a new hash of the same password, unless the password was changed concurrently. */
export function renewHash(
  db: Database,
  { tenant_id, id, password_hash }: CandidateRow,
  hash: string,
): Promise<unknown> {
  return db.query(RENEW_HASH, [tenant_id, id, password_hash, hash])
}

export interface NewSession {
  readonly tenantId: string
  readonly digest: Buffer
  readonly memberId: string
  readonly now: number
  readonly expiresAt: number
  readonly ip: string
  readonly userAgent: string
}

const INSERT: Statement = {
  text: `WITH crowded AS (
           DELETE FROM control.sessions WHERE tenant_id = $1 AND digest IN (
             SELECT digest FROM control.sessions WHERE tenant_id = $1 AND member_id = $3
             ORDER BY created DESC OFFSET $8)
         )
         INSERT INTO control.sessions (tenant_id, digest, member_id, created, seen_at, expires_at, ip, user_agent)
         VALUES ($1, $2, $3, $4, $4, $5, $6, $7)`,
}

/** Inserts a session and deletes the oldest ones. @param others number of the member's other sessions that are kept. */
export function insertSession(db: Database, session: NewSession, others: number): Promise<unknown> {
  const { tenantId, digest, memberId, now, expiresAt, ip, userAgent } = session
  const times = [toTimestamp(now), toTimestamp(expiresAt)]
  return db.query(INSERT, [tenantId, digest, memberId, ...times, ip, userAgent, others])
}

export interface SessionRow {
  readonly member_id: string
  readonly email: string
  readonly role: MemberRole
  readonly tenant_name: string
  readonly time_zone: string | null
  readonly seen_at: number
}

const FIND: Statement = {
  text: `SELECT s.member_id, m.email, m.role, t.name AS tenant_name, m.time_zone, s.seen_at FROM control.sessions s
         JOIN control.members m ON m.tenant_id = s.tenant_id AND m.id = s.member_id
         JOIN control.tenants t ON t.id = s.tenant_id
         WHERE s.tenant_id = $1 AND s.digest = $2 AND s.expires_at > $3 AND s.seen_at > $4
                      -- A sign-in that was in progress when the member was disabled also created a session.
           AND m.totp_secret IS NOT NULL`,
}

/** Returns the session if it is valid. @param seenAfter sessions last seen at or before this time have ended. */
export async function findSession(
  db: Database,
  tenantId: string,
  digest: Buffer,
  now: number,
  seenAfter: number,
): Promise<SessionRow | undefined> {
  const values = [tenantId, digest, toTimestamp(now), toTimestamp(seenAfter)]
  return (await db.query<SessionRow>(FIND, values)).rows[0]
}

export interface ListedSession {
  readonly digest: Buffer
  readonly created: number
  readonly seen_at: number
  readonly ip: string
  readonly user_agent: string
}

const LIST: Statement = {
  text: `SELECT digest, created, seen_at, ip, user_agent FROM control.sessions
         WHERE tenant_id = $1 AND member_id = $2 AND expires_at > $3 AND seen_at > $4
         ORDER BY seen_at DESC, created DESC`,
}

/** Returns the valid sessions of a member, most recent first. @param seenAfter see `findSession`. */
export async function listSessions(
  db: Database,
  tenantId: string,
  memberId: string,
  now: number,
  seenAfter: number,
): Promise<readonly ListedSession[]> {
  const values = [tenantId, memberId, toTimestamp(now), toTimestamp(seenAfter)]
  return (await db.query<ListedSession>(LIST, values)).rows
}

const SEE: Statement = {
  text: 'UPDATE control.sessions SET seen_at = $3 WHERE tenant_id = $1 AND digest = $2 AND seen_at < $3',
}

export function seeSession(db: Database, tenantId: string, digest: Buffer, now: number): Promise<unknown> {
  return db.query(SEE, [tenantId, digest, toTimestamp(now)])
}

const DELETE_ONE: Statement = {
  text: 'DELETE FROM control.sessions WHERE tenant_id = $1 AND digest = $2 RETURNING member_id',
}

/** Deletes a session. @returns its member, or undefined if there was no such session. */
export async function deleteSession(
  db: Database,
  tenantId: string,
  digest: Buffer,
): Promise<string | undefined> {
  const { rows } = await db.query<{ member_id: string }>(DELETE_ONE, [tenantId, digest])
  return rows[0]?.member_id
}

const DELETE_ALL: Statement = {
  text: 'DELETE FROM control.sessions WHERE tenant_id = $1 AND member_id = $2',
}

export async function deleteSessions(db: Database, tenantId: string, memberId: string): Promise<number> {
  return (await db.query(DELETE_ALL, [tenantId, memberId])).count
}

const SWEEP: Statement = { text: 'DELETE FROM control.sessions WHERE expires_at <= $1' }

/** Deletes expired sessions of all tenants. */
export function sweepSessions(db: Database, by: number): Promise<unknown> {
  return db.query(SWEEP, [toTimestamp(by)])
}

const OWN: Statement = {
  text: `SELECT id, password_hash, totp_secret FROM control.members
         WHERE tenant_id = $1 AND id = $2 AND totp_secret IS NOT NULL`,
}

/** Returns undefined if the member does not exist or cannot sign in. */
export async function findOwnCredentials(
  db: Database,
  tenantId: string,
  memberId: string,
): Promise<Pick<CandidateRow, 'id' | 'password_hash' | 'totp_secret'> | undefined> {
  return (await db.query<CandidateRow>(OWN, [tenantId, memberId])).rows[0]
}

const SET_HASH: Statement = {
  text: 'UPDATE control.members SET password_hash = $3 WHERE tenant_id = $1 AND id = $2',
}

export function setPasswordHash(
  db: Database,
  tenantId: string,
  memberId: string,
  hash: string,
): Promise<unknown> {
  return db.query(SET_HASH, [tenantId, memberId, hash])
}

const SET_ZONE: Statement = {
  text: `UPDATE control.members SET time_zone = $3
         WHERE tenant_id = $1 AND id = $2 AND time_zone IS DISTINCT FROM $3`,
}

/** Sets the time zone of a member. @returns whether it was another one before. */
export async function setTimeZone(
  db: Database,
  tenantId: string,
  memberId: string,
  zone: string,
): Promise<boolean> {
  return (await db.query(SET_ZONE, [tenantId, memberId, zone])).count > 0
}

const DELETE_OTHERS: Statement = {
  text: `DELETE FROM control.sessions
         WHERE tenant_id = $1 AND member_id = $2 AND digest IS DISTINCT FROM $3::bytea`,
}

/** Deletes the member's sessions. @param kept digest of a session that is not deleted. */
export function deleteOtherSessions(
  db: Database,
  tenantId: string,
  memberId: string,
  kept: Buffer | undefined,
): Promise<unknown> {
  return db.query(DELETE_OTHERS, [tenantId, memberId, kept ?? null])
}

const ADD_CODES: Statement = {
  text: `INSERT INTO control.recovery_codes (tenant_id, member_id, digest)
         SELECT $1, $2, digest FROM unnest($3::bytea[]) AS digest`,
}

export function addRecoveryCodes(
  db: Database,
  tenantId: string,
  memberId: string,
  digests: readonly Buffer[],
): Promise<unknown> {
  return db.query(ADD_CODES, [tenantId, memberId, digests])
}

const DELETE_CODES: Statement = {
  text: 'DELETE FROM control.recovery_codes WHERE tenant_id = $1 AND member_id = $2',
}

export function deleteRecoveryCodes(db: Database, tenantId: string, memberId: string): Promise<unknown> {
  return db.query(DELETE_CODES, [tenantId, memberId])
}

const DELETE_CODE: Statement = {
  text: 'DELETE FROM control.recovery_codes WHERE tenant_id = $1 AND member_id = $2 AND digest = $3',
}

/** Deletes a recovery code. @returns whether it existed. */
export async function deleteRecoveryCode(
  db: Database,
  tenantId: string,
  memberId: string,
  digest: Buffer,
): Promise<boolean> {
  return (await db.query(DELETE_CODE, [tenantId, memberId, digest])).count > 0
}

const COUNT_CODES: Statement = {
  text: `SELECT count(*)::integer AS count FROM control.recovery_codes
         WHERE tenant_id = $1 AND member_id = $2`,
}

export async function countRecoveryCodes(db: Database, tenantId: string, memberId: string): Promise<number> {
  return (await db.query<{ count: number }>(COUNT_CODES, [tenantId, memberId])).rows[0]!.count
}
