/** Routes for holders and their devices. They need no API key and are outside /v1. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusalOf } from '../../../api/capacity.ts'
import { ApiError } from '../../../api/errors/errors.ts'
import type { ApiService } from '../../../api/exchange.ts'
import { addressGroup, clientAddress } from '../../../platform/client-address.ts'
import { runInSpan } from '../../../tracing/span.ts'

export interface HolderRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The path after the route's prefix, not decoded, without the query. */
  readonly rest: string
  /** Service time of the request in milliseconds since the epoch. */
  readonly now: number
}

/** Handles a request. Returns undefined if the path is unknown. Throws `ApiError`. */
export type HolderRoute = (visit: HolderRequest) => Promise<void> | undefined

/** Combines routes: the first one that accepts the path handles the request. */
export function firstOf(...routes: readonly HolderRoute[]): HolderRoute {
  return (visit) => {
    for (const route of routes) {
      const answered = route(visit)
      if (answered) return answered
    }
    return undefined
  }
}

/** Path prefixes that need no API key. */
export const HOLDER_PREFIXES = ['/p/', '/google/v1/', '/apple/v1/', '/reports/', '/webhooks/'] as const

/** Routes by path prefix. */
export type HolderRoutes = Readonly<Partial<Record<(typeof HOLDER_PREFIXES)[number], HolderRoute>>>

/** Handles a request. Returns undefined if no prefix matches; rejects with the error to send. */
export type Holders = (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined

/** Creates the handler. Every request takes a token from the bucket of its client address, even if it fails. */
export function createHolders(
  {
    clock,
    environment,
    limiter,
    proxies,
    tracer,
    closures,
  }: Pick<ApiService, 'clock' | 'closures' | 'environment' | 'limiter' | 'proxies' | 'tracer'>,
  routes: HolderRoutes,
): Holders {
  const prefixes = HOLDER_PREFIXES.filter((prefix) => routes[prefix] !== undefined)
  const visit = async (route: HolderRoute, each: HolderRequest) => {
    const meter = limiter.meter(addressGroup(clientAddress(each.request, proxies)))
    const allowance = await limiter.take(meter, 'unauthenticated')
    if (!allowance.allowed) throw refusalOf(allowance)
    await closures?.ready()
    const answered = route(each)
    if (!answered) throw nothingHere()
    await answered
  }
  return (request, response) => {
    const path = pathOf(request.url ?? '/')
    const prefix = prefixes.find((each) => path.startsWith(each))
    if (prefix === undefined) return undefined
    const rest = path.slice(prefix.length)
    const each = { request, response, rest, now: clock.service(environment) }
    // The rest of the path contains tokens.
    const attributes = {
      'http.request.method': request.method,
      'http.route': prefix,
      'svc.environment': environment,
    }
    const name = `${request.method} ${prefix}`
    const span = tracer?.receive(request.headers, { name, kind: 'server', attributes })
    return runInSpan(
      span,
      () => visit(routes[prefix]!, each),
      () => ({ 'http.response.status_code': response.statusCode }),
    )
  }
}

/** Returns the path, also if a proxy sends the target in absolute form (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

/**
 * Creates the 404 error. It is the same for every cause, so that it does not reveal which part of an address was wrong.
 */
export function nothingHere(): ApiError {
  return new ApiError(404, 'not_found', 'not_found', 'Nothing was found at this address.')
}

/** Throws 405 if the method is not one of `methods`. */
export function requireMethod({ request }: HolderRequest, ...methods: readonly string[]): void {
  if (methods.includes(request.method ?? '')) return
  const allowed = methods.join(', ')
  throw new ApiError(405, 'method_not_allowed', 'method_not_allowed', `This path takes ${allowed}.`, {
    headers: ['Allow', allowed],
  })
}
