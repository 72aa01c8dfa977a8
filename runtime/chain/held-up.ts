/** Rows that a worker cannot work on: each waits apart with its reason, and the others go on. */
import { isSpaceWiped } from '../platform/audit/queries.ts'
import { isUnavailable, isWorthRepeating, messageOf } from '../platform/database/errors.ts'
import { LostLease } from './account-queries.ts'
import { WrongChain } from './connect.ts'
import { SignerUnavailable } from './signer.ts'

/** Characters of a reason that are kept. */
const REASON_LENGTH = 300

/** What operators are shown. */
export const reasonOf = (error: unknown): string => messageOf(error).slice(0, REASON_LENGTH)

/**
 * Whether an error is about the row that was worked on. Others (the database, the lease, the signer or the chain) concern
 * every row, and end the round.
 */
export function isOfRow(error: unknown): boolean {
  const concernsAll =
    error instanceof LostLease || error instanceof WrongChain || error instanceof SignerUnavailable
  return !concernsAll && !isUnavailable(error) && !isWorthRepeating(error) && !isSpaceWiped(error)
}
