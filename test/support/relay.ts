import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A relay in front of a database that can be cut and restored at the same address. */
export interface Relay {
  /** URL of the database through the relay. */
  readonly url: string
  /** Closes all connections and refuses new ones. */
  down(): Promise<void>
  up(): Promise<void>
  /** Leads new connections to a different server, at the same address of the relay. */
  pointAt(databaseUrl: string): void
  /** Number of bytes received from the database so far. */
  received(): number
  /** Number of bytes sent to the database so far. */
  sent(): number
}

export async function openRelay(databaseUrl: string): Promise<Relay> {
  const target = new URL(databaseUrl)
  let { hostname, port } = target
  const sockets = new Set<Socket>()
  let received = 0
  let sent = 0
  const relay = (near: Socket) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}) // `close` informs the other end
    }
    far.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    near.on('data', (chunk: Buffer) => {
      sent += chunk.length
    })
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  }
  let server: Server
  let at = 0
  const up = async () => {
    server = createServer(relay)
    await once(server.listen(at, '127.0.0.1'), 'listening')
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the relay has no port')
    at = address.port
  }
  await up()
  target.hostname = '127.0.0.1'
  target.port = String(at)
  return {
    url: target.href,
    up,
    pointAt: (url) => {
      ;({ hostname, port } = new URL(url))
    },
    received: () => received,
    sent: () => sent,
    down: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      await closed
    },
  }
}
