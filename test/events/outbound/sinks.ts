/** Other ends for the way out: real sockets on loopback, closed by `closeSinks`. */
import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import https from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'

export interface Sink {
  readonly port: number
  /** Connections that were made so far. */
  readonly connections: readonly Socket[]
  /** Requests that came so far; those of a sink that speaks no HTTP are not counted. */
  readonly requests: readonly IncomingMessage[]
}

const open = new Set<{ readonly server: Server; readonly sockets: Socket[] }>()

/** For `afterEach`. */
export async function closeSinks(): Promise<void> {
  const left = [...open]
  open.clear()
  await Promise.all(
    left.map(async ({ server, sockets }) => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    }),
  )
}

async function start(
  server: Server,
  host: string,
  port: number,
): Promise<Sink & { requests: IncomingMessage[] }> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {}) // the tests cut connections
  })
  open.add({ server, sockets })
  await once(server.listen(port, host), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the sink has no port')
  return { port: address.port, connections: sockets, requests: [] }
}

const answerOk: RequestListener = (_request, response) => response.end('ok')

export interface SinkOptions {
  readonly answer?: RequestListener
  readonly host?: string
  readonly port?: number
  readonly tls?: https.ServerOptions
}

/** A server that reads requests and answers them. */
export async function openSink(options: SinkOptions = {}): Promise<Sink> {
  const { answer = answerOk, host = '127.0.0.1', port = 0, tls } = options
  const listener: RequestListener = (request, response) => {
    sink.requests.push(request)
    request.resume()
    request.once('end', () => answer(request, response))
  }
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  const sink = await start(server, host, port)
  return sink
}

/** A server that does with each connection what the test says; what arrives is read and dropped. */
export async function openWire(talk: (socket: Socket, nth: number) => void): Promise<Sink> {
  let count = 0
  const server = createServer((socket) => {
    socket.resume()
    count += 1
    talk(socket, count)
  })
  return start(server, '127.0.0.1', 0)
}

/** A server that answers each request, once its headers are there, by these bytes. Bodies must come along with the headers. */
export function openScript(
  answers: (request: number, socket: Socket) => string | Buffer | undefined,
): Promise<Sink> {
  let count = 0
  return openWire((socket) => {
    socket.on('data', (chunk) => {
      if (!chunk.includes('\r\n\r\n')) return
      count += 1
      const bytes = answers(count, socket)
      if (bytes !== undefined) socket.write(bytes)
    })
  })
}
