/** Which codes of a pass scans accept. */
import type { Context } from '../../api/handler.ts'
import type { CodeOptions } from '../templates/queries.ts'
import type { PassTokens } from '../wallets/render/pass-tokens.ts'
import { isCurrent } from '../wallets/render/rotation.ts'

/** What a scanner read: the pass, and the digits of a rotating code. A fixed code has no digits. */
export interface ReadCode {
  readonly passId: string
  readonly digits?: string
}

/** Returns the pass to which a code belongs; undefined if it belongs to none of the space. */
export function readCode(passTokens: PassTokens, space: string, message: string): ReadCode | undefined {
  const passId = passTokens.readScanCode(space, message)
  return passId === undefined ? passTokens.readRotatingCode(space, message) : { passId }
}

/**
 * Returns whether a code is one that the pass has now. If the barcode rotates, the fixed code counts only if Apple Wallet
 * shows it, or a phone sends it to NFC readers.
 */
export function isAccepted(
  { caller, links, request }: Pick<Context, 'caller' | 'links' | 'request'>,
  { passId, digits }: ReadCode,
  { rotating_barcode: rotation, nfc, smart_tap }: CodeOptions,
): boolean {
  if (!rotation) return digits === undefined
  if (digits === undefined)
    return rotation.fallback === 'fixed_code' || (nfc && nfc.message === undefined) || smart_tap !== null
  const parts = links.passTokens.rotatingParts({ space: caller.space, passId })
  return isCurrent({ ...rotation, ...parts }, digits, request.now)
}
