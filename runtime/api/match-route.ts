import { ApiError, notFound } from './errors.ts'
import type { Exchange, Service } from './exchange.ts'
import { findAnywhere } from './versions.ts'

/** Step 6: the operation, by the path and method of the version. */
export function matchRoute(exchange: Exchange, { versions }: Service): void {
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
  for (const [index, name] of route.pathNames.entries()) exchange.pathParameters[name] = match.values[index]!
}
