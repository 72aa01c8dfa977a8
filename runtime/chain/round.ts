/** One round of the worker that sends for an account: it follows what was sent, then signs and sends what is new. */
import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { Pool } from '../platform/database/pool/pool.ts'
import type { Environment } from '../platform/environment.ts'
import type { Block, Chain } from './connect.ts'
import { followPayment } from './follow.ts'
import { type Account, readOpenPayments, reopenPayments, skipNonces } from './payment-queries.ts'
import type { ReportParts } from './report.ts'
import { signTransfer } from './sign.ts'
import type { Signer } from './signer.ts'
import type { TransferRow } from './transfer-queries.ts'

/** How payments are made; each has a default where workers are started. */
export interface PaymentLimits {
  /** Blocks after which a payment counts as made, its own counted. */
  readonly confirmations: number
  /** Wei for a unit of gas, above which nothing is sent. */
  readonly maxFee: bigint
  /** In seconds: how long the contract takes an authorization. A payment that was sent can fail only after that. */
  readonly authorizationS: number
  /** In milliseconds, here and below: how long signing is tried in vain. */
  readonly giveUpMs: number
  /** Before signing is tried again. */
  readonly retryMs: number
  /** Before the same bytes are sent again. */
  readonly resendMs: number
  /** Before they are replaced with a higher fee. */
  readonly replaceMs: number
}

/** What a round needs; no transaction of the database is open while the chain or the signer is asked. */
export interface Round extends ReportParts {
  readonly chain: Chain
  /** Whoever signs now: another than the account after a change of the key, which is then only followed. */
  readonly signer: Signer
  readonly account: Account & { readonly address: Address }
  readonly control: Pool
  /** Of the lease on the account. */
  readonly token: string
  readonly limits: PaymentLimits
  /** Machine time of the database. */
  readonly now: () => number
  readonly log: Logger
  /** Of a chain of our own: keeps what has happened. */
  readonly save?: () => Promise<void>
  readonly head: Head
  /** Whether the lease is still good: asked before each payment. */
  readonly goesOn: () => Promise<boolean>
}

/** The chain at the beginning of a round. */
export interface Head {
  readonly block: Block
  /** The block from which on nothing counts as certain; undefined where nodes no longer know it. */
  readonly certain: Block | undefined
  /** Of the account, at the head. */
  readonly nonce: number
}

/** Payments under way at once: nodes keep few of one account. */
const MAX_OPEN = 48

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

/** @param nextNonce by the books. @param due transfers that are to be signed. */
export async function runRound(
  round: Round,
  nextNonce: number,
  due: readonly (TransferRow & { readonly environment: Environment })[],
): Promise<RoundResult> {
  const { control, account, head, log } = round
  let payments = await readOpenPayments(control, account, MAX_OPEN)
  const oldest = payments[0]?.nonce ?? nextNonce
  if (head.nonce < oldest) {
    // The chain was set back further than what counts as certain, or its node lags: what is missing is sent again.
    const count = await reopenPayments(control, account, head.nonce)
    if (count > 0)
      log.error({ count, nonce: head.nonce }, 'the chain has forgotten payments; they are sent again')
    payments = await readOpenPayments(control, account, MAX_OPEN)
  }
  let moving = 0
  for (const payment of payments) {
    if (!(await round.goesOn())) return { signed: 0, moving }
    if (await followPayment(round, payment)) moving += 1
  }
  let nonce = Math.max(nextNonce, payments.length === 0 ? head.nonce : 0)
  if (nonce > nextNonce) {
    log.warn({ from: nextNonce, to: nonce }, 'others have sent transactions of the payouts’ account')
    await skipNonces(control, account, round.token, nonce)
  }
  let signed = 0
  for (const transfer of due.slice(0, Math.max(0, MAX_OPEN - payments.length))) {
    if (!(await round.goesOn())) break
    if (await signTransfer(round, transfer, nonce)) {
      nonce += 1
      signed += 1
    }
  }
  return { signed, moving }
}
