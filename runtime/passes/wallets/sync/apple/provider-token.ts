/** Who sends, as Apple wants it proven with each push (Apple, "Establishing a token-based connection to APNs"). */
import { type KeyObject, sign } from 'node:crypto'

export interface ProviderKey {
  /** Ten characters, as Apple names the key. */
  readonly keyId: string
  readonly teamId: string
  /** P-256. */
  readonly key: KeyObject
}

export interface ProviderTokens {
  /** A JWT (ES256) that is valid now; the same one as long as it may be used. */
  current(): string
  /** Apple calls it expired, so its clock is not ours: gives whether there is another one now. */
  renew(): boolean
}

const MINUTE_MS = 60_000

/** Apple takes a token for an hour, and wants no new one within twenty minutes. */
const USED_FOR_MS = 50 * MINUTE_MS
const RENEWED_AFTER_MS = 20 * MINUTE_MS

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** @param now machine time, milliseconds since the epoch. */
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
