/** How to make events of payouts, their destinations and reports happen, through the API alone. */
import {
  type Client,
  InvalidRequestError,
  type WebhookEvent,
} from '../../generated/client/src/2026-05-19/index.ts'

/** Nobody's: of the examples of EIP-55. */
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'

/** Without a number, no chain: the refusal names the one that is paid on. */
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

export function payoutRecipes() {
  return {
    'payout_destination.created': (client) => addDestination(client),
    // On the test list.
    'payout_destination.denied': (client) => addDestination(client, 'Dmitri Volkov'),
    'treasury_report.succeeded': async (client) => {
      const now = Date.now()
      const [interval_start, interval_end] = [now - 86_400_000, now].map((at) => new Date(at).toISOString())
      const interval = { interval_start: interval_start!, interval_end: interval_end! }
      const body = { type: 'balance_summary', ...interval, currency: 'usd' } as const
      return { treasury_report_id: (await client.createTreasuryReport({ body })).id }
    },
    'payout_destination.disabled': async (client) => {
      const made = await addDestination(client)
      await client.disablePayoutDestination({ path: made })
      return made
    },
  } satisfies Partial<
    Record<WebhookEvent['type'], (client: Client) => Promise<Readonly<Record<string, string>>>>
  >
}
