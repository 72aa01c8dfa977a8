/** Checks what is sent to Google against the table of its keys, types and sizes (tables/google-keys.json, with its sources). */
import { fitMembers, type KeyTable, type PassMembers } from '../tables/fit.ts'
import table from '../tables/google-keys.json' with { type: 'json' }

const TYPES: KeyTable = table.types

/**
 * Checks a resource before it is sent. Google refuses a request with one wrong member as a whole, so nothing is removed.
 *
 * @param type the last segment of its path, such as `loyaltyObject`, or `message`.
 * @throws Error with the paths of the wrong and missing members, which are a bug. It shows no values, because they are
 *   the holder's.
 */
export function requireFit(type: string, given: PassMembers): void {
  const name = `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`
  const { removed, missing } = fitMembers(TYPES, name, given)
  const lacking = missing.filter((path) => !removed.includes(path))
  const faults = [
    ...removed.map((path) => `${path} does not fit google-keys.json`),
    ...lacking.map((path) => `${path} is missing`),
  ]
  if (faults.length > 0)
    throw new Error(`The service did not send a ${type} to Google Wallet: ${faults.join(', ')}.`)
}
