/** Lists what the chain knows about payments of an account, whether or not the database knows them. */
import { type Address, type Hex, hexToNumber, numberToHex } from 'viem'
import type { Chain } from './connect.ts'
import { isTestChain } from './dangers.ts'
import { RpcUnavailable } from './rpc.ts'
import { findPaid, type Log, UNITS_PER_CENT, usesTopics } from './token.ts'

/** A transaction that used a transfer authorization of the account. */
export interface AuthorizationUse {
  readonly hash: string
  readonly block: number
  readonly payer: Address
  /** EIP-3009 nonce: the hash of the payout's identifier. */
  readonly authorization: Hex
  /** Nonce of the transaction; undefined if a different account sent it. */
  readonly nonce: number | undefined
  readonly recipient: Address | undefined
  /** Undefined if it is not a whole number of cents that can be represented exactly. */
  readonly cents: number | undefined
  /** Whether its block has enough confirmations. */
  readonly isCertain: boolean
}

/** Number of blocks in one request. Providers refuse larger ranges. */
const BLOCKS = 2000

/** Maximum age of a chain's newest block. A test chain makes blocks only for transactions. */
const OLDEST_HEAD_MS = 10 * 60_000

/** Returns the number of the first block that is not older than a time, in milliseconds since the epoch. */
async function firstBlockSince(chain: Chain, since: number, head: number): Promise<number> {
  let [low, high] = [0, head]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const block = await chain.block(middle)
    if (block && block.timestamp * 1000 >= since) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Returns all payments of an account since a time, oldest first. Throws `RpcRefused`, or `RpcUnavailable`, also if the node is
 * behind the chain and could miss payments.
 */
export async function findUses(
  chain: Chain,
  payer: Address,
  since: number,
  confirmations: number,
): Promise<readonly AuthorizationUse[]> {
  const newest = await chain.block('latest')
  const headAt = (newest?.timestamp ?? 0) * 1000
  if (headAt < since || (!isTestChain(chain.id) && headAt < Date.now() - OLDEST_HEAD_MS))
    throw new RpcUnavailable(
      `the newest block of ${chain.rpc.place} is of ${new Date(headAt).toISOString()}: wait until the node has caught up`,
    )
  const head = newest!.number
  const uses: AuthorizationUse[] = []
  for (let from = await firstBlockSince(chain, since, head); from <= head; from += BLOCKS) {
    const logs = await chain.rpc.ask<readonly (Log & { readonly blockNumber: Hex })[]>('eth_getLogs', {
      address: chain.domain.verifyingContract,
      fromBlock: numberToHex(from),
      toBlock: numberToHex(Math.min(head, from + BLOCKS - 1)),
      topics: usesTopics(payer),
    })
    for (const { topics, transactionHash: hash, blockNumber } of logs) {
      const block = hexToNumber(blockNumber)
      const place = { block, payer, authorization: topics[2]!, isCertain: head - block + 1 >= confirmations }
      uses.push({ ...place, ...(await readTransaction(chain, payer, hash!)) })
    }
  }
  return uses
}

async function readTransaction(chain: Chain, payer: Address, hash: string) {
  const [transaction, receipt] = await Promise.all([
    chain.rpc.ask<{ readonly from: string; readonly nonce: Hex } | null>('eth_getTransactionByHash', hash),
    chain.rpc.ask<{ readonly logs: readonly Log[] } | null>('eth_getTransactionReceipt', hash),
  ])
  const isOwn = transaction?.from.toLowerCase() === payer.toLowerCase()
  const paid = receipt ? findPaid(receipt.logs, chain.domain.verifyingContract, payer) : undefined
  const isWhole = paid !== undefined && paid.value % UNITS_PER_CENT === 0n
  const cents = isWhole ? Number(paid.value / UNITS_PER_CENT) : undefined
  return {
    hash,
    nonce: isOwn ? hexToNumber(transaction.nonce) : undefined,
    recipient: paid?.to,
    cents: Number.isSafeInteger(cents) && cents !== 0 ? cents : undefined,
  }
}
