/** The events that block an ordered endpoint, or keys of it: how they are shown, and how they are skipped. */
import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { BlockEnd } from '../delivery/queries/blocks.ts'
import { findNextEvent, IS_MISSING, settleUpTo } from '../delivery/queries/fifo.ts'
import { skipHeld } from '../delivery/queries/fifo-by-key.ts'
import { cancelAttempts } from './cancel-attempts.ts'
import type { EndpointRow } from './queries.ts'

type Schemas = components['schemas']

/** Waiting events that are counted, and events of the sequence that are searched for them. */
const COUNTED = 1000
const SEARCHED = 5000

const BLOCKS: Statement = {
  text: `SELECT q.event_id, q.attempt_id, q.due_at, p.response_status, p.error, h.key,
                (SELECT min(a.attempted_at) FROM webhook_attempts a
                  WHERE a.tenant_id = $1 AND a.event_id = q.event_id AND a.endpoint_id = $2) AS since,
                CASE WHEN h.key IS NULL THEN
                  (SELECT count(*) FROM (
                     SELECT FROM (SELECT n.id, n.type, n.audience, n.audience_endpoint_id, n.body, n.source FROM events n
                                   WHERE n.tenant_id = $1
                                     AND n.sequence > (SELECT b.sequence FROM events b WHERE b.tenant_id = $1 AND b.id = q.event_id)
                                   ORDER BY n.sequence LIMIT ${SEARCHED}) AS e
                       JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = $2
                      WHERE ${IS_MISSING} LIMIT ${COUNTED}) AS behind)
                ELSE
                  (SELECT count(*) FROM (
                     SELECT FROM webhook_held_events n
                      WHERE n.tenant_id = $1 AND n.endpoint_id = $2 AND n.key = h.key AND n.sequence > h.sequence
                      LIMIT ${COUNTED}) AS behind)
                END AS waiting
           FROM (SELECT w.event_id, w.attempt_id, w.due_at, w.previous_id FROM webhook_waiting w
                  WHERE w.tenant_id = $1 AND w.endpoint_id = $2
                 UNION ALL
                 SELECT r.event_id, r.attempt_id, r.due_at, r.previous_id FROM webhook_ready r
                  WHERE r.tenant_id = $1 AND r.endpoint_id = $2 AND r.previous_id IS NOT NULL) AS q
           JOIN webhook_attempts p ON p.tenant_id = $1 AND p.id = q.previous_id
           LEFT JOIN webhook_held_events h ON h.tenant_id = $1 AND h.endpoint_id = $2 AND h.event_id = q.event_id AND h.state <> 'held'
          WHERE $3::text[] IS NULL OR q.event_id = ANY ($3)
          ORDER BY q.event_id LIMIT $4`,
}

/** A delivery that blocks an ordered endpoint or a key. Instants are in milliseconds since the epoch. */
export interface BlockRow {
  readonly event_id: string
  readonly attempt_id: string
  readonly due_at: number
  readonly response_status: number | null
  readonly error: string | null
  /** Null: the endpoint as a whole is blocked. */
  readonly key: string | null
  readonly since: number
  /** Events that wait for it, at most `COUNTED`. */
  readonly waiting: number
}

/** Blocks that are shown. */
const SHOWN = 100

/**
 * Reads the deliveries of an ordered endpoint that failed and are repeated, while later events wait: the earliest events first.
 *
 * @param events only these events, at most `limit`.
 */
export async function readBlocks(
  db: Database,
  tenantId: string,
  endpointId: string,
  { events, limit = SHOWN }: { readonly events?: readonly string[]; readonly limit?: number } = {},
): Promise<readonly BlockRow[]> {
  const values = [tenantId, endpointId, events ?? null, events?.length ?? limit]
  return (await db.query<BlockRow>(BLOCKS, values)).rows
}

/** Returns a block in canonical form. */
export function showBlock(row: BlockRow): Schemas['WebhookBlock'] {
  return {
    event_id: row.event_id,
    delivery_attempt_id: row.attempt_id,
    reason: row.error ?? `the endpoint answered ${row.response_status}`,
    since: writeInstant(row.since),
    next_attempt_at: writeInstant(row.due_at),
    waiting_events: row.waiting,
    ...(row.key !== null && { key: row.key }),
  }
}

/** Returns the end of a block in canonical form. */
export function showBlockEnd({ event_id, key, since }: BlockEnd): Schemas['WebhookBlockEnd'] {
  return { event_id, since: writeInstant(since), ...(key !== null && { key }) }
}

const READ_SETTLED: Statement = {
  text: 'SELECT coalesce(w.settled, w.since, 0) AS settled FROM webhook_endpoints w WHERE w.tenant_id = $1 AND w.id = $2',
}

const IS_QUEUED: Statement = {
  text: 'SELECT r.attempt_id FROM webhook_ready r WHERE r.tenant_id = $1 AND r.endpoint_id = $2 LIMIT 1',
}

/**
 * Gives up the event that blocks an ordered endpoint, which must be locked, or a key of it, and cancels its scheduled attempt. Returns
 * false if a different event is next, or if its attempt is in the queue; the transaction must then be rolled back.
 */
export async function skipEvent(
  tx: Database,
  tenantId: string,
  { id: endpointId, fifo_key }: Pick<EndpointRow, 'id' | 'fifo_key'>,
  { id: eventId, sequence }: { readonly id: string; readonly sequence: number },
  { now, machineNow }: { readonly now: number; readonly machineNow: number },
): Promise<boolean> {
  if (fifo_key === 'object') return skipHeld(tx, tenantId, endpointId, eventId, toTimestamp(now))
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
