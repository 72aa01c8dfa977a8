/** Connects to a chain over JSON-RPC, after checking that it is the expected chain. */
import { type Address, type Hex, hexToBigInt, hexToNumber, numberToHex } from 'viem'
import { type Rpc, RpcRefused, RpcUnavailable } from './rpc.ts'
import {
  balanceCall,
  blacklistedCall,
  pausedCall,
  readString,
  separatorOf,
  stateCall,
  type TokenDomain,
} from './token.ts'

/** The chain or the contract does not match the settings. Nothing is sent until an operator has fixed it. */
export class WrongChain extends Error {
  override name = 'WrongChain'
}

/** The fields of a block that are used. */
export interface Block {
  readonly number: number
  readonly hash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** Wei per unit of gas. */
  readonly baseFee: bigint
}

export interface Chain {
  readonly id: number
  readonly rpc: Rpc
  readonly domain: TokenDomain
  /** Returns a block, or undefined if it does not exist yet. */
  block(at: 'latest' | number): Promise<Block | undefined>
  /** Returns the number of the account's transactions up to a block. */
  nonceOf(address: Address, at?: number): Promise<number>
  /** Returns the account's balance for gas, in wei. */
  balanceOf(address: Address): Promise<bigint>
  /** Returns the account's USDC balance, in base units. */
  tokensOf(address: Address): Promise<bigint>
  /** Returns whether a transfer authorization was used. */
  isUsed(payer: Address, nonce: Hex): Promise<boolean>
  /** Returns why the contract refuses every transfer of the payer at present; undefined if it does not. */
  obstacleOf(payer: Address): Promise<string | undefined>
  /** Throws `WrongChain` if the node now belongs to a different chain, or the contract verifies other signatures. */
  check(): Promise<void>
}

interface RawBlock {
  readonly number: Hex
  readonly hash: Hex
  readonly timestamp: Hex
  readonly baseFeePerGas?: Hex
}

const CALLS = {
  decimals: '0x313ce567',
  symbol: '0x95d89b41',
  name: '0x06fdde03',
  version: '0x54fd4d50',
  separator: '0x3644e515',
} as const

/** Returns the number of a chain and the hash of its first block. */
export async function identify(rpc: Rpc): Promise<{ readonly id: number; readonly genesis: string }> {
  const [id, first] = await Promise.all([
    rpc.ask<Hex>('eth_chainId'),
    rpc.ask<RawBlock | null>('eth_getBlockByNumber', '0x0', false),
  ])
  if (!/^0x[0-9a-f]+$/i.test(id) || typeof first?.hash !== 'string') {
    throw new WrongChain(`${rpc.place} is not an EVM node: it returned no valid chain ID and first block`)
  }
  return { id: hexToNumber(id), genesis: first.hash }
}

type Read = (data: Hex) => Promise<Hex>

/** Reads the token's EIP-712 domain. Throws `WrongChain` if the contract is not USDC. */
async function readDomain(read: Read, chainId: number, token: Address): Promise<TokenDomain> {
  const [decimals, symbol, name, version, separator] = await Promise.all(Object.values(CALLS).map(read))
  const wrong = (words: string) => new WrongChain(`SVC_USDC_ADDRESS: ${token} on chain ${chainId} ${words}`)
  if (decimals === '0x') throw wrong('is not a token contract')
  if (BigInt(decimals!) !== 6n) throw wrong(`has ${BigInt(decimals!)} decimals; expected 6`)
  if (!/^USDC/.test(symbol === '0x' ? '' : readString(symbol!)))
    throw wrong('has a symbol that does not begin with USDC')
  const domain = {
    name: readString(name!),
    version: version === '0x' ? '1' : readString(version!),
    chainId,
    verifyingContract: token,
  }
  // USDC contracts return the domain separator that they verify signatures against. If it is missing or differs,
  // the contract may reject every signature.
  if (separator === '0x') throw wrong('does not support transfers with authorization (EIP-3009)')
  if (separatorOf(domain) !== separator)
    throw wrong(
      `verifies signatures for a different EIP-712 domain than ${domain.name}, version ${domain.version}`,
    )
  return domain
}

/** Converts a quantity from a node to a number. Throws `RpcUnavailable` if it is not an exact integer. */
function readQuantity(rpc: Rpc, value: unknown, what: string): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw new RpcUnavailable(`${rpc.place} returned no valid number for ${what}`)
}

/**
 * Connects to a chain. Throws `WrongChain` or `RpcUnavailable`.
 * @param id the expected chain ID.
 */
export async function connect(rpc: Rpc, id: number, token: Address): Promise<Chain> {
  const check = async () => {
    const now = readQuantity(rpc, await rpc.ask('eth_chainId'), 'the chain ID')
    if (now !== id) throw new WrongChain(`${rpc.place} is chain ${now}; expected chain ${id}`)
  }
  await check()
  const call = (data: Hex) => rpc.ask<Hex>('eth_call', { to: token, data }, 'latest')
  /** Returns `0x` if the contract has no such function. */
  const read: Read = async (data) => {
    try {
      return await call(data)
    } catch (error) {
      if (error instanceof RpcRefused) return '0x'
      throw error
    }
  }
  const isTrue = async (data: Hex) => /^0x0*1$/.test(await read(data))
  const domain = await readDomain(read, id, token)
  return {
    id,
    rpc,
    domain,
    check: async () => {
      await check()
      // An upgrade of the contract can change its domain. Authorizations for the old one would be refused.
      if ((await read(CALLS.separator)) === separatorOf(domain)) return
      throw new WrongChain(`SVC_USDC_ADDRESS: ${token} on chain ${id} has changed its EIP-712 domain`)
    },
    obstacleOf: async (payer) => {
      const [isPaused, isBlocked] = await Promise.all([isTrue(pausedCall()), isTrue(blacklistedCall(payer))])
      if (isPaused) return 'the token is paused'
      return isBlocked ? `the token has blocked the signer ${payer}` : undefined
    },
    block: async (at) => {
      const raw = await rpc.ask<RawBlock | null>(
        'eth_getBlockByNumber',
        at === 'latest' ? at : numberToHex(at),
        false,
      )
      if (!raw) return undefined
      return {
        number: readQuantity(rpc, raw.number, 'a block number'),
        hash: raw.hash,
        timestamp: readQuantity(rpc, raw.timestamp, 'a block timestamp'),
        baseFee: hexToBigInt(raw.baseFeePerGas ?? '0x0'),
      }
    },
    nonceOf: async (address, at) =>
      readQuantity(
        rpc,
        await rpc.ask('eth_getTransactionCount', address, at === undefined ? 'latest' : numberToHex(at)),
        'the transaction count of the account',
      ),
    balanceOf: async (address) => hexToBigInt(await rpc.ask<Hex>('eth_getBalance', address, 'latest')),
    tokensOf: async (address) => BigInt(await call(balanceCall(address))),
    isUsed: async (payer, nonce) => BigInt(await call(stateCall(payer, nonce))) === 1n,
  }
}
