/** The first attempts to deliver events, planned by workers in the order in which the events were committed. */

import type { Statement } from '../../platform/database/database.ts'
import { byIndexSoon, useIndexes } from '../../platform/database/pool/by-index.ts'
import type { Pool, Soon } from '../../platform/database/pool/pool.ts'
import { readSqlFile } from '../../platform/database/sql-file.ts'
import { inSteps } from '../../platform/database/steps.ts'
import { type FoundPlan, keepPlan } from './plan-of-one.ts'
import type { Claimed } from './ready.ts'
import { type ForTenants, forOneTenant, type VisitRequest, visitValues } from './senders.ts'

/** What one visit planned for a tenant. */
export interface PlanVisit {
  /** Events are left. */
  readonly more: boolean
  /** Attempts are in the queue without a lease: they are to be claimed. */
  readonly queued: boolean
}

export interface Plans {
  /** To be waited for before an event is sent: until then a crash of the server may undo that it happened. */
  readonly kept: Soon<unknown>['kept']
  /** Attempts that may be made at once, under the lease. */
  readonly rows: readonly Claimed[]
  /** By tenant, without those that another worker is visiting. */
  readonly visits: ReadonlyMap<string, PlanVisit>
}

const TEXT = readSqlFile(import.meta.dirname, 'plan.sql')

/** What is found, as in plan.sql up to what is written of it; `keepPlan` writes it, by statements of which each is for one shard. */
const FIND_TEXT = `${forOneTenant(TEXT.slice(0, TEXT.indexOf(', written AS (')), '$4')}
  SELECT v.tenant_id, v.more, v.reached, v.reached > v.planned AS moved, v.tokens, v.endpoint_id AS served,
         EXISTS (SELECT FROM webhook_ready r WHERE r.tenant_id = $4 AND r.lease_until < $1
                  ORDER BY r.endpoint_id, r.lease_until LIMIT 1) AS idle,
         p.status, p.leased, p.attempt_id, p.endpoint_id, p.event_id, 1 AS attempt, 'schedule' AS trigger, true AS wanted,
         p.created AS due_at, p.generation, p.timeouts, p.url, p.secret, p.retired_secrets, p.event_type,
         p.event_version, CASE WHEN p.leased THEN p.body END AS body, p.created AS emitted_at
    FROM reach v LEFT JOIN planned p ON p.tenant_id = v.tenant_id
   ORDER BY p.turn, p.position`

const PLAN: ForTenants = {
  many: { name: 'webhook_events_plan', text: TEXT },
  one: { name: 'webhook_events_plan_of_one', text: FIND_TEXT },
}

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
