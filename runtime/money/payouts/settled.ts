/** What settlements pay out by themselves. */
import { lockDefault } from '../destinations/queries.ts'
import { type DestinationList, isListed } from '../destinations/screening.ts'
import { openPayout, type PayoutPlace } from './changes.ts'

/** What a settlement has made payable. */
export interface SettledNet {
  readonly settlementId: string
  /** Cents, more than 0: payable already, in the same transaction. */
  readonly amount: number
  /** What it settles in; one cent of it is paid as one cent of what the destination takes. */
  readonly currency: 'usd'
}

/**
 * Pays a settlement that turns settled to the tenant's default destination, in the transaction in which it does. Gives the
 * payout's id; null where there is no active default, or it is on the sanctions list: the amount stays payable.
 *
 * @param now service time.
 */
export async function payOutSettlement(
  place: PayoutPlace,
  { settlementId, amount }: SettledNet,
  list: DestinationList,
  now: number,
): Promise<string | null> {
  const destination = await lockDefault(place.db, place.space)
  if (destination?.status !== 'active' || isListed(list, destination)) return null
  const order = { amount, metadata: {}, settlement_id: settlementId }
  return (await openPayout(place, order, destination, now)).id
}
