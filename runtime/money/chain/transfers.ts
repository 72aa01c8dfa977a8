/** USDC transfers from the payouts' point of view: create, withdraw, follow. */
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Environment } from '../../platform/environment.ts'
import { insertTransfer, withdraw } from './transfer-queries.ts'

export interface ChainTransfer {
  /** Identifier of the payout. A second transfer with it violates a constraint, and the contract refuses to pay it twice. */
  readonly id: string
  /** CAIP-10, with an EIP-55 checksum. */
  readonly to: string
  readonly amountCents: number
}

/**
 * Creates a transfer within the payout's transaction. The statement is pipelined; the COMMIT fails if the payout already has
 * a transfer. A worker picks the transfer up within a second.
 * @param now service time.
 */
export function enqueueTransfer(db: Database, space: string, transfer: ChainTransfer, now: number): void {
  pipelined(insertTransfer(db, space, transfer, now))
}

/** Withdraws a transfer. Returns false if it is already being signed or paid. */
export function withdrawTransfer(db: Database, space: string, id: string, now: number): Promise<boolean> {
  return withdraw(db, space, id, now)
}

/**
 * Why a transfer will never be paid. `rejected`: the contract, the signer or the payout refuses it. `insufficient_gas`: the
 * signer could not pay the chain's fees for too long. `network_error`: the chain or the signer was unreachable for too long.
 * `transaction_failed`: the contract rejected the sent transaction, and its authorization has expired.
 */
export type FailureCode = 'rejected' | 'insufficient_gas' | 'transaction_failed' | 'network_error'

/** A change of a transfer. `chain` is a CAIP-2 name; `hash` is the hash of the transaction. */
export type TransferChange =
  | { readonly state: 'in_transit'; readonly chain: string; readonly hash: string }
  | {
      readonly state: 'confirmed' | 'paid'
      readonly chain: string
      readonly hash: string
      /** Blocks from the transaction's block to the head, including both. */
      readonly confirmations: number
    }
  /** The transaction's block was removed from the chain. The payment is sent again with the same authorization. */
  | { readonly state: 'reorged'; readonly chain: string; readonly hash: string }
  | { readonly state: 'failed'; readonly code: FailureCode }

/** Listener for the transfers of one space. */
export interface TransferListener {
  /**
   * Called before anything is signed. Returns whether the payout may still be paid, which requires an active destination.
   */
  signable(db: Database, id: string): Promise<boolean>
  /**
   * Called in the transaction that changes the transfer.
   * @param now service time.
   */
  changed(db: Database, id: string, change: TransferChange, now: number): Promise<void>
  /** Called after the COMMIT. */
  committed?(): void
}

/** Opens the listener before each transaction, outside of it. Provided by the composition root. */
export type OpenListener = (environment: Environment, space: string) => Promise<TransferListener>
