/** Sends signed transactions to the chain. Sending the same transaction again is safe. */

import { noteSent, type SignedTransaction } from './payment-queries.ts'
import type { Round } from './round-parts.ts'
import { RpcRefused, RpcUnavailable } from './rpc.ts'

/** Error messages of nodes that already have the transaction or have already included it, which is not a problem. */
const KNOWN = /already known|already imported|known transaction|nonce too low|nonce is too low/i

/** Returns whether a node's refusal means that it has the transaction or that the nonce is used. */
export const isKnownToNode = (message: string): boolean => KNOWN.test(message)

/**
 * Sends a transaction. Returns the problem that the node reported, or undefined if the node accepted it. In either case, a
 * later check decides whether the transaction was mined.
 */
export async function sendAttempt(round: Round, attempt: SignedTransaction): Promise<string | undefined> {
  const { chain, control, account, log } = round
  const problem = await chain.rpc
    .ask('eth_sendRawTransaction', `0x${attempt.raw.toString('hex')}`)
    .then(() => undefined, readProblem)
  await noteSent(control, account, attempt, round.now())
  if (problem !== undefined) log.warn({ hash: attempt.hash }, `A payout could not be sent: ${problem}`)
  return problem
}

function readProblem(error: unknown): string | undefined {
  if (error instanceof RpcUnavailable) return error.message
  if (!(error instanceof RpcRefused)) throw error
  return isKnownToNode(error.message) ? undefined : error.message
}
