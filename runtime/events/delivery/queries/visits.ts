/**
 * Statements that plan and claim. A worker may do so for a tenant while it holds the tenant's row of
 * `webhook_senders`.
 */

import type { Statement } from '../../../database/database.ts'
import { byIndexCommitEarly, useIndexes } from '../../../database/pool/by-index.ts'
import type { EarlyCommit, Pool } from '../../../database/pool/pool.ts'
import { readSqlFile } from '../../../database/sql-file.ts'
import { inSteps } from '../../../database/steps.ts'
import { toTimestamp } from '../../../database/types.ts'
import type { LeasedAttempt, VisitRequest } from './attempts.ts'
import { matchesFilters } from './filtered.ts'
import { type FoundAttempt, writePlanned } from './plan-of-one.ts'

/** A statement in its form for many tenants, and in its form for one. */
export type ForTenants = Readonly<Record<VisitRequest['of'], Statement>>

/** The source of the tenants in each form. */
const MANY = 'unnest($4::text[]) WITH ORDINALITY AS t (tenant_id, position)'
const ONE = '(SELECT $4::text AS tenant_id, 1::bigint AS position) AS t'

/**
 * Derives the form of a statement for a single tenant: every table is filtered by the value of `tenant`, and every
 * new row gets it. A database that is distributed by tenant can then send the statement to one shard. The derivation
 * replaces comparisons of a table (`w`, `r`, `e`, `a`, `head`) with the tenant of a different row, conditions on
 * `ctid`, and tenants of new rows. Without it, each of these long statements would exist twice.
 *
 * @param tenant the parameter that holds the tenant.
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

/** Returns the parameters $1 to $8 of plan.sql and claim.sql. */
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

export interface PlanningVisit {
  /** Whether unplanned events remain. */
  readonly more: boolean
  /** Whether the tenant has ordered endpoints, which `planOrdered` plans for. */
  readonly ordered: boolean
  /** Whether the queue has attempts without a lease, which can be claimed. */
  readonly queued: boolean
}

export interface PlannedAttempts {
  /** Await this before sending an event. Until then, a crash of the database server may undo the commit. */
  readonly flushed: EarlyCommit<unknown>['flushed']
  /** Attempts that may be made immediately, under the lease. */
  readonly rows: readonly LeasedAttempt[]
  /** Visits by tenant, without tenants that a different worker is visiting. */
  readonly visits: ReadonlyMap<string, PlanningVisit>
}

const PLAN_TEXT = readSqlFile(import.meta.dirname, 'plan.sql').replace(
  '/* MATCHES_FILTERS */ true',
  matchesFilters('v', 'n'),
)

/**
 * The part of plan.sql that only reads. `writePlanned` writes its result, with statements that Citus sends to one
 * shard each.
 */
const FIND_TEXT = `${forOneTenant(PLAN_TEXT.slice(0, PLAN_TEXT.indexOf(', written AS (')), '$4')}
  SELECT v.tenant_id, v.more, v.ordered, v.reached, v.reached > v.planned AS moved, v.tokens, v.endpoint_id AS served,
         (SELECT true FROM webhook_ready r WHERE r.tenant_id = $4 AND r.lease_until < $1
           ORDER BY r.endpoint_id, r.lease_until LIMIT 1) IS NOT NULL AS idle,
         p.status, p.leased, p.attempt_id, p.endpoint_id, p.event_id, 1 AS attempt, 'schedule' AS trigger, true AS wanted,
         'unordered' AS delivery, false AS in_turn,
         p.created AS due_at, p.generation, p.timeouts, p.url, p.secret, p.retired_secrets, p.signature, p.retry_schedule, p.event_type,
         p.event_version, CASE WHEN p.leased THEN p.body END AS body, p.created AS emitted_at, p.trace
    FROM reach v LEFT JOIN planned p ON p.tenant_id = v.tenant_id
   ORDER BY p.turn, p.position`

const PLAN: ForTenants = {
  many: { name: 'webhook_events_plan', text: PLAN_TEXT },
  one: { name: 'webhook_events_plan_of_one', text: FIND_TEXT },
}

