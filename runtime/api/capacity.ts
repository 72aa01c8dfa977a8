/** Whether there is room for a request: in this process, in the buckets, among the tenant's own requests. */

import { addressGroup } from '../platform/client-address.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { type Allowance, type Grant, LIMITS, type Meter } from '../tenants/limits/limiter.ts'
import { type ApiError, rateLimited, unavailable } from './errors/errors.ts'
import {
  type Accepted,
  type Admitted,
  type Allowed,
  type ApiService,
  type Authenticated,
  type Confirmed,
  type CountedExchange,
  type Exchange,
  type Metered,
  pass,
  type Routed,
  type Uncrowded,
  withAllowance,
  withTurn,
} from './exchange.ts'

/** First of all: refuses what this process has no capacity for, at hardly any cost and without a query. */
export function shedLoad(exchange: Exchange, { traffic, clock }: ApiService): Accepted {
  if (traffic?.overload() === undefined) return pass(exchange, 'load')
  withAllowance(exchange, untouched(clock.machine()))
  throw unavailable('The service has too much to do at the moment; try again shortly.')
}

/**
 * As soon as it is known whose request it is: refuses a tenant whose own requests make the queue for the database too long,
 * and no other. It costs no token.
 */
export function shedTenant(exchange: Authenticated, { traffic, clock }: ApiService): Uncrowded {
  if (!traffic?.crowdedBy(exchange.credential.tenant.id)) return pass(exchange, 'crowd')
  withAllowance(exchange, untouched(clock.machine()))
  throw unavailable('Too many of your requests wait for the database; let some of them finish first.')
}

/** No token was taken, and no bucket looked at. */
function untouched(wall: number): Allowance {
  const limit = LIMITS.unauthenticated
  const reset = Math.ceil(wall / 1000)
  return { allowed: true, resource: 'unauthenticated', limit, remaining: limit, reset, retryAfterMs: 0 }
}

/** Streams that a tenant has open at once, on a node. */
const MAX_STREAMS = 4

/** When to try again: one of them may have been closed by then. */
const STREAM_RETRY_MS = 1000

/** One of the slots for requests at the same time, and a token of the operation's bucket. */
export function takeAllowance(exchange: Routed, service: ApiService): Allowed | Promise<Allowed> {
  const { credential, route } = exchange
  if (route.operation.stream) return takeStream(exchange, service)
  const grant = service.limiter.acquire(tenantMeter(credential, service), route.bucket, credential.lifts)
  return grant instanceof Promise ? grant.then((given) => accept(exchange, given)) : accept(exchange, grant)
}

/** A stream is no request at the same time as others; there may be a few of them, and each costs a token to open. */
function takeStream(exchange: Routed, service: ApiService): Allowed | Promise<Allowed> {
  const open = (metered: Allowed) => {
    if (!metered.allowance.allowed) throw refusalOf(metered.allowance)
    countStream(metered, service)
    return metered
  }
  const metered = takeToken(exchange, service)
  return metered instanceof Promise ? metered.then(open) : open(metered)
}

function countStream({ credential, response }: Routed, { openStreams }: ApiService): void {
  const tenantId = credential.tenant.id
  const count = openStreams.get(tenantId) ?? 0
  if (count >= MAX_STREAMS) {
    throw rateLimited(`More than ${MAX_STREAMS} streams at once; close one first.`, STREAM_RETRY_MS)
  }
  if (response.destroyed) return
  openStreams.set(tenantId, count + 1)
  response.once('close', () => {
    const left = (openStreams.get(tenantId) ?? 1) - 1
    if (left === 0) openStreams.delete(tenantId)
    else openStreams.set(tenantId, left)
  })
}

function tenantMeter({ tenant }: KnownCredential, { limiter, environment }: ApiService): Meter {
  return limiter.meter(`${environment}:${tenant.id}`)
}

function accept(exchange: Routed, { allowance, release }: Grant): Allowed {
  const { response } = exchange
  if (release) {
    // Also when the client goes away before it is answered, and when it is gone already.
    if (response.destroyed || response.writableFinished) release()
    else response.once('close', release)
  }
  const allowed = withAllowance(exchange, allowance)
  if (!allowance.allowed) throw refusalOf(allowance)
  return allowed
}

/**
 * Takes a token of the route's bucket; of `read` where there is no route, and of the address's where there is no key.
 * Where none was left, the allowance says so.
 */
export function takeToken<Found extends Exchange>(
  exchange: Found,
  service: ApiService,
): (Found & Metered) | Promise<Found & Metered> {
  const { credential, route, address } = exchange
  const { limiter } = service
  const taken = credential
    ? limiter.take(tenantMeter(credential, service), route?.bucket ?? 'read', credential.lifts)
    : limiter.take(limiter.meter(addressGroup(address)), 'unauthenticated')
  return taken instanceof Promise
    ? taken.then((allowance) => withAllowance(exchange, allowance))
    : withAllowance(exchange, taken)
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
export function countUse(exchange: Allowed, { usage, environment }: ApiService): CountedExchange {
  const { credential, route, now } = exchange
  usage?.count(environment, credential.tenant.id, credential.key.id, route.bucket, now)
  return pass(exchange, 'usage')
}

/** Rows that weigh as much as one request. */
const ROWS = 25

/** A write has a connection of its own, and what it writes beside is more than what it answers. */
const WRITE = 1

/** Waits until the tenant's turn has come: what its other requests have under way is bounded while others are there. */
export function takeTurn(exchange: Confirmed, service: ApiService): Admitted | Promise<Admitted> {
  const { operation, bucket } = exchange.route
  // A stream lasts, and does next to nothing.
  return operation.stream ? withTurn(exchange, undefined) : takeTurnOf(exchange, service, bucket)
}

/** Gives the turn back for as long as others are waited for: that is no work, and a tenant's others go on meanwhile. */
export async function leaveTurn<T>(
  exchange: Admitted,
  service: ApiService,
  wait: () => Promise<T>,
): Promise<T> {
  exchange.endTurn?.()
  withTurn(exchange, undefined)
  const value = await wait()
  // What was begun does not queue up behind what begins.
  await takeTurnOf(exchange, service, `${exchange.route.bucket} resumed`)
  return value
}

function takeTurnOf(exchange: Confirmed, { turns }: ApiService, kind: string): Admitted | Promise<Admitted> {
  const tenantId = exchange.credential.tenant.id
  const weight = weightOf(exchange)
  const begin = () => {
    const began = performance.now()
    return withTurn(exchange, () => turns.release(tenantId, kind, weight, performance.now() - began))
  }
  const turn = turns.acquire(tenantId, kind, weight)
  return turn ? turn.then(begin) : begin()
}

/** By how much work it is: what it reads or writes at most. */
function weightOf({ route, query, items }: Confirmed): number {
  const rows = items ? items.length : Number(query.limit ?? 1)
  return (route.write ? WRITE : 0) + Math.ceil(rows / ROWS)
}
