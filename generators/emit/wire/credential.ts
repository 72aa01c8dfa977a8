/** Determines the header that samples and collections use for authentication. */
import type { Api, ApiOperation } from '../../ir/model.ts'
import { alternativesOf, schemesOf } from './security.ts'

/** The header for the key, and the prefix before the key. */
export interface WireCredential {
  readonly header: string
  readonly prefix: string
}

/**
 * Returns the first alternative that consists of one header.
 *
 * @param operation if absent, any scheme of the document is used.
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
