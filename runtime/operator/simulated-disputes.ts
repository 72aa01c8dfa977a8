/** Lets the demo tenant dispute a transaction before the network reports the stages of its chargeback. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import type { RunOptions } from '../cards/network-simulator/run-scenario.ts'

/** Returns the step that disputes the newest cleared transaction with the merchant, amount by amount. */
export function disputeAs(client: Client): NonNullable<RunOptions['dispute']> {
  return async ({ message }) => {
    const last4 = message.card_number.slice(-4)
    const cards = (await client.listCards({ query: { limit: 100 } })).data.filter(
      (card) => card.last4 === last4,
    )
    for (const { id: card_id } of cards) {
      const { data } = await client.listCardTransactions({ query: { card_id, status: 'cleared', limit: 1 } })
      const [transaction] = data
      if (!transaction || transaction.amounts.cleared === transaction.amounts.refunded) continue
      const body = { card_transaction_id: transaction.id, reason: 'not_received' } as const
      const dispute = await client.createDispute({ body })
      await client.submitDispute({ path: { dispute_id: dispute.id } })
      return
    }
  }
}
