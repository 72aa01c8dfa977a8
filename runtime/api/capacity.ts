/** Whether there is room for a request: in this process, in the buckets, among the tenant's own requests. */

import { addressGroup } from '../platform/client-address.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { type Allowance, type Grant, LIMITS, type Meter } from '../tenants/limits/limiter.ts'
import { type ApiError, rateLimited, unavailable } from './errors/errors.ts'
import type { ApiCall, ApiService, Exchange, ReceivedRequest } from './exchange.ts'
import type { ApiRoute } from './version-table.ts'

/** First of all: refuses what this process has no capacity for, at hardly any cost and without a query. */
export function shedLoad({ traffic }: ApiService): void {
  if (traffic?.overload() === undefined) return
  throw unavailable('The service has too much to do at the moment; try again shortly.', { isFree: true })
}

/**
 * As soon as it is known whose request it is: refuses a tenant whose own requests make the queue for the database too long,
 * and no other. It costs no token.
 */
export function shedTenant({ tenant }: KnownCredential, { traffic }: ApiService): void {
  if (!traffic?.crowdedBy(tenant.id)) return
  throw unavailable('Too many of your requests wait for the database; let some of them finish first.', {
    isFree: true,
  })
}

/** The allowance of a request that costs no token: no bucket was asked. */
export function freeAllowance({ clock }: ApiService): Allowance {
  const limit = LIMITS.unauthenticated
  const reset = Math.ceil(clock.machine() / 1000)
  return { allowed: true, resource: 'unauthenticated', limit, remaining: limit, reset, retryAfterMs: 0 }
}

/** Streams that a tenant has open at once, on a node. */
const MAX_STREAMS = 4

/** When to try again: one of them may have been closed by then. */
const STREAM_RETRY_MS = 1000

/**
 * Takes one of the slots for concurrent requests and a token of the operation's bucket. A stream takes only a token: a
 * tenant may have a few open, and `requireAllowance` counts them.
 */
export function takeAllowance(
  { response, address }: ReceivedRequest,
  credential: KnownCredential,
  route: ApiRoute,
  service: ApiService,
): Allowance | Promise<Allowance> {
  if (route.operation.stream) return takeToken({ credential, route, address }, service)
  const grant = service.limiter.acquire(tenantMeter(credential, service), route.bucket, credential.lifts)
  const accept = ({ allowance, release }: Grant) => {
    if (release) {
      // Also when the client goes away before it is answered, and when it is gone already.
      if (response.destroyed || response.writableFinished) release()
      else response.once('close', release)
    }
    return allowance
  }
  return grant instanceof Promise ? grant.then(accept) : accept(grant)
}

/** Refuses a request without a token or a slot, and a stream beyond those that a tenant may have open. */
export function requireAllowance(
  { response }: ReceivedRequest,
  { tenant }: KnownCredential,
  { operation }: ApiRoute,
  allowance: Allowance,
  { openStreams }: ApiService,
): void {
  if (!allowance.allowed) throw refusalOf(allowance)
  if (!operation.stream) return
  const count = openStreams.get(tenant.id) ?? 0
  if (count >= MAX_STREAMS) {
    throw rateLimited(`More than ${MAX_STREAMS} streams at once; close one first.`, STREAM_RETRY_MS)
  }
  if (response.destroyed) return
  openStreams.set(tenant.id, count + 1)
  response.once('close', () => {
    const left = (openStreams.get(tenant.id) ?? 1) - 1
    if (left === 0) openStreams.delete(tenant.id)
    else openStreams.set(tenant.id, left)
  })
}

function tenantMeter({ tenant }: KnownCredential, { limiter, environment }: ApiService): Meter {
  return limiter.meter(`${environment}:${tenant.id}`)
}

/**
 * Takes a token of the route's bucket; of `read` where there is no route, and of the address's where there is no key.
 * Where none was left, the allowance says so.
 */
export function takeToken(
  { credential, route, address }: Pick<Exchange, 'credential' | 'route' | 'address'>,
  service: ApiService,
): Allowance | Promise<Allowance> {
  const { limiter } = service
  return credential
    ? limiter.take(tenantMeter(credential, service), route?.bucket ?? 'read', credential.lifts)
    : limiter.take(limiter.meter(addressGroup(address)), 'unauthenticated')
}

/** What is answered where there was no token, or no slot. */
export function refusalOf({ resource, limit, retryAfterMs }: Allowance): ApiError {
  const message =
    resource === 'concurrent_connections'
      ? `More than ${limit} requests at once; let some finish first.`
      : `Too many requests of ${resource}; wait and try again.`
  return rateLimited(message, retryAfterMs)
}

/** Counts the request: by its bucket for the tenant, and as the last use of its key. */
export function countUse(
  { now }: ReceivedRequest,
  { tenant, key }: KnownCredential,
  { bucket }: ApiRoute,
  { usage, environment }: ApiService,
): void {
  usage?.count(environment, tenant.id, key.id, bucket, now)
}

/** Rows that weigh as much as one request. */
const ROWS = 25

/** A write has a connection of its own, and what it writes beside is more than what it answers. */
const WRITE = 1

/** The turn of a request among the tenant's own. */
export interface RequestTurn {
  end(): void
  /** Gives the turn back while the request waits for others: that is no work, and a tenant's others go on meanwhile. */
  leave<T>(wait: () => Promise<T>): Promise<T>
}

const NO_TURN: RequestTurn = { end() {}, leave: (wait) => wait() }

/** Waits until the tenant's turn has come: what its other requests have under way is bounded while others are there. */
export function takeTurn(call: ApiCall, { turns }: ApiService): RequestTurn | Promise<RequestTurn> {
  const { route, credential } = call
  // A stream lasts, and does next to nothing.
  if (route.operation.stream) return NO_TURN
  const tenantId = credential.tenant.id
  const weight = weightOf(call)
  let kind: string = route.bucket
  let began = performance.now()
  let isMine = true
  const turn: RequestTurn = {
    end() {
      if (isMine) turns.release(tenantId, kind, weight, performance.now() - began)
      isMine = false
    },
    async leave(wait) {
      turn.end()
      const value = await wait()
      // What was begun does not queue up behind what begins.
      kind = `${route.bucket} resumed`
      await turns.acquire(tenantId, kind, weight)
      began = performance.now()
      isMine = true
      return value
    },
  }
  const waiting = turns.acquire(tenantId, kind, weight)
  if (!waiting) return turn
  return waiting.then(() => {
    began = performance.now()
    return turn
  })
}

/** By how much work it is: what it reads or writes at most. */
function weightOf({ route, query, items }: ApiCall): number {
  const rows = items ? items.length : Number(query.limit ?? 1)
  return (route.write ? WRITE : 0) + Math.ceil(rows / ROWS)
}
