/**
 * The service's OAuth endpoints, as a public client uses them (RFC 6749, 7009, 8414; OAuth 2.1). `oauth4webapi` is 316 KB unpacked,
 * for a tarball of 193 KB, and replaces about 40 lines here: time limits, endpoints at one origin and exit codes stay.
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
 * Reads the metadata of the server (RFC 8414 §3).
 * @throws Error unless it speaks of itself and of endpoints at its own origin.
 */
export async function discover(authUrl: string, ended: AbortSignal): Promise<AuthorizationServer> {
  const issuer = new URL(authUrl).origin
  const { status, body } = await exchange(`${issuer}${METADATA}`, {}, ended)
  if (status !== 200) throw new Error(`${issuer} does not sign in: ${METADATA} answers ${status}`)
  // RFC 8414 §3.3: the issuer has to be the one that was asked for.
  if (typeof body.issuer !== 'string' || body.issuer.replace(/\/$/, '') !== issuer)
    throw new Error(`${issuer} says that it is ${shown(body.issuer)}: give that address as --auth-url`)
  const endpoint = (name: string): string => {
    const url = body[name]
    if (typeof url === 'string' && URL.canParse(url) && new URL(url).origin === issuer) return url
    throw new Error(`${issuer} names no ${name} of its own`)
  }
  return {
    issuer: body.issuer,
    authorization_endpoint: endpoint('authorization_endpoint'),
    token_endpoint: endpoint('token_endpoint'),
    revocation_endpoint: endpoint('revocation_endpoint'),
  }
}

/** @throws SignInError when the server refuses the grant. */
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
    // RFC 6749 §5.2: 400 and 401 are about the grant, anything else about the server.
    if (status === 400 || status === 401)
      throw new SignInError(`the sign-in is not valid any more (${shown(why)}): run svc login`)
    throw new UnreachableError(`${new URL(endpoint).origin} gives no tokens now: ${shown(why)}`)
  }
  const { access_token, refresh_token, expires_in, token_type, scope } = body
  const isWhole =
    typeof access_token === 'string' && typeof refresh_token === 'string' && typeof expires_in === 'number'
  if (!isWhole || String(token_type).toLowerCase() !== 'bearer')
    throw new Error(`${new URL(endpoint).origin} answers without the tokens that were asked for`)
  return {
    access_token,
    refresh_token,
    expires_at: new Date(startedAt + expires_in * 1000).toISOString(),
    scope: typeof scope === 'string' ? scope : (grant.scope ?? ''),
  }
}

/** Ends the sign-in: with the refresh token goes everything that came of it (RFC 7009 §2.1). */
export async function revokeToken(endpoint: string, client_id: string, token: string): Promise<void> {
  const body = new URLSearchParams({ client_id, token, token_type_hint: 'refresh_token' })
  const { status } = await exchange(endpoint, { method: 'POST', body })
  if (status !== 200) throw new Error(`${new URL(endpoint).origin} answers ${status} to the revocation`)
}

interface Exchanged {
  readonly status: number
  /** Empty where the answer is no object in JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

/** @param ended throws its reason when it aborts. */
async function exchange(url: string, init: RequestInit, ended?: AbortSignal): Promise<Exchanged> {
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const signal = ended ? AbortSignal.any([ended, timeout]) : timeout
    // A redirect would carry the token to wherever it points.
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
    return {} // a page of a proxy, or nothing at all
  }
}

const shown = (value: unknown) => withoutControls(String(value)).slice(0, 300)
