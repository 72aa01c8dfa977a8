import { readFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { refuseClient, refuseTunnel } from '../api/errors/refuse-client.ts'
import { codeOf, messageOf } from '../database/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Settings } from '../platform/settings.ts'

/** One port that answers. */
export interface PortListener {
  /** Origin, without a slash at the end: `http://127.0.0.1:4010`. */
  readonly url: string
  /** Takes the place of the answer 503 that is given until then. */
  attach(handler: RequestListener): void
  /** Accepts nothing more and resolves when every request under way has its answer, or the time is over. */
  drain(timeoutMs: number): Promise<void>
}

export interface ListenPort {
  /** Name of the variable that sets the port, for messages. */
  readonly variable: string
  readonly port: number
}

/** Longer than balancers keep an idle connection, so that it is theirs to close. */
const KEEP_ALIVE_MS = 65_000

/** How often connections are looked at that have sent no whole request. */
const LOOKS = 10
const MAX_LOOK_MS = 1000

/** Limits before the pipeline. */
function serverOptions({ timeouts }: Settings): ServerOptions {
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: Math.min(MAX_LOOK_MS, timeouts.headersMs / LOOKS),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    // Node's own answer to a request without Host is not ours; see `checkHead`.
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

function createHttp(settings: Settings, handler: RequestListener): Server {
  const options = serverOptions(settings)
  if (!settings.tls) return createServer(options, handler)
  const { cert, key } = settings.tls
  const tls = {
    ...options,
    cert: readPem('TLS_CERT', cert),
    key: readPem('TLS_KEY', key),
    minVersion: settings.production ? ('TLSv1.3' as const) : ('TLSv1.2' as const),
  }
  try {
    return createTlsServer(tls, handler)
  } catch (cause) {
    throw new Error(`TLS_CERT ${cert} and TLS_KEY ${key} are no pair of PEM files: ${messageOf(cause)}`, {
      cause,
    })
  }
}

function explainListen(error: Error, { variable, port }: ListenPort, host: string): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `another program listens on ${host}:${port}: stop it, or set ${variable} (0 takes any free port)`,
    EACCES: `port ${port} may not be listened on by this user: set ${variable} to one above 1023`,
    EADDRNOTAVAIL: `${host} is no address of this machine: correct HOST`,
    ENOTFOUND: `${host} is no address of this machine: correct HOST`,
  }
  const reason = reasons[codeOf(error) ?? '']
  return reason === undefined ? error : new Error(`${variable}: ${reason}`, { cause: error })
}

/** Where a caller on this machine reaches the listener. */
function originOf(server: Server, settings: Settings): string {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const everywhere = settings.host === '0.0.0.0' || settings.host === '::'
  const host = everywhere ? '127.0.0.1' : settings.host
  return `${settings.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** An answer before the application, and the last one on its connection. */
function sendRefusal(response: ServerResponse, status: number, error: object, ...headers: string[]): void {
  const body = JSON.stringify({ error: { ...error, request_id: newId('req') } })
  response.shouldKeepAlive = false
  const length = String(Buffer.byteLength(body))
  response
    .writeHead(status, ['Content-Type', 'application/json', 'Content-Length', length, ...headers])
    .end(body)
}

/** Until the service answers: it lives, and that is all. */
const starting: RequestListener = (request, response) => {
  if (request.url === '/livez') {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"starting"}')
    return
  }
  const message = 'The service is starting.'
  sendRefusal(response, 503, { type: 'unavailable', code: 'unavailable', message }, 'Retry-After', '1')
}

/** RFC 9112, 3.2: one Host, unless the request speaks HTTP/1.0. Proxies that disagree on it can be led astray. */
function hasOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0)
}

/** No client of ours sends a tenth of them. */
const MAX_HEADERS = 256

interface HeadRefusal {
  readonly status: number
  readonly param?: string
  readonly message: string
}

/** Why a request is not looked at any further: Node lets these through. */
function checkHead(request: IncomingMessage): HeadRefusal | undefined {
  if (request.rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, message: `There are more than ${MAX_HEADERS} headers.` }
  }
  const encoding = request.headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    const message = 'The only transfer encoding that is read here is chunked.'
    return { status: 400, param: 'Transfer-Encoding', message }
  }
  return hasOneHost(request) ? undefined : { status: 400, param: 'Host', message: 'Send one Host header.' }
}

function refuseHead(response: ServerResponse, { status, ...error }: HeadRefusal): void {
  sendRefusal(response, status, { type: 'invalid_parameter', code: 'invalid_format', ...error })
}

function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const message = 'Nothing but 100-continue can be expected here.'
  sendRefusal(response, 417, { type: 'invalid_parameter', code: 'invalid_format', message, param: 'Expect' })
}

/** Answers that each connection waits for, oldest first, and the newest of all. */
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
    /** Whether the connection ends after an answer that was asked for already. */
    isLast: (socket: Duplex) => newest.get(socket)?.shouldKeepAlive === false,
  }
}

/** Listens on the port. Throws an error that names the variable and what to do. */
export async function listenOn(settings: Settings, place: ListenPort): Promise<PortListener> {
  let handler = starting
  let draining = false
  const answers = watchAnswers()
  const server = createHttp(settings, (request, response) => {
    const { socket } = request
    // RFC 9112, 9.6: what stands behind the last request of a connection is not looked at, whoever wrote it there.
    if (answers.isLast(socket)) return
    if (draining) response.shouldKeepAlive = false
    answers.add(socket, response)
    response.once('close', () => {
      answers.remove(socket, response)
      // A connection that was busy when the drain began is idle now.
      if (draining) setImmediate(() => server.closeIdleConnections())
    })
    const refusal = checkHead(request)
    if (refusal === undefined) handler(request, response)
    else refuseHead(response, refusal)
  })
  server.on('clientError', (error, socket) => refuseClient(error, socket, answers.of(socket)))
  server.on('connect', refuseTunnel)
  server.on('checkExpectation', refuseExpectation)
  // Beyond a limit Node would leave headers out without a word; the size of all is limited instead.
  server.maxHeadersCount = 0
  // Neither end has sent anything for longer than a request may take to come and to be answered.
  server.setTimeout(settings.timeouts.requestMs + settings.timeouts.answerMs)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainListen(error, place, settings.host)))
    server.listen(place.port, settings.host, resolve)
  })
  return {
    url: originOf(server, settings),
    attach: (attached) => {
      handler = attached
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
