/** The spaces of named sandboxes: which one a sandbox has, and when it may be written to. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import { toTimestamp } from '../../database/types.ts'

// Lock order: the row of the tenant comes first, as in a key rotation, so that changes of one account are serialized.
export const LOCK_TENANT: Statement = {
  text: 'SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE',
}

const MOVE: Statement = { text: 'UPDATE sandboxes SET space = $3 WHERE tenant_id = $1 AND space = $2' }

const MOVE_KEYS: Statement = {
  text: 'UPDATE control.keys SET space = $3 WHERE tenant_id = $1 AND space = $2',
}

// Every write in a space ends with its audit entry. Before this statement, the write is part of the old space. After it,
// the write fails and is retried in the new space.
const CLOSE: Statement = {
  text: 'UPDATE audit_heads SET open_spaces = array_replace(open_spaces, $2, $3) WHERE tenant_id = $1',
}

const RETIRE: Statement = { text: 'INSERT INTO wiped_spaces (tenant_id, wiped_at) VALUES ($1, $2)' }

const LOCK_EVENTS: Statement = {
  text: 'SELECT FROM event_heads WHERE tenant_id = $1 FOR NO KEY UPDATE',
}

/**
 * Locks the end of the events of the default sandbox, for a transaction that also emits one there. Requests lock it before
 * the end of the audit log, which opens and closes spaces. @param space of the default sandbox.
 */
export function lockEvents(db: Database, space: string): void {
  pipelined(db.query(LOCK_EVENTS, [space]))
}

/** Leaves a space to the worker that empties wiped spaces. @param now machine time, milliseconds since the epoch. */
export function retireSpace(db: Database, space: string, now: number): void {
  pipelined(db.query(RETIRE, [space, toTimestamp(now)]))
}

// Workers need the bucket to deliver.
const REMOVE_BUCKET: Statement = { text: 'DELETE FROM webhook_senders WHERE tenant_id = $1' }

/** Ends the deliveries of a space. */
export function endDeliveries(db: Database, space: string): void {
  pipelined(db.query(REMOVE_BUCKET, [space]))
}

/**
 * Gives a named sandbox a different space, which its keys open from the commit on. Writes in the old one fail from then
 * on, and a worker deletes its rows. Call this in a transaction of the owner.
 *
 * @param now machine time, milliseconds since the epoch.
 * @returns false if the sandbox no longer has the old space.
 */
export async function moveSandbox(db: Database, old: string, space: string, now: number): Promise<boolean> {
  const { tenantId } = readSpace(old)
  pipelined(db.query(LOCK_TENANT, [tenantId]))
  if ((await db.query(MOVE, [tenantId, old, space])).count === 0) return false
  pipelined(db.query(MOVE_KEYS, [tenantId, old, space]))
  pipelined(db.query(CLOSE, [tenantId, old, space]))
  retireSpace(db, old, now)
  return true
}
