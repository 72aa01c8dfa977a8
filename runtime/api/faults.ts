/** Lets requests of a sandbox fail on purpose, as its tenant has set. */
import { setTimeout as wait } from 'node:timers/promises'
import { countedAs, type FaultKind, type Faults, isAffected } from '../tenants/faults/faults.ts'
import { countFault } from '../tenants/faults/queries.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { ApiError, rateLimited } from './errors/errors.ts'
import { type ApiCall, type ApiService, databaseOf, type Exchange } from './exchange.ts'

/** Requests to this path are never affected, so that failures can always be ended. */
const OWN_PATH = '/v1/test/faults'

/** Retry delay of a request that is refused on purpose. */
const RETRY_MS = 1000

/** Returns the failures that are in force for a credential; undefined in live. @param now service time. */
export function faultsInForce({ faults }: KnownCredential, now: number): Faults | undefined {
  return faults && faults.expires_at > now ? faults : undefined
}

/** Returns the failures that apply to a request. Requests of the dashboard are not affected. */
export function faultsOf({ credential, route, now }: ApiCall): Faults | undefined {
  if (credential.actor === 'member' || route.operation.path === OWN_PATH) return undefined
  return faultsInForce(credential, now)
}

/**
 * Delays the request, and refuses it if it is affected. Notes in the exchange what the answer's header names.
 *
 * @throws ApiError of the failure.
 */
export async function injectFaults(
  exchange: Exchange,
  call: ApiCall,
  faults: Faults,
  service: ApiService,
): Promise<void> {
  if (faults.latency_ms > 0) {
    exchange.injected.push('latency')
    await wait(faults.latency_ms)
  }
  if (await fails('rate_limited', call, faults, service)) {
    exchange.injected.push('rate_limited')
    throw rateLimited('This request is refused on purpose. Wait, then try again.', RETRY_MS)
  }
  if (await fails('error', call, faults, service)) {
    exchange.injected.push('error')
    throw new ApiError(500, 'api_error', 'internal_error', 'This request fails on purpose. Try again.')
  }
  if (isDeclined(call, faults)) exchange.injected.push('declined')
}

const targetOf = ({ request, path, search, idempotencyKey }: ApiCall) => ({
  method: request.method ?? '',
  target: search === '' ? path : `${path}?${search}`,
  idempotencyKey,
})

async function fails(kind: FaultKind, call: ApiCall, faults: Faults, service: ApiService): Promise<boolean> {
  const target = targetOf(call)
  if (!isAffected(faults, kind, target)) return false
  const counted = countedAs(faults, kind, target)
  const { space } = call.credential
  return countFault(databaseOf(call, service), space, counted, faults.attempts, service.clock.machine())
}

function isDeclined(call: ApiCall, faults: Faults): boolean {
  return call.route.operation.id === 'simulateAuthorization' && isAffected(faults, 'declined', targetOf(call))
}

/** Returns the reason with which an authorization is declined on purpose; undefined if it is not. */
export function injectedDecline(call: ApiCall): Faults['decline_reason'] | undefined {
  const faults = faultsOf(call)
  return faults && isDeclined(call, faults) ? faults.decline_reason : undefined
}
