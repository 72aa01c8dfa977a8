/** What the interface's requests leave out, as its only legal value: oidc-provider wants everything said. */
import type { Request } from 'express'
import type Provider from 'oidc-provider'
import { isOauthScope } from '../../tenants/keys/scopes.ts'

export type AuthorizationFields = Record<string, unknown>

/** @param search of an authorization request, with its question mark. */
export function completeAuthorization(search: string): string {
  const parameters = new URLSearchParams(search)
  if (!parameters.has('response_type')) parameters.set('response_type', 'code')
  if (parameters.has('code_challenge') && !parameters.has('code_challenge_method')) {
    parameters.set('code_challenge_method', 'S256')
  }
  // Errors go back in the query too, the only mode there is. Left to itself, oidc-provider chooses the mode by the response.
  const mode = parameters.get('response_mode')
  if (parameters.get('response_type') !== 'code') {
    parameters.set('response_type', 'unsupported')
    parameters.delete('response_mode')
  } else if (mode && mode !== 'query') {
    parameters.set('response_mode', `no ${mode}`)
  }
  // Left to itself, oidc-provider drops a scope that it does not know and goes on with the others.
  const scopes = parameters.get('scope')?.split(' ') ?? []
  if (scopes.some((scope) => !isOauthScope(scope))) parameters.delete('scope')
  return `?${parameters}`
}

/** A code's redirect, and the client of a public client's refresh token, are known. */
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

/** RFC 6749, 2.3.1: the parts of the header are form-encoded. Undefined when it is not to be read. */
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
 * Puts the client's credentials of `Authorization: Basic` among the fields, which is the other way to send them.
 *
 * @returns what is wrong, in words; undefined when nothing is.
 */
export function takeBasic(request: Request, fields: AuthorizationFields): string | undefined {
  const header = request.headers.authorization
  if (header === undefined) return undefined
  const basic = readBasic(header)
  if (!basic) return 'The Authorization header must read Basic and the client’s id and secret.'
  const [id, secret] = basic
  if (fields.client_secret !== undefined) return 'The client’s secret was sent twice.'
  if (fields.client_id !== undefined && fields.client_id !== id) return 'Two clients were named.'
  fields.client_id = id
  fields.client_secret = secret
  delete request.headers.authorization
  return undefined
}
