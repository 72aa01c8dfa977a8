/** Determines which security schemes of a document the client supports, and which ones an operation requires. */
import type { Alternatives, SecurityScheme } from '../../client-runtime/service.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'

const PLACES: readonly SecurityScheme['in'][] = ['header', 'query', 'cookie']

/** Returns the schemes that the client fills in, by name. OAuth tokens are sent as bearer tokens (RFC 6750). */
export function schemesOf(api: Api): Readonly<Record<string, SecurityScheme>> {
  const schemes = Object.entries(api.securitySchemes).flatMap(([name, scheme]) => {
    const carried = schemeOf(scheme)
    return carried ? [[name, carried] as const] : []
  })
  return Object.fromEntries(schemes)
}

function schemeOf(scheme: unknown): SecurityScheme | undefined {
  if (typeof scheme !== 'object' || scheme === null) return undefined
  const { type, in: where, name, scheme: kind } = scheme as Readonly<Record<string, unknown>>
  const place = PLACES.find((each) => each === where)
  if (type === 'apiKey' && place) return { in: place, name: String(name) }
  const http = type === 'http' ? String(kind).toLowerCase() : undefined
  const header = { in: 'header', name: 'Authorization' } as const
  if (http === 'basic') return { ...header, prefix: 'Basic ', basic: true }
  if (http === 'bearer' || type === 'oauth2' || type === 'openIdConnect')
    return { ...header, prefix: 'Bearer ' }
  return undefined
}

/** Client certificates are part of the connection, not of the request. */
function isTransport(scheme: unknown): boolean {
  return typeof scheme === 'object' && scheme !== null && 'type' in scheme && scheme.type === 'mutualTLS'
}

/** Returns the alternatives of an operation that the client can fill in. */
export function alternativesOf(api: Api, operation: ApiOperation): Alternatives {
  const schemes = schemesOf(api)
  return operation.security
    .map((requirement) => Object.keys(requirement).filter((name) => !isTransport(api.securitySchemes[name])))
    .filter((names) => names.every((name) => Object.hasOwn(schemes, name)))
}

/** Returns the schemes that an operation requires and the client cannot fill in. */
export function uncarriedSchemes(api: Api, operation: ApiOperation): readonly string[] {
  const schemes = schemesOf(api)
  const names = operation.security.flatMap((requirement) => Object.keys(requirement))
  return names.filter((name) => !Object.hasOwn(schemes, name) && !isTransport(api.securitySchemes[name]))
}

/** Returns the security requirement that most operations of a version have. */
export function usualAlternatives(api: Api): Alternatives {
  const counted = new Map<string, { count: number; alternatives: Alternatives }>()
  for (const operation of api.operations) {
    const alternatives = alternativesOf(api, operation)
    const key = JSON.stringify(alternatives)
    counted.set(key, { alternatives, count: (counted.get(key)?.count ?? 0) + 1 })
  }
  const most = Math.max(...[...counted.values()].map(({ count }) => count))
  return [...counted.values()].find(({ count }) => count === most)?.alternatives ?? []
}
