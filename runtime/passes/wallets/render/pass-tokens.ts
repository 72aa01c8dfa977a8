/**
 * What stands for one pass where nobody has a key: the address of its page, the token of its Apple file, the code that
 * scanners read. All follow from the pass and a key of this deployment, so that none is kept and none needs to be looked up:
 * they say themselves whose pass it is, and nobody else can make one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Environment } from '../../../platform/environment.ts'
import { bodyOf, isId } from '../../../platform/ids.ts'
import { deriveSecret } from '../../../platform/secrets.ts'
import { readPlaceToken, writePlaceToken } from '../../../tenants/addresses/place-tokens.ts'

/** Where a pass is. */
export interface PassPlace {
  readonly space: string
  readonly passId: string
}

/** `page`: its page and files; `apple`: Apple's `authenticationToken`, which devices send back. */
export type TokenUse = 'page' | 'apple'

export interface PassTokens {
  /** 60 characters, base64url; up to 66 where the sandbox has been wiped. The same for the same pass, always. */
  write(use: TokenUse, place: PassPlace): string
  /** Undefined for what this deployment has not written for that use. */
  read(use: TokenUse, token: string): PassPlace | undefined
  /** What a scanner reads: 39 letters and digits, upper case. */
  scanCode(place: PassPlace): string
  /** The pass of that code, if it is the space's; in either case of letters. */
  readScanCode(space: string, code: string): string | undefined
}

const KIND = 1
/** Base32 characters of a code's MAC: 65 bits, for codes are tried with a key and within limits only. */
const CODE_MAC = 13
const BODY = 26

export function createPassTokens(pepper: string, environment: Environment): PassTokens {
  const keyOf = (use: string) => deriveSecret(pepper, `passes of ${environment}: ${use}`)
  const keys = { page: keyOf('page'), apple: keyOf('apple'), code: keyOf('scan code') }
  const scanCode = ({ space, passId }: PassPlace): string => {
    const mac = createHmac('sha256', keys.code).update(`${space} ${passId}`).digest()
    return `${passId.slice('pass_'.length)}${bodyOf(mac).slice(-CODE_MAC)}`.toUpperCase()
  }

  return {
    write: (use, { space, passId }) => writePlaceToken(keys[use], { kind: KIND, space, id: passId }),
    read(use, token) {
      const place = readPlaceToken(keys[use], 'pass', token)
      return place && { space: place.space, passId: place.id }
    },
    scanCode,
    readScanCode(space, code) {
      if (code.length !== BODY + CODE_MAC) return undefined
      const passId = `pass_${code.slice(0, BODY).toLowerCase()}`
      if (!isId('pass', passId)) return undefined
      const given = Buffer.from(code.toUpperCase())
      const wanted = Buffer.from(scanCode({ space, passId }))
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? passId : undefined
    },
  }
}

export function openPassTokens(pepper: string): Readonly<Record<Environment, PassTokens>> {
  return { sandbox: createPassTokens(pepper, 'sandbox'), live: createPassTokens(pepper, 'live') }
}
