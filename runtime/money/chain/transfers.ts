/** Transfers of USDC as whoever has them paid sees them: handed in, withdrawn, followed. */
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Environment } from '../../platform/environment.ts'
import { insertTransfer, withdraw } from './transfer-queries.ts'

export interface ChainTransfer {
  /** Of the payout: a second transfer under it cannot be written, and the contract refuses to pay it twice. */
  readonly id: string
  /** CAIP-10, with EIP-55's checksum. */
  readonly to: string
  readonly amountCents: number
}

/**
 * Hands a transfer in; belongs into the payout's transaction, whose COMMIT fails where the same payout has one already. Nobody
 * waits for the statement. A worker takes it up within a second.
 *
 * @param now service time.
 */
export function enqueueTransfer(db: Database, space: string, transfer: ChainTransfer, now: number): void {
  pipelined(insertTransfer(db, space, transfer, now))
}

/** Takes a transfer back for which nothing was signed yet. Gives whether that came in time: otherwise it is being paid. */
export function withdrawTransfer(db: Database, space: string, id: string, now: number): Promise<boolean> {
  return withdraw(db, space, id, now)
}

/**
 * Why a transfer will never be paid. `rejected`: the contract, the signer or whoever owns the payout refuses it.
 * `insufficient_gas`: the signer could not pay the chain's fee for too long. `network_error`: chain or signer could not be
 * reached for too long. `transaction_failed`: the contract refused it after it was sent, and its authorization has run out.
 */
export type FailureCode = 'rejected' | 'insufficient_gas' | 'transaction_failed' | 'network_error'

/** What becomes of a transfer. `chain` is CAIP-2, `hash` the transaction's. */
export type TransferChange =
  | { readonly state: 'in_transit'; readonly chain: string; readonly hash: string }
  | {
      readonly state: 'confirmed' | 'paid'
      readonly chain: string
      readonly hash: string
      /** Blocks from the transaction's to the head, both counted. */
      readonly confirmations: number
    }
  /** Its block is no longer part of the chain: it is on its way again, with the same authorization. */
  | { readonly state: 'reorged'; readonly chain: string; readonly hash: string }
  | { readonly state: 'failed'; readonly code: FailureCode }

/** The listener for the transfers of one space, before a transaction begins. */
export interface TransferListener {
  /** Asked before anything is signed: whether the payout may still be paid (its destination is active). */
  signable(db: Database, id: string): Promise<boolean>
  /** In the transaction in which the transfer changes. @param now service time. */
  changed(db: Database, id: string, change: TransferChange, now: number): Promise<void>
  /** After COMMIT. */
  committed?(): void
}

/** Given in the composition root. Opened before each transaction, outside of it. */
export type OpenListener = (environment: Environment, space: string) => Promise<TransferListener>
