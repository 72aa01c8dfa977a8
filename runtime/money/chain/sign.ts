/** Signs, stores and sends the payment of a transfer. */

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

/**
 * The transfer cannot be signed now. If `final`, it never can; otherwise signing is retried for a while before the transfer
 * fails with `code`.
 */
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

/**
 * Signs a transfer. Returns whether the nonce was used. An error that concerns only this transfer does not stop the others.
 */
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
    await reportSigned(round, known)
    return false
  }
  const row = await readTransfer(round.pools[environment], space, id)
  if (!row) return false
  try {
    const recipient = recipientOf(row, round.account.chainId)
    if (known) await awaitExpiry(round, known)
    const fees = await plan(round, recipient, row)
    // A displaced payment skips the claim: its authorization is public and can still be used, so the transfer can no longer
    // be withdrawn.
    if (!known && !(await claim(round, transfer))) return false
    const after = known?.after_block ?? beforeUse(round)
    return await signAndStore(round, { ...row, environment }, { nonce, recipient, fees, after })
  } catch (error) {
    const held = heldUp(error)
    if (!held) throw error
    round.log.warn({ payout_id: id, code: held.code }, `A payout is held up: ${held.message}`)
    const isUnsigned = await isSurelyUnsigned(round, transfer)
    await report(round, { environment, space, id }, (current) => hold(current, held, round, isUnsigned))
    return false
  }
}

/** Returns a block before which the authorization cannot be used, because a reorganization does not go further back. */
const beforeUse = ({ head, limits }: Round) => Math.max(0, head.block.number - limits.confirmations)

function heldUp(error: unknown): HeldUp | undefined {
  if (error instanceof HeldUp) return error
  if (error instanceof SignerRefused) return new HeldUp('rejected', error.message, true)
  if (error instanceof SignerUnavailable || error instanceof RpcUnavailable)
    return new HeldUp('network_error', error.message)
  return undefined
}

/** Returns whether nothing was signed for a transfer and no other worker can be signing it. */
async function isSurelyUnsigned(
  { goesOn, control }: Round,
  { environment, id }: DueTransfer,
): Promise<boolean> {
  return (await goesOn()) && !(await isSigned(control, environment, id))
}

/** Sets a transfer aside, even if its row cannot be read. */
async function setAside(round: Round, transfer: DueTransfer, problem: string): Promise<void> {
  const { log, limits, pools } = round
  if (transfer.problem !== problem) log.error({ payout_id: transfer.id }, `A payout is held up: ${problem}`)
  const now = round.now()
  const isUnsigned = await isSurelyUnsigned(round, transfer)
  await holdUpTransfer(pools[transfer.environment], transfer, {
    ...{ problem, now, isUnsigned },
    due: now + limits.retryMs,
  })
}

/**
 * Returns the row of a transfer that cannot be signed now. It fails after a while, unless the chain or the signer is
 * unreachable: then the tenant can cancel it, and it is paid once they are reachable again.
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

/** Holds up a transfer while the chain or the signer is unreachable. It keeps waiting to be signed. */
export async function holdUp(
  { pools, log }: Pick<Round, 'pools' | 'log'>,
  transfer: DueTransfer,
  held: { readonly problem: string; readonly now: number; readonly due: number },
): Promise<void> {
  const { environment, id, problem } = transfer
  const known = `network_error: ${held.problem}`
  if (problem !== known) log.warn({ payout_id: id }, `A payout is held up: ${held.problem}`)
  await holdUpTransfer(pools[environment], transfer, { ...held, problem: known, isUnsigned: false })
}

/** Returns the recipient's address. Throws if it is invalid or on a different chain. */
function recipientOf({ recipient }: TransferRow, chainId: number): Address {
  const [family, chain, address = ''] = recipient.split(':')
  if (family !== 'eip155' || !isAddress(address))
    throw new HeldUp('rejected', 'the address is not valid', true)
  if (Number(chain) !== chainId)
    throw new HeldUp('rejected', `the address is on chain ${chain}; expected chain ${chainId}`)
  return address
}

/** JSON-RPC error code of a call that a contract reverts. */
const REVERTED = 3

