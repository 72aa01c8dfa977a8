/** Serves the Fetch standard with `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A versioned API, or anything else that answers requests of fetch, such as a Hono application. */
export interface FetchServer {
  readonly fetch: (request: Request) => Response | Promise<Response>
}

/**
 * @returns a listener for `http.createServer`. It rejects only if the connection breaks while it answers.
 * @example createServer(toNodeListener(api)).listen(3000)
 */
export const toNodeListener =
  ({ fetch }: FetchServer) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await fetch(toRequest(request))
    response.statusCode = answer.status
    for (const [name, value] of answer.headers) response.appendHeader(name, value)
    const isStream = answer.headers.get('content-type') === 'text/event-stream'
    if (isStream && answer.body && request.method !== 'HEAD') {
      response.flushHeaders()
      await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response)
      return
    }
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.body) response.setHeader('Content-Length', body.length)
    response.end(body)
  }

/** The request of Node as one of fetch. The host of its URL is a placeholder if the client sent none. */
function toRequest(incoming: IncomingMessage): Request {
  const { method = 'GET', headers, rawHeaders } = incoming
  // Express strips the mount path of a middleware from `url`, and keeps the whole in `originalUrl`.
  const path = (incoming as { originalUrl?: string }).originalUrl ?? incoming.url ?? '/'
  const url = path.startsWith('/') ? `http://${headers.host ?? 'localhost'}${path}` : path
  const pairs = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) pairs.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, {
    method,
    headers: pairs,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
  } as RequestInit)
}
