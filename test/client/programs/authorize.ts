/** Issues a card with a limit, and pays with it in the sandbox: once below the limit, once above it. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const merchant = { name: 'Harbor Diner', category_code: '5812' }

await client.test.funding.simulate({ amount: 100_000 })
const holder = await client.cardholders.create({ type: 'individual', name: 'Ada Moreau' })
const card = await client.cards.create({
  cardholder_id: holder.id,
  type: 'virtual',
  spending_controls: { spending_limits: [{ amount: 5_000, interval: 'daily' }] },
})
const pay = (amount: number) =>
  client.test.cards.simulateAuthorization({ card_id: card.id, amount, merchant })

const lunch = await pay(1_250)
const banquet = await pay(48_000)
const collected = await client.test.cards.simulateClearing({ card_transaction_id: lunch.id })
console.log(
  JSON.stringify({
    lunch: lunch.status,
    banquet: [banquet.status, banquet.decline_reason?.code],
    collected: [collected.status, collected.amounts.cleared],
  }),
)
