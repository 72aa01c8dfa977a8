import type { IncomingMessage } from 'node:http'
import type { ApiService, Exchange } from './exchange.ts'
import { findAnywhere } from './routing.ts'

const EXPOSED = [
  'Access-Control-Expose-Headers',
  'Request-Id, Service-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Resource, ' +
    'Retry-After, Deprecation, Sunset, Link, Idempotency-Replayed',
]

const NONE: readonly string[] = []

/**
 * Returns the CORS headers for an origin. Any page may call operations that are open to publishable keys. The
 * documentation pages, which have the origin of the dashboard, may call every operation of the sandbox.
 */
function allowOrigin(origin: string, service: ApiService, method: string, path: string): readonly string[] {
  const { versions, environment, baseUrls } = service
  if (findAnywhere(versions, method, path, ({ operation }) => operation.extensions.publishable === true))
    return ['Access-Control-Allow-Origin', '*']
  const isDocumentation = environment === 'sandbox' && origin === new URL(baseUrls.console).origin
  if (!isDocumentation || !findAnywhere(versions, method, path)) return NONE
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin']
}

/** Returns headers that let a browser expose the answer to a page; none if the request has no `Origin`. */
export function corsHeaders({ request, path }: Exchange, service: ApiService): readonly string[] {
  const { origin } = request.headers
  const allowed = origin === undefined ? NONE : allowOrigin(origin, service, request.method!, path)
  return allowed === NONE ? NONE : [...allowed, ...EXPOSED]
}

/**
 * Returns the headers that answer a CORS preflight request (Fetch standard), which carries no key. Undefined if the
 * request is not a preflight, or if the page may not call the path.
 */
export function preflightHeaders(
  request: IncomingMessage,
  path: string,
  service: ApiService,
): readonly string[] | undefined {
  const { origin, 'access-control-request-method': method } = request.headers
  if (request.method !== 'OPTIONS' || origin === undefined || method === undefined) return undefined
  const allowed = allowOrigin(origin, service, method, path)
  if (allowed === NONE) return undefined
  return [
    ...allowed,
    'Access-Control-Allow-Methods',
    method,
    'Access-Control-Allow-Headers',
    'Authorization, Content-Type, Idempotency-Key, Service-Factor, Service-Version',
    'Access-Control-Max-Age',
    '7200',
    'Vary',
    'Access-Control-Request-Method, Access-Control-Request-Headers',
  ]
}
