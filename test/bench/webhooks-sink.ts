/**
 * Where the bench's deliveries go, a process of its own. Answers at once on every path but `/hanging`, where it never
 * does; notes when each event arrived on `/timed`.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { monotonicNow, obey } from './webhooks-processes.ts'

/** What arrived on a path. Times by `monotonicNow`. */
export interface Arrivals {
  readonly count: number
  readonly firstAt: number
  /** The last one: names of its headers, and the bytes of its body. */
  readonly headers: readonly string[]
  readonly bytes: number
}

const NOTHING: Arrivals = { count: 0, firstAt: 0, headers: [], bytes: 0 }

let plain = NOTHING
const timed = new Map<string, number>()

function note(request: IncomingMessage): void {
  const now = monotonicNow()
  if (request.url === '/timed') timed.set(String(request.headers['service-event-id']), now)
  if (request.url !== '/plain') return
  plain = {
    count: plain.count + 1,
    firstAt: plain.firstAt || now,
    headers: Object.keys(request.headers).sort(),
    bytes: Number(request.headers['content-length']),
  }
}

const server = createServer((request, response) => {
  note(request)
  request.resume()
  if (request.url !== '/hanging') request.once('end', () => response.end('noted'))
})
server.keepAliveTimeout = 60_000
await once(server.listen(0, '127.0.0.1', 4096), 'listening')

const methods = {
  origin(): string {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the sink has no port')
    return `http://127.0.0.1:${address.port}`
  },
  /** What arrived on `/plain` since this was asked last. */
  takePlain(): Arrivals {
    const taken = plain
    plain = NOTHING
    return taken
  },
  plainCount: (): number => plain.count,
  /** When events arrived on `/timed` since this was asked last. */
  takeTimed(): ReadonlyMap<string, number> {
    const taken = new Map(timed)
    timed.clear()
    return taken
  },
}
export type Sink = typeof methods

obey(methods, () => {
  server.close()
  server.closeAllConnections()
})
