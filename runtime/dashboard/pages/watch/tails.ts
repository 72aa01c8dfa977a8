/** Live tails of pages as server-sent events (WHATWG HTML, 9.2), limited in number and duration. */
import { sendTexts } from '../../engine/streaming.ts'
import { ApiRefused, type DashboardVisit } from '../../engine/visit.ts'

/** Number of open tails on this node, by tenant. */
export type Tails = Map<string, number>

/** Per tenant and node. */
const MAX_TAILS = 20

/** After 10 minutes the browser reconnects, which checks its session again. */
const MAX_AGE_MS = 10 * 60_000

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Type': 'text/event-stream',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * Streams rows until either side closes the connection or `MAX_AGE_MS` passes.
 *
 * @throws `ApiRefused` 404 if the request is not for an event stream, 429 if the tenant has too many tails.
 */
export async function openTail(
  tails: Tails,
  { request, response, member: { tenantId } }: DashboardVisit,
  open: () => Promise<AsyncIterable<string>>,
): Promise<void> {
  if (request.get('Accept') !== 'text/event-stream')
    throw new ApiRefused(404, 'This address serves only the live updates of a page.')
  const count = tails.get(tenantId) ?? 0
  if (count >= MAX_TAILS)
    throw new ApiRefused(
      429,
      'Too many pages with live updates are open. Close one, and then reload this page.',
    )
  tails.set(tenantId, count + 1)
  try {
    const rows = await open()
    if (response.destroyed) return
    response.set(HEADERS).status(200).flushHeaders()
    await sendTexts(response, rows, AbortSignal.timeout(MAX_AGE_MS))
  } finally {
    const left = (tails.get(tenantId) ?? 1) - 1
    if (left === 0) tails.delete(tenantId)
    else tails.set(tenantId, left)
  }
}

/** Formats a table row as a message. @param id the browser sends it as `Last-Event-ID` when it reconnects. */
export function writeMessage(id: string, row: string): string {
  return `id: ${id}\n${row
    .trim()
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`
}

/** Returns the ID of the last row that the client received, or of the newest row on its page. */
export function seenBy({ request }: DashboardVisit): string {
  const { after } = request.query
  return request.get('Last-Event-ID') ?? (typeof after === 'string' ? after : '')
}
