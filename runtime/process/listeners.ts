import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TlsOptions } from 'node:tls'
import { refuseClient, refuseTunnel } from '../api/errors/refuse-client.ts'
import { codeOf, messageOf } from '../database/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Settings, TlsFiles } from '../platform/settings.ts'

/** An open port. */
export interface PortListener {
  /** Origin without a trailing slash, such as `http://127.0.0.1:4010`. */
  readonly url: string
  /** Sets the handler. Until then, requests get 503. */
  attach(handler: RequestListener): void
  /** Reads the certificate again, for new connections. Throws an error that names the variables if it cannot be used. */
  renewCertificate(): void
  /** Stops accepting connections. Resolves when all requests in progress have a response, or after the timeout. */
  drain(timeoutMs: number): Promise<void>
}

export interface ListenPort {
  /** Environment variable of the port, for messages. */
  readonly variable: string
  readonly port: number
  /** Certificate and options of TLS. Absent for those of all listeners. */
  readonly tls?: TlsFiles & { readonly options: TlsOptions }
}

/** Longer than load balancers keep an idle connection, so that the balancer closes it and not this process. */
const KEEP_ALIVE_MS = 65_000

/** Node checks for slow connections this many times within the header timeout, and at least every second. */
const CHECKS = 10
const MAX_CHECK_INTERVAL_MS = 1000

/** Limits that apply before the request pipeline. */
function serverOptions({ timeouts }: Settings): ServerOptions {
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, timeouts.headersMs / CHECKS),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    // `checkHead` handles a missing Host header, because Node's own response does not have the format of the API.
    requireHostHeader: false,
  }
}

function readPem(variable: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new Error(`${variable}: ${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}

/** Returns the TLS options of a listener: its certificate and key, and the limits of all listeners. */
export function readTls({ cert, key, variables }: TlsFiles, settings: Settings): TlsOptions {
  return {
    cert: readPem(variables[0], cert),
    key: readPem(variables[1], key),
    minVersion: settings.production ? 'TLSv1.3' : 'TLSv1.2',
    handshakeTimeout: settings.timeouts.headersMs,
  }
}

/** Creates a server. Throws an error that names the variables if the certificate and the key do not match. */
export function createWithTls<T>({ cert, key, variables }: TlsFiles, create: () => T): T {
  try {
    return create()
  } catch (cause) {
    throw new Error(
      `${variables[0]} ${cert} and ${variables[1]} ${key} are not a matching certificate and key in PEM format: ${messageOf(cause)}`,
      { cause },
    )
  }
}

/** Reads the certificate and the key again, for new connections. Throws like `readTls` and `createWithTls`. */
export function renewTls(
  server: Pick<TlsServer, 'setSecureContext'>,
  files: TlsFiles,
  settings: Settings,
): void {
  const options = readTls(files, settings)
  createWithTls(files, () => server.setSecureContext(options))
}

function createHttp(settings: Settings, place: ListenPort, handler: RequestListener): Server {
  const options = serverOptions(settings)
  const files = place.tls ?? settings.tls
  if (!files) return createServer(options, handler)
  const tls = { ...options, ...place.tls?.options, ...readTls(files, settings) }
  return createWithTls(files, () => createTlsServer(tls, handler))
}

/** Starts listening. Throws an error that names the variable of the port and says what to do. */
export async function startListening(server: NetServer, place: ListenPort, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainListen(error, place, host)))
    server.listen(place.port, host, resolve)
  })
}

function explainListen(error: Error, { variable, port }: ListenPort, host: string): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `another program listens on ${host}:${port}: stop it, or set ${variable} (0 selects any free port)`,
    EACCES: `this user may not listen on port ${port}: set ${variable} to a port above 1023`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: correct HOST`,
    ENOTFOUND: `${host} is not an address of this machine: correct HOST`,
  }
  const reason = reasons[codeOf(error) ?? '']
  return reason === undefined ? error : new Error(`${variable}: ${reason}`, { cause: error })
}

