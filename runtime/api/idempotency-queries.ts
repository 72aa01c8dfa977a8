import type { Database, Statement } from '../platform/database/database.ts'
import { inSteps } from '../platform/database/steps.ts'
import { toTimestamp } from '../platform/database/types.ts'

/** The constraint that is violated where a response is stored under the key already. */
export const ANSWERED_ALREADY = 'idempotency_answers_pkey'

/** What was answered under a key. */
export interface StoredResponse {
  readonly fingerprint: Buffer
  readonly status: number
  /** JSON in the form of the canonical version: the body of success, or an error object. Null where it is sealed. */
  readonly body: string | null
  readonly sealed: Buffer | null
  /** Milliseconds since the epoch, service time. */
  readonly created: number
}

export interface Claim {
  /** Whether no other request with this key is running. */
  readonly mine: boolean
  readonly stored: StoredResponse | undefined
}

interface ClaimRow {
  readonly mine: boolean
  readonly fingerprint: Buffer | null
  readonly status: number | null
  readonly body: string | null
  readonly sealed: Buffer | null
  readonly created: number | null
}

const CLAIM: Statement = {
  name: 'idempotency_claim',
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS mine,
                a.fingerprint, a.status, a.body, a.sealed, a.created
         FROM (VALUES (1)) AS one
         LEFT JOIN idempotency_answers a ON a.tenant_id = $2 AND a.key = $3::uuid`,
}

/**
 * Takes the key until the end of the transaction and reads the response under it. Another may be stored between the
 * reading and the lock: then the primary key is violated at the end.
 */
export async function claimKey(
  db: Database,
  environment: string,
  tenantId: string,
  key: string,
): Promise<Claim> {
  // Locks are shared by all schemas of the database, so their name contains the environment.
  const { rows } = await db.query<ClaimRow>(CLAIM, [`${environment}:${tenantId}:${key}`, tenantId, key])
  const row = rows[0]!
  return { mine: row.mine, stored: toAnswer(row) }
}

function toAnswer(row: ClaimRow): StoredResponse | undefined {
  const { fingerprint, status, body, sealed, created } = row
  if (fingerprint === null || status === null || created === null) return undefined
  return { fingerprint, status, body, sealed, created }
}

const READ: Statement = {
  name: 'idempotency_read',
  text: `SELECT fingerprint, status, body, sealed, created FROM idempotency_answers
         WHERE tenant_id = $1 AND key = $2::uuid`,
}

export async function readAnswer(
  db: Database,
  tenantId: string,
  key: string,
): Promise<StoredResponse | undefined> {
  const { rows } = await db.query<StoredResponse>(READ, [tenantId, key])
  return rows[0]
}

const FORGET: Statement = {
  name: 'idempotency_forget',
  text: 'DELETE FROM idempotency_answers WHERE tenant_id = $1 AND key = $2::uuid AND created <= $3',
}

/** Deletes the response under a key where it is as old as `createdBy` or older. */
export function forgetAnswer(
  db: Database,
  tenantId: string,
  key: string,
  createdBy: number,
): Promise<unknown> {
  return db.query(FORGET, [tenantId, key, toTimestamp(createdBy)])
}

const SWEEP: Statement = {
  text: `DELETE FROM idempotency_answers
         WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM idempotency_answers WHERE created <= $1 ORDER BY created LIMIT $2 FOR UPDATE SKIP LOCKED))`,
  long: true,
  // A ctid is one in each shard, and no lock is over all of them: deletes up to the time when the oldest were stored.
  steps: inSteps(
    undefined,
    `DELETE FROM idempotency_answers WHERE created <= (
       SELECT max(oldest.created) FROM (
         SELECT created FROM idempotency_answers WHERE created <= $1 ORDER BY created LIMIT $2) AS oldest)`,
  ),
}

/** Deletes the oldest responses of all tenants, about `limit` at a time, as old as `createdBy` or older; says how many. */
export async function sweepAnswers(db: Database, createdBy: number, limit: number): Promise<number> {
  const { count } = await db.query(SWEEP, [toTimestamp(createdBy), limit])
  return count
}
