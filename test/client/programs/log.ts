/** Adds a header to each request, and counts and logs each attempt. */
import { createClient, type Middleware } from '@dateline/passes/2026-05-19'

const byStatus: Record<string, number> = {}
const nameTeam: Middleware = (request, next) => {
  request.headers.set('X-Team', 'loyalty')
  return next(request)
}
const client = createClient({
  baseUrl: process.env.BASE_URL ?? '',
  apiKey: process.env.API_KEY ?? '',
  middleware: [nameTeam],
  onAttempt: ({ method, url, status, error, durationMs, headers }) => {
    const result = status ?? error?.name ?? ''
    byStatus[result] = (byStatus[result] ?? 0) + 1
    console.log(method, url, result, `${Math.round(durationMs)} ms`, headers?.get('Request-Id'))
  },
})
await client.me.retrieve()
await client.passes.retrieve('pass_00000000000000000000000000').catch(() => undefined)
console.log(JSON.stringify({ byStatus }))
