import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'

/** A token as stored. Times are milliseconds since the epoch, in service time. */
export interface TokenRow {
  readonly id: string
  readonly type: components['schemas']['TokenType']
  /** Sealed; null once the token is used. */
  readonly details: Buffer | null
  readonly expires_at: number
  readonly used_at: number | null
  readonly created: number
}

const INSERT: Statement = {
  name: 'tokens_insert',
  text: `INSERT INTO tokens (tenant_id, id, type, details, expires_at, created) VALUES ($1, $2, $3, $4, $5, $6)`,
}

/** Writes a new, unused token. */
export function insertToken(db: Database, tenantId: string, row: TokenRow): Promise<unknown> {
  const { id, type, details, expires_at, created } = row
  return db.query(INSERT, [tenantId, id, type, details, toTimestamp(expires_at), toTimestamp(created)])
}

const LOCK: Statement = {
  name: 'tokens_lock',
  text: `SELECT id, type, details, expires_at, used_at, created FROM tokens WHERE tenant_id = $1 AND id = $2
            FOR NO KEY UPDATE`,
}

/** Returns a token and locks it until the transaction ends. */
export async function lockToken(db: Database, tenantId: string, id: string): Promise<TokenRow | undefined> {
  return (await db.query<TokenRow>(LOCK, [tenantId, id])).rows[0]
}

const USE: Statement = {
  name: 'tokens_use',
  text: 'UPDATE tokens SET used_at = $3, details = NULL WHERE tenant_id = $1 AND id = $2',
}

/** Marks a token as used and deletes its details. */
export function markUsed(db: Database, tenantId: string, id: string, now: number): Promise<unknown> {
  return db.query(USE, [tenantId, id, toTimestamp(now)])
}

const SWEEP: Statement = {
  name: 'tokens_sweep',
  text: `DELETE FROM tokens WHERE expires_at <= (
           SELECT max(expires_at) FROM (SELECT expires_at FROM tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2) AS batch)`,
}

/**
 * Deletes about `limit` tokens of all tenants that have expired, and returns how many.
 * @param expiredBy service time.
 */
export async function sweepTokens(db: Database, expiredBy: number, limit: number): Promise<number> {
  return (await db.query(SWEEP, [toTimestamp(expiredBy), limit])).count
}
