/** Types that are shared by the parts of a round. */

import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { Pool } from '../../database/pool/pool.ts'
import type { ChainAccount } from './account-queries.ts'
import type { Block, Chain } from './connect.ts'
import type { Fees } from './fees.ts'
import type { TransferReportParts } from './report.ts'
import type { Signer } from './signer.ts'

/** The context of a round. No database transaction is open while the chain or the signer is called. */
export interface Round extends TransferReportParts {
  readonly chain: Chain
  /** The current signer. After a key change, its address differs from the account, whose payments are then only followed. */
  readonly signer: Signer
  readonly account: ChainAccount & { readonly address: Address }
  readonly control: Pool
  /** Lease token of the account. */
  readonly token: string
  readonly limits: PaymentLimits
  /** Machine time according to the database. */
  readonly now: () => number
  readonly log: Logger
  /** Saves the state of the built-in test chain. */
  readonly save?: () => Promise<void>
  readonly head: Head
  /** Transactions that fill missing nonces of the account, kept between rounds. */
  readonly fillings: Map<number, Filling>
  /** Renews the lease, and returns whether no other worker has held it since. Called before each payment. */
  readonly goesOn: () => Promise<boolean>
}

/** A transaction that fills a missing nonce. */
export interface Filling {
  /** Machine time, like `sent`. */
  readonly since: number
  readonly sent?: number
  readonly fees?: Fees
}

/** Limits of payments. Their defaults are in open-chains.ts. */
export interface PaymentLimits {
  /** Number of blocks that make a payment final, including the block of its transaction. */
  readonly confirmations: number
  /** Maximum fee in wei per unit of gas. Nothing is sent above it. */
  readonly maxFee: bigint
  /** How long the contract accepts an authorization, in seconds. A payment that was sent can fail only after that. */
  readonly authorizationS: number
  /**
   * How long signing is retried before the transfer fails, in milliseconds. Does not apply while the chain or the signer is
   * unreachable.
   */
  readonly giveUpMs: number
  /** Pause before signing is retried, in milliseconds. */
  readonly retryMs: number
  /** Pause before the same transaction is sent again, in milliseconds. */
  readonly resendMs: number
  /** Time until a transaction is replaced with a higher fee, in milliseconds. */
  readonly replaceMs: number
}

/** The chain at the start of a round. */
export interface Head {
  readonly block: Block
  /** The newest block with enough confirmations; undefined if the node no longer has it. */
  readonly certain: Block | undefined
  /** Transaction count of the account at the head. */
  readonly nonce: number
}
