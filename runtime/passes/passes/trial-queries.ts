import type { Database, Statement } from '../../database/database.ts'

// Writing the row locks it, even if its value stays the same. The next request that issues passes waits for this
// transaction.
const LOCK: Statement = {
  name: 'trial_usage_lock',
  text: `INSERT INTO trial_usage (tenant_id, passes) VALUES ($1, 0)
         ON CONFLICT (tenant_id) DO UPDATE SET passes = trial_usage.passes
         RETURNING passes`,
}

/**
 * Returns how many live passes the tenant has issued during the trial. The row is locked until the transaction ends.
 */
export async function lockTrialUsage(db: Database, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ passes: number }>(LOCK, [tenantId])
  return rows[0]?.passes ?? 0
}

const ADD: Statement = {
  name: 'trial_usage_add',
  text: 'UPDATE trial_usage SET passes = passes + $2 WHERE tenant_id = $1',
}

export function addTrialUsage(db: Database, tenantId: string, passes: number): Promise<unknown> {
  return db.query(ADD, [tenantId, passes])
}
