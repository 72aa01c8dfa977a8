/** Tries a lower limit on recorded purchases before it applies to a card. */
import { setTimeout } from 'node:timers/promises'
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const draft = await client.spendingControlDrafts.create({
  name: 'Lower limits for meals',
  card_id: process.env.CARD_ID ?? '',
  spending_controls: { spending_limits: [{ amount: 1_000, interval: 'monthly', categories: ['5812'] }] },
})
let backtest = await client.spendingControlDrafts.backtests.create(draft.id, {
  interval_start: process.env.MONTH_START ?? '',
  interval_end: process.env.NOW ?? '',
})
while (backtest.status === 'pending') {
  await setTimeout(50)
  backtest = await client.spendingControlBacktests.retrieve(backtest.id)
}
const flips = await client.spendingControlBacktests.flips.list(backtest.id).toArray({ limit: 100 })
console.log(
  JSON.stringify({ status: backtest.status, declined: flips.map(({ amount, code }) => `${code} ${amount}`) }),
)
