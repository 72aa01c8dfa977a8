/** The header by which samples and collections say who is calling. */
import type { Api, ApiOperation } from '../../ir/model.ts'
import { alternativesOf, schemesOf } from './security.ts'

/** Where the key goes, and what stands before it. */
export interface WireCredential {
  readonly header: string
  readonly prefix: string
}

/**
 * @param operation that the request is for; without one, any scheme of the document counts.
 * @returns the first alternative that one header can carry.
 */
export function credentialOf(api: Api, operation?: ApiOperation): WireCredential | undefined {
  const schemes = schemesOf(api)
  const alternatives = operation ? alternativesOf(api, operation) : Object.keys(schemes).map((name) => [name])
  for (const [name, ...others] of alternatives) {
    const scheme = name === undefined || others.length > 0 ? undefined : schemes[name]
    if (scheme?.in === 'header') return { header: scheme.name, prefix: scheme.prefix ?? '' }
  }
  return undefined
}
