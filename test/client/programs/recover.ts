/** Sends an endpoint again what it failed to receive during an outage. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const endpoint = await client.webhookEndpoints.create({
  url: 'http://127.0.0.1:8080/webhooks',
  enabled_events: ['pass.created'],
})
const { id, scope } = await client.webhookEndpoints.recover(endpoint.id, {
  since: process.env.MONTH_START ?? '',
  scope: 'all',
  rate: 10,
})
const { data: recoveries } = await client.webhookEndpoints.recoveries.list(endpoint.id)
const { status } = await client.webhookEndpoints.recoveries.cancel(endpoint.id, id)
console.log(JSON.stringify({ scope, recoveries: recoveries.length, status }))
