/** Payouts and settlements as operators see them. */
import type { Statement } from '../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import { requireTenant } from '../tenants/admin/tenants.ts'
import { findSpaces } from './ledger.ts'

/**
 * Subquery for the column `postings`: the ledger transactions of a record. Their causes begin with its identifier and a
 * slash.
 */
export const postingsIn = (environment: Environment, alias: string) =>
  `(SELECT coalesce(json_agg(json_build_object('cause', t.cause, 'created', t.created) ORDER BY t.created, t.cause), '[]')
      FROM ${environment}.ledger_transactions t
     WHERE t.tenant_id = $1 AND t.cause >= ${alias}.id || '/' AND t.cause < ${alias}.id || '0') AS postings`

interface FoundRow {
  readonly created: number
  readonly updated: number
}

/** Returns the record that the statement finds in either environment. Throws `not_found`. */
export async function showMoney(
  { control }: Operator,
  tenantId: string,
  id: string,
  readIn: (environment: Environment) => Statement,
  what: string,
): Promise<object> {
  await requireTenant(control, tenantId)
  const spaces = await findSpaces(control, tenantId)
  for (const environment of ENVIRONMENTS) {
    const [found] = (await control.query<FoundRow>(readIn(environment), [spaces[environment], id])).rows
    if (!found) continue
    return { environment, ...found, created: isoTime(found.created), updated: isoTime(found.updated) }
  }
  throw new ControlError('not_found', `the tenant has no ${what} ${id}`)
}
