/** Live tails of pages, as server-sent events (WHATWG HTML, 9.2): few at a time, and none for ever. */
import { pipeline } from 'node:stream/promises'
import { codeOf } from '../../../database/errors.ts'
import { ApiRefused, type DashboardVisit } from '../../engine/visit.ts'

/** How many tails each tenant has open on this node. */
export type Tails = Map<string, number>

/** Of one tenant on one node. */
const MAX_TAILS = 20

/** After it the browser connects again, with its session. */
const MAX_AGE_MS = 10 * 60_000

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Type': 'text/event-stream',
  'X-Content-Type-Options': 'nosniff',
}

/** Answers with what is opened, until either side ends it. @throws `Refused` for what is no tail, or one too many. */
export async function openTail(
  tails: Tails,
  { request, response, member: { tenantId } }: DashboardVisit,
  open: () => Promise<AsyncIterable<string>>,
): Promise<void> {
  if (request.get('Accept') !== 'text/event-stream')
    throw new ApiRefused(404, 'This is for the live part of a page.')
  const count = tails.get(tenantId) ?? 0
  if (count >= MAX_TAILS) throw new ApiRefused(429, 'Too many pages are live at once; close one first.')
  tails.set(tenantId, count + 1)
  try {
    const rows = await open()
    if (response.destroyed) return
    response.set(HEADERS).status(200).flushHeaders()
    await pipeline(rows, response, { signal: AbortSignal.timeout(MAX_AGE_MS) })
  } catch (error) {
    if (!isOver(error)) throw error
  } finally {
    const left = (tails.get(tenantId) ?? 1) - 1
    if (left === 0) tails.delete(tenantId)
    else tails.set(tenantId, left)
  }
}

/** The reader has gone, or it has lasted long enough. */
function isOver(error: unknown): boolean {
  return (
    codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE' || (error instanceof Error && error.name === 'AbortError')
  )
}

/** A row of a table as a message. @param id where the browser comes back to after it has lost the connection. */
export function writeMessage(id: string, row: string): string {
  return `id: ${id}\n${row
    .trim()
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`
}

/** Where the reader is: by what it has seen on this connection or the one before, or by what its page shows. */
export function seenBy({ request }: DashboardVisit): string {
  const { after } = request.query
  return request.get('Last-Event-ID') ?? (typeof after === 'string' ? after : '')
}
