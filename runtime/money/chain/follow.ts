/** A payment that was signed, to its end. */

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

/** How a payment is after a look: further blocks get it on, nothing is to be done, or it waits for an operator. */
export type Followed = 'moving' | 'still' | 'held up'

/** Looks where it is, and does what follows. */
export async function followPayment(round: Round, payment: OpenPayment): Promise<Followed> {
  if (payment.decision === 'paid' || payment.decision === 'failed') return decide(round, payment)
  const hashes = payment.attempts.map(({ hash }) => hash)
  const sight = await seek(round, payment, hashes)
  if (sight.kind === 'paid') return confirm(round, payment, sight)
  if (sight.kind === 'reverted') return fail(round, payment, sight)
  if (sight.kind === 'wrong') return holdUp(round, payment, sight.problem)
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
 * Sets a payment aside: nothing more is sent or booked for it until an operator decides, or the node shows that it was paid.
 */
export async function holdUp(
  { control, account, log, now }: Round,
  {
    nonce,
    transfer_id,
    held_up,
  }: Pick<Payment, 'transfer_id' | 'held_up'> & { readonly nonce: number | string },
  problem: string,
): Promise<'held up'> {
  if (!held_up) log.error({ payout_id: transfer_id }, `a payout is held up: ${problem}`)
  await holdUpPayment(control, account, nonce, problem, now())
  return 'held up'
}

/** After answers that contradict each other, a payment neither fails nor is signed again without an operator. */
const waitsForOperator = ({ held_up, decision }: Payment): boolean => held_up && decision !== 'retry'

/** Does what an operator has decided. A payment fails only after its authorization has run out: until then it can still be used. */
async function decide(round: Round, payment: OpenPayment): Promise<Followed> {
  const { chain, limits, head } = round
  const hash = payment.hash ?? payment.attempts[0]?.hash
  if (payment.decision === 'failed') {
    if ((head.certain?.timestamp ?? 0) <= payment.valid_before) {
      const until = new Date(payment.valid_before * 1000).toISOString()
      return holdUp(round, payment, `an operator has decided that it failed; it fails after ${until}`)
    }
    await reportDecision(round, payment, failed('transaction_failed'))
    await note(round, payment, { state: 'failed' })
    return 'still'
  }
  if (hash === undefined) throw new Error('no transaction is known that could have paid it')
  await round.save?.()
  await reportDecision(round, payment, paid(caip2(chain.id), hash, limits.confirmations))
  await note(round, payment, { state: 'settled', hash })
  return 'still'
}

/** Where our transaction did nothing, or is nowhere, somebody else may have used the authorization. */
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
    : 'the receipt shows the payment, but the contract does not know it'
  if (contradiction !== undefined) return holdUp(round, payment, contradiction)
  await round.save?.()
  await reportDecision(round, payment, paid(name, place.hash, confirmations))
  await note(round, payment, { ...seen, state: 'settled' })
  return 'still'
}

/** A transaction of the account is in a block, but the node counts fewer transactions of the account. */
function findMiscount({ head }: Round, { nonce, attempts }: OpenPayment, { hash, block }: BlockPlace) {
  if (head.nonce > nonce || !attempts.some((each) => each.hash === hash)) return undefined
  return `block ${block} has the account’s transaction ${nonce}, but the node counts only ${head.nonce} transactions`
}

/**
 * The contract has refused it. What was signed can be used by anyone who has seen it until it runs out: only then it has failed,
 * and only if everything that the node says agrees.
 */
async function fail(round: Round, payment: OpenPayment, place: BlockPlace): Promise<Followed> {
  const seen = { hash: place.hash, block_hash: place.blockHash }
  const isOver = (round.head.certain?.timestamp ?? 0) > payment.valid_before
  const isDeep = depthOf(round, place) >= round.limits.confirmations
  if (waitsForOperator(payment)) return holdUp(round, payment, `${payment.problem}`)
  if (!isDeep || !isOver) {
    const until = new Date(payment.valid_before * 1000).toISOString()
    await note(round, payment, { ...seen, problem: `the contract has refused it; it fails after ${until}` })
    return isDeep ? 'still' : 'moving'
  }
  const contradiction = (await isUseLogged(round.chain, round.account.address, payment))
    ? `the receipt of ${place.hash} says that the contract refused it, but a log says that the authorization is used`
    : findMiscount(round, payment, place)
  if (contradiction !== undefined) return holdUp(round, payment, contradiction)
  const row = await reportDecision(round, payment, failed('transaction_failed'))
  // It was told as paid before the chain forgot it.
  if (row?.state === 'paid') await displace(round, payment)
  else await note(round, payment, { ...seen, state: 'failed', problem: null })
  return 'still'
}

/** Whether its nonce went, for certain, to a transaction that is none of ours. */
async function isDisplaced({ chain, account, head }: Round, { nonce }: Payment): Promise<boolean> {
  if (head.nonce <= nonce || !head.certain) return false
  return (await chain.nonceOf(account.address, head.certain.number)) > nonce
}

/** It is signed again under another nonce; the contract takes one of the two only. */
export async function displace(round: Round, payment: Payment): Promise<void> {
  round.log.error({ payout_id: payment.transfer_id }, 'a payout has lost its nonce; it is signed again')
  await note(round, payment, { state: 'displaced', hash: null, block_hash: null })
  await reportDecision(round, payment, (row) =>
    row.state === 'failed' || row.state === 'withdrawn' ? undefined : { row: { ...row, due: round.now() } },
  )
}

async function sendAgain(round: Round, payment: OpenPayment, isReorged: boolean): Promise<void> {
  const { limits } = round
  const newest = payment.attempts[0]
  if (!newest) throw new Error('what was signed for it is not stored')
  const now = round.now()
  if (isReorged || newest.sent_at === null || now - newest.sent_at >= limits.resendMs) {
    const isLate = newest.sent_at !== null && now - newest.signed_at >= limits.replaceMs
    const attempt = isLate ? ((await replace(round, newest, payment.transfer_id)) ?? newest) : newest
    const problem = await sendAttempt(round, attempt)
    await note(round, payment, { problem: problem ?? null })
  }
}

/** The same call with a higher fee; undefined where it would be above the limit, or nobody is there who can sign it. */
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
    log.warn(`a payout’s fee is not raised: ${error.message}`)
    return undefined
  }
}
