/** The event that blocks an ordered endpoint: how it is shown, and how it is skipped. */
import type { Database, Statement } from '../../database/database.ts'
import { findNextEvent, settleUpTo } from '../delivery/queries/fifo.ts'
import { cancelAttempts } from './cancel-attempts.ts'

const BLOCK: Statement = {
  name: 'webhook_endpoints_block',
  text: `SELECT q.event_id, q.attempt_id, q.due_at, p.response_status, p.error,
                (SELECT min(a.attempted_at) FROM webhook_attempts a
                  WHERE a.tenant_id = $1 AND a.event_id = q.event_id AND a.endpoint_id = $2) AS since
           FROM (SELECT w.event_id, w.attempt_id, w.due_at, w.previous_id FROM webhook_waiting w
                  WHERE w.tenant_id = $1 AND w.endpoint_id = $2
                 UNION ALL
                 SELECT r.event_id, r.attempt_id, r.due_at, r.previous_id FROM webhook_ready r
                  WHERE r.tenant_id = $1 AND r.endpoint_id = $2 AND r.previous_id IS NOT NULL) AS q
           JOIN webhook_attempts p ON p.tenant_id = $1 AND p.id = q.previous_id
          LIMIT 1`,
}

/** The delivery that blocks an ordered endpoint. Instants are in milliseconds since the epoch. */
export interface BlockRow {
  readonly event_id: string
  readonly attempt_id: string
  readonly due_at: number
  readonly response_status: number | null
  readonly error: string | null
  readonly since: number
}

/** Reads the delivery that failed and is repeated, while the events after it wait. */
export async function readBlock(
  db: Database,
  tenantId: string,
  endpointId: string,
): Promise<BlockRow | undefined> {
  return (await db.query<BlockRow>(BLOCK, [tenantId, endpointId])).rows[0]
}

const READ_SETTLED: Statement = {
  text: 'SELECT coalesce(w.settled, w.since, 0) AS settled FROM webhook_endpoints w WHERE w.tenant_id = $1 AND w.id = $2',
}

const IS_QUEUED: Statement = {
  text: 'SELECT r.attempt_id FROM webhook_ready r WHERE r.tenant_id = $1 AND r.endpoint_id = $2 LIMIT 1',
}

/**
 * Gives up the event that blocks an ordered endpoint, which must be locked, and cancels its scheduled attempt. Returns false if a
 * different event is next, or if an attempt of the endpoint is in the queue; the transaction must then be rolled back.
 *
 * @param sequence number of the event.
 */
export async function skipEvent(
  tx: Database,
  tenantId: string,
  endpointId: string,
  sequence: number,
  { now, machineNow }: { readonly now: number; readonly machineNow: number },
): Promise<boolean> {
  const [queued, { rows }] = await Promise.all([
    tx.query(IS_QUEUED, [tenantId, endpointId]),
    tx.query<{ settled: number }>(READ_SETTLED, [tenantId, endpointId]),
  ])
  if (queued.rows.length > 0) return false
  await cancelAttempts(tx, tenantId, endpointId, now, machineNow)
  for (let after = rows[0]!.settled; ; ) {
    const page = await findNextEvent(tx, tenantId, endpointId, after)
    if (page?.next) {
      if (page.next.sequence !== sequence) return false
      await settleUpTo(tx, tenantId, endpointId, sequence)
      return true
    }
    if (!page?.more) return false
    after = page.reached
  }
}
