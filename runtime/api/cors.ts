import type { IncomingMessage } from 'node:http'
import type { Exchange, Service } from './exchange.ts'
import { findAnywhere } from './routing.ts'

const ALLOW_ORIGIN = ['Access-Control-Allow-Origin', '*']

const EXPOSED = [
  'Access-Control-Expose-Headers',
  'Request-Id, Service-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Resource, ' +
    'Retry-After, Deprecation, Sunset, Link, Idempotency-Replayed',
]

const NONE: readonly string[] = []

function isOpen({ versions }: Service, method: string, path: string): boolean {
  return (
    findAnywhere(versions, method, path, ({ operation }) => operation.extensions.publishable === true) !==
    undefined
  )
}

/** Headers that let a browser read the answer: on what publishable keys may call, and only when a browser asks. */
export function corsHeaders({ request, path }: Exchange, service: Service): readonly string[] {
  if (request.headers.origin === undefined || !isOpen(service, request.method!, path)) return NONE
  return [...ALLOW_ORIGIN, ...EXPOSED]
}

/**
 * The answer to a browser's question whether it may call a path (Fetch standard, CORS-preflight), which comes without a
 * key. Undefined where publishable keys have nothing to call.
 */
export function preflightHeaders(
  request: IncomingMessage,
  path: string,
  service: Service,
): readonly string[] | undefined {
  const method = request.headers['access-control-request-method']
  if (request.method !== 'OPTIONS' || request.headers.origin === undefined || method === undefined)
    return undefined
  if (!isOpen(service, method, path)) return undefined
  return [
    ...ALLOW_ORIGIN,
    'Access-Control-Allow-Methods',
    method,
    'Access-Control-Allow-Headers',
    'Authorization, Content-Type, Idempotency-Key, Service-Version',
    'Access-Control-Max-Age',
    '7200',
    'Vary',
    'Access-Control-Request-Method, Access-Control-Request-Headers',
  ]
}
