import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newId } from '../../platform/ids.ts'

/** An answer without an exchange: what could not be read as a request at all. */
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

/** What Node's parser refuses, by its code. */
const REFUSALS: Readonly<Record<string, ClientRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    ...UNREADABLE,
    line: '431 Request Header Fields Too Large',
    message: 'The headers are larger than 16 KiB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    ...UNREADABLE,
    line: '413 Content Too Large',
    type: 'body_too_large',
    code: 'body_too_large',
    message: 'The extensions of the chunks are larger than 16 KiB.',
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
  message: 'This is no proxy.',
  headers: 'Allow: GET, POST, PATCH, PUT, DELETE\r\n',
}

/** Counts of this process, by what its parsers gave up on. */
const counts = new Map<string, number>()

/** How many connections were given up, by the code of Node's parser. */
export function unreadableRequests(): ReadonlyMap<string, number> {
  return counts
}

/** A client that neither reads nor leaves has so long. */
const LINGER_MS = 1000

/**
 * For `clientError` of a server: what is no HTTP request is answered in JSON too, and ends the connection.
 *
 * @param pending the answers that the connection still waits for, oldest first.
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
    // What came behind good requests is none: their answers must not be mistaken for its own, so they are the last ones.
    last.once('close', () => linger(socket))
    return
  }
  write(socket, REFUSALS[code] ?? UNREADABLE)
}

/** For `connect` of a server. */
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

/** Closed at once, a connection on which something is still arriving would take the answer with it. */
function linger(socket: Duplex): void {
  if (socket.destroyed) return
  socket.on('error', () => {}) // the client is gone; so is what it sent
  socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
