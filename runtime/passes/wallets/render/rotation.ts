/** Barcodes that change with time: a text of the pass, and a one-time password (RFC 6238 with SHA-1, as Google Wallet makes it). */
import { Secret, TOTP } from 'otpauth'
import type { PassRotation, PassState } from './pass-state.ts'
import { SEPARATOR } from './pass-tokens.ts'

const SECOND = 1000

/** Number of periods before and after the current one whose code is accepted: clocks differ, and people are slow. */
const WINDOW = 1

function settingsOf({ secret, period, digits }: PassRotation) {
  const { buffer, byteOffset, length } = secret
  const key = new Secret({ buffer: new Uint8Array(buffer, byteOffset, length).slice().buffer })
  return { secret: key, algorithm: 'SHA1', period, digits }
}

/** Returns the code at a time. @param now milliseconds since the epoch. */
export function codeAt(rotation: PassRotation, now: number): string {
  return `${rotation.prefix}${SEPARATOR}${TOTP.generate({ ...settingsOf(rotation), timestamp: now })}`
}

/** Returns whether the digits are those of the current period, or of the one before or after it. */
export function isCurrent(rotation: PassRotation, token: string, now: number): boolean {
  return TOTP.validate({ ...settingsOf(rotation), token, timestamp: now, window: WINDOW }) !== null
}

/** Returns the whole seconds after which the code of a time is no longer shown: at least one. */
export function secondsLeft({ period }: PassRotation, now: number): number {
  return period - Math.floor((now / SECOND) % period)
}

/** Returns the pass with the code that its barcode has at a time. */
export function withCodeAt<Pass extends Pick<PassState, 'barcode' | 'rotation'>>(
  pass: Pass,
  now: number,
): Pass {
  const { barcode, rotation } = pass
  return rotation ? { ...pass, barcode: { ...barcode, message: codeAt(rotation, now) } } : pass
}
