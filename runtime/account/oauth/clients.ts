import type { Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { ControlError, change, isoTime, type Operator } from '../../tenants/admin/change.ts'
import { digestKey, randomBase62 } from '../../tenants/keys/keys.ts'
import { OAUTH_SCOPES } from '../../tenants/keys/scopes.ts'

const INSERT_CLIENT: Statement = {
  text: `INSERT INTO control.oauth_clients (id, environment, name, redirect_uris, scopes, secret_digest, created)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

export interface OauthClientInput {
  readonly name: string
  readonly environment: Environment
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
  readonly confidential: boolean
}

export interface CreatedOauthClient {
  readonly id: string
  readonly name: string
  readonly environment: Environment
  readonly redirect_uris: readonly string[]
  readonly scopes: readonly string[]
  readonly confidential: boolean
  readonly created: string
  readonly secret?: string
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns why a redirect URI is not allowed (RFC 6749, section 3.1.2; OAuth 2.1, section 2.3); undefined if it is.
 */
function faultOf(uri: string, environment: Environment): string | undefined {
  if (!URL.canParse(uri)) return 'must be an absolute URI'
  const url = new URL(uri)
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.username || url.password) return 'must not contain a user name or password'
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') {
    // Native apps use reversed domain names as schemes (RFC 8252, section 7.1).
    return url.protocol.includes('.') ? undefined : `must not use the scheme ${url.protocol}`
  }
  return environment === 'sandbox' || LOOPBACK.has(url.hostname)
    ? undefined
    : 'must use https, except for addresses of the same machine'
}

function check(input: OauthClientInput): void {
  if (input.name.trim() === '' || input.name.length > 200) {
    throw new ControlError('invalid', 'the name must have 1 to 200 characters')
  }
  if (input.redirectUris.length === 0) throw new ControlError('invalid', 'give at least one redirect URI')
  if (input.scopes.length === 0) throw new ControlError('invalid', 'give at least one scope')
  for (const uri of input.redirectUris) {
    const fault = faultOf(uri, input.environment)
    if (fault) throw new ControlError('invalid', `the redirect URI ${uri} ${fault}`)
  }
  const unknown = input.scopes.filter((scope) => !OAUTH_SCOPES.some((known) => known === scope))
  if (unknown.length > 0) {
    throw new ControlError(
      'invalid',
      `unknown scope ${unknown.join(', ')}: expected one of ${OAUTH_SCOPES.join(', ')}`,
    )
  }
}

/** Registers an OAuth client for one environment. @throws ControlError `invalid`. */
export async function createOauthClient(
  operator: Operator,
  input: OauthClientInput,
): Promise<CreatedOauthClient> {
  check(input)
  const now = operator.clock.service(input.environment)
  const id = newId('ocl', now)
  const secret = input.confidential ? `svc_cs_${input.environment}_${randomBase62(43)}` : undefined
  const redirectUris = [...new Set(input.redirectUris)]
  const scopes = [...new Set(input.scopes)]
  await change(operator, (tx) =>
    tx.query(INSERT_CLIENT, [
      id,
      input.environment,
      input.name.trim(),
      redirectUris,
      scopes,
      secret === undefined ? null : digestKey(operator.pepper, secret),
      toTimestamp(now),
    ]),
  )
  return {
    id,
    name: input.name.trim(),
    environment: input.environment,
    redirect_uris: redirectUris,
    scopes,
    confidential: input.confidential,
    created: isoTime(now),
    ...(secret === undefined ? {} : { secret }),
  }
}
