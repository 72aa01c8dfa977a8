/**
 * What stands for one pass where nobody has a key: the address of its page, the token of its Apple file, the code that
 * scanners read. All follow from the pass and a key of this deployment, so that none is kept and none needs to be looked up:
 * they say themselves whose pass it is, and nobody else can make one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readSpace, spaceOf } from '../platform/database/space.ts'
import type { Environment } from '../platform/environment.ts'
import { bodyOf, bytesOf, idOf, isId } from '../platform/ids.ts'
import { deriveSecret } from '../platform/secrets.ts'

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

const ID_BYTES = 16
const MAC_BYTES = 12
/** Base32 characters of a code's MAC: 65 bits, for codes are tried with a key and within limits only. */
const CODE_MAC = 13
const BODY = 26

export function createPassTokens(pepper: string, environment: Environment): PassTokens {
  const keyOf = (use: string) => deriveSecret(pepper, `passes of ${environment}: ${use}`)
  const keys = { page: keyOf('page'), apple: keyOf('apple'), code: keyOf('scan code') }
  const macOf = (use: keyof typeof keys, data: Buffer | string) =>
    createHmac('sha256', keys[use]).update(data).digest()

  const scanCode = ({ space, passId }: PassPlace): string =>
    `${passId.slice('pass_'.length)}${bodyOf(macOf('code', `${space} ${passId}`)).slice(-CODE_MAC)}`.toUpperCase()

  return {
    write(use, place) {
      const data = pack(place)
      return Buffer.concat([data, macOf(use, data).subarray(0, MAC_BYTES)]).toString('base64url')
    },
    read(use, token) {
      const bytes = Buffer.from(token, 'base64url')
      // One spelling each: other texts may decode to the same bytes.
      if (bytes.length < 1 + 2 * ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== token)
        return undefined
      const data = bytes.subarray(0, -MAC_BYTES)
      const given = bytes.subarray(-MAC_BYTES)
      return timingSafeEqual(given, macOf(use, data).subarray(0, MAC_BYTES)) ? unpack(data) : undefined
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

/** A byte of format, tenant and pass, and how often the sandbox was wiped, where it was. */
const FORMAT = 1

function pack({ space, passId }: PassPlace): Buffer {
  const { tenantId, wipes } = readSpace(space)
  const rest = wipes === 0 ? [] : [wipes >>> 24, (wipes >>> 16) & 255, (wipes >>> 8) & 255, wipes & 255]
  return Buffer.concat([Buffer.of(FORMAT), bytesOf(tenantId), bytesOf(passId), Buffer.from(rest)])
}

function unpack(data: Buffer): PassPlace {
  const wipes = data.length > 1 + 2 * ID_BYTES ? data.readUInt32BE(1 + 2 * ID_BYTES) : 0
  return {
    space: spaceOf(idOf('ten', data.subarray(1, 1 + ID_BYTES)), wipes),
    passId: idOf('pass', data.subarray(1 + ID_BYTES, 1 + 2 * ID_BYTES)),
  }
}
