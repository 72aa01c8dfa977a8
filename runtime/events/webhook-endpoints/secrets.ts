/** Secrets of webhook endpoints. They are stored sealed. */
import type { EndpointSecrets } from '../../api/handler.ts'
import { lastingSpaceOf } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'
import { makeSigningSecret } from '../outbound/signing.ts'

/**
 * Returns the sealing context of an endpoint's secret. A secret that is sealed for one endpoint cannot be unsealed
 * for a different one.
 */
export function secretContext(environment: Environment, tenantId: string, endpointId: string): string {
  return `webhook_endpoints.secret ${environment} ${lastingSpaceOf(tenantId)} ${endpointId}`
}

export function createEndpointSecrets(seals: Seals, environment: Environment): EndpointSecrets {
  return {
    make(tenantId, endpointId, signature) {
      const encoding = signature === 'standard_webhooks' ? 'base64' : 'base64url'
      const secret = makeSigningSecret('whsec', encoding)
      return { secret, sealed: seals.seal(secret, secretContext(environment, tenantId, endpointId)) }
    },
  }
}
