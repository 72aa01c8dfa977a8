/** How to make events of settlements happen, through the API alone. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'

type Made = Readonly<Record<string, string>>

/** @param clear collects something from a new card. */
export function settlementRecipes(clear: (client: Client) => Promise<Made>) {
  const open = async (client: Client) => {
    // The day's settlement may be there: what is cleared after its cut-off opens the next one.
    const { data } = await client.listSettlements({ query: { status: 'open' } })
    for (const { id } of data) {
      await client.advanceSettlementClock({ body: { settlement_id: id, to: 'pending' } })
    }
    const made = await clear(client)
    const [settlement] = (await client.listSettlements({ query: { status: 'open' } })).data
    if (!settlement) throw new Error('no settlement was opened')
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
