/** One round of the worker that sends for an account: it follows what was sent, then signs and sends what is new. */

import type { Address } from 'viem'
import { reasonOf } from '../../database/errors.ts'
import type { Chain } from './connect.ts'
import { type Followed, followPayment, holdUp } from './follow.ts'
import { isOfPayout } from './held-up.ts'
import { chooseNonce } from './nonces.ts'
import { type OpenPayment, readOpenPayments, reopenPayments } from './payment-queries.ts'
import type { Head, Round } from './round-parts.ts'
import { RpcUnavailable } from './rpc.ts'
import { type DueTransfer, signTransfer } from './sign.ts'

/** Payments under way at once: nodes keep few of one account. */
const MAX_OPEN = 48

/** Payments that are held up, and looked at again in a round. */
const MAX_HELD_UP = 8

/** What came of a round. */
export interface RoundResult {
  /** Payments that were signed. */
  readonly signed: number
  /** Payments that further blocks would get on. */
  readonly moving: number
}

/** Reads the head. Throws `WrongChain`, `RpcUnavailable`. */
export async function readHead(chain: Chain, address: Address, confirmations: number): Promise<Head> {
  await chain.check()
  const block = await chain.block('latest')
  if (!block) throw new Error('the chain has no block')
  const [certain, nonce] = await Promise.all([
    chain.block(Math.max(0, block.number - confirmations)),
    chain.nonceOf(address),
  ])
  return { block, certain, nonce }
}

/** @param nextNonce by the database. @param due transfers that are to be signed. */
export async function runRound(
  round: Round,
  nextNonce: number,
  due: readonly DueTransfer[],
): Promise<RoundResult> {
  const { control, account, head, log } = round
  let open = await readOpenPayments(control, account, MAX_OPEN)
  const oldest = open.payments[0]?.nonce ?? nextNonce
  if (head.nonce < oldest) {
    // The chain was set back further than what counts as certain, or its node lags: what is missing is sent again.
    const count = await reopenPayments(control, account, head.nonce)
    if (count > 0)
      log.error({ count, nonce: head.nonce }, 'the chain has forgotten payments; they are sent again')
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
    if (followed !== 'held up') live.push(payment)
  }
  live.sort((one, other) => one.nonce - other.nonce)
  const nonce = await chooseNonce(round, nextNonce, live)
  for (const filled of round.fillings.keys()) if (filled < head.nonce) round.fillings.delete(filled)
  const signed = nonce === undefined ? 0 : await signAll(round, nonce, due, MAX_OPEN - open.payments.length)
  // What waits for a count to be certain waits for blocks.
  return { signed, moving: nonce === undefined ? moving + 1 : moving }
}

/** Follows a payment. What goes wrong with it stops no other, unless it concerns all. */
async function followAlone(round: Round, payment: OpenPayment): Promise<Followed> {
  try {
    return await followPayment(round, payment)
  } catch (error) {
    if (!isOfPayout(error)) throw error
    if (error instanceof RpcUnavailable) {
      await round.chain.check() // throws if the node answers nothing at all
      round.log.warn({ payout_id: payment.transfer_id }, `a payout cannot be followed: ${error.message}`)
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
    if (await signTransfer(round, transfer, nonce)) nonce += 1
  }
  return nonce - first
}
