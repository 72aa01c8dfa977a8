/**
 * The settlement clock of a tenant: the service clock plus, in the sandbox, the time by which the tenant has advanced it. It
 * controls only cut-offs and the later stages of settlements, holds of cards, and waiting periods of payout destinations.
 * Times are milliseconds since the epoch.
 *
 * The clock of a named sandbox can start in the past. Until it has been advanced to the service clock, every request in the
 * sandbox gets its time as the service time, and workers leave the sandbox alone.
 */
import type { Database, Statement } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'

const READ: Statement = {
  name: 'settlement_clocks_read',
  text: 'SELECT c.offset_ms FROM settlement_clocks c WHERE c.tenant_id = $1',
}

async function readOffset(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(READ, [space])).rows[0]?.offset_ms ?? 0
}

/** Returns how far the settlement clock is ahead of the service time of requests, in milliseconds. */
export async function readClockOffset(db: Database, space: string): Promise<number> {
  return Math.max(0, await readOffset(db, space))
}

/** Returns the service time in a space. Only in named sandboxes, it can be behind the service clock. @param now of that clock. */
export async function timeIn(db: Database, space: string, now: number): Promise<number> {
  if (readSpace(space).sandbox === undefined) return now
  return now + Math.min(0, await readOffset(db, space))
}

const LOCK: Statement = {
  name: 'settlement_clocks_lock',
  text: `INSERT INTO settlement_clocks AS c (tenant_id, offset_ms) VALUES ($1, 0)
         ON CONFLICT (tenant_id) DO UPDATE SET offset_ms = c.offset_ms RETURNING greatest(offset_ms, 0) AS offset_ms`,
}

/** Returns the offset and locks the clock until the transaction ends, so that no settlement of the tenant moves. */
export async function lockClock(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(LOCK, [space])).rows[0]!.offset_ms
}

const MOVE: Statement = {
  name: 'settlement_clocks_move',
  text: 'UPDATE settlement_clocks SET offset_ms = $2 + least(offset_ms, 0) WHERE tenant_id = $1',
}

/**
 * Advances a clock that the caller has locked with `lockClock`.
 * @param offset in whole milliseconds, not less than `lockClock` returned.
 */
export function moveClock(db: Database, space: string, offset: number): Promise<unknown> {
  return db.query(MOVE, [space, offset])
}

const START: Statement = {
  text: 'INSERT INTO settlement_clocks (tenant_id, offset_ms) VALUES ($1, $2)',
}

/** Starts the clock of a new space in the past. @param lag in whole milliseconds. */
export function startClock(db: Database, space: string, lag: number): Promise<unknown> {
  return db.query(START, [space, -lag])
}
