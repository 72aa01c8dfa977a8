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
  /** Confidential clients get a secret. */
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

/** Why the URI cannot be redirected to (RFC 6749, 3.1.2; OAuth 2.1, 2.3); undefined when it can. */
function faultOf(uri: string, environment: Environment): string | undefined {
  if (!URL.canParse(uri)) return 'is not an absolute URI'
  const url = new URL(uri)
  if (uri.includes('#')) return 'has a fragment'
  if (url.username || url.password) return 'holds a user name or password'
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') {
    // RFC 8252, 7.1: schemes of native apps are reversed domain names.
    return url.protocol.includes('.') ? undefined : `has the scheme ${url.protocol}`
  }
  return environment === 'sandbox' || LOOPBACK.has(url.hostname) ? undefined : 'is http beyond this machine'
}

function check(input: OauthClientInput): void {
  if (input.name.trim() === '' || input.name.length > 200) {
    throw new ControlError('invalid', 'a name has 1 to 200 characters')
  }
  if (input.redirectUris.length === 0) throw new ControlError('invalid', 'a client needs a redirect URI')
  if (input.scopes.length === 0) throw new ControlError('invalid', 'a client needs a scope')
  for (const uri of input.redirectUris) {
    const fault = faultOf(uri, input.environment)
    if (fault) throw new ControlError('invalid', `the redirect URI ${uri} ${fault}`)
  }
  const unknown = input.scopes.filter((scope) => !OAUTH_SCOPES.some((known) => known === scope))
  if (unknown.length > 0) {
    throw new ControlError('invalid', `no scope ${unknown.join(', ')}; scopes are ${OAUTH_SCOPES.join(', ')}`)
  }
}

/** Registers a platform that acts for merchants; it belongs to one environment. */
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
