/**
 * Chooses the nonce of an account's next transaction. Nodes can report a wrong transaction count, and a reorganization can
 * remove transactions. So a count is trusted only if it is equal at a block with enough confirmations.
 */

import { type Address, parseTransaction } from 'viem'
import { countPaymentsFrom, moveNonce, noteAccount } from './account-queries.ts'
import { outbid, priceOf } from './fees.ts'
import { displace } from './follow.ts'
import type { OpenPayment } from './payment-queries.ts'
import type { Round } from './round-parts.ts'
import { RpcRefused, RpcUnavailable } from './rpc.ts'
import { isKnownToNode } from './send.ts'
import { SignerRefused, SignerUnavailable } from './signer.ts'

/**
 * Maximum number of missing nonces that are filled, because each one costs the gas of a reverted transfer. Larger gaps are
 * not filled; payments continue at the gap.
 */
const MAX_FILLED = 16

/**
 * Returns the nonce of the next payment, or undefined if this round must not sign any. Records problems for operators.
 * @param next next nonce according to the database.
 * @param live payments that are being followed, ordered by nonce.
 */
export async function chooseNonce(
  round: Round,
  next: number,
  live: readonly OpenPayment[],
): Promise<number | undefined> {
  if (round.head.nonce > next) return skip(round, next)
  const first = firstMissing(round.head.nonce, live)
  if (first >= next) {
    await noteProblem(round, null)
    return next
  }
  return mend(round, next, first, live)
}

/** Returns the first nonce that has neither a transaction on the chain nor a followed payment. */
function firstMissing(nonce: number, live: readonly OpenPayment[]): number {
  const taken = new Set(live.map((payment) => payment.nonce))
  let first = nonce
  while (taken.has(first)) first += 1
  return first
}

async function noteProblem({ control, account, log, now }: Round, problem: string | null): Promise<void> {
  const isNew = await noteAccount(control, account, problem, now())
  if (isNew && problem !== null) log.error({ account: account.address }, problem)
}

/** Returns the account's transaction count at the confirmed block, or undefined if the node no longer has that block. */
async function readCertainCount({ chain, account, head }: Round): Promise<number | undefined> {
  if (!head.certain) return undefined
  try {
    return await chain.nonceOf(account.address, head.certain.number)
  } catch (error) {
    if (error instanceof RpcRefused) return undefined
    throw error
  }
}

/**
 * Handles a node that reports more transactions than the database knows, because a different program used the account or the
 * node is wrong.
 */
async function skip(round: Round, next: number): Promise<number | undefined> {
  const { control, account, token, head, log } = round
  const certain = await readCertainCount(round)
  const counts = `the node counts ${head.nonce} transactions of the account, ${certain ?? 'an unknown number'} of them confirmed`
  if (certain === undefined || certain < head.nonce) {
    await noteProblem(
      round,
      `${counts}, but the database has ${next}: payouts wait until the other transactions are confirmed`,
    )
    return undefined
  }
  if (certain > head.nonce) {
    await noteProblem(round, `${counts}, which is contradictory: payouts wait until the counts agree`)
    return undefined
  }
  log.warn(
    { from: next, to: certain },
    'A different program has sent transactions of the payout account; its nonce is adjusted.',
  )
  await moveNonce(control, account, token, { from: next, to: certain })
  await noteProblem(round, null)
  return certain
}

/** Handles missing nonces, which keep all later transactions out of blocks. */
async function mend(
  round: Round,
  next: number,
  first: number,
  live: readonly OpenPayment[],
): Promise<number | undefined> {
  const { control, account, token, head, log } = round
  const later = live.filter(({ nonce }) => nonce > first)
  const end = later.at(-1)?.nonce ?? next
  const taken = new Set(later.map(({ nonce }) => nonce))
  const missing = end - first - later.filter(({ nonce }) => nonce < end).length
  const gap = `the account has no transaction with nonce ${first}${missing > 1 ? `, nor with ${missing - 1} later nonces` : ''}`
  const from = await countPaymentsFrom(control, account, first)
  if (from.count > 0 && (missing <= MAX_FILLED || from.taken)) {
    await noteProblem(round, `${gap}: later payouts wait until it is filled`)
    for (let nonce = first; nonce < end && nonce < first + MAX_FILLED; nonce += 1) {
      const payment = later.find((each) => each.nonce > nonce)
      if (payment && !taken.has(nonce)) await fill(round, nonce, payment)
    }
    return next
  }
  if ((await readCertainCount(round)) !== head.nonce) {
    await noteProblem(round, `${gap}: payouts wait until the node’s count of ${head.nonce} is confirmed`)
    return undefined
  }
  log.error({ from: next, to: first }, `${gap}: payouts continue from that nonce`)
  for (const payment of later) await displace(round, payment)
  await moveNonce(control, account, token, { from: next, to: first })
  await noteProblem(round, null)
  return later.length > 0 ? undefined : first
}

/**
 * Sends a later payment with the missing nonce as well. The contract accepts its authorization only once, in whichever
 * transaction comes first. So the signer signs only payments. Nothing is stored; after a crash, the transaction is signed
 * again.
 */
async function fill(round: Round, nonce: number, payment: OpenPayment): Promise<void> {
  const { chain, signer, account, fillings, limits, head, log } = round
  const now = round.now()
  const known = fillings.get(nonce) ?? { since: now }
  fillings.set(nonce, known)
  const isDue = now - (known.sent ?? known.since) >= limits.resendMs
  const newest = payment.attempts[0]
  if (!isDue || !newest || signer.address !== account.address) return
  const price = await priceOf(chain, head.block)
  const fees = known.fees ? outbid(known.fees, price) : price
  if (fees.maxFee > limits.maxFee) return
  const { to, data, gas } = parseTransaction(`0x${newest.raw.toString('hex')}`)
  const unsigned = {
    ...{ chainId: chain.id, nonce, to: to as Address, data: data!, gas: gas! },
    ...{ maxFeePerGas: fees.maxFee, maxPriorityFeePerGas: fees.priorityFee },
  }
  try {
    await chain.rpc.ask('eth_sendRawTransaction', await signer.sign(unsigned, payment.transfer_id))
  } catch (error) {
    const isExpected =
      error instanceof SignerUnavailable ||
      error instanceof SignerRefused ||
      error instanceof RpcUnavailable ||
      error instanceof RpcRefused
    if (!isExpected) throw error
    if (!isKnownToNode(error.message))
      log.warn({ nonce }, `Nonce ${nonce} could not be filled: ${error.message}`)
  }
  fillings.set(nonce, { ...known, sent: now, fees })
}
