/** Visits of workers to tenants: the worker that holds a tenant's row here may plan and claim attempts of the tenant. */
import type { Statement } from '../../platform/database/database.ts'
import { toTimestamp } from '../../platform/database/types.ts'

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
export function forOneTenant(text: string, tenant: '$3' | '$4'): string {
  return text
    .replace(MANY, ONE)
    .replaceAll(
      /\b(w|r|e|a|head)\.tenant_id = \w+\.tenant_id\b/g,
      (_, table) => `${table}.tenant_id = ${tenant}`,
    )
    .replaceAll(/\bWHERE (?=(\w+\.)?ctid = ANY)/g, () => `WHERE tenant_id = ${tenant} AND `)
    .replaceAll(/(\bINSERT INTO [^()]+\([^()]+\)\s+SELECT )\w+\.tenant_id\b/g, (_, begin) => begin + tenant)
}

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
