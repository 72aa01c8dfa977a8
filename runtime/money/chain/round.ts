/** One round of the worker for an account: follows sent payments, then signs and sends new ones. */

import type { Address } from 'viem'
import { reasonOf } from '../../database/errors.ts'
import { runInSpan } from '../../tracing/span.ts'
import type { Chain } from './connect.ts'
import { type Followed, followPayment, holdUp } from './follow.ts'
import { isOfPayout } from './held-up.ts'
import { chooseNonce } from './nonces.ts'
import { type OpenPayment, readOpenPayments, reopenPayments } from './payment-queries.ts'
import { spanOfTransfer } from './report.ts'
import type { Head, Round } from './round-parts.ts'
import { RpcRefused, RpcUnavailable } from './rpc.ts'
import { type DueTransfer, signTransfer } from './sign.ts'

/** Maximum number of open payments, because nodes keep only a few pending transactions of one account. */
const MAX_OPEN = 48

/** Maximum number of held-up payments that a round checks again. */
const MAX_HELD_UP = 8

/** The result of a round. */
export interface RoundResult {
  /** Number of payments signed. */
  readonly signed: number
  /** Number of payments that more blocks would advance. */
  readonly moving: number
}

/** Reads the head of the chain. Throws `WrongChain` or `RpcUnavailable`. */
export async function readHead(chain: Chain, address: Address, confirmations: number): Promise<Head> {
  await chain.check()
  const block = await chain.block('latest')
  if (!block) throw new Error('the node returned no latest block')
  const [certain, nonce] = await Promise.all([
    chain.block(Math.max(0, block.number - confirmations)),
    chain.nonceOf(address),
  ])
  return { block, certain, nonce }
}

/**
 * Runs a round.
 * @param nextNonce next nonce according to the database.
 * @param due transfers to sign.
 */
export async function runRound(
  round: Round,
  nextNonce: number,
  due: readonly DueTransfer[],
): Promise<RoundResult> {
  const { control, account, head, log } = round
  let open = await readOpenPayments(control, account, MAX_OPEN)
  const oldest = open.payments[0]?.nonce ?? nextNonce
  if (head.nonce < oldest) {
    // Either a reorganization went deeper than the required confirmations, or the node lags. Send the missing payments
    // again.
    const count = await reopenPayments(control, account, head.nonce)
    if (count > 0)
      log.error(
        { count, nonce: head.nonce },
        'The chain no longer contains some payments; they are sent again.',
      )
    open = await readOpenPayments(control, account, MAX_OPEN)
  }
  const held = await readOpenPayments(control, account, MAX_HELD_UP, 'held up')
  for (const each of [...open.unreadable, ...held.unreadable]) await holdUp(round, each, each.problem)
  const live: OpenPayment[] = []
  let moving = 0
  for (const payment of [...open.payments, ...held.payments]) {
    if (!(await round.goesOn())) return { signed: 0, moving }
    const followed = await followAlone(round, payment)
    if (followed === 'moving') moving += 1
    if (followed === 'moving' || followed === 'still') live.push(payment)
  }
  live.sort((one, other) => one.nonce - other.nonce)
  const nonce = await chooseNonce(round, nextNonce, live)
  for (const filled of round.fillings.keys()) if (filled < head.nonce) round.fillings.delete(filled)
  const signed = nonce === undefined ? 0 : await signAll(round, nonce, due, MAX_OPEN - open.payments.length)
  // While the nonce waits for confirmations, more blocks are needed.
  return { signed, moving: nonce === undefined ? moving + 1 : moving }
}

/** Follows a payment. An error that concerns only this payment does not stop the others. */
async function followAlone(round: Round, payment: OpenPayment): Promise<Followed> {
  try {
    return await followPayment(round, payment)
  } catch (error) {
    if (!isOfPayout(error)) throw error
    // Behind a load balancer, a node that is some blocks late refuses to answer about a block that it does not have yet.
    if (error instanceof RpcUnavailable || error instanceof RpcRefused) {
      await round.chain.check() // throws if the node does not respond at all
      round.log.warn({ payout_id: payment.transfer_id }, `A payout cannot be followed: ${error.message}`)
      return payment.held_up ? 'held up' : 'still'
    }
    return holdUp(round, payment, reasonOf(error))
  }
}

async function signAll(
  round: Round,
  first: number,
  due: readonly DueTransfer[],
  room: number,
): Promise<number> {
  let nonce = first
  for (const transfer of due.slice(0, Math.max(0, room))) {
    if (!(await round.goesOn())) break
    const span = round.tracer?.resume(transfer.trace, spanOfTransfer(transfer.id, 'sign'))
    const current = nonce
    if (await runInSpan(span, () => signTransfer(round, transfer, current))) nonce += 1
  }
  return nonce - first
}
