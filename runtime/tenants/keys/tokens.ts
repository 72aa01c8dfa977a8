import { createHash, timingSafeEqual } from 'node:crypto'
import type { Environment } from '../../platform/environment.ts'
import { randomBase62 } from './keys.ts'

/** Of OAuth: an access token, a refresh token, an authorization code. */
export type TokenKind = 'at' | 'rt' | 'ac'

const CHECKSUM_LENGTH = 6
const SHAPE = /^svc_(at|rt|ac)_(sandbox|live)_[0-9A-Za-z]{43}[0-9a-f]{6}$/

const checksum = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, CHECKSUM_LENGTH)

/** A new opaque token: `svc_at_sandbox_`, 43 random base62 characters (256 bits) and 6 of a checksum over all before. */
export function makeToken(kind: TokenKind, environment: Environment): string {
  const text = `svc_${kind}_${environment}_${randomBase62(43)}`
  return text + checksum(text)
}

/** Whether it says of itself that it is an access token, whatever follows. */
export function claimsToBeToken(text: string): boolean {
  return text.startsWith('svc_at_')
}

/** Whether the text is that of an access token and its checksum right, so that looking it up makes sense. */
export function isAccessToken(text: string): boolean {
  if (SHAPE.exec(text)?.[1] !== 'at') return false
  const end = Buffer.from(text.slice(-CHECKSUM_LENGTH))
  return timingSafeEqual(end, Buffer.from(checksum(text.slice(0, -CHECKSUM_LENGTH))))
}
