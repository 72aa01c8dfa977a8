/**
 * The service's OAuth endpoints for a public client (RFC 6749, 7009, 8414; OAuth 2.1). `oauth4webapi` would add 316 KB
 * (unpacked) to a tarball of 193 KB and replace only about 40 lines: the time limits, the origin check and the exit codes
 * would remain.
 */
import { withoutControls } from '../terminal/colours.ts'
import { SignInError, UnreachableError } from '../terminal/failures.ts'
import { reasonOf } from '../terminal/reasons.ts'
import type { ProfileTokens } from './profiles.ts'

export interface AuthorizationServer {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly revocation_endpoint: string
}

const TIMEOUT_MS = 15_000

const METADATA = '/.well-known/oauth-authorization-server'

/**
 * Reads the server metadata (RFC 8414 §3).
 * @throws Error unless the issuer matches and all endpoints have the issuer's origin.
 */
export async function discover(authUrl: string, ended: AbortSignal): Promise<AuthorizationServer> {
  const issuer = new URL(authUrl).origin
  const { status, body } = await exchange(`${issuer}${METADATA}`, {}, ended)
  if (status !== 200)
    throw new Error(`${issuer} is not a sign-in server: ${METADATA} returned ${status}. Check --auth-url.`)
  // RFC 8414 §3.3: the issuer must match the requested one.
  if (typeof body.issuer !== 'string' || body.issuer.replace(/\/$/, '') !== issuer)
    throw new Error(`${issuer} identifies itself as ${shown(body.issuer)}: use that address as --auth-url`)
  const endpoint = (name: string): string => {
    const url = body[name]
    if (typeof url === 'string' && URL.canParse(url) && new URL(url).origin === issuer) return url
    throw new Error(`the metadata of ${issuer} has no ${name} at the same origin`)
  }
  return {
    issuer: body.issuer,
    authorization_endpoint: endpoint('authorization_endpoint'),
    token_endpoint: endpoint('token_endpoint'),
    revocation_endpoint: endpoint('revocation_endpoint'),
  }
}

/**
 * Requests tokens for a grant.
 * @throws SignInError if the server refuses the grant.
 */
export async function requestTokens(
  endpoint: string,
  grant: Readonly<Record<string, string>>,
  ended?: AbortSignal,
): Promise<ProfileTokens> {
  const startedAt = Date.now()
  const { status, body } = await exchange(
    endpoint,
    { method: 'POST', body: new URLSearchParams(grant) },
    ended,
  )
  if (status !== 200) {
    const why = body.error_description ?? body.error ?? `status ${status}`
    // RFC 6749 §5.2: 400 and 401 mean that the grant was refused; any other status is a server problem.
    if (status === 400 || status === 401)
      throw new SignInError(`the sign-in is no longer valid (${shown(why)}): run svc login`)
    throw new UnreachableError(`${new URL(endpoint).origin} cannot issue tokens at the moment: ${shown(why)}`)
  }
  const { access_token, refresh_token, expires_in, token_type, scope } = body
  const isWhole =
    typeof access_token === 'string' && typeof refresh_token === 'string' && typeof expires_in === 'number'
  if (!isWhole || String(token_type).toLowerCase() !== 'bearer')
    throw new Error(`${new URL(endpoint).origin} returned an incomplete token response`)
  return {
    access_token,
    refresh_token,
    expires_at: new Date(startedAt + expires_in * 1000).toISOString(),
    scope: typeof scope === 'string' ? scope : (grant.scope ?? ''),
  }
}

/** Revokes the refresh token and all access tokens issued from it (RFC 7009 §2.1). */
export async function revokeToken(endpoint: string, client_id: string, token: string): Promise<void> {
  const body = new URLSearchParams({ client_id, token, token_type_hint: 'refresh_token' })
  const { status } = await exchange(endpoint, { method: 'POST', body })
  if (status !== 200)
    throw new Error(`${new URL(endpoint).origin} returned ${status} to the revocation request`)
}

interface Exchanged {
  readonly status: number
  /** Empty if the response is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Sends a request.
 * @param ended when it aborts, its reason is thrown.
 */
async function exchange(url: string, init: RequestInit, ended?: AbortSignal): Promise<Exchanged> {
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const signal = ended ? AbortSignal.any([ended, timeout]) : timeout
    // Do not follow redirects: they could send the token to a different server.
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const text = await response.text()
    return { status: response.status, body: readObject(text) }
  } catch (cause) {
    ended?.throwIfAborted()
    throw new UnreachableError(`cannot reach ${new URL(url).origin}: ${reasonOf(cause)}`, { cause })
  }
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // for example an HTML page from a proxy
  }
}

const shown = (value: unknown) => withoutControls(String(value)).slice(0, 300)
