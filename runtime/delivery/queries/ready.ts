/** The worker's side of the queue: who sends what, and when. */

import type { Statement } from '../../platform/database/database.ts'
import { byIndexSoon } from '../../platform/database/pool/by-index.ts'
import type { Pool, Soon } from '../../platform/database/pool/pool.ts'
import type { RetiredSecret } from '../../resources/webhook-endpoints/secrets.ts'
import {
  type ForTenants,
  perTenants,
  type TenantOf,
  type VisitRequest,
  visit,
  visitValues,
} from './senders.ts'

/** Attempts under way at an endpoint; halved by each time-out in a row, never below one. */
export const LANE_WIDTH = 64

/** Lanes of a tenant that one claim serves; the cursor goes on from there. */
const LANES = 16

/** Lanes that are passed over because they are full, before a tenant's turn is given up. */
const LANES_LOOKED_AT = 256

/** An attempt under a lease, with what sending it takes. Instants in milliseconds since the epoch. */
export interface Claimed {
  readonly tenant_id: string
  readonly attempt_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly trigger: 'schedule' | 'manual'
  /** Whether it is to be sent; otherwise it is to be cancelled: its endpoint is disabled, gone or was enabled anew since. */
  readonly wanted: boolean
  readonly due_at: number
  /** Of the endpoint now. */
  readonly generation: number
  readonly timeouts: number
  readonly url: string
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly event_type: string
  readonly event_version: string
  readonly body: string
  /** When the event was emitted. */
  readonly emitted_at: number
}

/** What one claim found at a tenant that nobody else was claiming for. */
export interface ClaimVisit {
  readonly claimed: number
  /** In its bucket before that. */
  readonly tokens: number
}

export interface Claim {
  /** As in `Plans`. */
  readonly kept: Soon<unknown>['kept']
  readonly rows: readonly Claimed[]
  /** By tenant; those are missing for whom somebody else is claiming. */
  readonly visits: ReadonlyMap<string, ClaimVisit>
}

// In what follows each step is a LATERAL of its own with an order that only one index has: whatever the statistics say,
// there is one plan. Hence also ranges of one value instead of equality, which would leave nothing to order by.

/**
 * The lanes of tenant `v` in turn, beginning after the one that was served last, each found by one descent of the index
 * however many attempts wait in it.
 */
const lanesInTurn = (of: TenantOf) => `lane AS (
    SELECT v.endpoint_id, false AS wrapped, 0 AS position
    UNION ALL
    SELECT step.endpoint_id, step.wrapped, lane.position + 1
      FROM lane CROSS JOIN LATERAL (
        SELECT * FROM (SELECT r.endpoint_id, lane.wrapped FROM webhook_ready r
                        WHERE r.tenant_id = ${of('v')} AND r.endpoint_id > lane.endpoint_id
                        ORDER BY r.endpoint_id LIMIT 1) AS further
        UNION ALL
        SELECT * FROM (SELECT r.endpoint_id, true FROM webhook_ready r
                        WHERE r.tenant_id = ${of('v')} AND NOT lane.wrapped
                        ORDER BY r.endpoint_id LIMIT 1) AS again
        LIMIT 1) AS step
     WHERE lane.position < ${LANES_LOOKED_AT} AND NOT (step.wrapped AND step.endpoint_id > v.endpoint_id)
  )`

/** What a lane may have under way less what is, whoever sends it. */
export const laneRoom = (lane: string, timeouts: string) =>
  `SELECT greatest(1, ${LANE_WIDTH} >> ${timeouts}) - count(*) AS attempts
     FROM (SELECT FROM webhook_ready r WHERE ${lane} AND r.lease_until >= $1
            ORDER BY r.lease_until LIMIT ${LANE_WIDTH}) AS leased`

const inLane = (of: TenantOf) => `r.tenant_id = ${of('v')} AND r.endpoint_id = lane.endpoint_id`

/** Lanes in which something is to be sent and that have room. */
const openLanes = (of: TenantOf) => `open AS MATERIALIZED (
    SELECT lane.endpoint_id, lane.position, room.attempts AS room, endpoint.*
      FROM lane
     CROSS JOIN LATERAL (SELECT FROM webhook_ready r WHERE ${inLane(of)} AND r.lease_until < $1
                          ORDER BY r.lease_until LIMIT 1) AS something
      LEFT JOIN LATERAL (SELECT e.status, e.generation, e.timeouts, e.url, e.secret, e.retired_secrets
                           FROM webhook_endpoints e
                          WHERE e.tenant_id = ${of('v')} AND e.id >= lane.endpoint_id AND e.id <= lane.endpoint_id
                          ORDER BY e.id LIMIT 1) AS endpoint ON true
     CROSS JOIN LATERAL (${laneRoom(inLane(of), 'coalesce(endpoint.timeouts, 0)')}) AS room
     WHERE lane.position > 0 AND room.attempts > 0
     LIMIT least(${LANES}, v.quota)
  )`

/**
 * Attempts of an open lane that nobody sends: first those whose sender was lost, then by when they were due; as many as
 * make the tenant's quota when all lanes have so many. Locked without waiting: somebody may be cancelling them.
 */
