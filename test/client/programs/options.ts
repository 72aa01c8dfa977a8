/** Settings of one call, and a client with other settings for a nightly job. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const quick = await client.passes
  .list({ limit: 1 }, { timeout: 5_000, maxRetries: 0, headers: { 'X-Page': 'checkout' } })
  .withResponse()
const older = await client.passes.list({ limit: 1 }, { version: '2026-02-01' }).asResponse()

const nightly = client.withOptions({ timeout: 120_000, maxRetries: 8, headers: { 'X-Job': 'nightly' } })
const { count } = await nightly.passes.count()
const versions = [quick.response, older].map(({ headers }) => headers.get('Service-Version'))
console.log(JSON.stringify({ versions, counted: count > 0 }))
