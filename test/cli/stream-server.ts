/** A real server on loopback in the place of the service: streams that a test writes itself; and an endpoint of a developer's. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { BEFORE_EVENTS } from '../../runtime/events/emit/queries.ts'
import { makeKey } from '../../runtime/tenants/keys/keys.ts'
import { until } from '../support/programs.ts'

export const KEY = makeKey('secret', 'sandbox')

/** @returns its address. Ends with the test. */
export async function serveHttp(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface Stream {
  readonly headers: IncomingHttpHeaders
  write(text: string | Uint8Array): void
  send(...events: readonly FakeEvent[]): void
  /** As the service does when it stops. */
  end(): void
  /** As a network does. */
  cut(): void
  readonly closed: boolean
}

export interface FakeEvent {
  readonly id: string
  readonly type: string
  readonly version: string
  readonly created: string
}

export function makeEvent(n: number, type = 'pass.created', version = '2026-05-19'): FakeEvent {
  const event = {
    id: `evt_${String(n).padStart(26, '0')}`,
    object: 'event',
    type,
    version,
    emitted_at: '2026-06-01T12:00:00.000Z',
    created: '2026-06-01T12:00:00.000Z',
    data: { pass: { id: 'pass_1', object: 'pass', holder: { name: 'Ærøskøbing 𝄞' } } },
  }
  return event
}

export interface StreamServer {
  readonly baseUrl: string
  /** Newest last: what had happened when a stream begins. */
  readonly events: FakeEvent[]
  readonly streams: readonly Stream[]
  /** The stream that is opened as the nth, from 1. */
  stream(n: number): Promise<Stream>
  /** Answers in place of streams that are asked for, in turn. */
  readonly refusals: { status: number; headers?: Record<string, string>; code?: string }[]
  /** Paths that were asked for, with their queries. */
  readonly asked: string[]
}

export async function serveStreams(): Promise<StreamServer> {
  const events: FakeEvent[] = []
  const streams: Stream[] = []
  const refusals: StreamServer['refusals'] = []
  const asked: string[] = []
  const baseUrl = await serveHttp((request, response) => {
    asked.push(request.url ?? '')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    if (pathname === '/v1/events/stream') {
      const refusal = refusals.shift()
      if (refusal) return refuse(response, refusal)
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      const newest = events.at(-1)?.id ?? BEFORE_EVENTS
      response.write(`id: ${request.headers['last-event-id'] ?? newest}\n:\n\n`)
      streams.push(streamOf(request.headers, response))
      return
    }
    const sorted = searchParams.get('order') === 'asc' ? events : events.toReversed()
    const data = sorted.slice(0, Number(searchParams.get('limit')))
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ data, has_more: false, next_cursor: null }))
  })
  const stream = (n: number) => until(`stream ${n}`, () => streams[n - 1])
  return { baseUrl, events, streams, stream, refusals, asked }
}

function refuse(
  response: ServerResponse,
  { status, headers, code = 'refused' }: StreamServer['refusals'][number],
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(JSON.stringify({ error: { type: 'api_error', code, message: `It is ${code}.` } }))
}

function streamOf(headers: IncomingHttpHeaders, response: ServerResponse): Stream {
  return {
    headers,
    write: (text) => void response.write(text),
    send: (...events) => {
      for (const event of events) {
        response.write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      }
    },
    end: () => void response.end(),
    cut: () => void response.destroy(),
    get closed() {
      return response.closed
    },
  }
}

export interface Delivered {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Endpoint {
  readonly url: string
  readonly delivered: readonly Delivered[]
  /** Waits for so many deliveries. @returns the identifiers in them. */
  ids(count: number): Promise<string[]>
}

/** @param answer what it does with the nth delivery, from 1; 204 when absent. */
export async function serveEndpoint(
  answer: (n: number, response: ServerResponse) => void = (_, response) => void response.writeHead(204).end(),
): Promise<Endpoint> {
  const delivered: Delivered[] = []
  const baseUrl = await serveHttp(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    delivered.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    answer(delivered.length, response)
  })
  return {
    url: `${baseUrl}/hooks?from=svc`,
    delivered,
    ids: async (count) => {
      await until(`${count} deliveries`, () => delivered.length >= count)
      return delivered.map(({ body }) => JSON.parse(body.toString()).id)
    },
  }
}
