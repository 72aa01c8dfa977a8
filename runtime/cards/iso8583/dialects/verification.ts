/** Results of verifications, entry modes and wallets, as networks write them. */
import type { IsoChecks, IsoWallet } from '../codec/dialect.ts'
import { type IsoMessage, valueAt } from '../codec/message.ts'

/**
 * Results of an address verification (AVS) by code, as the networks of the United States write them: for the street
 * address and for the postal code.
 */
const ADDRESS_RESULTS: Readonly<Record<string, readonly ['match' | 'mismatch', 'match' | 'mismatch']>> = {
  Y: ['match', 'match'],
  X: ['match', 'match'],
  D: ['match', 'match'],
  F: ['match', 'match'],
  M: ['match', 'match'],
  A: ['match', 'mismatch'],
  B: ['match', 'mismatch'],
  W: ['mismatch', 'match'],
  Z: ['mismatch', 'match'],
  P: ['mismatch', 'match'],
  N: ['mismatch', 'mismatch'],
}

/** Codes other than these mean that nothing was compared. */
export function addressChecks(code: string | undefined): IsoChecks {
  const [addressLine, postalCode] = ADDRESS_RESULTS[code ?? ''] ?? []
  return addressLine && postalCode ? { address_line: addressLine, postal_code: postalCode } : {}
}

/**
 * Returns the result of a verification. One mismatch outweighs a match. Codes that are in neither list mean that nothing
 * was compared.
 */
export function checkOf(
  name: keyof IsoChecks,
  codes: readonly (string | undefined)[],
  matches: readonly string[],
  mismatches: readonly string[],
): IsoChecks {
  const isIn = (list: readonly string[]) => codes.some((code) => code !== undefined && list.includes(code))
  if (isIn(mismatches)) return { [name]: 'mismatch' }
  return isIn(matches) ? { [name]: 'match' } : {}
}

/** Cardholder verification methods with an offline PIN (EMV Book 3, annex C3), without the bits for conditions. */
const OFFLINE_PIN = new Set([1, 3, 4, 5])

/** Reads the result of an offline PIN from the chip's data: tag 9F34, method, condition and result. */
export function chipChecks(message: IsoMessage): IsoChecks {
  const results = valueAt(message, '55.9F34') ?? ''
  const method = Number.parseInt(results.slice(0, 2), 16) & 0x3f
  return OFFLINE_PIN.has(method) ? checkOf('pin', [results.slice(4, 6)], ['02'], ['01']) : {}
}

/** Identifiers of the wallets that request tokens, which the networks assign. */
const TOKEN_REQUESTORS: Readonly<Record<string, IsoWallet>> = {
  '40010030273': 'apple_pay',
  '50110030273': 'apple_pay',
  '40010075001': 'google_pay',
  '50120834693': 'google_pay',
}

export const walletOf = (requestor: string | undefined) => TOKEN_REQUESTORS[requestor ?? '']
