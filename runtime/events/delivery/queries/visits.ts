/** Visits of workers to tenants: whoever holds a tenant's row of `webhook_senders` may plan and claim attempts of the tenant. */

import type { Statement } from '../../../database/database.ts'
import { byIndexCommitEarly, useIndexes } from '../../../database/pool/by-index.ts'
import type { EarlyCommit, Pool } from '../../../database/pool/pool.ts'
import { readSqlFile } from '../../../database/sql-file.ts'
import { inSteps } from '../../../database/steps.ts'
import { toTimestamp } from '../../../database/types.ts'
import type { LeasedAttempt, VisitRequest } from './attempts.ts'
import { type FoundAttempt, writePlanned } from './plan-of-one.ts'

/** A statement in its form for many tenants and in that for one. */
export type ForTenants = Readonly<Record<VisitRequest['of'], Statement>>

/** Where the many come from, and the one. */
const MANY = 'unnest($4::text[]) WITH ORDINALITY AS t (tenant_id, position)'
const ONE = '(SELECT $4::text AS tenant_id, 1::bigint AS position) AS t'

/**
 * The statement for a single tenant, by whose value every table is asked for its rows and every new row is the tenant's: so a
 * database that is distributed by tenant sends it to one place. It is derived because it would be the same 80 lines again but for
 * that: comparisons of a table (`w`, `r`, `e`, `a`, `head`) with the tenant of another row, conditions on places of rows, and
 * tenants of new rows.
 *
 * @param tenant the parameter that is the tenant.
 */
export function forOneTenant(text: string, tenant: '$2' | '$3' | '$4'): string {
  return text
    .replace(MANY, ONE)
    .replaceAll(
      /\b(w|r|e|a|head)\.tenant_id = \w+\.tenant_id\b/g,
      (_, table) => `${table}.tenant_id = ${tenant}`,
    )
    .replaceAll(/\bWHERE (?=(\w+\.)?ctid = ANY)/g, () => `WHERE tenant_id = ${tenant} AND `)
    .replaceAll(/(\bINSERT INTO [^()]+\([^()]+\)\s+SELECT )\w+\.tenant_id\b/g, (_, begin) => begin + tenant)
}

/** What `visit` is given: $1 to $8. */
function visitValues(request: VisitRequest): unknown[] {
  const { of, tenants, now, leaseUntil, token, limit, allowance, allowances, rates = {} } = request
  return [
    toTimestamp(now),
    toTimestamp(leaseUntil),
    token,
    of === 'many' ? tenants : tenants[0],
    limit,
    allowance,
    JSON.stringify(allowances),
    JSON.stringify(rates),
  ]
}

/** What one visit planned for a tenant. */
export interface PlanningVisit {
  /** Events are left. */
  readonly more: boolean
  /** Attempts are in the queue without a lease: they are to be claimed. */
  readonly queued: boolean
}

export interface PlannedAttempts {
  /** To be waited for before an event is sent: until then a crash of the server may undo that it happened. */
  readonly flushed: EarlyCommit<unknown>['flushed']
  /** Attempts that may be made at once, under the lease. */
  readonly rows: readonly LeasedAttempt[]
  /** By tenant, without those that another worker is visiting. */
  readonly visits: ReadonlyMap<string, PlanningVisit>
}

const PLAN_TEXT = readSqlFile(import.meta.dirname, 'plan.sql')

/** What is found, as in plan.sql up to what is written of it; `writePlanned` writes it, by statements of which each is for one shard. */
const FIND_TEXT = `${forOneTenant(PLAN_TEXT.slice(0, PLAN_TEXT.indexOf(', written AS (')), '$4')}
  SELECT v.tenant_id, v.more, v.reached, v.reached > v.planned AS moved, v.tokens, v.endpoint_id AS served,
         (SELECT true FROM webhook_ready r WHERE r.tenant_id = $4 AND r.lease_until < $1
           ORDER BY r.endpoint_id, r.lease_until LIMIT 1) IS NOT NULL AS idle,
         p.status, p.leased, p.attempt_id, p.endpoint_id, p.event_id, 1 AS attempt, 'schedule' AS trigger, true AS wanted,
         p.created AS due_at, p.generation, p.timeouts, p.url, p.secret, p.retired_secrets, p.event_type,
         p.event_version, CASE WHEN p.leased THEN p.body END AS body, p.created AS emitted_at
    FROM reach v LEFT JOIN planned p ON p.tenant_id = v.tenant_id
   ORDER BY p.turn, p.position`

