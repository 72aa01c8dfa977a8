/** Who signs payments: a key of this process, or a signer elsewhere whose answers are checked. */

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

/** A transaction before it is signed (EIP-1559). */
export interface UnsignedTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The signer cannot be reached, or does not answer as it should. */
export class SignerUnavailable extends Error {
  override name = 'SignerUnavailable'
}

/** The signer does not want to sign this. */
export class SignerRefused extends Error {
  override name = 'SignerRefused'
}

export interface Signer {
  readonly address: Address
  /** EIP-712's signature. `transferId` is for a signer that keeps books. Throws `SignerUnavailable`, `SignerRefused`. */
  authorize(domain: TokenDomain, authorization: TransferAuthorization, transferId: string): Promise<Hex>
  /** The signed transaction, serialized. Throws as `authorize` does. */
  sign(transaction: UnsignedTransaction, transferId: string): Promise<Hex>
}

/** @param key 32 bytes in hex. It is part of no error: viem's own words could show it. */
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
    throw new Error('the key of payouts is none: 32 bytes in hex are')
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

/** Order of secp256k1 (SEC 2, 2.4.1). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The same signature with the lower s. Contracts of USDC and nodes (EIP-2) refuse the other, which is valid as well. */
function withLowS({ r, s, yParity }: { readonly r: Hex; readonly s: Hex; readonly yParity: number }) {
  const value = BigInt(s)
  if (value <= ORDER / 2n) return { r, s, yParity }
  return { r, s: numberToHex(ORDER - value, { size: 32 }), yParity: 1 - yParity }
}

/** Nothing that a signer elsewhere gives is used before it is what was asked for, signed by who it should be. */
export function checked(signer: Signer): Signer {
  const { address } = signer
  return {
    address,
    authorize: async (domain, authorization, transferId) => {
      const signature = await signer.authorize(domain, authorization, transferId)
      const signed = { ...typedData(domain, authorization), signature }
      if ((await recover(() => recoverTypedDataAddress(signed))) === address)
        return serializeSignature(withLowS(parseSignature(signature)))
      throw new SignerUnavailable('the signer has signed another authorization')
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
      throw new SignerUnavailable('the signer has signed another transaction')
    },
  }
}

async function recover(work: () => Promise<Address>): Promise<Address | undefined> {
  return work().catch(() => undefined)
}

/** What was signed, serialized without the signature. */
function unsigned(raw: Hex): Hex | undefined {
  try {
    const { r, s, v, yParity, ...transaction } = parseTransaction(raw)
    return serializeTransaction(transaction)
  } catch {
    return undefined
  }
}
