/**
 * Bounds lock waits on the last free connections. If four tenants wait for locks on all other connections, a fifth is
 * served after 0.55 s. Without this bound, the fifth gives up after 5 s and its request is answered with 503
 * (`test/platform/fairness/locks.test.ts`).
 */
import type { Tenant } from '../../platform/fairness/fair-queue.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from '../errors.ts'
import type { HeldConnection, TenantConnections } from './connections.ts'

/** Maximum total lock wait, the same as the lock timeout on other connections. */
const PATIENCE_MS = 5000

/**
 * Runs a transaction of a tenant. If connections are scarce, it waits for a lock only briefly, then rolls back and
 * queues for a connection again. Tenants that wait for locks therefore delay others only briefly.
 *
 * @param run runs the transaction on the connection and releases the connection. It may be called more than once.
 * `isBrief` says whether the transaction must wait for a lock only briefly.
 */
export async function runInPlaces<T>(
  connections: Pick<TenantConnections, 'acquire'>,
  tenant: Tenant,
  run: (held: HeldConnection, isBrief: boolean) => Promise<T>,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    const held = await connections.acquire(tenant)
    if (tenant === undefined || !held.isScarce) return run(held, false)
    try {
      return await run(held, true)
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || performance.now() - began > PATIENCE_MS) throw error
    }
  }
}
