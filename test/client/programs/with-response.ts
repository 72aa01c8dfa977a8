/** Reads the status, the headers and the request ID of a response. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const { data, response, requestId } = await client.passes.count().withResponse()
console.log(response.status, data.count, requestId)

const raw = await client.me.retrieve().asResponse()
const account: unknown = await raw.json()
const limit = raw.headers.get('RateLimit')
console.log(JSON.stringify({ status: response.status, requestId, account: typeof account, limit }))
