/**
 * Tokens that identify one pass without an API key: in the URL of its page, in its Apple file, and in the code that
 * scanners read. Each is derived from the pass and a secret of this deployment, so it needs no storage and no lookup,
 * and cannot be forged.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { lastingSpaceOf } from '../../../database/space.ts'
import type { Environment } from '../../../platform/environment.ts'
import { bodyOf, isId } from '../../../platform/ids.ts'
import { deriveSecret } from '../../../platform/secrets.ts'
import { readPlaceToken, writePlaceToken } from '../../../tenants/addresses/place-tokens.ts'

/** The location of a pass. */
export interface PassPlace {
  readonly space: string
  readonly passId: string
}

/**
 * `page`: for the holder page and the pass file. `apple`: for Apple's `authenticationToken`, which devices send back.
 */
export type TokenUse = 'page' | 'apple'

/** The parts of a barcode message that changes with time. */
export interface RotatingParts {
  /** The part that stays the same. The fixed code of the pass cannot be computed from it. */
  readonly prefix: string
  /** Key of the one-time passwords (RFC 6238): 20 bytes. */
  readonly secret: Buffer
}

/** Separates the prefix from the digits. QR codes have a short form for upper-case letters, digits and this character. */
export const SEPARATOR = '-'

export interface PassTokens {
  /** Returns the token of a pass, always the same one: 60 characters of base64url, up to 66 after a sandbox wipe. */
  write(use: TokenUse, place: PassPlace): string
  /** Returns the pass of a token; undefined if this deployment did not issue the token for that use. */
  read(use: TokenUse, token: string): PassPlace | undefined
  /** Returns the barcode message: 39 letters and digits in upper case. */
  scanCode(place: PassPlace): string
  /** Returns the ID of the pass with that code, or undefined if it is not a code of the space. Ignores case. */
  readScanCode(space: string, code: string): string | undefined
  /** Returns the parts of the barcode message that changes with time. */
  rotatingParts(place: PassPlace): RotatingParts
  /** Returns the pass and the digits of such a message, or undefined if it is not one of the space. Ignores case. */
  readRotatingCode(
    space: string,
    code: string,
  ): { readonly passId: string; readonly digits: string } | undefined
}

const KIND = 1
/** Base32 characters of the MAC: 65 bits. That is enough because guessing needs an API key and is rate limited. */
const CODE_MAC = 13
const BODY = 26
/** Bytes of the key of one-time passwords: the length of a SHA-1 (RFC 4226, 4, R6). */
const SECRET = 20

export function createPassTokens(pepper: string, environment: Environment): PassTokens {
  const keyOf = (use: string) => deriveSecret(pepper, `passes of ${environment}: ${use}`)
  const keys = { page: keyOf('page'), apple: keyOf('apple'), code: keyOf('scan code') }
  const rotating = { code: keyOf('rotating code'), secret: keyOf('secret of the rotating code') }
  const macOf = (key: string, { space, passId }: PassPlace): Buffer =>
    createHmac('sha256', key)
      .update(`${lastingSpaceOf(space)} ${passId}`)
      .digest()
  const codeOf = (key: string, place: PassPlace): string =>
    `${place.passId.slice('pass_'.length)}${bodyOf(macOf(key, place)).slice(-CODE_MAC)}`.toUpperCase()
  const readCode = (key: string, space: string, code: string): string | undefined => {
    if (code.length !== BODY + CODE_MAC) return undefined
    const passId = `pass_${code.slice(0, BODY).toLowerCase()}`
    if (!isId('pass', passId)) return undefined
    const given = Buffer.from(code.toUpperCase())
    const wanted = Buffer.from(codeOf(key, { space, passId }))
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? passId : undefined
  }

  return {
    write: (use, { space, passId }) => writePlaceToken(keys[use], { kind: KIND, space, id: passId }),
    read(use, token) {
      const place = readPlaceToken(keys[use], 'pass', token)
      return place && { space: place.space, passId: place.id }
    },
    scanCode: (place) => codeOf(keys.code, place),
    readScanCode: (space, code) => readCode(keys.code, space, code),
    rotatingParts: (place) => ({
      prefix: codeOf(rotating.code, place),
      secret: macOf(rotating.secret, place).subarray(0, SECRET),
    }),
    readRotatingCode(space, code) {
      const [prefix = '', digits, ...more] = code.split(SEPARATOR)
      const passId = readCode(rotating.code, space, prefix)
      return passId === undefined || digits === undefined || more.length > 0 ? undefined : { passId, digits }
    },
  }
}

export function openPassTokens(pepper: string): Readonly<Record<Environment, PassTokens>> {
  return { sandbox: createPassTokens(pepper, 'sandbox'), live: createPassTokens(pepper, 'live') }
}
