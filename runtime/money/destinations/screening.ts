/** Screens destinations against the sanctions list: their holders and addresses. */
import type { ListInUse } from '../../cards/sanctions/list-in-use.ts'
import type { DestinationRow } from './queries.ts'

/** The parts of a sanctions list that are used. */
export type DestinationList = Pick<ListInUse, 'match' | 'findWallet'>

/**
 * Returns whether a destination's address or holder is on the list.
 * @param otherNames further names of the holder.
 */
export function isListed(
  list: DestinationList,
  { holder_name, address }: Pick<DestinationRow, 'holder_name' | 'address'>,
  otherNames: readonly string[] = [],
): boolean {
  const isHolder = (name: string) =>
    // A match does not depend on the type, which destinations do not have.
    list.match({ type: 'company', name, date_of_birth: null, billing_address: null }).length > 0
  return (
    [holder_name, ...otherNames].some(isHolder) ||
    (address !== null && list.findWallet(address) !== undefined)
  )
}
