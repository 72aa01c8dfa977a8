import { type Allowance, LIMITS } from '../platform/limits/limiter.ts'
import { unavailable } from './errors.ts'
import type { Authenticated, Exchange, Service } from './exchange.ts'

/** First of all: refuses what this process has no capacity for, at hardly any cost and without a query. */
export function shedLoad(exchange: Exchange, { traffic, clock }: Service): void {
  if (traffic?.overload() === undefined) return
  exchange.allowance = untouched(clock.machine())
  throw unavailable('The service has too much to do at the moment; try again shortly.')
}

/**
 * As soon as it is known whose request it is: refuses a tenant whose own requests make the queue for the database too long,
 * and no other. It costs no token.
 */
export function shedTenant(exchange: Authenticated, { traffic, clock }: Service): void {
  if (!traffic?.crowdedBy(exchange.credential.tenant.id)) return
  exchange.allowance = untouched(clock.machine())
  throw unavailable('Too many of your requests wait for the database; let some of them finish first.')
}

/** No token was taken, and no bucket looked at. */
function untouched(wall: number): Allowance {
  const limit = LIMITS.unauthenticated
  const reset = Math.ceil(wall / 1000)
  return { allowed: true, resource: 'unauthenticated', limit, remaining: limit, reset, retryAfterMs: 0 }
}
