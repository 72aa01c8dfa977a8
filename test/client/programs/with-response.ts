/** Reads the status, the headers and the request ID of a response. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const { data, response, requestId } = await client.passes.count().withResponse()
console.log(data.count, response.status, requestId)
const isSame = requestId === response.headers.get('Request-Id')

const raw = await client.me.retrieve().asResponse()
const left = raw.headers.get('X-RateLimit-Remaining')
console.log(JSON.stringify({ status: response.status, isSame, left }))
