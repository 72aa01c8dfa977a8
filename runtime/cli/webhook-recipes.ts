/** Recipes for events about webhook endpoints. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { waitFor } from './wait-for.ts'

/** No name below `.example` exists (RFC 2606), so each delivery fails at once. */
const URL = 'https://receiver.example/'

type BlockEvent = 'webhook_endpoint.blocked' | 'webhook_endpoint.unblocked'

/** Blocks an endpoint that is made for it, and deletes it after the event. */
async function block(
  client: Client,
  type: BlockEvent,
  after: (whe_id: string, event_id: string) => Promise<unknown>,
): Promise<{ readonly webhook_endpoint_id: string }> {
  const { id: whe_id } = await client.createWebhookEndpoint({
    body: {
      url: URL,
      enabled_events: ['webhook_endpoint.test'],
      delivery: 'fifo',
      description: 'svc trigger',
    },
  })
  await client.testWebhookEndpoint({ path: { whe_id } })
  const event_id = await waitFor('a failed delivery', async () => {
    const { blocked } = await client.getWebhookEndpoint({ path: { whe_id } })
    return blocked?.event_id
  })
  await after(whe_id, event_id)
  await waitFor(`the event ${type}`, async () => {
    const { data } = await client.listEvents({ query: { type, limit: 10 } })
    return data.find((each) => JSON.stringify(each.data).includes(whe_id))
  })
  await client.deleteWebhookEndpoint({ path: { whe_id } })
  return { webhook_endpoint_id: whe_id }
}

export const webhookRecipes = {
  'webhook_endpoint.blocked': (client: Client) => block(client, 'webhook_endpoint.blocked', async () => {}),
  'webhook_endpoint.unblocked': (client: Client) =>
    block(client, 'webhook_endpoint.unblocked', (whe_id, event_id) =>
      client.skipBlockedEvent({ path: { whe_id }, body: { event_id } }),
    ),
}
