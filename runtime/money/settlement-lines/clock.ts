/**
 * The settlement clock of a tenant: the service clock plus, in the sandbox, the time by which the tenant has advanced it. It
 * controls only cut-offs and the later stages of settlements, holds of cards, and waiting periods of payout destinations.
 * Times are milliseconds since the epoch.
 */
import type { Database, Statement } from '../../database/database.ts'

const READ: Statement = {
  name: 'settlement_clocks_read',
  text: 'SELECT c.offset_ms FROM settlement_clocks c WHERE c.tenant_id = $1',
}

/** Returns how far the tenant's settlement clock is ahead of the service clock, in milliseconds. */
export async function readClockOffset(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(READ, [space])).rows[0]?.offset_ms ?? 0
}

const LOCK: Statement = {
  name: 'settlement_clocks_lock',
  text: `INSERT INTO settlement_clocks AS c (tenant_id, offset_ms) VALUES ($1, 0)
         ON CONFLICT (tenant_id) DO UPDATE SET offset_ms = c.offset_ms RETURNING offset_ms`,
}

/** Returns the offset and locks the clock until the transaction ends, so that no settlement of the tenant moves. */
export async function lockClock(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(LOCK, [space])).rows[0]!.offset_ms
}

const MOVE: Statement = {
  name: 'settlement_clocks_move',
  text: 'UPDATE settlement_clocks SET offset_ms = $2 WHERE tenant_id = $1',
}

/**
 * Advances a clock that the caller has locked with `lockClock`.
 * @param offset in whole milliseconds, not less than before.
 */
export function moveClock(db: Database, space: string, offset: number): Promise<unknown> {
  return db.query(MOVE, [space, offset])
}
