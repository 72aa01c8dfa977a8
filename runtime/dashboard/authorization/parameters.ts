/** Adds OAuth parameters that the API contract lets clients omit, because oidc-provider requires them. */
import type { Request } from 'express'
import type Provider from 'oidc-provider'
import { isOauthScope } from '../../tenants/keys/scopes.ts'

export type AuthorizationFields = Record<string, unknown>

/** Completes the query of an authorization request. @param search query with its question mark. */
export function completeAuthorization(search: string): string {
  const parameters = new URLSearchParams(search)
  if (!parameters.has('response_type')) parameters.set('response_type', 'code')
  if (parameters.has('code_challenge') && !parameters.has('code_challenge_method')) {
    parameters.set('code_challenge_method', 'S256')
  }
  // Errors also use the query response mode, the only supported one. By default, oidc-provider derives the mode from the response type.
  const mode = parameters.get('response_mode')
  if (parameters.get('response_type') !== 'code') {
    parameters.set('response_type', 'unsupported')
    parameters.delete('response_mode')
  } else if (mode && mode !== 'query') {
    parameters.set('response_mode', `no ${mode}`)
  }
  // By default, oidc-provider ignores unknown scopes. Without a scope, the request is refused.
  const scopes = parameters.get('scope')?.split(' ') ?? []
  if (scopes.some((scope) => !isOauthScope(scope))) parameters.delete('scope')
  return `?${parameters}`
}

/** Adds the redirect URI of the authorization code, and the client of a public client's refresh token. */
export async function completeToken(
  provider: Provider,
  sent: AuthorizationFields,
): Promise<AuthorizationFields> {
  const fields = { ...sent }
  if (fields.grant_type === undefined && fields.code !== undefined) fields.grant_type = 'authorization_code'
  if (fields.grant_type === 'authorization_code' && fields.redirect_uri === undefined) {
    const code = await provider.AuthorizationCode.find(String(fields.code), { ignoreExpiration: true })
    if (code?.redirectUri !== undefined) fields.redirect_uri = code.redirectUri
  }
  if (fields.grant_type === 'refresh_token' && fields.client_id === undefined) {
    const token = await provider.RefreshToken.find(String(fields.refresh_token), { ignoreExpiration: true })
    const client = token?.clientId === undefined ? undefined : await provider.Client.find(token.clientId)
    if (client?.clientAuthMethod === 'none') fields.client_id = client.clientId
  }
  return fields
}

/** Decodes Basic credentials, which are form-encoded (RFC 6749, 2.3.1). Returns undefined for an invalid header. */
function readBasic(header: string): readonly [id: string, secret: string] | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=]+)$/i.exec(header)?.[1]
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  try {
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
    return [decode(text.slice(0, colon)), decode(text.slice(colon + 1))]
  } catch {
    return undefined
  }
}

/**
 * Moves the client credentials from `Authorization: Basic` to the form fields, the other way to send them.
 *
 * @returns an error message, or undefined on success.
 */
export function takeBasic(request: Request, fields: AuthorizationFields): string | undefined {
  const header = request.headers.authorization
  if (header === undefined) return undefined
  const basic = readBasic(header)
  if (!basic)
    return 'The Authorization header is invalid: expected Basic credentials with the client ID and the client secret.'
  const [id, secret] = basic
  if (fields.client_secret !== undefined)
    return 'The client secret was sent twice. Send it in the Authorization header or in the body.'
  if (fields.client_id !== undefined && fields.client_id !== id)
    return 'The client ID in the Authorization header differs from client_id in the body.'
  fields.client_id = id
  fields.client_secret = secret
  delete request.headers.authorization
  return undefined
}
