import type { KeyObject } from 'node:crypto'
import type { Detail } from 'dateline/runtime'
import {
  type ApplePayload,
  type AppleRequest,
  type CardForWallet,
  checkChain,
  encryptForApple,
} from './apple.ts'
import { encryptForGoogle, type GoogleRequest } from './google.ts'
import type { PayTrust } from './trust.ts'

/** Encrypts cards for device wallets. */
export interface CardEncryption {
  /** Returns the leaf's public key, or the invalid certificate with the problem. */
  checkChain(certificates: readonly string[]): KeyObject | Detail
  forApple(card: CardForWallet, request: AppleRequest, leaf: KeyObject): ApplePayload
  /** Returns the opaque payment card, or undefined if the key of the card network is not configured. */
  forGoogle(card: CardForWallet, request: GoogleRequest): string | undefined
}

/**
 * Creates the encryption.
 * @param trust called once, on first use.
 * @param network a secret used in place of the key that the issuer and the card network share.
 * @param now machine time.
 */
export function createCardEncryption(
  trust: () => PayTrust,
  network: string,
  now: () => number,
): CardEncryption {
  let read: PayTrust | undefined
  const trusted = () => {
    read ??= trust()
    return read
  }
  return {
    checkChain: (certificates) => checkChain(certificates, trusted().appleRoots, now()),
    forApple: (card, request, leaf) => encryptForApple(card, request, leaf, network),
    forGoogle: (card, request) => {
      const { googleKey } = trusted()
      return googleKey && encryptForGoogle(card, request, googleKey, Math.floor(now() / 1000))
    },
  }
}
