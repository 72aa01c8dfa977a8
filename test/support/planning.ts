import { randomUUID } from 'node:crypto'
import { current } from '../../generated/versions.ts'
import type { Pool } from '../../runtime/database/pool/pool.ts'
import { type OrderedOptions, planOrdered } from '../../runtime/events/delivery/ordered.ts'
import { findDue } from '../../runtime/events/delivery/queries/due.ts'
import { planAttempts } from '../../runtime/events/delivery/queries/visits.ts'

/** Plans the attempts for all emitted events, as a worker does, but sends none. @param space default: those of all tenants. */
export async function planAll(pool: Pool, space?: string): Promise<void> {
  for (;;) {
    const now = Date.now()
    const tenants = (await findDue(pool, now)).filter(
      ({ tenant_id, unplanned }) => unplanned > 0 && (space ?? tenant_id) === tenant_id,
    )
    if (tenants.length === 0) return
    const ids = tenants.map(({ tenant_id }) => tenant_id)
    const how = { now, leaseUntil: now, token: randomUUID(), limit: 0, allowance: 0, allowances: {} }
    if (!pool.distributed) await planAttempts(pool, { ...how, of: 'many', tenants: ids })
    else for (const id of ids) await planAttempts(pool, { ...how, of: 'one', tenants: [id] })
    for (const id of ids) await planOrdered(orderedIn(pool), id)
  }
}

/** What `planOrdered` needs beside a tenant. The newest version renders the events of blocks. */
export const orderedIn = (pool: Pool): OrderedOptions => ({
  environment: 'sandbox',
  pool,
  clock: { service: Date.now },
  readPin: async () => current,
})
