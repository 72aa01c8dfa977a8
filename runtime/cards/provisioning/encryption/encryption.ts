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

/** Encrypts cards for phones' wallets. */
export interface CardEncryption {
  /** The key that a device's certificates are for, or what is wrong with them. */
  checkChain(certificates: readonly string[]): KeyObject | Detail
  forApple(card: CardForWallet, request: AppleRequest, leaf: KeyObject): ApplePayload
  /** The opaque payment card; undefined where the key of the card network is not known. */
  forGoogle(card: CardForWallet, request: GoogleRequest): string | undefined
}

/**
 * @param trust read when it is first needed. @param network the secret that stands in for what issuer and card network share.
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
