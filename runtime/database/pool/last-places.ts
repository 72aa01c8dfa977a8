/**
 * Waits for locks on the last connections. If four tenants wait for locks on all connections, a fifth is served after 0.55 s; without
 * this it gives up after 5 s, and its request is answered with 503 (`test/platform/fairness/locks.test.ts`).
 */
import type { Tenant } from '../../platform/fairness/fair-queue.ts'
import type { Database, Statement } from '../database.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from '../errors.ts'
import { pipelined } from '../pipelined.ts'
import type { HeldConnection, TenantConnections } from './connections.ts'

/**
 * While nearly all connections are in use none is spent on a wait for a lock: others that could use it would wait as long
 * as that lock is held. Far more than a transaction takes that only waits for the one before it.
 */
const BRIEF: Statement = { text: "SET LOCAL lock_timeout = '250ms'" }

/** As long as a lock is waited for on any other connection. */
const PATIENCE_MS = 5000

/**
 * Runs a tenant's transaction. On one of the last connections it waits for a lock only briefly, then is undone and queues
 * up for a connection again: so tenants that wait for locks, however many there are, hold up others for a moment at most.
 *
 * @param steps may be run more than once.
 * @param run runs steps in a transaction on the connection and gives that back.
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
