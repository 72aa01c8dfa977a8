/** Refuses requests of tenants that move to or from a different installation. */

import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import type { Closures } from '../tenants/moves/closures.ts'
import { unavailable } from './errors/errors.ts'
import type { ApiService, ReceivedRequest } from './exchange.ts'

const READS: readonly unknown[] = ['GET', 'HEAD']

/** Refuses the request if the installation does not serve the tenant, or does not take its writes now. */
export function requireServed(
  { request }: Pick<ReceivedRequest, 'request'>,
  { tenant }: Pick<KnownCredential, 'tenant'>,
  { closures }: Pick<ApiService, 'closures'>,
): void | Promise<void> {
  const check = () => {
    const closure = closures?.of(tenant.id)
    if (closure && (closure.refuses === 'everything' || !READS.includes(request.method)))
      throw unavailable(closure.message)
  }
  const loading = closures?.ready()
  return loading ? loading.then(check) : check()
}

/** Refuses everything that concerns a tenant in a move, for requests without a key. */
export function requireOpen(closures: Closures, tenantId: string): void {
  const closure = closures.of(tenantId)
  if (closure) throw unavailable(closure.message)
}
