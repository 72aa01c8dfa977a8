/** The first attempts to deliver events, planned by workers in the order in which the events were committed. */

import type { Statement } from '../../platform/database/database.ts'
import { byIndexSoon, useIndexes } from '../../platform/database/pool/by-index.ts'
import type { Pool, Soon } from '../../platform/database/pool/pool.ts'
import { inSteps } from '../../platform/database/steps.ts'
import { type FoundPlan, keepPlan } from './plan-of-one.ts'
import { type Claimed, laneRoom } from './ready.ts'
import {
  type ForTenants,
  perTenants,
  type TenantOf,
  type VisitRequest,
  visit,
  visitValues,
} from './senders.ts'

/** Attempts of a tenant that one statement plans, but at least those of one event. */
const PLANNED_AT_ONCE = 500

/** What one visit planned for a tenant. */
export interface PlanVisit {
  /** Events are left. */
  readonly more: boolean
  /** Attempts are in the queue that nobody makes: they are to be claimed. */
  readonly queued: boolean
}

export interface Plans {
  /** To be waited for before anything of an event is told: until then a crash of the server may undo that it happened. */
  readonly kept: Soon<unknown>['kept']
  /** Attempts that may be made at once, under the lease. */
  readonly rows: readonly Claimed[]
  /** By tenant; those are missing whom somebody else is visiting. */
  readonly visits: ReadonlyMap<string, PlanVisit>
}

/** Events after the one that was planned last, as many as make enough attempts with all endpoints of the tenant. */
const next = (of: TenantOf, columns: string) => `SELECT ${columns} FROM events e
      WHERE e.tenant_id = ${of('v')} AND e.sequence > v.planned ORDER BY e.sequence LIMIT size.events`

const NEEDED = 'e.id, e.sequence, e.type, e.version, e.body, e.created, e.audience, e.audience_endpoint_id'

/** Up to where this visit plans: the end of the sequence where all that is left is so little. */
const reach = (of: TenantOf) => `reach AS MATERIALIZED (
    SELECT v.*, size.events, next.more,
           CASE WHEN next.more THEN next.sequence ELSE greatest(v.planned, next.sequence, head.sequence) END AS reached
      FROM visit v
      LEFT JOIN event_heads head ON head.tenant_id = ${of('v')}
     CROSS JOIN LATERAL (SELECT greatest(1, ${PLANNED_AT_ONCE} / greatest(1, count(*))) AS events
                           FROM webhook_endpoints w WHERE w.tenant_id = ${of('v')}) AS size
     CROSS JOIN LATERAL (SELECT max(n.sequence) AS sequence, count(*) >= size.events AS more
                           FROM (${next(of, 'e.sequence')}) AS n) AS next
  )`

/** Whom an event goes to: endpoints that were there before it, as they are now. */
const RECIPIENT = `n.audience IS NOT NULL AND coalesce(n.sequence > v.since, n.created >= v.created)
       AND CASE n.audience WHEN 'only' THEN v.id = n.audience_endpoint_id
                           WHEN 'others' THEN v.id <> n.audience_endpoint_id AND v.status = 'enabled'
                           ELSE v.enabled_events && ARRAY[n.type, '*'] END`

/** The tenant's endpoints, each with the room in its lane: none where something is in the queue already, which goes first. */
const lanes = (of: TenantOf) => {
  const lane = `r.tenant_id = ${of('v')} AND r.endpoint_id = w.id`
  return `lane AS MATERIALIZED (
    SELECT v.tenant_id, v.position, v.quota, v.planned, v.reached, v.events, v.endpoint_id AS served, w.id, w.status,
           w.generation, w.timeouts, w.url, w.secret, w.retired_secrets, w.since, w.enabled_events, w.created,
           CASE WHEN w.status <> 'enabled' OR EXISTS (SELECT FROM webhook_ready r WHERE ${lane} AND r.lease_until < $1
                                                       ORDER BY r.lease_until LIMIT 1) THEN 0
                ELSE (${laneRoom(lane, 'w.timeouts')}) END AS room
      FROM reach v JOIN webhook_endpoints w ON w.tenant_id = ${of('v')}
     WHERE v.reached > v.planned
  )`
}

