/** Triggers events of payouts, payout destinations and treasury reports by calling the API. */
import {
  type Client,
  ConflictError,
  InvalidRequestError,
  type WebhookEvent,
} from '../../generated/client/src/2026-05-19/index.ts'
import { waitFor } from './wait-for.ts'

/** An example address from EIP-55. */
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'

/** A chain that does not exist. The API's error names the chain that it pays on. */
const ANY_CHAIN = 'eip155:0'

async function findChain(client: Client): Promise<string> {
  const body = {
    type: 'usdc_address',
    address: `${ANY_CHAIN}:${ADDRESS}`,
    holder_name: 'svc trigger',
  } as const
  try {
    await client.createPayoutDestination({ body })
  } catch (error) {
    const chain = error instanceof InvalidRequestError && /go out on (eip155:\d+)/.exec(error.message)?.[1]
    if (chain) return chain
    throw error
  }
  return ANY_CHAIN
}

async function addDestination(
  client: Client,
  holder_name = 'Harbour Coffee LLC',
): Promise<{ readonly payout_destination_id: string }> {
  const address = `${await findChain(client)}:${ADDRESS}`
  const metadata = { made_by: 'svc trigger' }
  const body = { type: 'usdc_address', address, holder_name, metadata } as const
  const { id } = await client.createPayoutDestination({ body })
  return { payout_destination_id: id }
}

/** Adds a destination and advances the clock past its waiting period. */
async function addActive(client: Client) {
  const made = await addDestination(client)
  await client.advanceSettlementClock({ body: { seconds: HOLD_SECONDS } })
  return made
}

const HOLD_SECONDS = 86_400

type Made = Readonly<Record<string, string>>

async function findPayout(client: Client, payout_id: string, statuses: readonly string[]) {
  return waitFor(`the payout to be ${statuses.join(' or ')}`, async () => {
    const payout = await client.getPayout({ path: { payout_id } })
    return statuses.includes(payout.status) ? payout : undefined
  })
}

/** Maximum attempts: a worker can start a payout before it is canceled. */
const MAX_CANCELS = 5

/**
 * Returns the recipes.
 * @param settle creates a settlement that can be paid out.
 */
export function payoutRecipes(settle: (client: Client) => Promise<Readonly<{ settlement_id: string }>>) {
  const pay = async (client: Client) => {
    const made = await addActive(client)
    const { settlement_id } = await settle(client)
    // If the default destination is active, the settlement has created a payout to it automatically.
    const { data } = await client.listPayouts({ query: { settlement_id } })
    const order = { amount: 1, currency: 'usdc', destination_id: made.payout_destination_id } as const
    const payout = data[0] ?? (await client.createPayout({ body: order }))
    return { payout_destination_id: payout.destination_id, payout_id: payout.id }
  }
  const cancel = async (client: Client): Promise<Made> => {
    for (let tries = 1; ; tries += 1) {
      const made = await pay(client)
      try {
        await client.cancelPayout({ path: { payout_id: made.payout_id } })
        return made
      } catch (error) {
        if (!(error instanceof ConflictError) || tries === MAX_CANCELS) throw error
      }
    }
  }
  const payTo =
    (...statuses: readonly string[]) =>
    async (client: Client) => {
      const made = await pay(client)
      await findPayout(client, made.payout_id, statuses)
      return made
    }
  return {
    'payout_destination.created': (client) => addDestination(client),
    'payout_destination.activated': addActive,
    // This name is on the test sanctions list.
    'payout_destination.denied': (client) => addDestination(client, 'Dmitri Volkov'),
    'payout_destination.disabled': async (client) => {
      const made = await addDestination(client)
      await client.disablePayoutDestination({ path: made })
      return made
    },
    'payout.created': pay,
    'payout.updated': payTo('in_transit', 'paid'),
    'payout.paid': payTo('paid'),
    'payout.canceled': cancel,
    'payout.failed': async (client) => {
      const made = await pay(client)
      await client.simulatePayoutFailure({ body: { payout_id: made.payout_id, failure_code: 'rejected' } })
      return made
    },
    'payout.returned': async (client) => {
      const made = await payTo('paid')(client)
      await client.simulatePayoutReturn({
        body: { payout_id: made.payout_id, failure_code: 'invalid_account' },
      })
      return made
    },
    'treasury_report.succeeded': async (client) => {
      // The interval must be in the past of the service clock, which an operator can move.
      const interval = { interval_start: '2025-06-01T00:00:00Z', interval_end: '2025-06-02T00:00:00Z' }
      const body = { type: 'balance_summary', ...interval, currency: 'usd' } as const
      const { id: treasury_report_id } = await client.createTreasuryReport({ body })
      await waitFor('the report to be completed', async () => {
        const { status } = await client.getTreasuryReport({ path: { treasury_report_id } })
        return status === 'pending' ? undefined : status
      })
      return { treasury_report_id }
    },
  } satisfies Partial<Record<WebhookEvent['type'], (client: Client) => Promise<Made>>>
}
