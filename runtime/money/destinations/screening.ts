/** Destinations held against the sanctions list: whose they are, and their addresses. */
import type { ListInUse } from '../../cards/sanctions/list-in-use.ts'
import type { DestinationRow } from './queries.ts'

/** What is asked of a list. */
export type DestinationList = Pick<ListInUse, 'match' | 'findWallet'>

/**
 * Whether a destination is on the list: its address, or a holder.
 *
 * @param otherNames of its holder, beside the one that is shown.
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