const idle = (of: TenantOf, leased: string) => `SELECT * FROM (
      SELECT r.ctid AS place, r.attempt_id, r.event_id, r.attempt, r.trigger, r.generation AS series, r.due_at
        FROM webhook_ready r
       WHERE r.tenant_id = ${of('v')} AND r.endpoint_id = open.endpoint_id AND ${leased}
       ORDER BY r.lease_until, r.due_at, r.attempt_id
       LIMIT least(open.room, share.attempts) FOR UPDATE SKIP LOCKED) AS attempt`

const picked = (of: TenantOf) => `picked AS MATERIALIZED (
    SELECT v.position AS tenant_position, v.tenant_id, v.tokens, v.place AS sender_place, turn.*
      FROM visit v
     CROSS JOIN LATERAL (
       WITH RECURSIVE ${lanesInTurn(of)}, ${openLanes(of)}, share AS MATERIALIZED (
         SELECT ceil(v.quota::float8 / nullif(count(*), 0))::integer AS attempts FROM open)
       SELECT idle.*, open.position AS lane_position, open.endpoint_id, open.generation, open.timeouts, open.url,
              open.secret, open.retired_secrets, row_number() OVER (PARTITION BY open.position) AS rank,
              open.url IS NOT NULL AND (idle.trigger = 'manual' OR
                open.status = 'enabled' AND coalesce(idle.series = open.generation, true)) AS is_open
         FROM share
        CROSS JOIN open
        CROSS JOIN LATERAL (${idle(of, `r.lease_until > '-infinity' AND r.lease_until < $1`)}
                            UNION ALL ${idle(of, `r.lease_until = '-infinity'`)}
                            LIMIT least(open.room, share.attempts)) AS idle
        ORDER BY rank, lane_position
        LIMIT v.quota) AS turn
     LIMIT $5
  )`

// What was picked is locked, so it is where it was seen: its place finds it again without any index.
const CLAIM: ForTenants<Statement> = perTenants('$4', ({ name, of, isIn }, tenants) => ({
  name: `webhook_ready_claim${name}`,
  text: `WITH ${visit(tenants, of)}, ${picked(of)}, leased AS (
    UPDATE webhook_ready SET lease_until = $2, token = $3::uuid
     WHERE ${isIn} AND ctid = ANY (ARRAY(SELECT place FROM picked))
  ), claimed AS MATERIALIZED (
    SELECT p.*, e.*, p.is_open AND e.body IS NOT NULL AS wanted
      FROM picked p
      LEFT JOIN LATERAL (SELECT e.type AS event_type, e.version AS event_version, e.body, e.created AS emitted_at
                           FROM events e
                          WHERE e.tenant_id = ${of('p')} AND e.id >= p.event_id AND e.id <= p.event_id
                          ORDER BY e.id LIMIT 1) AS e ON true
  ), served AS MATERIALIZED (
    SELECT tenant_id, min(sender_place::text)::tid AS place, min(tokens) - count(*) FILTER (WHERE wanted) AS tokens,
           (array_agg(endpoint_id ORDER BY lane_position DESC))[1] AS endpoint_id
      FROM claimed GROUP BY tenant_id
  ), spent AS (
    UPDATE webhook_senders w
       SET (tokens, endpoint_id) = (SELECT s.tokens, s.endpoint_id FROM served s WHERE s.tenant_id = w.tenant_id),
           refilled_at = greatest(w.refilled_at, $1), turn = w.turn + 1
     WHERE ${isIn} AND w.ctid = ANY (ARRAY(SELECT place FROM served))
  )
  SELECT v.tenant_id, v.tokens, c.attempt_id, c.endpoint_id, c.event_id, c.attempt, c.trigger, c.wanted, c.due_at,
         c.generation, c.timeouts, c.url, c.secret, c.retired_secrets, c.event_type, c.event_version, c.body,
         c.emitted_at
    FROM visit v LEFT JOIN claimed c ON c.tenant_id = v.tenant_id
   ORDER BY c.rank, c.tenant_position, c.lane_position`,
}))

/** The same with its values, for those who want to see its plan. */
export function claimStatement(request: VisitRequest): readonly [Statement, unknown[]] {
  return [CLAIM[request.of], visitValues(request)]
}

/**
 * Takes attempts of the queue under a lease: a few of each lane, the first of every lane before the second of any, as many
 * of a tenant as its bucket holds. Whoever claims for the same tenant at the same time gets none of it. A claim that a crash
 * of the server forgets is made again, and what was sent under it is sent again.
 */
export async function claimAttempts(pool: Pool, request: VisitRequest): Promise<Claim> {
  type Row = Claimed & { tokens: number; attempt_id: string | null }
  const { rows, kept } = await byIndexSoon<Row>(pool, ...claimStatement(request))
  const visits = new Map<string, ClaimVisit>()
  for (const { tenant_id, tokens, attempt_id } of rows) {
    const claimed = (visits.get(tenant_id)?.claimed ?? 0) + (attempt_id === null ? 0 : 1)
    visits.set(tenant_id, { claimed, tokens })
  }
  return { kept, rows: rows.filter(({ attempt_id }) => attempt_id !== null), visits }
}
