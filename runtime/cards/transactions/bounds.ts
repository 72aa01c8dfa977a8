/** Sums beyond what can be shown, as refusals of the request that asks for them. */
import { validationFailed } from '../../api/errors/errors.ts'
import { BeyondBounds } from '../../money/settlement-lines/bounds.ts'

/** Awaits what moves money. Throws 422 on the amount if a sum would be beyond the documents' bound. */
export async function refuseBeyond<T>(moved: Promise<T>): Promise<T> {
  return moved.catch((error: unknown) => {
    if (!(error instanceof BeyondBounds)) throw error
    throw validationFailed([{ field: 'amount', issue: error.message }])
  })
}
