/** What is asked for: the version, and the operation in it. */
import { ApiError, invalidParameter, notFound } from './errors.ts'
import type { Routed, Service, Trusted, Versioned } from './exchange.ts'
import { findAnywhere } from './versions.ts'

/** The version that the request names, or else the tenant's pin. */
export function resolveVersion(exchange: Trusted, { versions }: Service): Versioned {
  const header = exchange.request.headers['service-version']
  const name = header === undefined ? exchange.credential.pin : String(header)
  const version = name === null ? versions.current : versions.find(name)
  if (!version) {
    throw invalidParameter('unknown_version', 'Service-Version', `There is no version ${name?.slice(0, 40)}.`)
  }
  exchange.answerVersion = version
  exchange.version = version
  if (exchange.now < version.sunset) return exchange as Versioned
  const successor = versions.successor(exchange.now)
  throw new ApiError(
    410,
    'version_sunset',
    'version_gone',
    `Version ${version.name} is no longer answered; ${successor.name} is.`,
    { extras: { successor_version: successor.name, guide_url: successor.referenceUrl } },
  )
}

/** The operation, by the path and method of the version. */
export function matchRoute(exchange: Versioned, { versions }: Service): Routed {
  const method = exchange.request.method!
  const match = exchange.version.matcher.match(exchange.path)
  const route = match?.routes.get(method)
  if (!match || !route) {
    // What another version has is not there; what none has is not allowed.
    if (!match || findAnywhere(versions, method, exchange.path))
      throw notFound('There is no such operation here.')
    const allowed = [...match.routes.keys()].join(', ')
    throw new ApiError(405, 'method_not_allowed', 'method_not_allowed', `This path takes ${allowed}.`, {
      headers: ['Allow', allowed],
    })
  }
  exchange.route = route
  exchange.pathValues = match.values
  return exchange as Routed
}
