/** Automatic payouts of settlements. */
import { lockDefault } from '../destinations/queries.ts'
import { type DestinationList, isListed } from '../destinations/screening.ts'
import { lockPayable, openPayout, type PayoutPlace } from './changes.ts'

/** The amount that a settlement has made payable. */
export interface SettledNet {
  readonly settlementId: string
  /** Cents, greater than 0. Already payable in the same transaction. */
  readonly amount: number
  /** Currency of the settlement. One cent is paid as one cent of the destination's currency. */
  readonly currency: 'usd'
}

/**
 * Pays a settlement to the tenant's default destination, in the transaction that settles it. Returns the payout's
 * identifier, or null if there is no active default destination, if it is on the sanctions list, or if the payable balance
 * is less than the amount, because it was negative; then the amount stays payable.
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
  // Balances are negative, for example, after payouts were found that a restored database did not know.
  const { balance } = await lockPayable(place)
  if (balance < amount) return null
  const order = { amount, metadata: {}, settlement_id: settlementId }
  return (await openPayout(place, order, destination, now)).id
}
