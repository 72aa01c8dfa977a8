/** Triggers settlement events by calling the API. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'

type Made = Readonly<Record<string, string>>

/**
 * Returns the recipes.
 * @param clear clears a payment with a new card.
 */
export function settlementRecipes(clear: (client: Client) => Promise<Made>) {
  const open = async (client: Client) => {
    // Close any open settlement first, so that the next clearing opens a new one.
    const { data } = await client.listSettlements({ query: { status: 'open' } })
    for (const { id } of data) {
      await client.advanceSettlementClock({ body: { settlement_id: id, to: 'pending' } })
    }
    const made = await clear(client)
    const [settlement] = (await client.listSettlements({ query: { status: 'open' } })).data
    if (!settlement) throw new Error('the clearing did not open a settlement')
    return { ...made, settlement_id: settlement.id }
  }
  const moveTo = (to: 'pending' | 'processing' | 'settled') => async (client: Client) => {
    const made = await open(client)
    await client.advanceSettlementClock({ body: { settlement_id: made.settlement_id, to } })
    return made
  }
  return {
    'settlement.created': open,
    'settlement.pending': moveTo('pending'),
    'settlement.processing': moveTo('processing'),
    'settlement.settled': moveTo('settled'),
    'settlement.failed': async (client: Client) => {
      const made = await moveTo('processing')(client)
      await client.simulateSettlementFailure({ body: { settlement_id: made.settlement_id } })
      return made
    },
  }
}
