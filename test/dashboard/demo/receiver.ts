/** A merchant's server that receives webhooks. It answers every third request to `/ledger` with an error. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Receiver {
  /** Origin of the server. */
  readonly url: string
  stop(): void
}

export async function startReceiver(): Promise<Receiver> {
  let received = 0
  const server = createServer((request, response) => {
    received += 1
    request.resume()
    response.statusCode = request.url === '/ledger' && received % 3 === 0 ? 503 : 200
    response.end(response.statusCode === 200 ? 'ok' : 'The ledger is locked for the closing of the day.')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
