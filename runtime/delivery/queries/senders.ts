/** Visits of workers to tenants: whoever holds a tenant's row here may plan and claim attempts of the tenant. */
import type { Statement } from '../../platform/database/database.ts'
import { toTimestamp } from '../../platform/database/types.ts'

/** Attempts that a tenant may make in a second, and how many at once when it has made none for a while. */
export const ATTEMPTS_PER_SECOND = 100
export const BURST = 100

/** For whom a worker plans and claims. */
export interface VisitRequest {
  /**
   * `many`: tenants of one database, in one statement. `one`: a single tenant, which every table is asked for by a value,
   * so that a database that is distributed by tenant sends the statement to one place.
   */
  readonly of: 'many' | 'one'
  readonly tenants: readonly string[]
  /** Machine time. */
  readonly now: number
  readonly leaseUntil: number
  /** UUID, of this visit alone. */
  readonly token: string
  /** Attempts at most. */
  readonly limit: number
  /** Of one tenant at most; `allowances` are those of tenants who may have fewer. */
  readonly allowance: number
  readonly allowances: Readonly<Record<string, number>>
}

/** How a statement names the tenant of a row that was found under the alias. */
export type TenantOf = (alias: string) => string

/** A statement in its form for many tenants and in that for one. */
export type ForTenants<T> = Readonly<Record<VisitRequest['of'], T>>

/** What the text of a statement needs of its form. */
export interface Form {
  /** Ends the statement's name. */
  readonly name: string
  readonly of: TenantOf
  /** The condition on a table that is reached by the places of rows, or by no tenant's in particular. */
  readonly isIn: string
}

/**
 * Writes a statement in both forms.
 *
 * @param value the parameter that is the tenant in the form for one.
 */
export function perTenants(
  value: string,
  write: (form: Form, of: VisitRequest['of']) => Statement,
): ForTenants<Statement> {
  const many: Form = { name: '', of: (alias) => `${alias}.tenant_id`, isIn: 'true' }
  const one: Form = { name: '_of_one', of: () => value, isIn: `tenant_id = ${value}` }
  return { many: write(many, 'many'), one: write(one, 'one') }
}

const TENANTS: ForTenants<string> = {
  many: 'unnest($4::text[]) WITH ORDINALITY AS t (tenant_id, position)',
  one: '(SELECT $4::text AS tenant_id, 1::bigint AS position) AS t',
}

const REFILLED = `least(${BURST}, w.tokens::numeric
      + greatest(0, extract(epoch FROM $1::timestamptz - w.refilled_at)) * ${ATTEMPTS_PER_SECOND})`

/**
 * The tenants' buckets, locked, of those for whom nobody else is claiming. Who waited for nobody may still be too late: if
 * the turn moved after this statement began, another claim has taken what this one still sees.
 */
export const visit = (tenants: VisitRequest['of'], of: TenantOf) => `visit AS MATERIALIZED (
    SELECT t.position, s.*
      FROM ${TENANTS[tenants]}
     CROSS JOIN LATERAL (SELECT w.turn FROM webhook_senders w WHERE w.tenant_id = ${of('t')} LIMIT 1) AS seen
     CROSS JOIN LATERAL (
       SELECT w.ctid AS place, w.tenant_id, w.endpoint_id, w.planned, (${REFILLED})::float8 AS tokens,
              greatest(0, least(floor(${REFILLED}), coalesce(($7::jsonb ->> w.tenant_id)::integer, $6)))::integer AS quota
         FROM webhook_senders w
        WHERE w.tenant_id = ${of('t')} AND w.turn = seen.turn
          FOR NO KEY UPDATE SKIP LOCKED) AS s
  )`

/** What `visit` is given: $1 to $7. */
export function visitValues(request: VisitRequest): unknown[] {
  const { of, tenants, now, leaseUntil, token, limit, allowance, allowances } = request
  return [
    toTimestamp(now),
    toTimestamp(leaseUntil),
    token,
    of === 'many' ? tenants : tenants[0],
    limit,
    allowance,
    JSON.stringify(allowances),
  ]
}
