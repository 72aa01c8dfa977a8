import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../../platform/environment.ts'

export type KeyKind = 'secret' | 'publishable'

/** Facts that a key's text contains. */
export interface KeyShape {
  readonly kind: KeyKind
  readonly environment: Environment
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 62^43 is slightly more than 2^256. */
const RANDOM_LENGTH = 43

/** 62^6 is more than 2^32. */
const CHECKSUM_LENGTH = 6

const SHAPE = /^svc_(sk|pk)_(sandbox|live)_[0-9A-Za-z]{49}$/

/** Returns random base62 text. Skips bytes from 248, which would make the first characters more likely. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let position = 0; position < CHECKSUM_LENGTH; position += 1) {
    digits = BASE62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/**
 * Creates a key: `svc_{sk|pk}_{sandbox|live}_`, 43 random characters, and a CRC32 of all of that in 6 characters.
 */
export function makeKey(kind: KeyKind, environment: Environment): string {
  const text = `svc_${kind === 'secret' ? 'sk' : 'pk'}_${environment}_${randomBase62(RANDOM_LENGTH)}`
  return text + checksum(text)
}

/** Parses a key; undefined if it is malformed or its checksum is wrong, which saves a query. */
export function parseKey(text: string): KeyShape | undefined {
  const parts = SHAPE.exec(text)
  if (!parts) return undefined
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return undefined
  return {
    kind: parts[1] === 'sk' ? 'secret' : 'publishable',
    environment: parts[2] === 'live' ? 'live' : 'sandbox',
  }
}

/** Returns the stored digest of a key or client secret: HMAC-SHA256 of its text with the pepper, 32 bytes. */
export function digestKey(pepper: string, text: string): Buffer {
  return createHmac('sha256', pepper).update(text).digest()
}
