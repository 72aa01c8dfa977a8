import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'

type Schemas = components['schemas']
type Counted = Schemas['SpendingControlCount']

const COUNT: Statement = {
  name: 'spending_control_shadows_count',
  text: `SELECT count(*) AS count FROM spending_control_drafts WHERE tenant_id = $1 AND status = 'shadow'`,
}

/** Counts the drafts of a tenant that are in shadow. */
export async function countShadows(db: Database, tenantId: string): Promise<number> {
  return (await db.query<{ count: number }>(COUNT, [tenantId])).rows[0]?.count ?? 0
}

/** Decisions with the same outcome and reason. Cents. */
export interface ShadowTotal extends Counted {
  readonly outcome: 'same' | Schemas['SpendingControlChange'] | 'fixed'
  readonly code: string
}

const TOTALS: Statement = {
  name: 'spending_control_shadow_totals_read',
  text: `SELECT outcome, code, sum(count)::bigint AS count, least(sum(amount), 9007199254740991)::bigint AS amount
           FROM spending_control_shadow_totals WHERE tenant_id = $1 AND shadow = $2 GROUP BY outcome, code ORDER BY outcome, code`,
}

/** Returns what a shadow has found, over all cards. @param shadow see `shadowOf`. */
export async function readTotals(
  db: Database,
  tenantId: string,
  shadow: string,
): Promise<readonly ShadowTotal[]> {
  return (await db.query<ShadowTotal>(TOTALS, [tenantId, shadow])).rows
}
