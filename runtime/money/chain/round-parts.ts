/** What every part of a round is given. */

import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { Pool } from '../../database/pool/pool.ts'
import type { ChainAccount } from './account-queries.ts'
import type { Block, Chain } from './connect.ts'
import type { Fees } from './fees.ts'
import type { TransferReportParts } from './report.ts'
import type { Signer } from './signer.ts'

/** What a round needs; no transaction of the database is open while the chain or the signer is asked. */
export interface Round extends TransferReportParts {
  readonly chain: Chain
  /** Whoever signs now: another than the account after a change of the key, which is then only followed. */
  readonly signer: Signer
  readonly account: ChainAccount & { readonly address: Address }
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
  /** What fills missing nonces of the account, from round to round. */
  readonly fillings: Map<number, Filling>
  /** Whether the lease is still good: asked before each payment. */
  readonly goesOn: () => Promise<boolean>
}

/** A transaction that fills a missing nonce. */
export interface Filling {
  /** Machine time, as is `sent`. */
  readonly since: number
  readonly sent?: number
  readonly fees?: Fees
}

/** How payments are made; each has a default where workers are started. */
export interface PaymentLimits {
  /** Blocks after which a payment counts as made, its own counted. */
  readonly confirmations: number
  /** Wei for a unit of gas, above which nothing is sent. */
  readonly maxFee: bigint
  /** In seconds: how long the contract takes an authorization. A payment that was sent can fail only after that. */
  readonly authorizationS: number
  /** In milliseconds, here and below: how long signing is tried in vain, unless chain or signer cannot be reached. */
  readonly giveUpMs: number
  /** Before signing is tried again. */
  readonly retryMs: number
  /** Before the same bytes are sent again. */
  readonly resendMs: number
  /** Before they are replaced with a higher fee. */
  readonly replaceMs: number
}

/** The chain at the beginning of a round. */
export interface Head {
  readonly block: Block
  /** The block from which on nothing counts as certain; undefined where nodes no longer know it. */
  readonly certain: Block | undefined
  /** Of the account, at the head. */
  readonly nonce: number
}
