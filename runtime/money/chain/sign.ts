/** From a transfer to bytes that were signed, stored and sent. */

import { type Address, type Hex, hexToBigInt, isAddress, keccak256 } from 'viem'
import { codeOf, constraintOf, reasonOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import type { Environment } from '../../platform/environment.ts'
import { moveNonce } from './account-queries.ts'
import { type Fees, priceOf } from './fees.ts'
import { isOfPayout } from './held-up.ts'
import { caip2 } from './own-chain.ts'
import {
  findPayment,
  isSigned,
  NONCE_TAKEN,
  type Payment,
  readAttempts,
  storePayment,
} from './payment-queries.ts'
import { failed, inTransit, report, type TransferStep } from './report.ts'
import type { Round } from './round-parts.ts'
import { RpcRefused, RpcUnavailable } from './rpc.ts'
import { sendAttempt } from './send.ts'
import { SignerRefused, SignerUnavailable } from './signer.ts'
import { authorizedCall, nonceOf, type TransferAuthorization, transferCall, UNITS_PER_CENT } from './token.ts'
import { type DueTransferRow, holdUpTransfer, readTransfer, type TransferRow } from './transfer-queries.ts'
import type { FailureCode } from './transfers.ts'

/** It cannot be signed now. With `final` it never can, otherwise it is tried again for a while before it fails so. */
class HeldUp extends Error {
  readonly code: FailureCode
  readonly final: boolean

  constructor(code: FailureCode, words: string, final = false) {
    super(words)
    this.code = code
    this.final = final
  }
}

export type DueTransfer = DueTransferRow & { readonly environment: Environment }

/** Gives whether the nonce was used up. What goes wrong with a transfer stops no other, unless it concerns all. */
export async function signTransfer(round: Round, transfer: DueTransfer, nonce: number): Promise<boolean> {
  try {
    return await trySigning(round, transfer, nonce)
  } catch (error) {
    if (!isOfPayout(error)) throw error
    await setAside(round, transfer, reasonOf(error))
    return false
  }
}

async function trySigning(round: Round, transfer: DueTransfer, nonce: number): Promise<boolean> {
  const { environment, tenant_id: space, id } = transfer
  const known = await findPayment(round.control, environment, id)
  if (known && known.state !== 'displaced') {
    await tellOf(round, known)
    return false
  }
  const row = await readTransfer(round.pools[environment], space, id)
  if (!row) return false
  try {
    const recipient = recipientOf(row, round.account.chainId)
    if (known) await awaitExpiry(round, known)
    const fees = await plan(round, recipient, row)
    // What was signed before and lost its nonce may still be used by whoever has seen it: there is no way back.
    if (!known && !(await claim(round, transfer))) return false
    const after = known?.after_block ?? round.head.block.number
    return await signAndStore(round, { ...row, environment }, { nonce, recipient, fees, after })
  } catch (error) {
    const held = heldUp(error)
    if (!held) throw error
    round.log.warn({ payout_id: id, code: held.code }, `a payout is held up: ${held.message}`)
    const isUnsigned = await isSurelyUnsigned(round, transfer)
    await report(round, { environment, space, id }, (current) => hold(current, held, round, isUnsigned))
    return false
  }
}

function heldUp(error: unknown): HeldUp | undefined {
  if (error instanceof HeldUp) return error
  if (error instanceof SignerRefused) return new HeldUp('rejected', error.message, true)
  if (error instanceof SignerUnavailable || error instanceof RpcUnavailable)
    return new HeldUp('network_error', error.message)
  return undefined
}

/** Whether nothing was signed for a transfer, and no other worker can be signing it. */
async function isSurelyUnsigned(
  { goesOn, control }: Round,
  { environment, id }: DueTransfer,
): Promise<boolean> {
  return (await goesOn()) && !(await isSigned(control, environment, id))
}

/** Sets a transfer aside whose row may not even be readable. */
async function setAside(round: Round, transfer: DueTransfer, problem: string): Promise<void> {
  const { log, limits, pools } = round
  if (transfer.problem !== problem) log.error({ payout_id: transfer.id }, `a payout is held up: ${problem}`)
  const now = round.now()
  const isUnsigned = await isSurelyUnsigned(round, transfer)
  await holdUpTransfer(pools[transfer.environment], transfer, {
    ...{ problem, now, isUnsigned },
    due: now + limits.retryMs,
  })
}

/**
 * The row of a transfer that cannot be signed now. It fails after a while, unless chain or signer cannot be reached: then its
 * tenant can cancel it, and it is paid once they can.
 */
function hold(
  row: TransferRow,
  { code, final, message }: Pick<HeldUp, 'code' | 'final' | 'message'>,
  { now, limits }: Pick<Round, 'now' | 'limits'>,
  isUnsigned: boolean,
): TransferStep | undefined {
  if (row.due === null) return undefined
  const isSameCause = row.problem?.startsWith(`${code}: `) === true
  const since = (isSameCause ? row.held_up_since : null) ?? now()
  const isOver = final || (code !== 'network_error' && now() - since >= limits.giveUpMs)
  if (isOver && isUnsigned) return failed(code)(row)
  const state = isUnsigned && row.state === 'signing' ? 'queued' : row.state
  const held = { held_up_since: since, problem: `${code}: ${message}`, due: now() + limits.retryMs }
  return { row: { ...row, ...held, state } }
}

/** Chain or signer cannot be reached: a transfer that waits to be signed waits on. */
export async function holdUp(
  { pools, log }: Pick<Round, 'pools' | 'log'>,
  transfer: DueTransfer,
  held: { readonly problem: string; readonly now: number; readonly due: number },
): Promise<void> {
  const { environment, id, problem } = transfer
  const known = `network_error: ${held.problem}`
  if (problem !== known) log.warn({ payout_id: id }, `a payout is held up: ${held.problem}`)
  await holdUpTransfer(pools[environment], transfer, { ...held, problem: known, isUnsigned: false })
}

/** The address of a transfer, where it is of this chain. */
function recipientOf({ recipient }: TransferRow, chainId: number): Address {
  const [family, chain, address = ''] = recipient.split(':')
  if (family !== 'eip155' || !isAddress(address)) throw new HeldUp('rejected', 'the address is none', true)
  if (Number(chain) !== chainId)
    throw new HeldUp('rejected', `the address is of chain ${chain}, not ${chainId}`)
  return address
}

/** Code of JSON-RPC for a call that the contract refuses. */
const REVERTED = 3

/** What it will cost; whether the contract would take it. The chain learns nothing that could be used. */
async function plan(round: Round, to: Address, { amount }: TransferRow): Promise<Fees & { gas: bigint }> {
  const { chain, signer, head, limits } = round
  const value = BigInt(amount) * UNITS_PER_CENT
  const fees = await priceOf(chain, head.block)
  if (fees.maxFee > limits.maxFee)
    throw new HeldUp('insufficient_gas', `gas costs ${fees.maxFee} wei, above the limit`)
  const [balance, tokens] = await Promise.all([
    chain.balanceOf(signer.address),
    chain.tokensOf(signer.address),
  ])
  if (tokens < value) throw new HeldUp('rejected', `the signer has ${tokens} base units of USDC`)
  const call = { from: signer.address, to: chain.domain.verifyingContract, data: transferCall(to, value) }
  try {
    const estimated = hexToBigInt(await chain.rpc.ask<Hex>('eth_estimateGas', call))
    // What checking a signature costs beside the transfer, and some more: what is not used is not paid.
    const gas = (estimated * 5n) / 4n + 60_000n
    if (balance < gas * fees.maxFee)
      throw new HeldUp('insufficient_gas', `the signer has ${balance} wei for gas`)
    return { ...fees, gas }
  } catch (error) {
    if (!(error instanceof RpcRefused)) throw error
    if (/insufficient funds/i.test(error.message)) throw new HeldUp('insufficient_gas', error.message)
    if (error.code !== REVERTED && !/revert/i.test(error.message))
      throw new HeldUp('network_error', `the node does not estimate the gas: ${error.message}`)
    throw new HeldUp('rejected', `the contract refuses: ${error.message}`, true)
  }
}

/** Asks whether it may still be paid. From here on it cannot be withdrawn. */
async function claim(round: Round, { environment, tenant_id: space, id }: DueTransfer): Promise<boolean> {
  const row = await report(round, { environment, space, id }, async (row, asked) => {
    if (row.state !== 'queued' && row.state !== 'signing') return undefined
    if (!(await asked.listener.signable(asked.db, id))) return failed('rejected')(row)
    return { row: { ...row, state: 'signing' as const } }
  })
  return row?.state === 'signing'
}

/** The contract keeps apart what accounts have signed: another may sign only when the first one's can no longer be used. */
async function awaitExpiry({ chain, signer, head }: Round, known: Payment): Promise<void> {
  if (known.chain_id === chain.id && known.signer === signer.address) return
  const isOver = head.certain !== undefined && head.certain.timestamp > known.valid_before
  if (known.chain_id !== chain.id || !isOver)
    throw new HeldUp('network_error', 'what another account has signed for it is valid still')
}

interface Planned {
  readonly nonce: number
  readonly recipient: Address
  readonly fees: Fees & { readonly gas: bigint }
  /** The head when it was signed first. */
  readonly after: number
}

async function signAndStore(
  round: Round,
  transfer: TransferRow & { readonly environment: Environment },
  planned: Planned,
): Promise<boolean> {
  const { chain, signer, head, limits, control, account, token } = round
  const { nonce, recipient: to, fees } = planned
  const { environment, tenant_id: space, id } = transfer
  const value = BigInt(transfer.amount) * UNITS_PER_CENT
  const validBefore = BigInt(head.block.timestamp + limits.authorizationS)
  const authorization: TransferAuthorization = {
    from: signer.address,
    to,
    value,
    validBefore,
    nonce: nonceOf(id),
  }
  const signature = await signer.authorize(chain.domain, authorization, id)
  const unsigned = {
    chainId: chain.id,
    nonce,
    to: chain.domain.verifyingContract,
    data: authorizedCall(authorization, signature),
    gas: fees.gas,
    maxFeePerGas: fees.maxFee,
    maxPriorityFeePerGas: fees.priorityFee,
  }
  const raw = await signer.sign(unsigned, id)
  const payment = {
    ...{ nonce, environment, space, transfer_id: id, recipient: to, value },
    ...{ valid_before: Number(validBefore), signature, after_block: planned.after },
  }
  const attempt = {
    hash: keccak256(raw),
    raw: Buffer.from(raw.slice(2), 'hex'),
    max_fee: fees.maxFee,
    priority_fee: fees.priorityFee,
    signed_at: round.now(),
  }
  try {
    await storePayment(control, account, token, payment, attempt)
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    if (constraintOf(error) !== NONCE_TAKEN) return false // another worker has signed it
    // Left from before a gap of nonces was left behind. The nonce is filled as a missing one.
    await moveNonce(control, account, token, { from: nonce, to: nonce + 1 })
    return true
  }
  await report(round, { environment, space, id }, inTransit(caip2(chain.id), attempt.hash))
  await sendAttempt(round, { ...attempt, nonce, attempt: 1, sent_at: null })
  return true
}

/** It was signed by a worker that did not come to say so. */
async function tellOf(round: Round, payment: Payment): Promise<void> {
  const { environment, space, transfer_id: id, chain_id: chainId, signer: address, nonce, hash } = payment
  const [newest] = await readAttempts(round.control, { chainId, address }, [nonce])
  await report(round, { environment, space, id }, inTransit(caip2(chainId), hash ?? newest!.hash))
}
