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
 * Who may read an answer from a page: everybody what publishable keys may call; the documentation, which is at the
 * console, all of the sandbox.
 */
function allowOrigin(origin: string, service: ApiService, method: string, path: string): readonly string[] {
  const { versions, environment, consoleUrl } = service
  if (findAnywhere(versions, method, path, ({ operation }) => operation.extensions.publishable === true))
    return ['Access-Control-Allow-Origin', '*']
  const isDocumentation = environment === 'sandbox' && origin === new URL(consoleUrl).origin
  if (!isDocumentation || !findAnywhere(versions, method, path)) return NONE
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin']
}

/** Headers that let a browser read the answer, only when a browser asks. */
export function corsHeaders({ request, path }: Exchange, service: ApiService): readonly string[] {
  const { origin } = request.headers
  const allowed = origin === undefined ? NONE : allowOrigin(origin, service, request.method!, path)
  return allowed === NONE ? NONE : [...allowed, ...EXPOSED]
}

/**
 * The answer to a browser's question whether it may call a path (Fetch standard, CORS-preflight), which comes without a
 * key. Undefined where it may not.
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
