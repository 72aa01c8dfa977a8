/** The worker's side of the queue: who sends what, and when. */
import type { RetiredSecret } from '../events/secrets.ts'
import type { Database, Result, Statement } from './database.ts'
import type { Pool } from './pool.ts'
import { toTimestamp } from './types.ts'

/** Attempts that a tenant may make in a second, and how many at once when it has made none for a while. */
export const ATTEMPTS_PER_SECOND = 100
export const BURST = 100

/** Attempts under way at an endpoint; halved by each time-out in a row, never below one. */
export const LANE_WIDTH = 64

/** Tenants and lanes of a tenant that one claim looks at; the cursors go on from there. */
const TENANTS = 32
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

export interface ClaimRequest {
  /** Machine time. */
  readonly now: number
  readonly leaseUntil: number
  /** UUID, of this claim alone. */
  readonly token: string
  /** The tenant after whom to begin; empty: at the beginning. */
  readonly after: string
  /** Attempts at most. */
  readonly limit: number
  /** Of one tenant at most; `allowances` are those of tenants who may have fewer. */
  readonly allowance: number
  readonly allowances: Readonly<Record<string, number>>
}

export interface Claim {
  readonly rows: readonly Claimed[]
  /** The last tenant that was looked at; undefined at the end of all. */
  readonly reached: string | undefined
}

/**
 * The queue is empty one minute and holds a million rows the next, and a plan made for the empty one reads all of them: so
 * nothing but indexes is offered, for this transaction. Behind a pooler nothing else would be ours.
 */
const BY_INDEX: Statement = {
  name: 'plan_by_index',
  text: `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
                set_config('enable_material', 'off', true), set_config('enable_memoize', 'off', true),
                set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`,
}

/**
 * Each statement with plans that use indexes only. It leaves in one packet with the COMMIT behind it: a process that is
 * stopped at whatever moment leaves no transaction open, whose locks would keep other workers from its tenants.
 */
export function byIndex(pool: Pool): Database {
  return {
    async query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>> {
      const answer = await pool.transaction(async (db) => {
        useIndexes(db)
        const sent = db.query<Row>(statement, values)
        return () => sent // in a function: nobody shall wait for it before the COMMIT
      })
      return answer()
    },
  }
}

/** The same for what follows in a transaction. */
export function useIndexes(db: Database): void {
  db.query(BY_INDEX)
}

// In what follows each step is a LATERAL of its own with an order that only one index has: whatever the statistics say,
// there is one plan. Hence also ranges of one value instead of equality, which would leave nothing to order by.

/** The tenants for whom something waits, from the cursor on, each found by one descent of the index. */
const TENANTS_IN_TURN = `tenant AS (
    SELECT * FROM (SELECT r.tenant_id, 1 AS position FROM webhook_ready r
                    WHERE r.tenant_id > $4 ORDER BY r.tenant_id LIMIT 1) AS first
    UNION ALL
    SELECT (SELECT r.tenant_id FROM webhook_ready r WHERE r.tenant_id > t.tenant_id ORDER BY r.tenant_id LIMIT 1),
           t.position + 1
      FROM tenant t WHERE t.tenant_id IS NOT NULL AND t.position < ${TENANTS}
  )`

const REFILLED = `least(${BURST}, w.tokens::numeric
      + greatest(0, extract(epoch FROM $1::timestamptz - w.refilled_at)) * ${ATTEMPTS_PER_SECOND})`

/**
 * The tenant's bucket, locked, where there is something in it and nobody else is claiming. Who waited for nobody may still
 * be too late: if the turn moved after this statement began, another claim has taken what this one still sees.
 */
const SENDER = `SELECT w.ctid AS place, w.tenant_id, w.endpoint_id, ${REFILLED} AS tokens,
           least(floor(${REFILLED}), coalesce(($7::jsonb ->> w.tenant_id)::integer, $6))::integer AS quota
      FROM webhook_senders w
     WHERE w.tenant_id = t.tenant_id AND w.turn = seen.turn AND ${REFILLED} >= 1
       FOR NO KEY UPDATE SKIP LOCKED`

