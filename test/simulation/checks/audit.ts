/** Audit logs: their hashes, and an entry for each change that the service makes itself. */
import type { Pool } from '../../../runtime/database/pool/pool.ts'
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, fail, mustEqual, read } from './evidence.ts'

/** Changes that only the service makes. In the simulation, nobody disables an endpoint by hand. */
const OWN_CHANGES = ['payout.paid', 'payout.failed', 'payout.returned', 'webhook_endpoint.disabled']

interface Change {
  readonly action: string
  readonly target: string
}

const inOrder = (changes: readonly Change[]) =>
  changes.map(({ action, target }) => `${action} ${target}`).toSorted()

/** The logs are whole, and tell of the same changes by the service as its events. */
export async function auditIsWhole({ db }: Evidence, { name, tenantId }: Merchant): Promise<void> {
  const control = { ...db, query: db.query } as Pool
  for (const environment of ENVIRONMENTS) {
    const { entries } = await verifyAudit({ control }, tenantId, environment)
    if (entries === 0) fail(`the ${environment} audit log of ${name} is empty`)
    const noted = await read<Change>(
      db,
      `SELECT action, target_id AS target FROM ${environment}.audit_log
        WHERE tenant_id = $1 AND actor_type = 'system' AND action = ANY ($2)`,
      ...[tenantId, OWN_CHANGES],
    )
    const told = await read<Change>(
      db,
      `SELECT e.type AS action, d.value ->> 'id' AS target
         FROM ${environment}.events e, json_each(e.body::json -> 'data') AS d WHERE e.tenant_id = $1 AND e.type = ANY ($2)`,
      ...[tenantId, OWN_CHANGES],
    )
    mustEqual(
      inOrder(noted),
      inOrder(told),
      `what the ${environment} audit log of ${name} has of the service`,
    )
  }
}
