/** Which errors hold up one payout, and which stop a round. */

import { liesInRows } from '../../database/errors.ts'
import { isSpaceWiped } from '../../tenants/audit/queries.ts'
import { LostLease } from './account-queries.ts'
import { WrongChain } from './connect.ts'
import { SignerUnavailable } from './signer.ts'

/** Whether an error is about one payout: the lease, the signer and the chain concern every one. */
export function isOfPayout(error: unknown): boolean {
  const concernsAll =
    error instanceof LostLease || error instanceof WrongChain || error instanceof SignerUnavailable
  return !concernsAll && liesInRows(error) && !isSpaceWiped(error)
}