/**
 * All attempts that follow, each with its place in the lane of its endpoint. An attempt's identifier begins with the event's
 * own time and counter and ends with a digest of event and endpoint, so that it is as unique as a random one and can be made
 * here.
 */
const attempts = (of: TenantOf) => `attempt AS (
    SELECT v.tenant_id, v.position, v.quota, v.served, v.id AS endpoint_id, v.status, v.generation, v.timeouts, v.url,
           v.secret, v.retired_secrets, n.id AS event_id, n.type AS event_type, n.version AS event_version, n.body,
           n.created, 'wdla_' || substr(n.id, 5, 14) || substr(md5(n.id || v.id), 1, 12) AS attempt_id,
           v.room >= row_number() OVER (PARTITION BY v.tenant_id, v.id ORDER BY n.sequence) AS fits,
           row_number() OVER (PARTITION BY v.tenant_id, v.id ORDER BY n.sequence) AS rank
      FROM lane v
     CROSS JOIN LATERAL (SELECT v.events) AS size
     CROSS JOIN LATERAL (${next(of, NEEDED)}) AS n
     WHERE ${RECIPIENT}
  )`

/** The first of every lane before the second of any, beginning after the lane that was served last. */
const SHARED_OUT = `turn AS (
    SELECT a.*, row_number() OVER (PARTITION BY a.tenant_id, a.fits
                                       ORDER BY a.rank, a.endpoint_id <= a.served, a.endpoint_id) AS turn
      FROM attempt a
  ), planned AS MATERIALIZED (
    SELECT t.*, t.fits AND t.turn <= t.quota
             AND row_number() OVER (PARTITION BY t.fits AND t.turn <= t.quota ORDER BY t.turn, t.position) <= $5 AS leased
      FROM turn t
  )`

const found = (tenants: VisitRequest['of'], of: TenantOf) =>
  `WITH ${visit(tenants, of)}, ${reach(of)}, ${lanes(of)}, ${attempts(of)}, ${SHARED_OUT}`

/** Whether attempts are in the queue that nobody makes. */
const idle = (
  of: TenantOf,
) => `EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = ${of('v')} AND r.lease_until < $1
                         ORDER BY r.endpoint_id, r.lease_until LIMIT 1)`

/** For `keepPlan`, which writes it. */
const findOnly = (of: TenantOf) => `${found('one', of)}
  SELECT v.tenant_id, v.more, v.reached, v.reached > v.planned AS moved, v.tokens, v.endpoint_id AS served, ${idle(of)} AS idle,
         p.status, p.leased, p.attempt_id, p.endpoint_id, p.event_id, 1 AS attempt, 'schedule' AS trigger, true AS wanted,
         p.created AS due_at, p.generation, p.timeouts, p.url, p.secret, p.retired_secrets, p.event_type,
         p.event_version, CASE WHEN p.leased THEN p.body END AS body, p.created AS emitted_at
    FROM reach v LEFT JOIN planned p ON p.tenant_id = v.tenant_id
   ORDER BY p.turn, p.position`

