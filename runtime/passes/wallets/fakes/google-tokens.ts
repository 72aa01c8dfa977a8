/** A fake of Google's token endpoint for service accounts (RFC 7523; Google, "OAuth 2.0 for service accounts"). */
import { type KeyObject, randomBytes, verify } from 'node:crypto'

export const SCOPE = 'https://www.googleapis.com/auth/wallet_object.issuer'
export const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Maximum lifetime of an assertion, and maximum clock difference, in seconds. */
const MAX_VALIDITY = 3600
const SKEW = 300

/** Public keys of service accounts by email address. */
export type Accounts = ReadonlyMap<string, KeyObject>

export interface TokenAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface FakeTokens {
  /** Exchanges an assertion for a token. @param audience URL of the endpoint. */
  exchange(form: URLSearchParams, audience: string): TokenAnswer
  /** Returns whether the Authorization header has a valid token. */
  accepts(authorization: string | undefined): boolean
  /** Revokes all tokens issued so far. */
  revoke(): void
}

/** Creates the endpoint. @param seconds lifetime of a token. */
export function createTokens(accounts: Accounts, seconds: number): FakeTokens {
  const valid = new Map<string, number>()
  return {
    exchange(form, audience) {
      if (form.get('grant_type') !== GRANT) return refused('unsupported_grant_type', 'Invalid grant_type')
      const wrong = checkAssertion(form.get('assertion') ?? '', accounts, audience)
      if (wrong !== undefined) return refused('invalid_grant', wrong)
      const token = `ya29.${randomBytes(96).toString('base64url')}`
      valid.set(token, Date.now() + seconds * 1000)
      return { status: 200, body: { access_token: token, expires_in: seconds, token_type: 'Bearer' } }
    },
    accepts(authorization) {
      const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
      return token !== undefined && (valid.get(token) ?? 0) > Date.now()
    },
    revoke: () => valid.clear(),
  }
}

function refused(error: string, description: string): TokenAnswer {
  return { status: 400, body: { error, error_description: description } }
}

function checkAssertion(assertion: string, accounts: Accounts, audience: string): string | undefined {
  const [head = '', claims = '', signature = '', ...more] = assertion.split('.')
  if (more.length > 0) return 'Invalid JWT: it does not have three parts'
  const { alg } = read(head)
  const { iss, aud, scope, iat, exp } = read(claims)
  if (alg !== 'RS256') return 'Invalid JWT: the algorithm is not RS256'
  const key = accounts.get(String(iss))
  if (!key) return 'Invalid grant: account not found'
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')))
    return 'Invalid JWT Signature.'
  if (aud !== audience) return 'Invalid JWT: the audience is not this endpoint'
  if (!String(scope).split(' ').includes(SCOPE)) return 'Invalid OAuth scope or ID token audience provided.'
  const now = Date.now() / 1000
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat > MAX_VALIDITY || exp <= iat)
    return 'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.'
  return iat > now + SKEW || exp < now - SKEW ? 'Invalid JWT: it is not valid now' : undefined
}

function read(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // the caller reports the missing members
  }
}
