/**
 * The settlement clock of a tenant: the service clock, and in the sandbox what the tenant has moved it ahead. Cut-offs, what follows
 * on them, the holds of cards and of payout destinations go by it, and nothing else. Times in milliseconds since the epoch.
 */
import type { Database, Statement } from '../../database/database.ts'

const READ: Statement = {
  name: 'settlement_clocks_read',
  text: 'SELECT c.offset_ms FROM settlement_clocks c WHERE c.tenant_id = $1',
}

/** How far the tenant's settlement clock is ahead of the service clock, in milliseconds. */
export async function readClockOffset(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(READ, [space])).rows[0]?.offset_ms ?? 0
}

const LOCK: Statement = {
  name: 'settlement_clocks_lock',
  text: `INSERT INTO settlement_clocks AS c (tenant_id, offset_ms) VALUES ($1, 0)
         ON CONFLICT (tenant_id) DO UPDATE SET offset_ms = c.offset_ms RETURNING offset_ms`,
}

/** The same as nobody else can change it before the end of the transaction; no settlement of the tenant moves meanwhile. */
export async function lockClock(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(LOCK, [space])).rows[0]!.offset_ms
}

const MOVE: Statement = {
  name: 'settlement_clocks_move',
  text: 'UPDATE settlement_clocks SET offset_ms = $2 WHERE tenant_id = $1',
}

/** Moves a clock that `lockClock` holds. @param offset in whole milliseconds, no less than before. */
export function moveClock(db: Database, space: string, offset: number): Promise<unknown> {
  return db.query(MOVE, [space, offset])
}
