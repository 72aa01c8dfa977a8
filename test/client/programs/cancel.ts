/** Gives up: after a timeout for each attempt, after a time for the whole call, and when the customer leaves. */
import { createClient, TimeoutError } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.SLOW_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const attempt = await client.passes
  .list({}, { timeout: 20, maxRetries: 0 })
  .catch((error: unknown) => error instanceof TimeoutError && error.timeoutMs)

const whole = await client.passes
  .list({}, { signal: AbortSignal.timeout(20) })
  .catch((error: unknown) => error instanceof DOMException && error.name)

const customer = new AbortController()
const listing = client.passes.list({}, { signal: customer.signal })
customer.abort(new Error('The customer left'))
const left = await listing.catch((error: unknown) => error instanceof Error && error.message)
console.log(JSON.stringify({ attempt, whole, left }))
