/** Public keys of the Ed25519 signatures of an endpoint, which its receiver reads without an API key. */
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace, SPACE_PATTERN } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'
import { openSecrets } from '../outbound/signing.ts'
import { publicJwk, type SigningJwk, standardKeys } from '../outbound/standard-webhooks.ts'
import { readEndpoint } from './queries.ts'
import { secretContext } from './secrets.ts'

/** Prefix of the paths of public keys, outside /v1. */
export const KEYS_PREFIX = '/webhooks/'

/** Returns the path of an endpoint's key set. */
export function keysPath(space: string, endpointId: string): string {
  return `${KEYS_PREFIX}${space}/${endpointId}/jwks.json`
}

const PATH = new RegExp(`^(${SPACE_PATTERN})/(whe_[0-9a-z]{26})/jwks\\.json$`)

export interface PublicKeysParts {
  readonly environment: Environment
  readonly database: Pick<Pool, 'forTenant'>
  readonly seals: Seals
}

/**
 * Reads the key set at a path: a key for each secret that signs, the current one first. Undefined if there is no such
 * endpoint, or if it has no Ed25519 signatures.
 *
 * @param rest the path after `KEYS_PREFIX`.
 * @param now service time, milliseconds since the epoch.
 */
export async function readPublicKeys(
  { environment, database, seals }: PublicKeysParts,
  rest: string,
  now: number,
): Promise<{ readonly keys: readonly SigningJwk[] } | undefined> {
  const [, space, id] = PATH.exec(rest) ?? []
  if (space === undefined || id === undefined) return undefined
  const row = await readEndpoint(database.forTenant(readSpace(space).tenantId), space, id)
  if (row?.signature !== 'standard_webhooks') return undefined
  const context = secretContext(environment, space, id)
  const secrets = openSecrets(seals, context, row, now)
  return { keys: secrets.map((secret) => publicJwk(standardKeys(seals, context, secret))) }
}