/** Estimates the fees, and checks that the contract would accept the transfer. Reveals nothing that others could use. */
async function plan(round: Round, to: Address, { amount }: TransferRow): Promise<Fees & { gas: bigint }> {
  const { chain, signer, head, limits } = round
  const value = BigInt(amount) * UNITS_PER_CENT
  const fees = await priceOf(chain, head.block)
  if (fees.maxFee > limits.maxFee)
    throw new HeldUp(
      'insufficient_gas',
      `the gas price of ${fees.maxFee} wei is above the limit of ${limits.maxFee} wei`,
    )
  const [balance, tokens] = await Promise.all([
    chain.balanceOf(signer.address),
    chain.tokensOf(signer.address),
  ])
  if (tokens < value)
    throw new HeldUp(
      'rejected',
      `the signer has only ${tokens} base units of USDC; the payment needs ${value}`,
    )
  const call = { from: signer.address, to: chain.domain.verifyingContract, data: transferCall(to, value) }
  try {
    const estimated = hexToBigInt(await chain.rpc.ask<Hex>('eth_estimateGas', call))
    // Add the cost of verifying the signature and a margin. Unused gas is not paid.
    const gas = (estimated * 5n) / 4n + 60_000n
    if (balance < gas * fees.maxFee)
      throw new HeldUp('insufficient_gas', `the signer has only ${balance} wei for gas`)
    return { ...fees, gas }
  } catch (error) {
    if (!(error instanceof RpcRefused)) throw error
    if (/insufficient funds/i.test(error.message)) throw new HeldUp('insufficient_gas', error.message)
    if (error.code !== REVERTED && !/revert/i.test(error.message))
      throw new HeldUp('network_error', `the node cannot estimate the gas: ${error.message}`)
    const obstacle = await chain.obstacleOf(signer.address)
    if (obstacle !== undefined) throw new HeldUp('transaction_failed', obstacle)
    throw new HeldUp('rejected', `the contract rejects the transfer: ${error.message}`, true)
  }
}

/** Checks that the transfer may still be paid, and marks it as `signing`. From then on it cannot be withdrawn. */
async function claim(round: Round, { environment, tenant_id: space, id }: DueTransfer): Promise<boolean> {
  const row = await report(round, { environment, space, id }, async (row, asked) => {
    if (row.state !== 'queued' && row.state !== 'signing') return undefined
    if (!(await asked.listener.signable(asked.db, id))) return failed('rejected')(row)
    return { row: { ...row, state: 'signing' as const } }
  })
  return row?.state === 'signing'
}

/**
 * Throws while an authorization of a different account is valid. The contract tracks nonces per account, so signing with a
 * second account too early could pay twice.
 */
async function awaitExpiry({ chain, signer, head }: Round, known: Payment): Promise<void> {
  if (known.chain_id === chain.id && known.signer === signer.address) return
  const isOver = head.certain !== undefined && head.certain.timestamp > known.valid_before
  if (known.chain_id !== chain.id || !isOver)
    throw new HeldUp('network_error', 'an authorization signed by a different account is still valid')
}

interface Planned {
  readonly nonce: number
  readonly recipient: Address
  readonly fees: Fees & { readonly gas: bigint }
  /** Number of the block after which the authorization is looked for. */
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
    // The nonce has a payment from before a gap that was not filled. It is filled like a missing nonce.
    await moveNonce(control, account, token, { from: nonce, to: nonce + 1 })
    return true
  }
  await report(round, { environment, space, id }, inTransit(caip2(chain.id), attempt.hash))
  await sendAttempt(round, { ...attempt, nonce, attempt: 1, sent_at: null })
  return true
}

/** Reports a payment that another worker signed without reporting it. */
async function reportSigned(round: Round, payment: Payment): Promise<void> {
  const { environment, space, transfer_id: id, chain_id: chainId, signer: address, nonce, hash } = payment
  const [newest] = await readAttempts(round.control, { chainId, address }, [nonce])
  await report(round, { environment, space, id }, inTransit(caip2(chainId), hash ?? newest!.hash))
}
