/** A chain that is asked by JSON-RPC, after it was seen to be the one it should be. */
import { type Address, type Hex, hexToBigInt, hexToNumber, numberToHex } from 'viem'
import { type Rpc, RpcRefused, RpcUnavailable } from './rpc.ts'
import { balanceCall, readString, separatorOf, stateCall, type TokenDomain } from './token.ts'

/** The chain, or what is on it, is not what the settings say: nothing is sent before somebody has looked. */
export class WrongChain extends Error {
  override name = 'WrongChain'
}

/** A block, of which nodes give more. */
export interface Block {
  readonly number: number
  readonly hash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** Wei for a unit of gas. */
  readonly baseFee: bigint
}

export interface Chain {
  readonly id: number
  readonly rpc: Rpc
  readonly domain: TokenDomain
  /** Undefined where there is no such block, or not yet. */
  block(at: 'latest' | number): Promise<Block | undefined>
  /** Transactions of the account up to a block. */
  nonceOf(address: Address, at?: number): Promise<number>
  /** Of gas, in wei. */
  balanceOf(address: Address): Promise<bigint>
  /** In base units. */
  tokensOf(address: Address): Promise<bigint>
  /** Whether an authorization was used. */
  isUsed(payer: Address, nonce: Hex): Promise<boolean>
  /** Throws `WrongChain` where the node is another chain's by now. */
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

/** Asks for the number of a chain and the hash of its first block. */
export async function identify(rpc: Rpc): Promise<{ readonly id: number; readonly genesis: string }> {
  const [id, first] = await Promise.all([
    rpc.ask<Hex>('eth_chainId'),
    rpc.ask<RawBlock | null>('eth_getBlockByNumber', '0x0', false),
  ])
  if (!/^0x[0-9a-f]+$/i.test(id) || typeof first?.hash !== 'string') {
    throw new WrongChain(`${rpc.place} is no node of a chain: it does not tell its first block`)
  }
  return { id: hexToNumber(id), genesis: first.hash }
}

/** Reads the token's domain (EIP-712). Throws `WrongChain` where the contract is no USDC. */
async function readDomain(rpc: Rpc, chainId: number, token: Address): Promise<TokenDomain> {
  const read = async (data: Hex): Promise<Hex> => {
    try {
      return await rpc.ask<Hex>('eth_call', { to: token, data }, 'latest')
    } catch (error) {
      if (error instanceof RpcRefused) return '0x'
      throw error
    }
  }
  const [decimals, symbol, name, version, separator] = await Promise.all(Object.values(CALLS).map(read))
  const wrong = (words: string) => new WrongChain(`SVC_USDC_ADDRESS: ${token} on chain ${chainId} ${words}`)
  if (decimals === '0x') throw wrong('is no token: there is no such contract')
  if (BigInt(decimals!) !== 6n) throw wrong(`has ${BigInt(decimals!)} decimals instead of 6`)
  if (!/^USDC/.test(symbol === '0x' ? '' : readString(symbol!))) throw wrong('does not call itself USDC')
  const domain = {
    name: readString(name!),
    version: version === '0x' ? '1' : readString(version!),
    chainId,
    verifyingContract: token,
  }
  // Contracts of USDC tell what they hold signatures against; without it every signature might be for nothing.
  if (separator === '0x') throw wrong('takes no authorizations (EIP-3009)')
  if (separatorOf(domain) !== separator)
    throw wrong(`signs for another domain than ${domain.name}, ${domain.version}`)
  return domain
}

/** A number from a node. Throws `RpcUnavailable` if it is not an exact integer. */
function readQuantity(rpc: Rpc, value: unknown, what: string): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw new RpcUnavailable(`${rpc.place} has given no number for ${what}`)
}

/** @param id what the chain has to be. Throws `WrongChain`, `RpcUnavailable`. */
export async function connect(rpc: Rpc, id: number, token: Address): Promise<Chain> {
  const check = async () => {
    const now = readQuantity(rpc, await rpc.ask('eth_chainId'), 'its chain')
    if (now !== id) throw new WrongChain(`${rpc.place} is chain ${now} instead of ${id}`)
  }
  await check()
  const domain = await readDomain(rpc, id, token)
  const call = (data: Hex) => rpc.ask<Hex>('eth_call', { to: token, data }, 'latest')
  return {
    id,
    rpc,
    domain,
    check,
    block: async (at) => {
      const raw = await rpc.ask<RawBlock | null>(
        'eth_getBlockByNumber',
        at === 'latest' ? at : numberToHex(at),
        false,
      )
      if (!raw) return undefined
      return {
        number: readQuantity(rpc, raw.number, 'a block'),
        hash: raw.hash,
        timestamp: readQuantity(rpc, raw.timestamp, 'the time of a block'),
        baseFee: hexToBigInt(raw.baseFeePerGas ?? '0x0'),
      }
    },
    nonceOf: async (address, at) =>
      readQuantity(
        rpc,
        await rpc.ask('eth_getTransactionCount', address, at === undefined ? 'latest' : numberToHex(at)),
        'the account’s transactions',
      ),
    balanceOf: async (address) => hexToBigInt(await rpc.ask<Hex>('eth_getBalance', address, 'latest')),
    tokensOf: async (address) => BigInt(await call(balanceCall(address))),
    isUsed: async (payer, nonce) => BigInt(await call(stateCall(payer, nonce))) === 1n,
  }
}
