/** Waits on this machine for the browser to bring the code (RFC 8252 §7.3). */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackCallback {
  /** Where the service has to send the browser: a port of the loopback interface, free a moment ago. */
  readonly redirectUri: string
  /** Resolves with the parameters of the first answer that carries the state. */
  readonly answer: Promise<URLSearchParams>
  close(): void
}

const PATH = '/callback'

/**
 * Any page may send the browser here: what lacks the state is refused, and waited past.
 *
 * @param signal rejects the answer with its reason.
 */
export async function awaitCallback(state: string, signal: AbortSignal): Promise<LoopbackCallback> {
  const { promise, resolve, reject } = withResolvers<URLSearchParams>()
  // Whoever closes before there was an answer does not wait for it.
  promise.catch(() => undefined)
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1')
    const isForUs = request.method === 'GET' && url.pathname === PATH
    if (!isForUs) return respond(response, 404, 'There is nothing here.')
    if (url.searchParams.get('state') !== state)
      return respond(response, 400, 'This is not the answer to the sign-in that was begun here.')
    const done = url.searchParams.has('code')
    respond(
      response,
      200,
      done ? 'Signed in. You may close this page.' : 'Not signed in. The terminal says why.',
    )
    resolve(url.searchParams)
  })
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', listening)
  })
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    answer: promise,
    close: () => {
      signal.removeEventListener('abort', abort)
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Of the language from Node 22 on. */
function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((...both) => {
    ;[resolve, reject] = both
  })
  return { promise, resolve, reject }
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    Connection: 'close',
  })
  response.end(`<!doctype html><html lang="en"><title>svc</title><p>${text}</p></html>\n`)
}
