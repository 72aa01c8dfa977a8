/** Signed bytes on their way to the chain: the same, as often as needed. */

import { noteSent, type SignedTransaction } from './payment-queries.ts'
import type { Round } from './round-parts.ts'
import { RpcRefused, RpcUnavailable } from './rpc.ts'

/** Words of nodes for what they have already, or had: not in the least a problem. */
const KNOWN = /already known|already imported|known transaction|nonce too low|nonce is too low/i

/** Whether a node's refusal says that it has the transaction, or that the nonce is used. */
export const isKnownToNode = (message: string): boolean => KNOWN.test(message)

/**
 * Sends them. Gives what the node says against it, or that it cannot be reached; undefined where it took them. Whatever it
 * says, whether they were mined is looked up.
 */
export async function sendAttempt(round: Round, attempt: SignedTransaction): Promise<string | undefined> {
  const { chain, control, account, log } = round
  const problem = await chain.rpc
    .ask('eth_sendRawTransaction', `0x${attempt.raw.toString('hex')}`)
    .then(() => undefined, readProblem)
  await noteSent(control, account, attempt, round.now())
  if (problem !== undefined) log.warn({ hash: attempt.hash }, `a payout is not sent: ${problem}`)
  return problem
}

function readProblem(error: unknown): string | undefined {
  if (error instanceof RpcUnavailable) return error.message
  if (!(error instanceof RpcRefused)) throw error
  return isKnownToNode(error.message) ? undefined : error.message
}
