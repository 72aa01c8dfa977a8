/** Follows a signed payment until it has ended. */

import { type Address, keccak256, parseTransaction } from 'viem'
import type { Environment } from '../../platform/environment.ts'
import { outbid, priceOf } from './fees.ts'
import { caip2 } from './own-chain.ts'
import {
  holdUpPayment,
  notePayment,
  type OpenPayment,
  type Payment,
  type SignedTransaction,
  storeReplacement,
} from './payment-queries.ts'
import { confirmed, type Decide, failed, paid, reorged, report } from './report.ts'
import type { Round } from './round-parts.ts'
import { sendAttempt } from './send.ts'
import { type BlockPlace, isUseLogged, look, lookForUse, type Sight } from './sight.ts'
import { SignerRefused, SignerUnavailable } from './signer.ts'
import { nonceOf } from './token.ts'

/**
 * State of a payment after a check. `moving`: more blocks will advance it. `still`: nothing to do. `held up`: it waits for
 * an operator. `ended`: its transactions are not sent again, even if the chain has none of them, because another one paid it.
 */
export type Followed = 'moving' | 'still' | 'held up' | 'ended'

/** Looks up a payment on the chain and takes the next step. */
export async function followPayment(round: Round, payment: OpenPayment): Promise<Followed> {
  if (payment.decision === 'paid' || payment.decision === 'failed') return decide(round, payment)
  const hashes = payment.attempts.map(({ hash }) => hash)
  const sight = await seek(round, payment, hashes)
  if (sight.kind === 'paid') return confirm(round, payment, sight)
  if (sight.kind === 'reverted') return fail(round, payment, sight)
  if (sight.kind === 'wrong') return holdUp(round, payment, sight.problem, sight.hash)
  const isReorged = payment.block_hash !== null
  if (isReorged) await reportDecision(round, payment, reorged(caip2(round.chain.id), payment.hash!))
  const seen = { ...payment, hash: null, block_hash: null }
  if (await isDisplaced(round, payment)) {
    if (waitsForOperator(payment)) return holdUp(round, payment, `${payment.problem}`)
    await displace(round, seen)
    return 'moving'
  }
  await sendAgain(round, seen, isReorged)
  return 'moving'
}

/**
 * Holds up a payment: nothing more is sent or posted for it until an operator decides, or until the node shows that it was
 * paid.
 *
 * @param hash transaction in which the node shows the payment. If an operator decides that it was paid, this is it.
 */
export async function holdUp(
  { control, account, log, now }: Round,
  {
    nonce,
    transfer_id,
    held_up,
  }: Pick<Payment, 'transfer_id' | 'held_up'> & { readonly nonce: number | string },
  problem: string,
  hash?: string,
): Promise<'held up'> {
  if (!held_up) log.error({ payout_id: transfer_id }, `A payout is held up: ${problem}`)
  await holdUpPayment(control, account, nonce, problem, now(), hash)
  return 'held up'
}

/** After contradictory answers from the node, a payment neither fails nor is signed again without an operator's decision. */
const waitsForOperator = ({ held_up, decision }: Payment): boolean => held_up && decision !== 'retry'

/**
 * Carries out an operator's decision. A payment fails only after its authorization has expired, because it can be used until
 * then.
 */
async function decide(round: Round, payment: OpenPayment): Promise<Followed> {
  const { chain, limits, head } = round
  const hash = payment.hash ?? payment.attempts[0]?.hash
  const sent = hash === undefined ? undefined : { chain: caip2(chain.id), hash }
  if (payment.decision === 'failed') {
    if ((head.certain?.timestamp ?? 0) <= payment.valid_before) {
      const until = new Date(payment.valid_before * 1000).toISOString()
      return holdUp(
        round,
        payment,
        `an operator marked it as failed; it fails after ${until}, when its authorization has expired`,
      )
    }
    await reportEnd(round, payment, failed('transaction_failed', sent))
    await note(round, payment, { state: 'failed' })
    return 'ended'
  }
  if (!sent) throw new Error(`no transaction of payout ${payment.transfer_id} is known`)
  await round.save?.()
  await reportEnd(round, payment, paid(sent.chain, sent.hash, limits.confirmations))
  await note(round, payment, { state: 'settled', hash: sent.hash })
  return 'ended'
}

