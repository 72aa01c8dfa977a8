import { createHash, timingSafeEqual } from 'node:crypto'
import type { Environment } from '../../platform/environment.ts'
import { randomBase62 } from './keys.ts'

/** Kinds of OAuth tokens: access token, refresh token, authorization code. */
export type TokenKind = 'at' | 'rt' | 'ac'

const CHECKSUM_LENGTH = 6
const SHAPE = /^svc_(at|rt|ac)_(sandbox|live)_[0-9A-Za-z]{43}[0-9a-f]{6}$/

const checksum = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, CHECKSUM_LENGTH)

/**
 * Creates an opaque token: `svc_at_sandbox_`, 43 random base62 characters (256 bits), and a checksum of all of that
 * in 6 characters.
 */
export function makeToken(kind: TokenKind, environment: Environment): string {
  const text = `svc_${kind}_${environment}_${randomBase62(43)}`
  return text + checksum(text)
}

/** Whether a text has the prefix of an access token. */
export function claimsToBeToken(text: string): boolean {
  return text.startsWith('svc_at_')
}

/** Whether a text has the form of an access token with a correct checksum, so that a lookup makes sense. */
export function isAccessToken(text: string): boolean {
  if (SHAPE.exec(text)?.[1] !== 'at') return false
  const end = Buffer.from(text.slice(-CHECKSUM_LENGTH))
  return timingSafeEqual(end, Buffer.from(checksum(text.slice(0, -CHECKSUM_LENGTH))))
}