const planAtOnce = (of: TenantOf) => `${found('many', of)}, kept AS (
    INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                  updated)
    SELECT ${of('p')}, p.attempt_id, p.endpoint_id, p.event_id, 1,
           CASE p.status WHEN 'enabled' THEN 'pending' ELSE 'canceled' END, 'schedule', p.created, p.created, p.created
      FROM planned p WHERE NOT p.leased
  ), ready AS (
    INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at, lease_until, token)
    SELECT ${of('p')}, p.attempt_id, p.endpoint_id, p.event_id, 1, 'schedule', p.created,
           CASE WHEN p.leased THEN $2::timestamptz ELSE '-infinity' END, CASE WHEN p.leased THEN $3::uuid END
      FROM planned p WHERE p.status = 'enabled'
  ), sent AS MATERIALIZED (
    SELECT p.tenant_id, count(*) FILTER (WHERE p.leased) AS attempts, bool_or(p.status = 'enabled' AND NOT p.leased) AS queued,
           (array_agg(p.endpoint_id ORDER BY p.turn DESC) FILTER (WHERE p.leased))[1] AS endpoint_id
      FROM planned p GROUP BY p.tenant_id
  ), visited AS MATERIALIZED (
    SELECT v.tenant_id, v.place, v.planned, v.reached, v.more, v.tokens - coalesce(s.attempts, 0) AS tokens,
           coalesce(s.endpoint_id, v.endpoint_id) AS endpoint_id,
           coalesce(s.queued, false) OR ${idle(of)} AS queued
      FROM reach v LEFT JOIN sent s ON s.tenant_id = v.tenant_id
  ), spent AS (
    UPDATE webhook_senders w
       SET (planned, tokens, endpoint_id) =
             (SELECT v.reached, v.tokens, v.endpoint_id FROM visited v WHERE v.tenant_id = w.tenant_id),
           refilled_at = greatest(w.refilled_at, $1), turn = w.turn + 1
     WHERE w.ctid = ANY (ARRAY(SELECT v.place FROM visited v WHERE v.reached > v.planned))
  )
  SELECT v.tenant_id, v.more, v.queued, p.attempt_id, p.endpoint_id, p.event_id, 1 AS attempt, 'schedule' AS trigger,
         true AS wanted, p.created AS due_at, p.generation, p.timeouts, p.url, p.secret, p.retired_secrets, p.event_type,
         p.event_version, p.body, p.created AS emitted_at
    FROM visited v LEFT JOIN planned p ON p.leased AND p.tenant_id = v.tenant_id
   ORDER BY p.turn, p.position`

const PLAN: ForTenants<Statement> = perTenants('$4', ({ name, of }, tenants) => ({
  name: `webhook_events_plan${name}`,
  text: tenants === 'one' ? findOnly(of) : planAtOnce(of),
}))

// Under its own name, with the values that it takes.
const [FIND] = inSteps(undefined, PLAN.one.text)

/** The same with its values, for those who want to see its plan. */
export function planStatement(request: VisitRequest): readonly [Statement, unknown[]] {
  const values = visitValues(request)
  if (request.of === 'many') return [PLAN.many, values]
  return [{ ...PLAN.one, ...FIND!.statement }, FIND!.takes.map((at) => values[at])]
}

/**
 * Plans the attempts that follow from events: one for each endpoint that is to be notified, cancelled where it is disabled.
 * A bounded number of them for each tenant; those that may be sent at once are taken under the lease, so that nobody has to
 * claim them, and stand in the queue only: the attempt itself is written when it is known how it ended (`succeedAttempts`,
 * `completeAttempts`) or when that takes long (`showAttempts`). What an endpoint subscribes to, and whether it is enabled, counts as it is now, moments after the event.
 */
export async function planAttempts(pool: Pool, request: VisitRequest): Promise<Plans> {
  if (request.of === 'one') return planForOne(pool, request)
  type Row = Claimed & PlanVisit & { attempt_id: string | null }
  const { rows, kept } = await byIndexSoon<Row>(pool, ...planStatement(request))
  return {
    kept,
    rows: rows.filter(({ attempt_id }) => attempt_id !== null),
    visits: new Map(rows.map(({ tenant_id, more, queued }) => [tenant_id, { more, queued }])),
  }
}

/** The same for a single tenant, by statements of which each is for one shard where tables are distributed. */
async function planForOne(pool: Pool, request: VisitRequest): Promise<Plans> {
  const { value, kept } = await pool.soon(async (tx) => {
    useIndexes(tx)
    const { rows } = await tx.query<FoundPlan>(...planStatement(request))
    const [first] = rows
    if (!first) return { rows: [], visits: new Map<string, PlanVisit>() }
    const planned = rows.filter(({ attempt_id }) => attempt_id !== null)
    if (first.moved) keepPlan(tx, request, first, planned)
    const queued = first.idle || planned.some(({ status, leased }) => status === 'enabled' && !leased)
    const visits = new Map([[first.tenant_id, { more: first.more, queued }]])
    return { rows: planned.filter(({ leased }) => leased), visits }
  })
  return { kept, ...value }
}
