/** Secrets of webhook endpoints, sealed where they are stored. */

import { randomBytes } from 'node:crypto'
import type { EndpointSecrets } from '../../api/handler.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'

/** How long a secret signs after its rotation, in milliseconds of service time. */
export const RETIRED_FOR = 24 * 3_600_000

/** A secret from before a rotation. */
export interface RetiredSecret {
  /** Base64. */
  readonly sealed: string
  /** Until when it signs: service time, milliseconds since the epoch. */
  readonly until: number
}

/** Sealed for one endpoint, it opens for no other. */
export function secretContext(environment: Environment, tenantId: string, endpointId: string): string {
  return `webhook_endpoints.secret ${environment} ${tenantId} ${endpointId}`
}

export function createEndpointSecrets(seals: Seals, environment: Environment): EndpointSecrets {
  return {
    make(tenantId, endpointId) {
      const secret = `whsec_${randomBytes(32).toString('base64url')}`
      return { secret, sealed: seals.seal(secret, secretContext(environment, tenantId, endpointId)) }
    },
  }
}

/**
 * The secrets that sign now: the current one, and the one before it for a while.
 *
 * @param context of `secretContext`. @param now service time.
 */
export function openSecrets(
  seals: Pick<Seals, 'unseal'>,
  context: string,
  stored: { readonly secret: Buffer; readonly retired_secrets: readonly RetiredSecret[] },
  now: number,
): string[] {
  // Rows of earlier versions hold every secret of 24 hours, the newest first.
  const retired = stored.retired_secrets.slice(0, 1).filter(({ until }) => until > now)
  return [stored.secret, ...retired.map(({ sealed }) => Buffer.from(sealed, 'base64'))].map((sealed) =>
    seals.unseal(sealed, context),
  )
}
