/** Explains a month: the balance at its start, each movement by kind, and the balance now. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const start = process.env.MONTH_START ?? ''

const opening = await client.balance.retrieve({ at: start })
const byKind: Record<string, number> = {}
let moved = opening.available
for await (const entry of client.balanceEntries.list({ account: 'program_funds', 'created[gte]': start })) {
  byKind[entry.kind] = (byKind[entry.kind] ?? 0) + entry.amount
  moved += entry.amount
}
const closing = await client.balance.retrieve()
console.log(JSON.stringify({ byKind, explained: moved === closing.available + closing.held }))
