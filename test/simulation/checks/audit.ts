/** Audit logs: their hashes, and an entry for each change that the service makes itself. */
import type { Pool } from '../../../runtime/database/pool/pool.ts'
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import { verifyAudit } from '../../../runtime/tenants/admin/audit.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, read } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

/** Changes that only the service makes. In the simulation, nobody disables an endpoint by hand. */
const OWN_CHANGES = ['payout.paid', 'payout.failed', 'payout.returned', 'webhook_endpoint.disabled']

/** Those that an older version has no events for. */
const NEW_CHANGES = ['webhook_endpoint.blocked', 'webhook_endpoint.unblocked', 'webhook_recovery.completed']

interface Change {
  readonly action: string
  readonly target: string
}

interface Dated extends Change {
  readonly created: number
}

/** The log of a tenant tells of its named sandboxes, too. Their events are apart. */
const OF_SPACES = "split_part(e.tenant_id, '.', 1)"

/** Changes by the service that events tell. */
const TOLD = /^(payout|payout_destination|settlement|treasury_report)\./

/** Changes that the service makes in time, or a request that moves a clock. */
const TIMELY = [
  ...['settlement.pending', 'settlement.processing', 'settlement.settled'],
  ...['payout_destination.activated', 'payout_destination.denied'],
]

/** Each entry of the service has an event of the same moment, and each change in time has an entry of its moment. */
async function ownEntriesAreTold(
  db: Evidence['db'],
  environment: string,
  { name, tenantId }: Pick<Merchant, 'name' | 'tenantId'>,
): Promise<void> {
  const entries = await read<Dated & { actor: string }>(
    db,
    `SELECT action, target_id AS target, actor_type AS actor, created FROM ${environment}.audit_log WHERE tenant_id = $1`,
    tenantId,
  )
  const events = await read<Dated>(
    db,
    `SELECT e.type AS action, d.value ->> 'id' AS target, e.created
       FROM ${environment}.events e, json_each(e.body::json -> 'data') AS d WHERE ${OF_SPACES} = $1`,
    tenantId,
  )
  const wordsOf = ({ action, target, created }: Dated) =>
    `${action === 'payout.in_transit' ? 'payout.updated' : action} ${target} ${created}`
  const told = new Set(events.map(wordsOf))
  const own = entries.filter(({ actor }) => actor === 'system')
  const untold = own.find((entry) => TOLD.test(entry.action) && !told.has(wordsOf(entry)))
  if (untold) fail(`no event tells ${name} of ${wordsOf(untold)} in ${environment}`)
  const noted = new Set(own.map(wordsOf))
  const asked = new Set(entries.filter(({ actor }) => actor !== 'system').map(({ created }) => created))
  const silent = events.find(
    (event) => TIMELY.includes(event.action) && !noted.has(wordsOf(event)) && !asked.has(event.created),
  )
  if (silent) fail(`the ${environment} audit log of ${name} does not have ${wordsOf(silent)}`)
}

const inOrder = (changes: readonly Change[]) =>
  changes.map(({ action, target }) => `${action} ${target}`).toSorted()

/** The logs are whole, and tell of the same changes by the service as its events. */
export async function auditIsWhole({ db }: Evidence, { name, tenantId, isCurrent }: Merchant): Promise<void> {
  const changes = [...OWN_CHANGES, ...(isCurrent ? NEW_CHANGES : [])]
  const control = { ...db, query: db.query } as Pool
  for (const environment of ENVIRONMENTS) {
    const { entries } = await verifyAudit({ control }, tenantId, environment)
    if (entries === 0) fail(`the ${environment} audit log of ${name} is empty`)
    const noted = await read<Change>(
      db,
      `SELECT action, target_id AS target FROM ${environment}.audit_log
        WHERE tenant_id = $1 AND actor_type = 'system' AND action = ANY ($2)`,
      ...[tenantId, changes],
    )
    const told = await read<Change>(
      db,
      `SELECT e.type AS action, d.value ->> 'id' AS target
         FROM ${environment}.events e, json_each(e.body::json -> 'data') AS d WHERE ${OF_SPACES} = $1 AND e.type = ANY ($2)`,
      ...[tenantId, changes],
    )
    await ownEntriesAreTold(db, environment, { name, tenantId })
    mustEqual(
      inOrder(noted),
      inOrder(told),
      `what the ${environment} audit log of ${name} has of the service`,
    )
  }
}
