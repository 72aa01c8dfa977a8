/** What one endpoint of two received, and the other did not. */
import type { Database, Statement } from '../../database/database.ts'

/** Events that a page compares, and differences that it shows. */
export const COMPARED = 1000
const SHOWN = 50

// For each event, one scan of the index of attempts by event and endpoint.
const DIFFERENCES: Statement = {
  name: 'webhook_attempts_compare',
  text: `SELECT e.id, e.sequence, e.type, e.created, CASE WHEN got.by_one THEN $2::text ELSE $3::text END AS received_by
           FROM (SELECT n.id, n.sequence, n.type, n.created FROM events n WHERE n.tenant_id = $1 AND n.sequence < $4
                  ORDER BY n.sequence DESC LIMIT ${COMPARED}) AS e
          CROSS JOIN LATERAL (
            SELECT coalesce(bool_or(a.endpoint_id = $2), false) AS by_one, coalesce(bool_or(a.endpoint_id = $3), false) AS by_other
              FROM webhook_attempts a
             WHERE a.tenant_id = $1 AND a.event_id = e.id AND a.endpoint_id IN ($2, $3) AND a.status = 'succeeded') AS got
          WHERE got.by_one <> got.by_other
          ORDER BY e.sequence DESC LIMIT ${SHOWN + 1}`,
}

const START: Statement = {
  name: 'events_compared_from',
  text: `SELECT min(e.sequence) AS sequence, count(*) = ${COMPARED} AS more
           FROM (SELECT n.sequence FROM events n WHERE n.tenant_id = $1 AND n.sequence < $2
                  ORDER BY n.sequence DESC LIMIT ${COMPARED}) AS e`,
}

/** An event that only one of two endpoints received. `created` is in milliseconds since the epoch. */
export interface DeliveryDifference {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly created: number
  /** The endpoint that received it. */
  readonly received_by: string
}

export interface DeliveryComparison {
  /** The newest event first. */
  readonly differences: readonly DeliveryDifference[]
  /** Number of the sequence before which the next page begins; undefined if all events were compared. */
  readonly next: number | undefined
}

/** Compares at most `COMPARED` events before a number of the tenant's sequence, the newest ones. */
export async function compareDeliveries(
  db: Database,
  tenantId: string,
  [one, other]: readonly [string, string],
  before: number,
): Promise<DeliveryComparison> {
  const [{ rows }, { rows: starts }] = await Promise.all([
    db.query<DeliveryDifference>(DIFFERENCES, [tenantId, one, other, before]),
    db.query<{ sequence: number; more: boolean }>(START, [tenantId, before]),
  ])
  const differences = rows.slice(0, SHOWN)
  const { sequence, more } = starts[0]!
  return {
    differences,
    next: rows.length > SHOWN ? differences.at(-1)!.sequence : more ? sequence : undefined,
  }
}
