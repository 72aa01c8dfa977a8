/** Provider tokens, which authenticate each push (Apple, "Establishing a token-based connection to APNs"). */
import { type KeyObject, sign } from 'node:crypto'

export interface ProviderKey {
  /** Apple's key ID, ten characters. */
  readonly keyId: string
  readonly teamId: string
  /** A P-256 private key. */
  readonly key: KeyObject
}

export interface ProviderTokens {
  /** Returns a valid JWT (ES256). The token is reused for 50 minutes. */
  current(): string
  /**
   * Creates a new token after Apple has called the current one expired, which happens if the clocks differ. Returns
   * false if the current one is too recent to be replaced.
   */
  renew(): boolean
}

const MINUTE_MS = 60_000

/** Apple accepts a token for one hour, and refuses a new one within 20 minutes. */
const USED_FOR_MS = 50 * MINUTE_MS
const RENEWED_AFTER_MS = 20 * MINUTE_MS

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Creates provider tokens for a key. @param now machine time in milliseconds since the epoch. */
export function createProviderTokens({ keyId, teamId, key }: ProviderKey, now: () => number): ProviderTokens {
  let token = ''
  let made = Number.NEGATIVE_INFINITY
  const make = () => {
    made = now()
    const text = `${encode({ alg: 'ES256', kid: keyId })}.${encode({ iss: teamId, iat: Math.floor(made / 1000) })}`
    const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
    token = `${text}.${signature.toString('base64url')}`
  }
  return {
    current() {
      if (Math.abs(now() - made) >= USED_FOR_MS) make()
      return token
    },
    renew() {
      if (now() - made < RENEWED_AFTER_MS) return false
      make()
      return true
    },
  }
}
