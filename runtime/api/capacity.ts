/**
 * Checks whether there is capacity for a request: in this process, in the rate limits, and among the tenant's own
 * requests.
 */

import { addressGroup } from '../platform/client-address.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { type Allowance, type Grant, LIMITS, type Meter } from '../tenants/limits/limiter.ts'
import { type ApiError, rateLimited, unavailable } from './errors/errors.ts'
import type { ApiCall, ApiService, Exchange, ReceivedRequest } from './exchange.ts'
import type { ApiRoute } from './version-table.ts'

/**
 * Refuses requests while this process is overloaded. It is the first stage, costs almost nothing and needs no query.
 */
export function shedLoad({ traffic }: ApiService): void {
  if (traffic?.overload() === undefined) return
  throw unavailable('The service is overloaded. Try again in a moment.', { isFree: true })
}

/**
 * Refuses requests of a tenant whose own requests make the database queue too long; other tenants are not affected.
 * Runs as soon as the tenant is known. A refused request costs no token.
 */
export function shedTenant({ tenant }: KnownCredential, { traffic }: ApiService): void {
  if (!traffic?.crowdedBy(tenant.id)) return
  throw unavailable(
    'Too many of your requests are waiting for the database. Wait until some of them have finished.',
    {
      isFree: true,
    },
  )
}

/** Returns the allowance of a request that takes no token from any bucket. */
export function freeAllowance({ clock }: ApiService): Allowance {
  const limit = LIMITS.unauthenticated
  const reset = Math.ceil(clock.machine() / 1000)
  return { allowed: true, resource: 'unauthenticated', limit, remaining: limit, reset, retryAfterMs: 0 }
}

const MAX_STREAMS = 4

/** Retry delay for a refused stream. By then, one of the open streams may have closed. */
const STREAM_RETRY_MS = 1000

/**
 * Takes a slot for concurrent requests, and a token of the operation's bucket. A stream takes only a token;
 * `requireAllowance` limits the number of open streams.
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
      // Release the slot when the response closes, even if the client has already disconnected.
      if (response.destroyed || response.writableFinished) release()
      else response.once('close', release)
    }
    return allowance
  }
  return grant instanceof Promise ? grant.then(accept) : accept(grant)
}

/** Refuses a request that got no token or no slot, and a stream if the tenant has too many open. */
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
    throw rateLimited(
      `You have ${MAX_STREAMS} open event streams, which is the maximum. Close one first.`,
      STREAM_RETRY_MS,
    )
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
 * Takes a token of the route's bucket: of `read` if there is no route, and of the client address if there is no key.
 * The allowance shows if no token was left.
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

/** Returns the error for an allowance without a token or a slot. */
export function refusalOf({ resource, limit, retryAfterMs }: Allowance): ApiError {
  const message =
    resource === 'concurrent_connections'
      ? `You have ${limit} requests in progress, which is the maximum. Wait until some of them have finished.`
      : `Too many requests: the rate limit ${resource} is exhausted. Wait, then try again.`
  return rateLimited(message, retryAfterMs)
}

/** Counts the request in its tenant's usage, and as the last use of its key. */
export function countUse(
  { now }: ReceivedRequest,
  { tenant, key }: KnownCredential,
  { bucket }: ApiRoute,
  { usage, environment }: ApiService,
): void {
  usage?.count(environment, tenant.id, key.id, bucket, now)
}

/** Number of rows with the same weight as one request. */
const ROWS = 25

/**
 * Additional weight of a write, which holds a connection and also writes events, an audit entry and a stored
 * response.
 */
const WRITE = 1

/** A turn to work on a request. Turns bound how much work of one tenant is in progress. */
export interface RequestTurn {
  end(): void
  /**
   * Releases the turn while the request waits for an external system, so that other requests of the tenant can run.
   */
  leave<T>(wait: () => Promise<T>): Promise<T>
}

const NO_TURN: RequestTurn = { end() {}, leave: (wait) => wait() }

/** Waits for a turn. While other tenants are active, the work that one tenant has in progress is bounded. */
export function takeTurn(call: ApiCall, { turns }: ApiService): RequestTurn | Promise<RequestTurn> {
  const { route, credential } = call
  // A stream is open for long, and causes hardly any work.
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
      // A resumed request has its own kind, so that it does not queue behind new requests.
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

/** Estimates the work of a request by the maximum number of rows that it reads or writes. */
function weightOf({ route, query, items }: ApiCall): number {
  const rows = items ? items.length : Number(query.limit ?? 1)
  return (route.write ? WRITE : 0) + Math.ceil(rows / ROWS)
}
