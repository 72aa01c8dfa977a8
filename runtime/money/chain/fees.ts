/** Gas fees (EIP-1559). */
import { type Hex, hexToBigInt } from 'viem'
import type { Block, Chain } from './connect.ts'
import { RpcRefused } from './rpc.ts'

/** Fees in wei per unit of gas. */
export interface Fees {
  readonly maxFee: bigint
  readonly priorityFee: bigint
}

/** Priority fee if the node suggests none. */
const USUAL_PRIORITY = 1_500_000_000n

/**
 * Returns fees with which a transaction is likely to be mined soon. The base fee can double before the transaction becomes
 * too cheap.
 */
export async function priceOf({ rpc }: Chain, { baseFee }: Block): Promise<Fees> {
  const priorityFee = await rpc.ask<Hex>('eth_maxPriorityFeePerGas').then(hexToBigInt, (error: unknown) => {
    if (error instanceof RpcRefused) return USUAL_PRIORITY
    throw error
  })
  return { maxFee: baseFee * 2n + priorityFee, priorityFee }
}

/** Nodes accept a replacement transaction only if both fees are at least 10 % higher. This adds 12.5 %. */
const raised = (fee: bigint) => fee + fee / 8n + 1n

const larger = (one: bigint, other: bigint) => (one > other ? one : other)

/** Returns the fees of a replacement for a transaction with the fees `old`. */
export function outbid(old: Fees, current: Fees): Fees {
  return {
    maxFee: larger(raised(old.maxFee), current.maxFee),
    priorityFee: larger(raised(old.priorityFee), current.priorityFee),
  }
}
