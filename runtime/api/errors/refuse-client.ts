import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newId } from '../../platform/ids.ts'

/** The response to a message that is not a valid HTTP request. */
interface ClientRefusal {
  readonly line: string
  readonly type: string
  readonly code: string
  readonly message: string
  readonly headers?: string
}

const UNREADABLE: ClientRefusal = {
  line: '400 Bad Request',
  type: 'invalid_parameter',
  code: 'invalid_format',
  message: 'This is not a valid HTTP request.',
}

/** Responses by the error code of Node's HTTP parser. */
const REFUSALS: Readonly<Record<string, ClientRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    ...UNREADABLE,
    line: '431 Request Header Fields Too Large',
    message: 'The request headers are larger than 16 KiB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    ...UNREADABLE,
    line: '413 Content Too Large',
    type: 'body_too_large',
    code: 'body_too_large',
    message: 'The chunk extensions are larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    ...UNREADABLE,
    line: '408 Request Timeout',
    message: 'The request took too long to arrive.',
  },
}

const NO_TUNNEL: ClientRefusal = {
  line: '405 Method Not Allowed',
  type: 'method_not_allowed',
  code: 'method_not_allowed',
  message: 'This server is not a proxy, so it does not support CONNECT.',
  headers: 'Allow: GET, POST, PATCH, PUT, DELETE\r\n',
}

/** Counts of unreadable requests in this process, by error code. */
const counts = new Map<string, number>()

/**
 * Returns the number of connections that were closed because of unreadable requests, by the error code of Node's
 * parser.
 */
export function unreadableRequests(): ReadonlyMap<string, number> {
  return counts
}

/** Milliseconds after which a connection is destroyed if the client does not close it. */
const LINGER_MS = 1000

/**
 * Answers an unreadable request with JSON, and closes the connection. Listens to `clientError` of a server.
 *
 * @param pending responses that the connection still waits for, oldest first.
 */
export function refuseClient(
  error: Error & { readonly code?: string },
  socket: Duplex,
  pending: readonly ServerResponse[],
): void {
  const code = error.code ?? 'unknown'
  counts.set(code, (counts.get(code) ?? 0) + 1)
  if (code === 'ECONNRESET' || code === 'EPIPE' || !socket.writable) {
    socket.destroy()
    return
  }
  const last = pending.at(-1)
  if (last && (last.headersSent || last.req.complete)) {
    // An earlier request on the connection is still in progress. The client would take an error response for the
    // response to that request, so none is sent.
    last.once('close', () => linger(socket))
    return
  }
  write(socket, REFUSALS[code] ?? UNREADABLE)
}

/** Refuses a CONNECT request. Listens to `connect` of a server. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  write(socket, NO_TUNNEL)
}

function write(socket: Duplex, { line, type, code, message, headers = '' }: ClientRefusal): void {
  const request_id = newId('req')
  const body = JSON.stringify({ error: { type, code, message, request_id } })
  socket.write(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `${headers}Request-Id: ${request_id}\r\nConnection: close\r\n\r\n${body}`,
  )
  linger(socket)
}

/** Closes the connection gently. If it were closed while data still arrives, the client could lose the response. */
function linger(socket: Duplex): void {
  if (socket.destroyed) return
  socket.on('error', () => {}) // the client disconnected
  socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
