/** Receives the authorization code from the browser on a loopback port (RFC 8252 §7.3). */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackCallback {
  /** The redirect address: a free port of the loopback interface. */
  readonly redirectUri: string
  /** Resolves with the parameters of the first request that has the right `state`. */
  readonly answer: Promise<URLSearchParams>
  close(): void
}

const PATH = '/callback'

/**
 * Starts the callback server. Any web page can send the browser here, so requests without the right `state` are rejected and
 * the server keeps waiting.
 * @param signal rejects `answer` with its reason.
 */
export async function awaitCallback(state: string, signal: AbortSignal): Promise<LoopbackCallback> {
  const { promise, resolve, reject } = withResolvers<URLSearchParams>()
  // Avoids an unhandled rejection if the caller closes the server before an answer arrives.
  promise.catch(() => undefined)
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1')
    const isForUs = request.method === 'GET' && url.pathname === PATH
    if (!isForUs) return respond(response, 404, 'Page not found.')
    if (url.searchParams.get('state') !== state)
      return respond(
        response,
        400,
        'This is not the response to the sign-in that was started on this machine.',
      )
    const done = url.searchParams.has('code')
    respond(
      response,
      200,
      done ? 'Signed in. You can close this page.' : 'Sign-in failed. See the terminal for details.',
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

/** `Promise.withResolvers`, which Node supports from version 22. */
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
