/** Serves the Fetch standard with `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isJson } from './read-request.ts'

/** A versioned API, or anything else that answers requests of fetch, such as a Hono application. */
export interface FetchServer {
  readonly fetch: (request: Request) => Response | Promise<Response>
}

/**
 * Returns a listener for `http.createServer`. The request's signal is aborted if the client disconnects.
 *
 * @example createServer(toNodeListener(api)).listen(3000)
 */
export const toNodeListener =
  ({ fetch }: FetchServer) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    answer(fetch, request, response).catch((error) => {
      // After a disconnect no answer is possible, and a failed stream was reported where it failed.
      if (!response.destroyed) console.error(error)
      response.destroy()
    })
  }

async function answer(
  fetch: FetchServer['fetch'],
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnected = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) disconnected.abort()
  })
  const request = toRequest(incoming, disconnected.signal)
  if (!request) {
    response.writeHead(400).end()
    return
  }
  const { status, headers, body } = await fetch(request)
  response.statusCode = status
  for (const [name, value] of headers) response.appendHeader(name, value)
  if (!body || incoming.method === 'HEAD') {
    response.end()
    await body?.cancel()
    return
  }
  // JSON is complete when it is sent, so its length is known. Other bodies can be streams, and are sent as they arrive.
  if (!isJson(headers.get('content-type'))) {
    response.flushHeaders()
    const readable = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
    // The API reports why a stream fails. The connection breaks, so that the reader notices.
    await pipeline(readable, response).catch(() => response.destroy())
    return
  }
  const bytes = Buffer.from(await new Response(body).arrayBuffer())
  response.setHeader('Content-Length', bytes.length)
  response.end(bytes)
}

/** Returns undefined if the target, the host, the method or a header is not valid in fetch. A missing host gets a placeholder. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', headers, rawHeaders } = incoming
  // Express strips the mount path of a middleware from `url`, and keeps the whole path in `originalUrl`.
  const path = (incoming as { originalUrl?: string }).originalUrl ?? incoming.url ?? '/'
  const url = path.startsWith('/') ? `http://${headers.host ?? 'localhost'}${path}` : path
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    const pairs = new Headers()
    for (let at = 0; at < rawHeaders.length; at += 2) pairs.append(rawHeaders[at]!, rawHeaders[at + 1]!)
    return new Request(url, {
      method,
      headers: pairs,
      signal,
      ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
    } as RequestInit)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return undefined
  }
}
