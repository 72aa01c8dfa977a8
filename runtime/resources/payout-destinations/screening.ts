/** Holders of destinations held against the sanctions list. */
import type { ListInUse } from '../../sanctions/list-in-use.ts'

/** Whether a holder is on the list: as a person or a company, since nobody says which. */
export function isListed(list: Pick<ListInUse, 'match'>, holders: readonly string[]): boolean {
  return holders.some((name) =>
    (['individual', 'company'] as const).some(
      (type) => list.match({ type, name, date_of_birth: null, billing_address: null }).length > 0,
    ),
  )
}
