import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../../platform/environment.ts'

export type KeyKind = 'secret' | 'publishable'

/** What a key's text says about itself before anything is looked up. */
export interface KeyShape {
  readonly kind: KeyKind
  readonly environment: Environment
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 62^43 is a little more than 2^256. */
const RANDOM_LENGTH = 43

/** 62^6 is more than 2^32. */
const CHECKSUM_LENGTH = 6

const SHAPE = /^svc_(sk|pk)_(sandbox|live)_[0-9A-Za-z]{49}$/

/** Random base62 text; bytes that would favour the first letters are thrown away. */
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

/** Makes the plaintext of a new key: `svc_{sk|pk}_{sandbox|live}_`, 43 random characters and 6 of a CRC32 over all before. */
export function makeKey(kind: KeyKind, environment: Environment): string {
  const text = `svc_${kind === 'secret' ? 'sk' : 'pk'}_${environment}_${randomBase62(RANDOM_LENGTH)}`
  return text + checksum(text)
}

/** Reads a key's shape; undefined when it is malformed or its checksum is wrong, so that no query is spent on it. */
export function parseKey(text: string): KeyShape | undefined {
  const parts = SHAPE.exec(text)
  if (!parts) return undefined
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return undefined
  return {
    kind: parts[1] === 'sk' ? 'secret' : 'publishable',
    environment: parts[2] === 'live' ? 'live' : 'sandbox',
  }
}

/** What is stored of a key (or a client secret): HMAC-SHA256 of its text under the pepper, 32 bytes. */
export function digestKey(pepper: string, text: string): Buffer {
  return createHmac('sha256', pepper).update(text).digest()
}
