/** How a request says who is calling. */
import type { Service } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'

export type Credential = NonNullable<Service['credential']>

/** @returns the first scheme that one header can carry. Tokens of OAuth are carried as RFC 6750 has it. */
export function credentialOf(api: Api): Credential | undefined {
  for (const scheme of Object.values(api.securitySchemes) as Record<string, unknown>[]) {
    if (scheme.type === 'apiKey' && scheme.in === 'header') return { header: String(scheme.name), prefix: '' }
    const bearer = scheme.type === 'http' && String(scheme.scheme).toLowerCase() === 'bearer'
    if (bearer || scheme.type === 'oauth2' || scheme.type === 'openIdConnect') {
      return { header: 'Authorization', prefix: 'Bearer ' }
    }
  }
  return undefined
}
