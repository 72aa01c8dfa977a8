/** Decides whether an error concerns one payout or stops the whole round. */

import { liesInRows } from '../../database/errors.ts'
import { isSpaceWiped } from '../../tenants/audit/queries.ts'
import { LostLease } from './account-queries.ts'
import { WrongChain } from './connect.ts'
import { SignerUnavailable } from './signer.ts'

/** Returns whether an error concerns only one payout. Errors of the lease, the signer and the chain concern all payouts. */
export function isOfPayout(error: unknown): boolean {
  const concernsAll =
    error instanceof LostLease || error instanceof WrongChain || error instanceof SignerUnavailable
  return !concernsAll && liesInRows(error) && !isSpaceWiped(error)
}