/**
 * Looks for the payment on the chain. If our transaction was reverted or is missing, a different transaction may have used
 * the authorization.
 */
async function seek({ chain, account }: Round, payment: Payment, hashes: readonly string[]): Promise<Sight> {
  const sight = await look(chain, account.address, payment, hashes)
  if (sight.kind !== 'reverted' && sight.kind !== 'missing') return sight
  if (!(await chain.isUsed(account.address, nonceOf(payment.transfer_id)))) return sight
  return lookForUse(chain, account.address, payment)
}

function note({ control, account }: Round, payment: Payment, change: Partial<Payment>): Promise<void> {
  return notePayment(control, account, { ...payment, ...change })
}

function reportDecision(round: Round, { environment, space, transfer_id: id }: Payment, decide: Decide) {
  return report(round, { environment: environment as Environment, space, id }, decide)
}

/** Reports the end of a signed transfer, and before it that it is in transit, if that was not reported. */
async function reportEnd(round: Round, payment: Payment, decide: Decide) {
  const row = await reportDecision(round, payment, decide)
  return row?.state === 'in_transit' ? reportDecision(round, payment, decide) : row
}

const depthOf = ({ head }: Round, { block }: BlockPlace) => Math.max(0, head.block.number - block + 1)

async function confirm(round: Round, payment: OpenPayment, place: BlockPlace): Promise<Followed> {
  const { chain, limits, account } = round
  const name = caip2(chain.id)
  const confirmations = depthOf(round, place)
  if (payment.block_hash !== null && payment.block_hash !== place.blockHash)
    await reportDecision(round, payment, reorged(name, payment.hash!))
  const seen = { hash: place.hash, block_hash: place.blockHash, problem: null }
  if (confirmations < limits.confirmations) {
    await note(round, payment, seen)
    await reportDecision(round, payment, confirmed(name, place.hash, confirmations))
    return 'moving'
  }
  const isUsed = await chain.isUsed(account.address, nonceOf(payment.transfer_id))
  const contradiction = isUsed
    ? findMiscount(round, payment, place)
    : 'the receipt shows the payment, but the contract reports its authorization as unused'
  if (contradiction !== undefined) return holdUp(round, payment, contradiction, place.hash)
  await round.save?.()
  await reportEnd(round, payment, paid(name, place.hash, confirmations))
  await note(round, payment, { ...seen, state: 'settled' })
  return 'ended'
}

/** Returns a problem if a block contains a transaction of the account that the node's transaction count does not include. */
function findMiscount({ head }: Round, { nonce, attempts }: OpenPayment, { hash, block }: BlockPlace) {
  if (head.nonce > nonce || !attempts.some((each) => each.hash === hash)) return undefined
  return `block ${block} contains the account’s transaction ${nonce}, but the node counts only ${head.nonce} transactions`
}

/**
 * Handles a transfer that the contract rejected. The signed authorization is public and remains usable until it expires, so
 * the payment fails only after that, and only if all answers of the node agree.
 */
async function fail(round: Round, payment: OpenPayment, place: BlockPlace): Promise<Followed> {
  const seen = { hash: place.hash, block_hash: place.blockHash }
  const isOver = (round.head.certain?.timestamp ?? 0) > payment.valid_before
  const isDeep = depthOf(round, place) >= round.limits.confirmations
  if (waitsForOperator(payment)) return holdUp(round, payment, `${payment.problem}`)
  if (!isDeep || !isOver) {
    const until = new Date(payment.valid_before * 1000).toISOString()
    await note(round, payment, {
      ...seen,
      problem: `the contract rejected the transfer; the payout fails after ${until}`,
    })
    return isDeep ? 'still' : 'moving'
  }
  const contradiction = (await isUseLogged(round.chain, round.account.address, payment))
    ? `the receipt of ${place.hash} says that the contract rejected the transfer, but a log says that the authorization was used`
    : findMiscount(round, payment, place)
  if (contradiction !== undefined) return holdUp(round, payment, contradiction, place.hash)
  const sent = { chain: caip2(round.chain.id), hash: place.hash }
  const row = await reportEnd(round, payment, failed('transaction_failed', sent))
  // A paid payout reached this state through a reorganization, so it is signed again.
  if (row?.state === 'paid') await displace(round, payment)
  else await note(round, payment, { ...seen, state: 'failed', problem: null })
  return 'still'
}

