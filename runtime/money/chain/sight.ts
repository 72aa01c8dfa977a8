/**
 * Reads the state of a payment from the chain. An answer of the node is accepted only if it is consistent with its other
 * answers.
 */
import { type Address, type Hex, hexToNumber, numberToHex } from 'viem'
import type { Chain } from './connect.ts'
import type { Payment } from './payment-queries.ts'
import { hasPaid, type Log, nonceOf, usedTopics } from './token.ts'

/** The block that contains a transaction. */
export interface BlockPlace {
  readonly hash: string
  readonly block: number
  readonly blockHash: string
}

export type Sight =
  /** The contract made the intended transfer. */
  | (BlockPlace & { readonly kind: 'paid' })
  /** The transaction is in a block, but was reverted. */
  | (BlockPlace & { readonly kind: 'reverted' })
  | { readonly kind: 'missing' }
  /** The node's answers contradict each other. `hash`: the transaction in which a log shows the payment. */
  | { readonly kind: 'wrong'; readonly problem: string; readonly hash?: string | undefined }

interface Receipt {
  readonly transactionHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: Hex
  readonly status: Hex
  readonly from: string
  readonly logs: readonly Log[]
}

const wrong = (problem: string, hash?: string): Sight => ({ kind: 'wrong', problem, hash })

/** Looks for a payment under every hash that was signed for it, newest first. */
export async function look(
  chain: Chain,
  payer: Address,
  payment: Payment,
  hashes: readonly string[],
): Promise<Sight> {
  let reverted: Sight | undefined
  for (const hash of hashes) {
    const sight = await readReceipt(chain, payer, payment, hash, payer)
    if (sight.kind === 'reverted') reverted = sight
    else if (sight.kind !== 'missing') return sight
  }
  return reverted ?? { kind: 'missing' }
}

/**
 * Looks for a foreign transaction that used the authorization. Anyone who has seen the authorization can submit it before
 * us.
 */
export async function lookForUse(chain: Chain, payer: Address, payment: Payment): Promise<Sight> {
  const logs = await readUses(chain, payer, payment)
  const hash = logs[0]?.transactionHash
  if (hash === undefined) return wrong('the authorization is used, but no log shows by which transaction')
  const sight = await readReceipt(chain, payer, payment, hash)
  // A used authorization means that the payment was made. A different answer is a contradiction, so the payment neither
  // fails nor is signed again.
  if (sight.kind === 'missing')
    return wrong(`the authorization is used by ${hash}, but the node shows no receipt of it`, hash)
  if (sight.kind === 'reverted')
    return wrong(
      `the authorization is used by ${hash}, but its receipt says that the contract rejected the transfer`,
      hash,
    )
  return sight.kind === 'wrong' ? { ...sight, hash } : sight
}

/** Returns whether a log reports the authorization as used. */
export async function isUseLogged(chain: Chain, payer: Address, payment: Payment): Promise<boolean> {
  return (await readUses(chain, payer, payment)).length > 0
}

function readUses(chain: Chain, payer: Address, payment: Payment): Promise<readonly Log[]> {
  return chain.rpc.ask<readonly Log[]>('eth_getLogs', {
    address: chain.domain.verifyingContract,
    fromBlock: numberToHex(payment.after_block),
    toBlock: 'latest',
    topics: usedTopics(payer, nonceOf(payment.transfer_id)),
  })
}

/**
 * Reads the receipt of a transaction and checks it.
 * @param sender the required sender; undefined: any.
 */
async function readReceipt(
  chain: Chain,
  payer: Address,
  payment: Payment,
  hash: string,
  sender?: Address,
): Promise<Sight> {
  const receipt = await chain.rpc.ask<Receipt | null>('eth_getTransactionReceipt', hash)
  if (!receipt) return { kind: 'missing' }
  if (receipt.transactionHash !== hash)
    return wrong('the node returned the receipt of a different transaction')
  if (sender && receipt.from?.toLowerCase() !== sender.toLowerCase())
    return wrong('the node returned a receipt with a different sender')
  const number = hexToNumber(receipt.blockNumber)
  const block = await chain.block(number)
  // The node lags, or the block is being replaced.
  if (block?.hash !== receipt.blockHash) return { kind: 'missing' }
  const place = { hash, block: number, blockHash: receipt.blockHash }
  if (receipt.status !== '0x1') return { kind: 'reverted', ...place }
  const meant = {
    from: payer,
    to: payment.recipient as Address,
    value: payment.value,
    nonce: nonceOf(payment.transfer_id),
  }
  if (hasPaid(receipt.logs, chain.domain.verifyingContract, meant)) return { kind: 'paid', ...place }
  return wrong('the receipt does not show the transfer')
}
