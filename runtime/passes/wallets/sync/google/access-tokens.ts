import { sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { PeerOutbound } from '../../../../events/outbound/outbound.ts'
import { parsePeerJson } from '../../../../platform/json/peer-json.ts'
import type { GoogleSigner } from '../../render/google/signer.ts'

/**
 * OAuth access tokens for a service account (RFC 7523; Google, "Using OAuth 2.0 for server to server applications").
 */
export interface AccessTokens {
  /** Returns a valid token. Concurrent calls share one request. Rejects with `NoAccessToken`. */
  find(): Promise<string>
  /** Discards a token that Google has refused; the next `find` requests a new one. */
  drop(token: string): void
}

/** Thrown if Google issues no token; the message contains the reason. */
export class NoAccessToken extends Error {
  override name = 'NoAccessToken'
}

export interface AccessTokensOptions {
  readonly signer: Pick<GoogleSigner, 'email' | 'key'>
  readonly tokenUrl: string
  readonly outbound: Pick<PeerOutbound, 'send'>
  /** Machine time, milliseconds since the epoch. */
  readonly now: () => number
}

const SCOPE = 'https://www.googleapis.com/auth/wallet_object.issuer'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Lifetime of an assertion in seconds: the maximum that Google allows. */
const VALID_S = 3600

/** A token is replaced this long before it expires. */
const MARGIN_MS = 60_000

const HEADER = base64('{"alg":"RS256","typ":"JWT"}')

const signAsync = promisify(sign)

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}

export function createAccessTokens({ signer, tokenUrl, outbound, now }: AccessTokensOptions): AccessTokens {
  let known: { readonly token: string; readonly until: number } | undefined
  let asking: Promise<string> | undefined

  const ask = async (): Promise<string> => {
    const iat = Math.floor(now() / 1000)
    const claims = { iss: signer.email, scope: SCOPE, aud: tokenUrl, iat, exp: iat + VALID_S }
    const text = `${HEADER}.${base64(JSON.stringify(claims))}`
    const signature = await signAsync('RSA-SHA256', Buffer.from(text), signer.key)
    const assertion = `${text}.${signature.toString('base64url')}`
    const answer = await outbound.send({
      method: 'POST',
      url: tokenUrl,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
    })
    if ('error' in answer) throw new NoAccessToken(`${tokenUrl}: ${answer.error}`)
    const { access_token: token, expires_in: seconds, error } = readMembers(answer.body)
    if (answer.status !== 200 || typeof token !== 'string' || typeof seconds !== 'number') {
      throw new NoAccessToken(`${tokenUrl} answered ${answer.status}${error ? ` (${String(error)})` : ''}`)
    }
    known = { token, until: now() + seconds * 1000 - MARGIN_MS }
    return token
  }

  return {
    find: async () => {
      if (known && known.until > now()) return known.token
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return asking
    },
    drop: (token) => {
      if (known?.token === token) known = undefined
    },
  }
}

function readMembers(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parsePeerJson(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // the caller reports the status
  }
}