/** Returns whether a foreign transaction has used the payment's nonce, in a block with enough confirmations. */
async function isDisplaced({ chain, account, head }: Round, { nonce }: Payment): Promise<boolean> {
  if (head.nonce <= nonce || !head.certain) return false
  return (await chain.nonceOf(account.address, head.certain.number)) > nonce
}

/**
 * Marks a payment to be signed again with a different nonce. The contract accepts only one of the two transactions. The
 * transfer is due before its payment is displaced: a process that dies between the two leaves an open payment, which is
 * followed and displaced again. It is due again afterwards, because a worker with another key may have reported the open
 * payment as signed in between.
 */
export async function displace(round: Round, payment: Payment): Promise<void> {
  round.log.error(
    { payout_id: payment.transfer_id },
    'A different transaction used the nonce of a payout; the payout is signed again.',
  )
  const makeDue = () =>
    reportDecision(round, payment, (row) =>
      row.state === 'failed' || row.state === 'withdrawn' ? undefined : { row: { ...row, due: round.now() } },
    )
  await makeDue()
  await note(round, payment, { state: 'displaced', hash: null, block_hash: null })
  await makeDue()
}

async function sendAgain(round: Round, payment: OpenPayment, isReorged: boolean): Promise<void> {
  const { limits } = round
  const newest = payment.attempts[0]
  if (!newest) throw new Error(`no signed transaction is stored for payout ${payment.transfer_id}`)
  const now = round.now()
  if (isReorged || newest.sent_at === null || now - newest.sent_at >= limits.resendMs) {
    const isLate = newest.sent_at !== null && now - newest.signed_at >= limits.replaceMs
    const attempt = isLate ? ((await replace(round, newest, payment.transfer_id)) ?? newest) : newest
    const problem = await sendAttempt(round, attempt)
    await note(round, payment, { problem: problem ?? null })
  }
}

/**
 * Signs the same call with higher fees. Returns undefined if the fee would exceed the limit, or if no signer is available.
 */
async function replace(
  round: Round,
  old: SignedTransaction,
  transferId: string,
): Promise<SignedTransaction | undefined> {
  const { chain, signer, account, limits, control, token, head, log } = round
  if (signer.address !== account.address) return undefined
  const before = { maxFee: old.max_fee, priorityFee: old.priority_fee }
  const fees = outbid(before, await priceOf(chain, head.block))
  if (fees.maxFee > limits.maxFee) return undefined
  const { to, data, gas } = parseTransaction(`0x${old.raw.toString('hex')}`)
  const unsigned = {
    ...{ chainId: chain.id, nonce: old.nonce, to: to as Address, data: data!, gas: gas! },
    ...{ maxFeePerGas: fees.maxFee, maxPriorityFeePerGas: fees.priorityFee },
  }
  try {
    const raw = await signer.sign(unsigned, transferId)
    const attempt = {
      ...{
        nonce: old.nonce,
        attempt: old.attempt + 1,
        hash: keccak256(raw),
        raw: Buffer.from(raw.slice(2), 'hex'),
      },
      ...{ max_fee: fees.maxFee, priority_fee: fees.priorityFee, signed_at: round.now() },
    }
    await storeReplacement(control, account, token, attempt)
    return { ...attempt, sent_at: null }
  } catch (error) {
    if (!(error instanceof SignerUnavailable || error instanceof SignerRefused)) throw error
    log.warn(`The fee of a payout could not be raised: ${error.message}`)
    return undefined
  }
}
