import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

/** A delivery as it arrived. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Milliseconds that never run backwards. */
  readonly at: number
}

/** A status; `hang`: no answer; `drop`: the connection ends without one; or whatever the function does. */
export type Answer = number | 'hang' | 'drop' | ((response: ServerResponse) => void)

/** A tenant's server on a port of its own. */
export interface Receiver {
  readonly url: string
  readonly got: Received[]
  /** Those on the path. */
  on(path: string): Received[]
  /** What is answered from now on; by default 204. */
  answer: (received: Received) => Answer | Promise<Answer>
  /** Requests that have no answer yet. */
  open(): number
  /** Connections that have not ended: what a sender that is gone has sent may still be unread on them. */
  connections(): number
  close(): void
}

export async function openReceiver(): Promise<Receiver> {
  const got: Received[] = []
  let open = 0
  let connections = 0
  const server = createServer(async (request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const received = { path: request.url ?? '', headers: request.headers, body, at: performance.now() }
    got.push(received)
    const answer = await receiver.answer(received)
    if (typeof answer === 'number') response.writeHead(answer).end('noted')
    else if (answer === 'drop') request.socket.destroy()
    else if (answer !== 'hang') answer(response)
  })
  server.on('connection', (socket) => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}`,
    got,
    on: (path) => got.filter((each) => each.path === path),
    answer: () => 204,
    open: () => open,
    connections: () => connections,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return receiver
}
