import type { Environment } from '../../platform/environment.ts'

/**
 * A payment that the chain or the bank knows, and what reconciling does about it:
 *
 * - `adopt`: the database has the payout as not paid yet; workers follow the payment that was found
 * - `record`: the database has no such payout; a payout is written, and its amount leaves the payable balance
 * - `ask`: the database has the payout, and asks the bank for it by its reference as usual
 * - `wait`: the transaction does not have enough confirmations
 * - `unknown`: it cannot be decided whose payment it is
 */
export interface FoundOutside {
  readonly from: 'chain' | 'bank'
  readonly action: 'adopt' | 'record' | 'ask' | 'wait' | 'unknown'
  /** Hash of the transaction, or the bank's identifier of the payment. */
  readonly payment: string
  readonly environment: Environment | null
  readonly tenant_id: string | null
  readonly payout_id: string | null
  /** Cents. */
  readonly amount: number | null
  readonly reason: string
}

/** A found payment with the change that reconciling makes; absent if it makes none. */
export interface PlannedChange {
  readonly found: FoundOutside
  readonly space?: string
  readonly apply?: () => Promise<void>
}

/** Where a destination is. */
export interface DestinationPlace {
  readonly environment: Environment
  readonly space: string
  readonly id: string
}