/** Returns the origin at which a client on this machine reaches the listener. */
function originOf(server: Server, settings: Settings, place: ListenPort): string {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const everywhere = settings.host === '0.0.0.0' || settings.host === '::'
  const host = everywhere ? '127.0.0.1' : settings.host
  const tls = place.tls ?? settings.tls
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Sends an error response before the application is involved, and closes the connection. */
function sendRefusal(response: ServerResponse, status: number, error: object, ...headers: string[]): void {
  const body = JSON.stringify({ error: { ...error, request_id: newId('req') } })
  response.shouldKeepAlive = false
  const length = String(Buffer.byteLength(body))
  response
    .writeHead(status, ['Content-Type', 'application/json', 'Content-Length', length, ...headers])
    .end(body)
}

/** Handler during the start: `/livez` succeeds, everything else gets 503. */
const starting: RequestListener = (request, response) => {
  if (request.url === '/livez') {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"starting"}')
    return
  }
  const message = 'The service is starting.'
  sendRefusal(response, 503, { type: 'unavailable', code: 'unavailable', message }, 'Retry-After', '1')
}

/**
 * RFC 9112, section 3.2: exactly one Host header, which only HTTP/1.0 may omit. Requests with several could be routed
 * differently by a proxy and this server.
 */
function hasOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0)
}

/** No known client sends a tenth of this number. */
const MAX_HEADERS = 256

interface HeadRefusal {
  readonly status: number
  readonly param?: string
  readonly message: string
}

/** Returns why the request must be rejected, for cases that Node accepts. */
function checkHead(request: IncomingMessage): HeadRefusal | undefined {
  if (request.rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, message: `The request has more than ${MAX_HEADERS} headers.` }
  }
  const encoding = request.headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    const message = 'The only supported transfer encoding is chunked.'
    return { status: 400, param: 'Transfer-Encoding', message }
  }
  return hasOneHost(request)
    ? undefined
    : { status: 400, param: 'Host', message: 'Send exactly one Host header.' }
}

function refuseHead(response: ServerResponse, { status, ...error }: HeadRefusal): void {
  sendRefusal(response, status, { type: 'invalid_parameter', code: 'invalid_format', ...error })
}

function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const message = 'The only supported expectation is 100-continue.'
  sendRefusal(response, 417, { type: 'invalid_parameter', code: 'invalid_format', message, param: 'Expect' })
}

/** Tracks the pending responses of each connection, oldest first, and the newest one. */
function watchAnswers() {
  const pending = new WeakMap<Duplex, Set<ServerResponse>>()
  const newest = new WeakMap<Duplex, ServerResponse>()
  return {
    add(socket: Duplex, response: ServerResponse) {
      const known = pending.get(socket)
      if (known) known.add(response)
      else pending.set(socket, new Set([response]))
      newest.set(socket, response)
    },
    remove: (socket: Duplex, response: ServerResponse) => void pending.get(socket)?.delete(response),
    of: (socket: Duplex) => [...(pending.get(socket) ?? [])],
    /** Whether the connection closes after a response that is already pending. */
    isLast: (socket: Duplex) => newest.get(socket)?.shouldKeepAlive === false,
  }
}

/** Listens on the port. Throws an error that names the variable and says what to do. */
export async function listenOn(settings: Settings, place: ListenPort): Promise<PortListener> {
  let handler = starting
  let draining = false
  const answers = watchAnswers()
  const server = createHttp(settings, place, (request, response) => {
    const { socket } = request
    // RFC 9112, section 9.6: data after the last request of a connection is ignored, because it may come from an
    // attacker.
    if (answers.isLast(socket)) return
    if (draining) response.shouldKeepAlive = false
    answers.add(socket, response)
    response.once('close', () => {
      answers.remove(socket, response)
      // A connection that was busy when the drain started is now idle.
      if (draining) setImmediate(() => server.closeIdleConnections())
    })
    const refusal = checkHead(request)
    if (refusal === undefined) handler(request, response)
    else refuseHead(response, refusal)
  })
  server.on('clientError', (error, socket) => refuseClient(error, socket, answers.of(socket)))
  server.on('connect', refuseTunnel)
  server.on('checkExpectation', refuseExpectation)
  // Node silently drops headers above this limit. `maxHeaderSize` and `checkHead` limit them instead.
  server.maxHeadersCount = 0
  // Closes a connection on which neither side has sent anything for longer than a request may take to arrive and be
  // answered.
  server.setTimeout(settings.timeouts.requestMs + settings.timeouts.answerMs)
  await startListening(server, place, settings.host)
  return {
    url: originOf(server, settings, place),
    attach: (attached) => {
      handler = attached
    },
    renewCertificate: () => {
      const files = place.tls ?? settings.tls
      if (files && server instanceof TlsServer) renewTls(server, files, settings)
    },
    drain: (timeoutMs) =>
      new Promise((resolve) => {
        draining = true
        const late = setTimeout(() => server.closeAllConnections(), timeoutMs)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
      }),
  }
}
