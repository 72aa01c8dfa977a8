/** Sends requests through its own fetch, here one that counts the bytes that arrive. */
import { createClient } from '@dateline/passes/2026-05-19'

let bytes = 0
const counted: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  bytes += (await response.clone().arrayBuffer()).byteLength
  return response
}
const client = createClient({
  baseUrl: process.env.BASE_URL ?? '',
  apiKey: process.env.API_KEY ?? '',
  fetch: counted,
})
const { count } = await client.passes.count()
console.log(JSON.stringify({ bytes, expected: JSON.stringify({ object: 'count', count }).length }))
