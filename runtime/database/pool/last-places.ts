/**
 * Bounds lock waits on the last free connections. If four tenants wait for locks on all other connections, a fifth is
 * served after 0.55 s. Without this bound, the fifth gives up after 5 s and its request is answered with 503
 * (`test/platform/fairness/locks.test.ts`).
 */
import type { Tenant } from '../../platform/fairness/fair-queue.ts'
import type { Database, Statement } from '../database.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from '../errors.ts'
import { pipelined } from '../pipelined.ts'
import type { HeldConnection, TenantConnections } from './connections.ts'

/**
 * When few connections are left, none is spent on a long lock wait, because other tenants would wait as long as the
 * lock is held. A transaction that waits only for the previous one needs far less than 250 ms.
 */
const BRIEF: Statement = { text: "SET LOCAL lock_timeout = '250ms'" }

/** Maximum total lock wait, the same as the lock timeout on other connections. */
const PATIENCE_MS = 5000

/**
 * Runs a transaction of a tenant. If connections are scarce, it waits for a lock only briefly, then rolls back and
 * queues for a connection again. Tenants that wait for locks therefore delay others only briefly.
 *
 * @param steps may run more than once.
 * @param run runs the steps in a transaction on the connection and releases the connection.
 */
export async function runInPlaces<T>(
  connections: Pick<TenantConnections, 'acquire'>,
  tenant: Tenant,
  steps: (db: Database) => Promise<T>,
  run: (held: HeldConnection, steps: (db: Database) => Promise<T>) => Promise<T>,
): Promise<T> {
  const began = performance.now()
  const briefly = (db: Database) => {
    pipelined(db.query(BRIEF))
    return steps(db)
  }
  for (;;) {
    const held = await connections.acquire(tenant)
    if (tenant === undefined || !held.isScarce) return run(held, steps)
    try {
      return await run(held, briefly)
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || performance.now() - began > PATIENCE_MS) throw error
    }
  }
}
