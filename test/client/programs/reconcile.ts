/** Finds the events that a receiver has missed while it was away, oldest first, and brings them in. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const known = new Set((process.env.KNOWN_EVENTS ?? '').split(','))
const since = process.env.SINCE ?? '2026-01-01T00:00:00Z'

const missed: string[] = []
for await (const event of client.events.list({ 'created[gte]': since, order: 'asc' })) {
  if (known.has(event.id)) continue
  known.add(event.id)
  missed.push(event.type === 'pass.created' ? `created ${event.data.pass.holder.name}` : event.type)
}
console.log(JSON.stringify({ missed }))
