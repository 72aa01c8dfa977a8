import type { Admission, Allowance, Meter } from '../platform/limits/limiter.ts'
import { addressGroup } from './address.ts'
import { type ApiError, rateLimited } from './errors.ts'
import type { Exchange, Service } from './exchange.ts'

/** Streams that a tenant has open at once, on a node. */
const MOST_STREAMS = 4

/** When one of them may have been closed. */
const STREAM_RETRY_MS = 1000

/** Step 7: one of the slots for requests at the same time, and a token of the operation's bucket. */
export function takeAllowance(exchange: Exchange, service: Service): void | Promise<void> {
  const { credential, route } = exchange
  if (route!.operation.stream) return takeStream(exchange, service)
  const admission = service.limiter.admit(tenantMeter(exchange, service), route!.bucket, credential!.lifts)
  if (admission instanceof Promise) return admission.then((given) => accept(exchange, given))
  accept(exchange, admission)
}

/** A stream is no request at the same time as others; there may be a few of them, and each costs a token to open. */
function takeStream(exchange: Exchange, service: Service): void | Promise<void> {
  const open = (limited: ApiError | undefined) => {
    if (limited) throw limited
    countStream(exchange, service)
  }
  const limited = takeToken(exchange, service)
  return limited instanceof Promise ? limited.then(open) : open(limited)
}

function countStream({ credential, response }: Exchange, { openStreams }: Service): void {
  const tenantId = credential!.tenant.id
  const count = openStreams.get(tenantId) ?? 0
  if (count >= MOST_STREAMS) {
    throw rateLimited(`More than ${MOST_STREAMS} streams at once; close one first.`, STREAM_RETRY_MS)
  }
  if (response.destroyed) return
  openStreams.set(tenantId, count + 1)
  response.once('close', () => {
    const left = (openStreams.get(tenantId) ?? 1) - 1
    if (left === 0) openStreams.delete(tenantId)
    else openStreams.set(tenantId, left)
  })
}

function tenantMeter({ credential }: Exchange, { limiter, environment }: Service): Meter {
  return limiter.meter(`${environment}:${credential!.tenant.id}`)
}

function accept(exchange: Exchange, { allowance, leave }: Admission): void {
  const { response } = exchange
  if (leave) {
    // Also when the client goes away before it is answered, and when it is gone already.
    if (response.destroyed || response.writableFinished) leave()
    else response.once('close', leave)
  }
  exchange.allowance = allowance
  if (!allowance.allowed) throw refusalOf(allowance)
}

/**
 * Takes a token of the route's bucket; of `read` where there is no route, and of the address's where there is no key.
 * Gives the refusal when none was left.
 */
export function takeToken(
  exchange: Exchange,
  service: Service,
): ApiError | undefined | Promise<ApiError | undefined> {
  const { credential, route, address } = exchange
  const { limiter } = service
  const taken = credential
    ? limiter.take(tenantMeter(exchange, service), route?.bucket ?? 'read', credential.lifts)
    : limiter.take(limiter.meter(addressGroup(address)), 'unauthenticated')
  const note = (allowance: Allowance) => {
    exchange.allowance = allowance
    return allowance.allowed ? undefined : refusalOf(allowance)
  }
  return taken instanceof Promise ? taken.then(note) : note(taken)
}

function refusalOf({ resource, limit, retryAfterMs }: Allowance): ApiError {
  const message =
    resource === 'concurrent_connections'
      ? `More than ${limit} requests at once; let some finish first.`
      : `Too many requests of ${resource}; wait and try again.`
  return rateLimited(message, retryAfterMs)
}
