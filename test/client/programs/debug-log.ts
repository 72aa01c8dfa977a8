/** `DATELINE_LOG=debug node debug-log.ts` prints a line for each attempt, without headers, queries and bodies. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const { data } = await client.passes.list({ limit: 1 })
console.log(JSON.stringify({ passes: data.length }))
