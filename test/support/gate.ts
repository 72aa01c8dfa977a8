import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of a database that can hold back the server's responses. */
export interface Gate {
  /** URL of the database through the gate. */
  readonly url: string
  /** Holds back all further responses. */
  close(): void
  /** Releases the responses. */
  open(): void
  /** Resolves when the text has been sent to the server this many times. */
  seen(text: string, times?: number): Promise<void>
  /** Closes all connections immediately. */
  cut(): void
  end(): void
}

/** Opens a local port that forwards to the database of the URL. */
export async function openGate(databaseUrl: string): Promise<Gate> {
  const target = new URL(databaseUrl)
  const { hostname, port } = target
  const answers = new Set<Socket>()
  const sockets = new Set<Socket>()
  let isClosed = false
  let sent = ''
  const waiting: { text: string; times: number; resolve: () => void }[] = []
  const look = () => {
    for (const { text, times, resolve } of waiting) if (sent.split(text).length > times) resolve()
  }
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    answers.add(far)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}) // `close` informs the other end
    }
    near.on('data', (chunk) => {
      sent += chunk.toString('latin1')
      look()
      far.write(chunk)
    })
    far.on('data', (chunk) => near.write(chunk))
    if (isClosed) far.pause()
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the gate has no port')
  target.hostname = '127.0.0.1'
  target.port = String(address.port)
  return {
    url: target.href,
    close: () => {
      isClosed = true
      for (const far of answers) far.pause()
    },
    open: () => {
      isClosed = false
      for (const far of answers) far.resume()
    },
    seen: (text, times = 1) =>
      new Promise((resolve) => {
        waiting.push({ text, times, resolve })
        look()
      }),
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    end: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
