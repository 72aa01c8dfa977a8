/** Triggers events of card transactions and disputes by calling the API. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Client,
  InvalidRequestError,
  NotFoundError,
  type WebhookEvent,
} from '../../generated/client/src/2026-05-19/index.ts'
import { MisuseError } from './svc-session.ts'
import { waitFor } from './wait-for.ts'

type Made = { readonly card_id: string; readonly card_transaction_id: string }
type MakeCard = (client: Client) => Promise<{ readonly card_id: string }>

const MERCHANT = { name: 'Harbor Diner', category_code: '5812', country: 'US', city: 'Oakland' }
const AMOUNT = 1250

/** An address whose host name does not resolve. */
const UNREACHABLE = 'https://svc-trigger.example.com/'

/**
 * Returns a function that authorizes a payment with a new card.
 * @param makeCard issues a virtual card.
 */
const authorizing =
  (makeCard: MakeCard) =>
  async (client: Client): Promise<Made> => {
    const { card_id } = await makeCard(client)
    await client.simulateFunding({ body: { amount: AMOUNT } })
    const body = { card_id, amount: AMOUNT, currency: 'usd', merchant: MERCHANT }
    const { id } = await client.simulateAuthorization({ body })
    return { card_id, card_transaction_id: id }
  }

/** Returns a function that authorizes and clears a payment with a new card. */
export const clearing =
  (makeCard: MakeCard) =>
  async (client: Client): Promise<Made> => {
    const made = await authorizing(makeCard)(client)
    await client.simulateClearing({ body: { card_transaction_id: made.card_transaction_id } })
    return made
  }

/**
 * Returns the recipes.
 * @param makeCard issues a virtual card.
 */
export function moneyRecipes(makeCard: MakeCard) {
  const authorize = authorizing(makeCard)
  const clear = clearing(makeCard)
  const dispute = async (client: Client): Promise<Made & { readonly dispute_id: string }> => {
    const made = await clear(client)
    const body = { card_transaction_id: made.card_transaction_id, reason: 'not_received' } as const
    return { ...made, dispute_id: (await client.createDispute({ body })).id }
  }
  const submit = async (client: Client) => {
    const made = await dispute(client)
    await client.submitDispute({ path: made })
    return made
  }
  const lose = async (client: Client) => {
    const made = await submit(client)
    await client.simulateDisputeOutcome({ body: { dispute_id: made.dispute_id, outcome: 'lost' } })
    return made
  }
  /**
   * Authorizes a payment while the authorization endpoint is temporarily set to `url`.
   * @param timeoutMs how long the service waits for the endpoint.
   */
  const beDecided = async (client: Client, url: string, timeoutMs: number) => {
    const before = await client.getAuthorizationEndpoint().catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined
      throw error
    })
    await client.putAuthorizationEndpoint({
      body: { url, timeout_ms: timeoutMs, default_action: 'decline' },
    })
    try {
      const made = await authorize(client)
      const { decision_id } = await client.getCardTransaction({ path: made })
      return { ...made, authorization_decision_id: String(decision_id) }
    } finally {
      if (before) {
        const { url, timeout_ms, default_action } = before
        await client.putAuthorizationEndpoint({ body: { url, timeout_ms, default_action } })
      } else await client.deleteAuthorizationEndpoint()
    }
  }
  return {
    'balance.low': async (client: Client) => {
      const { threshold } = await client.getBalanceAlert()
      const { available } = await client.getBalance()
      // Without a threshold, the alert is armed again.
      await client.putBalanceAlert({ body: { threshold: null } })
      await client.putBalanceAlert({ body: { threshold: Math.max(0, available + 1) } })
      await waitFor('the alert', async () => (await client.getBalanceAlert()).status === 'low' || undefined)
      await client.putBalanceAlert({ body: { threshold } })
      return {}
    },
    'card.transaction.authorized': authorize,
    'card.transaction.declined': async (client) => {
      const { card_id } = await makeCard(client)
      const { id } = await client.simulateDecline({
        body: { card_id, amount: AMOUNT, reason: 'suspected_fraud' },
      })
      return { card_id, card_transaction_id: id }
    },
    'card.transaction.updated': async (client) => {
      const made = await authorize(client)
      await client.updateCardTransaction({ path: made, body: { metadata: { made_by: 'svc trigger' } } })
      return made
    },
    'card.transaction.reversed': async (client) => {
      const made = await authorize(client)
      await client.simulateReversal({ body: { card_transaction_id: made.card_transaction_id } })
      return made
    },
    'card.transaction.expired': async (client) => {
      const made = await authorize(client)
      await client.simulateExpiry({ body: { card_transaction_id: made.card_transaction_id } })
      return made
    },
    'card.transaction.cleared': clear,
    'card.transaction.refunded': async (client) => {
      const made = await clear(client)
      await client.simulateRefund({ body: { card_transaction_id: made.card_transaction_id } })
      return made
    },
    'authorization_decision.errored': (client) => beDecided(client, UNREACHABLE, 2000),
    'authorization_decision.timed_out': (client) => withSilence((url) => beDecided(client, url, 100)),
    'dispute.created': dispute,
    'dispute.updated': async (client) => {
      const made = await dispute(client)
      await client.updateDispute({ path: made, body: { reason: 'duplicate' } })
      return made
    },
    'dispute.submitted': submit,
    'dispute.funds_reinstated': submit,
    'dispute.closed': lose,
    'dispute.funds_rescinded': lose,
  } satisfies Partial<
    Record<WebhookEvent['type'], (client: Client) => Promise<Readonly<Record<string, string>>>>
  >
}

/** Runs `work` with the address of a local server that accepts requests and never responds. */
async function withSilence<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await work(`http://127.0.0.1:${port}/`)
  } catch (error) {
    if (!(error instanceof InvalidRequestError && error.details?.[0]?.field === 'url')) throw error
    throw new MisuseError(
      'the service is not allowed to call this machine: run the service locally with SVC_WEBHOOK_ALLOW=127.0.0.0/8',
    )
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
