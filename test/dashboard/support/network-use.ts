/** A card use that the network reported, for pages that show its messages. */
import { makeCard } from '../../cards/fixtures.ts'
import { openTestNetwork } from '../../cards/network/open-network.ts'
import type { Send, TestService } from '../../support/service.ts'

/**
 * An authorization that the network decided on after all, a reversal that arrives before an increment that was declined, and a
 * refund without a clearing. Returns the transaction and the card's number.
 */
export async function useCardByNetwork(service: TestService, send: Send) {
  const { id: card } = await makeCard(send)
  const card_number: string = (await send(`/v1/cards/${card}/details`)).body.number
  const network = openTestNetwork(service)
  const message = (second: number) => ({
    message_id: `message-${second}`,
    transaction_id: `use-of-${card}`,
    sent_at: new Date(service.clock.now + second * 1000).toISOString(),
    card_number,
  })
  const merchant = { name: 'Harbor <i>Diner</i>', category_code: '5812', country: 'US' }
  const paying = (amount: number) => ({ amount, currency: 'usd', merchant }) as const
  await network('authorize', { ...message(0), ...paying(1000) })
  await network('advise', {
    ...message(1),
    ...paying(1000),
    kind: 'authorization',
    advised_message_id: 'message-0',
    approved: true,
  })
  await network('reverse', { ...message(3), amount: 400 })
  await network('increment', { ...message(2), amount: 777 })
  await network('refund', { ...message(4), ...paying(250) })
  const [transaction] = (await send(`/v1/card_transactions?card_id=${card}`)).body.data
  return { transactionId: transaction.id as string, card_number }
}