/**
 * The lanes of tenant `s` in turn, beginning after the one that was served last, each found by one descent of the index
 * however many attempts wait in it.
 */
const LANES_IN_TURN = `lane AS (
    SELECT s.endpoint_id, false AS wrapped, 0 AS position
    UNION ALL
    SELECT step.endpoint_id, step.wrapped, lane.position + 1
      FROM lane CROSS JOIN LATERAL (
        SELECT * FROM (SELECT r.endpoint_id, lane.wrapped FROM webhook_ready r
                        WHERE r.tenant_id = s.tenant_id AND r.endpoint_id > lane.endpoint_id
                        ORDER BY r.endpoint_id LIMIT 1) AS further
        UNION ALL
        SELECT * FROM (SELECT r.endpoint_id, true FROM webhook_ready r
                        WHERE r.tenant_id = s.tenant_id AND NOT lane.wrapped
                        ORDER BY r.endpoint_id LIMIT 1) AS again
        LIMIT 1) AS step
     WHERE lane.position < ${LANES_LOOKED_AT} AND NOT (step.wrapped AND step.endpoint_id > s.endpoint_id)
  )`

const IN_LANE = 'r.tenant_id = s.tenant_id AND r.endpoint_id = lane.endpoint_id'

/** Lanes in which something is to be sent and that have room: what they may have under way less what is, whoever sends it. */
const OPEN_LANES = `open AS MATERIALIZED (
    SELECT lane.endpoint_id, lane.position, room.attempts AS room, endpoint.*
      FROM lane
     CROSS JOIN LATERAL (SELECT FROM webhook_ready r WHERE ${IN_LANE} AND r.lease_until < $1
                          ORDER BY r.lease_until LIMIT 1) AS something
      LEFT JOIN LATERAL (SELECT e.status, e.generation, e.timeouts, e.url, e.secret, e.retired_secrets
                           FROM webhook_endpoints e
                          WHERE e.tenant_id = s.tenant_id AND e.id >= lane.endpoint_id AND e.id <= lane.endpoint_id
                          ORDER BY e.id LIMIT 1) AS endpoint ON true
     CROSS JOIN LATERAL (SELECT greatest(1, ${LANE_WIDTH} >> coalesce(endpoint.timeouts, 0)) - count(*) AS attempts
                           FROM (SELECT FROM webhook_ready r WHERE ${IN_LANE} AND r.lease_until >= $1
                                  ORDER BY r.lease_until LIMIT ${LANE_WIDTH}) AS leased) AS room
     WHERE lane.position > 0 AND room.attempts > 0
     LIMIT least(${LANES}, s.quota)
  )`

/**
 * Attempts of an open lane that nobody sends: first those whose sender was lost, then by when they were due; as many as
 * make the tenant's quota when all lanes have so many. Locked without waiting: somebody may be cancelling them.
 */
const idle = (leased: string) => `SELECT * FROM (
      SELECT r.ctid AS place, r.attempt_id, r.event_id, r.attempt, r.trigger, r.generation AS series, r.due_at
        FROM webhook_ready r
       WHERE r.tenant_id = s.tenant_id AND r.endpoint_id = open.endpoint_id AND ${leased}
       ORDER BY r.lease_until, r.due_at, r.attempt_id
       LIMIT least(open.room, share.attempts) FOR UPDATE SKIP LOCKED) AS attempt`