const PLAN: ForTenants = {
  many: { name: 'webhook_events_plan', text: PLAN_TEXT },
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
export async function planAttempts(pool: Pool, request: VisitRequest): Promise<PlannedAttempts> {
  if (request.of === 'one') return planForOne(pool, request)
  type Row = LeasedAttempt & PlanningVisit & { attempt_id: string | null }
  const { rows, flushed } = await byIndexCommitEarly<Row>(pool, ...planStatement(request))
  return {
    flushed,
    rows: rows.filter(({ attempt_id }) => attempt_id !== null),
    visits: new Map(rows.map(({ tenant_id, more, queued }) => [tenant_id, { more, queued }])),
  }
}

/** The same for a single tenant, by statements of which each is for one shard where tables are distributed. */
async function planForOne(pool: Pool, request: VisitRequest): Promise<PlannedAttempts> {
  const { value, flushed } = await pool.commitEarly(async (tx) => {
    useIndexes(tx)
    const { rows } = await tx.query<FoundAttempt>(...planStatement(request))
    const [first] = rows
    if (!first) return { rows: [], visits: new Map<string, PlanningVisit>() }
    const planned = rows.filter(({ attempt_id }) => attempt_id !== null)
    if (first.moved) writePlanned(tx, request, first, planned)
    const queued = first.idle || planned.some(({ status, leased }) => status === 'enabled' && !leased)
    const visits = new Map([[first.tenant_id, { more: first.more, queued }]])
    return { rows: planned.filter(({ leased }) => leased), visits }
  })
  return { flushed, ...value }
}

/** Attempts under way at an endpoint, as in claim.sql and plan.sql; halved by each time-out in a row, never below one. */
export const PARTITION_WIDTH = 64

/** What one claim found at a tenant. */
export interface ClaimVisit {
  readonly claimed: number
  /** In its bucket before that. */
  readonly tokens: number
}

export interface AttemptLease {
  /** As in `PlannedAttempts`. */
  readonly flushed: EarlyCommit<unknown>['flushed']
  readonly rows: readonly LeasedAttempt[]
  /** By tenant, without those for which another worker is claiming. */
  readonly visits: ReadonlyMap<string, ClaimVisit>
}

const CLAIM_TEXT = readSqlFile(import.meta.dirname, 'claim.sql')

const CLAIM: ForTenants = {
  many: { name: 'webhook_ready_claim', text: CLAIM_TEXT },
  one: { name: 'webhook_ready_claim_of_one', text: forOneTenant(CLAIM_TEXT, '$4') },
}

/** The same with its values, for those who want to see its plan. */
export function claimStatement(request: VisitRequest): readonly [Statement, unknown[]] {
  return [CLAIM[request.of], visitValues(request)]
}

/**
 * Takes attempts of the queue under a lease: a few of each partition, the first of every partition before the second of any, as many
 * of a tenant as its bucket holds. Whoever claims for the same tenant at the same time gets none of it. A claim that a crash
 * of the server forgets is made again, and what was sent under it is sent again.
 */
export async function claimAttempts(pool: Pool, request: VisitRequest): Promise<AttemptLease> {
  type Row = LeasedAttempt & { tokens: number; attempt_id: string | null }
  const { rows, flushed } = await byIndexCommitEarly<Row>(pool, ...claimStatement(request))
  const visits = new Map<string, ClaimVisit>()
  for (const { tenant_id, tokens, attempt_id } of rows) {
    const claimed = (visits.get(tenant_id)?.claimed ?? 0) + (attempt_id === null ? 0 : 1)
    visits.set(tenant_id, { claimed, tokens })
  }
  return { flushed, rows: rows.filter(({ attempt_id }) => attempt_id !== null), visits }
}
