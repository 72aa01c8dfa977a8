/** Which blocks of ordered endpoints were announced by an event. */
import type { Database, Statement } from '../../../database/database.ts'

// A repeated attempt that waits for its time is what blocks.
const NOTE: Statement = {
  name: 'webhook_blocks_note',
  text: `INSERT INTO webhook_blocks AS b (tenant_id, endpoint_id, event_id, key, since)
         SELECT q.tenant_id, q.endpoint_id, q.event_id, h.key, coalesce(p.attempted_at, q.due_at)
           FROM webhook_waiting q
           LEFT JOIN webhook_attempts p ON p.tenant_id = $1 AND p.id = q.previous_id
           LEFT JOIN webhook_held_events h ON h.tenant_id = $1 AND h.endpoint_id = $2 AND h.event_id = q.event_id AND h.state <> 'held'
          WHERE q.tenant_id = $1 AND q.endpoint_id = $2
            AND NOT EXISTS (SELECT FROM webhook_blocks n
                             WHERE n.tenant_id = $1 AND n.endpoint_id = $2 AND n.event_id = q.event_id)
         RETURNING b.event_id`,
}

/** Notes the blocks of an endpoint, which must be locked, that were not noted before. Returns their events. */
export async function noteBlocks(
  tx: Database,
  tenantId: string,
  endpointId: string,
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ event_id: string }>(NOTE, [tenantId, endpointId])
  return rows.map(({ event_id }) => event_id)
}

/** A block that ended, because its event was delivered or skipped. `since` is in milliseconds since the epoch. */
export interface BlockEnd {
  readonly event_id: string
  readonly key: string | null
  readonly since: number
}

const NOTE_ENDS: Statement = {
  name: 'webhook_blocks_note_ends',
  text: `DELETE FROM webhook_blocks b
          WHERE b.tenant_id = $1 AND b.endpoint_id = $2
            AND NOT EXISTS (SELECT FROM webhook_ready r
                             WHERE r.tenant_id = $1 AND r.endpoint_id = $2 AND r.event_id = b.event_id)
            AND NOT EXISTS (SELECT FROM webhook_waiting q
                             WHERE q.tenant_id = $1 AND q.endpoint_id = $2 AND q.event_id = b.event_id)
         RETURNING b.event_id, b.key, b.since`,
}

/** Removes the noted blocks of an endpoint, which must be locked, that have ended. Returns them. */
export async function noteBlockEnds(
  tx: Database,
  tenantId: string,
  endpointId: string,
): Promise<readonly BlockEnd[]> {
  return (await tx.query<BlockEnd>(NOTE_ENDS, [tenantId, endpointId])).rows
}