// The same statement without a name, with only the parameters that it uses.
const [FIND] = inSteps(undefined, PLAN.one.text)

/** Returns the planning statement with its values; exported so that tests can check its query plan. */
export function planStatement(request: VisitRequest): readonly [Statement, unknown[]] {
  const values = visitValues(request)
  if (request.of === 'many') return [PLAN.many, values]
  return [{ ...PLAN.one, ...FIND!.statement }, FIND!.takes.map((at) => values[at])]
}

/**
 * Plans the attempts that follow from events: one for each endpoint that gets the event, canceled if the endpoint is
 * disabled. Plans a bounded number for each tenant.
 *
 * Attempts that may be sent immediately are leased here, which saves a claim. They exist only in the queue at first.
 * Their row in `webhook_attempts` is written when they end (`succeedAttempts`, `completeAttempts`) or if they take
 * long (`showAttempts`). The current subscriptions and status of an endpoint count, moments after the event.
 */
export async function planAttempts(pool: Pool, request: VisitRequest): Promise<PlannedAttempts> {
  if (request.of === 'one') return planForOne(pool, request)
  type Row = LeasedAttempt & PlanningVisit & { attempt_id: string | null }
  const { rows, flushed } = await byIndexCommitEarly<Row>(pool, ...planStatement(request))
  return {
    flushed,
    rows: rows.filter(({ attempt_id }) => attempt_id !== null),
    visits: new Map(
      rows.map(({ tenant_id, more, ordered, queued }) => [tenant_id, { more, ordered, queued }]),
    ),
  }
}

/** Does the same as `planAttempts` for a single tenant, with statements that Citus sends to one shard each. */
async function planForOne(pool: Pool, request: VisitRequest): Promise<PlannedAttempts> {
  const { value, flushed } = await pool.commitEarly(async (tx) => {
    useIndexes(tx)
    const { rows } = await tx.query<FoundAttempt>(...planStatement(request))
    const [first] = rows
    if (!first) return { rows: [], visits: new Map<string, PlanningVisit>() }
    const planned = rows.filter(({ attempt_id }) => attempt_id !== null)
    if (first.moved) writePlanned(tx, request, first, planned)
    const queued = first.idle || planned.some(({ status, leased }) => status === 'enabled' && !leased)
    const visits = new Map([[first.tenant_id, { more: first.more, ordered: first.ordered, queued }]])
    return { rows: planned.filter(({ leased }) => leased), visits }
  })
  return { flushed, ...value }
}

/**
 * Attempts in progress at one endpoint; claim.sql and plan.sql repeat the value. Each timeout in a row halves it,
 * down to 1.
 */
export const PARTITION_WIDTH = 64

export interface ClaimVisit {
  readonly claimed: number
  /** Tokens in the tenant's bucket before the claim. */
  readonly tokens: number
}

export interface AttemptLease {
  /** See `PlannedAttempts`. */
  readonly flushed: EarlyCommit<unknown>['flushed']
  readonly rows: readonly LeasedAttempt[]
  /** Visits by tenant, without tenants for which a different worker is claiming. */
  readonly visits: ReadonlyMap<string, ClaimVisit>
}

const CLAIM_TEXT = readSqlFile(import.meta.dirname, 'claim.sql')

const CLAIM: ForTenants = {
  many: { name: 'webhook_ready_claim', text: CLAIM_TEXT },
  one: { name: 'webhook_ready_claim_of_one', text: forOneTenant(CLAIM_TEXT, '$4') },
}

/** Returns the claiming statement with its values; exported so that tests can check its query plan. */
export function claimStatement(request: VisitRequest): readonly [Statement, unknown[]] {
  return [CLAIM[request.of], visitValues(request)]
}

/**
 * Claims queued attempts under a lease: a few of each partition, the first of every partition before the second of
 * any, up to the tokens in the tenant's bucket. A concurrent claim for the same tenant gets nothing. If a crash of
 * the database server loses the claim, the attempts are claimed and sent again.
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
