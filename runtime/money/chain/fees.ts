/** What a unit of gas costs (EIP-1559). */
import { type Hex, hexToBigInt } from 'viem'
import type { Block, Chain } from './connect.ts'
import { RpcRefused } from './rpc.ts'

/** In wei for a unit of gas. */
export interface Fees {
  readonly maxFee: bigint
  readonly priorityFee: bigint
}

/** Where a node has no opinion. */
const USUAL_PRIORITY = 1_500_000_000n

/** What is likely to be mined soon: the base fee may double before it is not. */
export async function priceOf({ rpc }: Chain, { baseFee }: Block): Promise<Fees> {
  const priorityFee = await rpc.ask<Hex>('eth_maxPriorityFeePerGas').then(hexToBigInt, (error: unknown) => {
    if (error instanceof RpcRefused) return USUAL_PRIORITY
    throw error
  })
  return { maxFee: baseFee * 2n + priorityFee, priorityFee }
}

/** Nodes take a transaction in place of another only where both fees are a tenth higher; we add an eighth. */
const raised = (fee: bigint) => fee + fee / 8n + 1n

const larger = (one: bigint, other: bigint) => (one > other ? one : other)

/** Of a transaction that replaces one with these fees. */
export function outbid(old: Fees, current: Fees): Fees {
  return {
    maxFee: larger(raised(old.maxFee), current.maxFee),
    priorityFee: larger(raised(old.priorityFee), current.priorityFee),
  }
}