const PICKED = `picked AS MATERIALIZED (
    SELECT t.position AS tenant_position, s.tenant_id, s.tokens, s.place AS sender_place, turn.*
      FROM tenant t
     CROSS JOIN LATERAL (SELECT w.turn FROM webhook_senders w WHERE w.tenant_id = t.tenant_id LIMIT 1) AS seen
     CROSS JOIN LATERAL (${SENDER}) AS s
     CROSS JOIN LATERAL (
       WITH RECURSIVE ${LANES_IN_TURN}, ${OPEN_LANES}, share AS MATERIALIZED (
         SELECT ceil(s.quota::float8 / nullif(count(*), 0))::integer AS attempts FROM open)
       SELECT idle.*, open.position AS lane_position, open.endpoint_id, open.generation, open.timeouts, open.url,
              open.secret, open.retired_secrets, row_number() OVER (PARTITION BY open.position) AS rank,
              open.url IS NOT NULL AND (idle.trigger = 'manual' OR
                open.status = 'enabled' AND coalesce(idle.series = open.generation, true)) AS is_open
         FROM share
        CROSS JOIN open
        CROSS JOIN LATERAL (${idle(`r.lease_until > '-infinity' AND r.lease_until < $1`)}
                            UNION ALL ${idle(`r.lease_until = '-infinity'`)}
                            LIMIT least(open.room, share.attempts)) AS idle
        ORDER BY rank, lane_position
        LIMIT s.quota) AS turn
     LIMIT $5
  )`

// What was picked is locked, so it is where it was seen: its place finds it again without any index.
const CLAIM: Statement = {
  name: 'webhook_ready_claim',
  text: `WITH RECURSIVE ${TENANTS_IN_TURN}, ${PICKED}, leased AS (
    UPDATE webhook_ready SET lease_until = $2, token = $3::uuid WHERE ctid = ANY (ARRAY(SELECT place FROM picked))
  ), claimed AS MATERIALIZED (
    SELECT p.*, v.*, p.is_open AND v.body IS NOT NULL AS wanted
      FROM picked p
      LEFT JOIN LATERAL (SELECT e.type AS event_type, e.version AS event_version, e.body, e.created AS emitted_at
                           FROM events e
                          WHERE e.tenant_id = p.tenant_id AND e.id >= p.event_id AND e.id <= p.event_id
                          ORDER BY e.id LIMIT 1) AS v ON true
  ), served AS MATERIALIZED (
    SELECT tenant_id, min(sender_place::text)::tid AS place, min(tokens) - count(*) FILTER (WHERE wanted) AS tokens,
           (array_agg(endpoint_id ORDER BY lane_position DESC))[1] AS endpoint_id
      FROM claimed GROUP BY tenant_id
  ), spent AS (
    UPDATE webhook_senders w
       SET (tokens, endpoint_id) = (SELECT s.tokens, s.endpoint_id FROM served s WHERE s.tenant_id = w.tenant_id),
           refilled_at = greatest(w.refilled_at, $1), turn = w.turn + 1
     WHERE w.ctid = ANY (ARRAY(SELECT place FROM served))
  )
  SELECT CASE WHEN (SELECT count(*) FROM picked) >= $5
              THEN (SELECT tenant_id FROM picked ORDER BY tenant_position DESC LIMIT 1)
              ELSE (SELECT tenant_id FROM tenant ORDER BY position DESC LIMIT 1) END AS reached,
         c.tenant_id, c.attempt_id, c.endpoint_id, c.event_id, c.attempt, c.trigger, c.wanted, c.due_at, c.generation,
         c.timeouts, c.url, c.secret, c.retired_secrets, c.event_type, c.event_version, c.body, c.emitted_at
    FROM (VALUES (1)) AS one LEFT JOIN claimed c ON true
   ORDER BY c.rank, c.tenant_position, c.lane_position`,
}

/** The same with its values, for those who want to see its plan. */
export function claimStatement(request: ClaimRequest): readonly [Statement, unknown[]] {
  const { now, leaseUntil, token, after, limit, allowance, allowances } = request
  const values = [toTimestamp(now), toTimestamp(leaseUntil), token, after, limit, allowance]
  return [CLAIM, [...values, JSON.stringify(allowances)]]
}

/**
 * Takes attempts that are due under a lease: a few of each lane, the first of every lane before the second of any, as many
 * of a tenant as its bucket holds. Whoever claims for the same tenant at the same time gets none of it.
 */
export async function claimAttempts(pool: Pool, request: ClaimRequest): Promise<Claim> {
  const { rows } = await byIndex(pool).query<Claimed & { reached: string | null }>(...claimStatement(request))
  return {
    rows: rows.filter(({ attempt_id }) => attempt_id !== null),
    reached: rows[0]?.reached ?? undefined,
  }
}
