/** Signers of payments: a private key in this process, or an external signer whose results are verified. */

import {
  type Address,
  type Hex,
  numberToHex,
  parseSignature,
  parseTransaction,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  serializeSignature,
  serializeTransaction,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { AUTHORIZATION_TYPES, type TokenDomain, type TransferAuthorization } from './token.ts'

/** A transaction before signing (EIP-1559). */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The signer is unreachable or returned an unusable answer. */
export class SignerUnavailable extends Error {
  override name = 'SignerUnavailable'
}

/** The signer refuses to sign. */
export class SignerRefused extends Error {
  override name = 'SignerRefused'
}

export interface Signer {
  readonly address: Address
  /**
   * Returns an EIP-712 signature. `transferId` is for signers that keep records. Throws `SignerUnavailable` or
   * `SignerRefused`.
   */
  authorize(domain: TokenDomain, authorization: TransferAuthorization, transferId: string): Promise<Hex>
  /** Returns the signed, serialized transaction. Throws like `authorize`. */
  sign(transaction: UnsignedTransaction, transferId: string): Promise<Hex>
}

/**
 * Creates a signer from a private key.
 * @param key 64 hexadecimal digits. Errors never contain it; viem's own error messages could.
 */
export function createKeySigner(key: string): Signer {
  const account = readAccount(key)
  return {
    address: account.address,
    authorize: (domain, authorization) => account.signTypedData(typedData(domain, authorization)),
    sign: (transaction) => account.signTransaction({ ...transaction, type: 'eip1559' }),
  }
}

function readAccount(key: string): ReturnType<typeof privateKeyToAccount> {
  try {
    return privateKeyToAccount(`0x${key.replace(/^0x/, '')}`)
  } catch {
    throw new Error('The payout key is not a private key: expected 64 hexadecimal digits.')
  }
}

export function typedData(domain: TokenDomain, authorization: TransferAuthorization) {
  return {
    domain,
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { ...authorization, validAfter: 0n },
  } as const
}

/** Order of the secp256k1 group (SEC 2, 2.4.1). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Returns the equivalent signature with the lower `s`. USDC contracts and nodes (EIP-2) reject the other one. */
function withLowS({ r, s, yParity }: { readonly r: Hex; readonly s: Hex; readonly yParity: number }) {
  const value = BigInt(s)
  if (value <= ORDER / 2n) return { r, s, yParity }
  return { r, s: numberToHex(ORDER - value, { size: 32 }), yParity: 1 - yParity }
}

/** Wraps a signer. Verifies that each result is the requested one and is signed by the expected account. */
export function checked(signer: Signer): Signer {
  const { address } = signer
  return {
    address,
    authorize: async (domain, authorization, transferId) => {
      const signature = await signer.authorize(domain, authorization, transferId)
      const signed = { ...typedData(domain, authorization), signature }
      if ((await recover(() => recoverTypedDataAddress(signed))) === address)
        return serializeSignature(withLowS(parseSignature(signature)))
      throw new SignerUnavailable('the signer did not sign the requested authorization')
    },
    sign: async (transaction, transferId) => {
      const raw = await signer.sign(transaction, transferId)
      const by = await recover(() =>
        recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` }),
      )
      const { r, s, yParity } = by === address ? parseTransaction(raw) : {}
      const meant = { ...transaction, type: 'eip1559' } as const
      if (r && s && yParity !== undefined && unsigned(raw) === serializeTransaction(meant))
        return serializeTransaction(meant, withLowS({ r, s, yParity }))
      throw new SignerUnavailable('the signer did not sign the requested transaction')
    },
  }
}

async function recover(work: () => Promise<Address>): Promise<Address | undefined> {
  return work().catch(() => undefined)
}

/** Serializes a signed transaction without its signature. */
function unsigned(raw: Hex): Hex | undefined {
  try {
    const { r, s, v, yParity, ...transaction } = parseTransaction(raw)
    return serializeTransaction(transaction)
  } catch {
    return undefined
  }
}
