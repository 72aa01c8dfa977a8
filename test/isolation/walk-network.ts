import { expect } from 'vitest'
import type { Environment } from '../../runtime/platform/environment.ts'
import { makeCard } from '../cards/fixtures.ts'
import { openTestNetwork } from '../cards/network/open-network.ts'
import type { Send, TestService } from '../support/service.ts'

/** A card use whose reversal arrives before it, and a wallet token that the network reports twice. */
export async function walkNetwork(service: TestService, send: Send, environment: Environment): Promise<void> {
  const { id } = await makeCard(send)
  const card_number = (await send(`/v1/cards/${id}/details`)).body.number
  const network = openTestNetwork(service, environment)
  const message = (message_id: string, second: number) => ({
    message_id,
    card_number,
    sent_at: new Date(service.clock.now + second * 1000).toISOString(),
  })
  const of = { transaction_id: `of-${id}` }
  const use = {
    amount: 100,
    currency: 'usd',
    merchant: { name: 'Harbor Diner', category_code: '5812', country: 'US' },
  }
  const answers = [
    await network('reverse', { ...message('m2', 2), ...of }),
    await network('clear', { ...message('m1', 1), ...of, ...use }),
    await network('refund', { ...message('m3', 3), ...of, ...use }),
  ]
  for (const [status, second] of [
    ['requested', 1],
    ['active', 2],
  ] as const) {
    const token = { token_reference: `of-${id}`, wallet: 'apple_pay', status } as const
    answers.push(await network('changeToken', { ...message(status, second), ...token }))
  }
  expect(answers.map((answer) => 'outcome' in answer && answer.outcome)).toEqual([
    'waiting',
    'applied',
    'applied',
    'applied',
    'applied',
  ])
}
