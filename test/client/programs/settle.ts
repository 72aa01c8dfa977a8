/** Moves the sandbox to the day after a purchase, and finds the settlement and its payout. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const destination = await client.payoutDestinations.create({
  type: 'usdc_address',
  address: 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7',
  holder_name: 'Harbour Coffee LLC',
})
await client.test.settlements.advanceClock({ seconds: 86_400 }) // the destination is held for a day

const { id } = await client.test.cards.simulateForcePost({
  card_id: process.env.CARD_ID ?? '',
  amount: 1_250,
  merchant: { name: 'Harbor Diner', category_code: '5812' },
})
const { data: settlements } = await client.test.settlements.advanceClock({ seconds: 97_200 })
const settlement = settlements.find(({ lines }) => lines.some(({ source_id }) => source_id === id))
if (!settlement?.payout_id) throw new Error('The purchase is not settled')

const payout = await client.payouts.retrieve(settlement.payout_id)
console.log(
  JSON.stringify({
    status: settlement.status,
    net: settlement.net_amount,
    paid: payout.amount,
    toOurs: payout.destination_id === destination.id,
  }),
)
