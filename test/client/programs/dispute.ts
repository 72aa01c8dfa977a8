/** Disputes a purchase that never arrived, and plays the network that decides it. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const purchase = await client.test.cards.simulateForcePost({
  card_id: process.env.CARD_ID ?? '',
  amount: 4_200,
  merchant: { name: 'Parcel Shop', category_code: '5999' },
})
const draft = await client.disputes.create({ card_transaction_id: purchase.id, reason: 'not_received' })
await client.disputes.update(draft.id, { evidence: { explanation: 'The parcel never arrived.' } })
const { provisional_credit } = await client.disputes.submit(draft.id)
const { status } = await client.test.disputes.simulateOutcome({ dispute_id: draft.id, outcome: 'won' })
console.log(JSON.stringify({ provisional_credit, status }))
