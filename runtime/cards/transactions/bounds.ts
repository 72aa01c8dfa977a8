/** Converts overflowing ledger sums into errors of the request that caused them. */
import { validationFailed } from '../../api/errors/errors.ts'
import { BeyondBounds } from '../../money/settlement-lines/bounds.ts'

/** Awaits a money movement. Throws 422 for `amount` if a sum would exceed the maximum of the API documents. */
export async function refuseBeyond<T>(moved: Promise<T>): Promise<T> {
  return moved.catch((error: unknown) => {
    if (!(error instanceof BeyondBounds)) throw error
    throw validationFailed([{ field: 'amount', issue: error.message }])
  })
}
