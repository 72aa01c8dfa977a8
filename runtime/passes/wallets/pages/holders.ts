/** What holders and their devices ask for without a key, outside /v1. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusalOf } from '../../../api/capacity.ts'
import { ApiError } from '../../../api/errors/errors.ts'
import type { ApiService } from '../../../api/exchange.ts'
import { addressGroup, clientAddress } from '../../../platform/client-address.ts'

/** One request of theirs. */
export interface HolderRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Of the target, behind the route's prefix, undecoded and without its query. */
  readonly rest: string
  /** Service time at which it came, milliseconds since the epoch. */
  readonly now: number
}

/** Answers a visit; gives undefined for what it does not know. Throws `ApiError`. */
export type HolderRoute = (visit: HolderRequest) => Promise<void> | undefined

/** What the first that knows the visit answers. */
export function firstOf(...routes: readonly HolderRoute[]): HolderRoute {
  return (visit) => {
    for (const route of routes) {
      const answered = route(visit)
      if (answered) return answered
    }
    return undefined
  }
}

/** The beginnings of the paths that need no key. */
export const HOLDER_PREFIXES = ['/p/', '/google/v1/', '/apple/v1/', '/reports/'] as const

/** Routes by the beginning of the paths that they answer. */
export type HolderRoutes = Readonly<Partial<Record<(typeof HOLDER_PREFIXES)[number], HolderRoute>>>

/** Undefined for a request that is for none of the routes; rejects with whatever is to be answered as an error. */
export type Holders = (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined

/** Every request costs its address a token, whatever it is answered. */
export function createHolders(
  { clock, environment, limiter, proxies }: Pick<ApiService, 'clock' | 'environment' | 'limiter' | 'proxies'>,
  routes: HolderRoutes,
): Holders {
  const prefixes = HOLDER_PREFIXES.filter((prefix) => routes[prefix] !== undefined)
  const visit = async (route: HolderRoute, each: HolderRequest) => {
    const meter = limiter.meter(addressGroup(clientAddress(each.request, proxies)))
    const allowance = await limiter.take(meter, 'unauthenticated')
    if (!allowance.allowed) throw refusalOf(allowance)
    const answered = route(each)
    if (!answered) throw nothingHere()
    await answered
  }
  return (request, response) => {
    const path = pathOf(request.url ?? '/')
    const prefix = prefixes.find((each) => path.startsWith(each))
    if (prefix === undefined) return undefined
    const rest = path.slice(prefix.length)
    return visit(routes[prefix]!, { request, response, rest, now: clock.service(environment) })
  }
}

/** Also where a proxy sends the target whole (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

/** One answer for all that is not there: nobody learns from it what was wrong. */
export function nothingHere(): ApiError {
  return new ApiError(404, 'not_found', 'not_found', 'There is nothing here.')
}

/** Throws where the method is none of those. */
export function requireMethod({ request }: HolderRequest, ...methods: readonly string[]): void {
  if (methods.includes(request.method ?? '')) return
  const allowed = methods.join(', ')
  throw new ApiError(405, 'method_not_allowed', 'method_not_allowed', `This path takes ${allowed}.`, {
    headers: ['Allow', allowed],
  })
}
